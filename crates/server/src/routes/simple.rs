//! The routes that load tests hit hardest, and the counters.

use serde_json::json;

use crate::outgoing::respond::{Reply, Response};
use crate::request::{Request, bad_request};

pub(crate) fn index(_: &Request<'_>) -> Reply {
    Response::text(200, "hello from onrush\n").into()
}

pub(crate) fn stats(request: &Request<'_>) -> Reply {
    Response::json(200, &request.worker.all_stats().to_json()).into()
}

/// The body was counted while it was read; its bytes are gone.
pub(crate) fn upload(request: &Request<'_>) -> Reply {
    Response::json(200, &json!({ "received": request.body_length })).into()
}

/// `/status/404`, or one at random of `/status/200,404`.
pub(crate) fn status(request: &Request<'_>) -> Reply {
    let text = request.param(0);
    let codes: Option<Vec<u16>> =
        text.split(',').map(|c| c.trim().parse().ok().filter(|c| (200..=599).contains(c))).collect();
    let Some(codes) = codes.filter(|c| !c.is_empty()) else {
        return *bad_request(&format!("the status is {text:?}, expected 200 to 599 or a list of such"));
    };
    let code = codes[fastrand::usize(..codes.len())];
    let response = Response::text(code, "");
    match code {
        301 | 302 | 303 | 305 | 307 | 308 => response.header("Location", "/redirect/1"),
        401 => response.header("WWW-Authenticate", "Basic realm=\"onrush\""),
        407 => response.header("Proxy-Authenticate", "Basic realm=\"onrush\""),
        418 => Response::text(418, "a teapot\n"),
        _ => response,
    }
    .into()
}

/// A 500 in a share of all cases.
pub(crate) fn unstable(request: &Request<'_>) -> Reply {
    let rate = request.arg("failure_rate").map_or(Some(0.5), |text| text.parse::<f64>().ok());
    let Some(rate) = rate.filter(|rate| (0.0..=1.0).contains(rate)) else {
        return *bad_request("failure_rate is not a number from 0 to 1");
    };
    Response::text(if fastrand::f64() < rate { 500 } else { 200 }, "").into()
}
/// The answer to a request for a method of gRPC that is no call; calls do not come here.
pub(crate) fn grpc(_: &Request<'_>) -> Reply {
    let detail = "this path is a method of gRPC: it takes POST over HTTP/2 with the content type application/grpc";
    Response::error(415, detail).into()
}
