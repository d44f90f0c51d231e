//! Answers that take a route's place: no such path, no such method, a body that is too long.

use crate::outgoing::respond::Response;
use crate::route::{BodyUse, MAX_KEPT, ROUTES};
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::Framing;

/// The answer to a request whose route is not to run.
pub(crate) fn instead(route: Option<usize>, method: &str, framing: Framing, limit: Option<u64>) -> Option<Response> {
    let Some(route) = route.map(|index| &ROUTES[index]) else {
        return Some(Response::error(404, "no such path; docs/reference/routes.md lists the target's routes"));
    };
    if method == "OPTIONS" {
        return Some(Response::empty(204).header("Allow", route.allow()));
    }
    if !route.answers(method) {
        return Some(Response::error(405, "the allow header lists the methods").header("Allow", route.allow()));
    }
    let most = most(route.body == BodyUse::Keep, limit);
    let too_long = matches!(framing.body, BodyFraming::Length(n) if n > most);
    too_long.then(|| too_large(most))
}

/// The answer to a body that is longer than it may be.
pub(crate) fn too_large(most: u64) -> Response {
    match most {
        MAX_KEPT => Response::error(413, "this route keeps 16 MiB at most; /upload takes any size"),
        limit => Response::error(413, &format!("a request body may have {limit} bytes")),
    }
}

/// Bytes a body may have.
pub(crate) fn most(kept: bool, limit: Option<u64>) -> u64 {
    let limit = limit.unwrap_or(u64::MAX);
    if kept { limit.min(MAX_KEPT) } else { limit }
}
