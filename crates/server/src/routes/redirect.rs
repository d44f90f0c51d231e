//! Chains of redirects that end at `/get`, and one redirect to anywhere.

use crate::outgoing::respond::{Reply, Response};
use crate::request::{Request, bad_request, number};

/// The longest chain.
const MAX_REDIRECTS: u64 = 1000;

pub(crate) fn counted(request: &Request<'_>) -> Reply {
    let absolute = request.arg("absolute").is_some_and(|a| a.eq_ignore_ascii_case("true"));
    next(request, absolute)
}

pub(crate) fn relative(request: &Request<'_>) -> Reply {
    next(request, false)
}

pub(crate) fn absolute(request: &Request<'_>) -> Reply {
    next(request, true)
}

fn next(request: &Request<'_>, absolute: bool) -> Reply {
    let left = match number("the redirect count", &request.param(0), 1..=MAX_REDIRECTS) {
        Ok(n) => n - 1,
        Err(reply) => return *reply,
    };
    let path = match (left, absolute) {
        (0, _) => "/get".to_owned(),
        (n, true) => format!("/absolute-redirect/{n}"),
        (n, false) => format!("/relative-redirect/{n}"),
    };
    let location = if absolute { request.base_url() + &path } else { path };
    Response::empty(302).header("Location", location).into()
}

pub(crate) fn to(request: &Request<'_>) -> Reply {
    let status = match request.number("status_code", 302, 300..=399) {
        Ok(status) => status as u16,
        Err(reply) => return *reply,
    };
    match request.arg("url") {
        Some(url) => Response::empty(status).header("Location", url.into_owned()).into(),
        None => *bad_request("the query has no url"),
    }
}
