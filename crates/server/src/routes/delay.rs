//! Requests that are held before they are answered: for a time, or by a law whose draws a client can be checked
//! against.

use std::time::Duration;

use serde_json::json;

use crate::distribution::{DISTRIBUTIONS, Distribution};
use crate::outgoing::respond::{Body, Reply, Response, pretty};
use crate::request::{Request, bad_request, duration, number};

pub(crate) fn delay(request: &Request<'_>) -> Reply {
    match duration("the delay", &request.param(0)) {
        Ok(wait) => Response::json(200, &request.echo().into()).after(wait).into(),
        Err(reply) => *reply,
    }
}

pub(crate) fn list(request: &Request<'_>) -> Reply {
    try_list(request).map_or_else(|reply| *reply, Reply::from)
}

/// The n-th request of a seed gets the n-th draw; `?n=` asks for a draw by its number and moves nothing.
fn try_list(request: &Request<'_>) -> Result<Response, Box<Reply>> {
    let seed = request.number("seed", 0, 0..=u64::MAX)?;
    let text = request.arg("law").unwrap_or("exponential(10ms)".into()).into_owned();
    let Some(law) = Distribution::parse(&text, |time| duration("the law", time).ok()) else {
        return Err(bad_request(&format!("the law is {text:?}, expected {DISTRIBUTIONS}")));
    };
    let n = match request.arg("n") {
        Some(n) => number("n", &n, 0..=u64::MAX / 4)?,
        None => request
            .worker
            .all_stats()
            .next_delay(seed)
            .ok_or_else(|| bad_request("there are too many seeds, expected fewer or `n`"))?,
    };
    let wait = law.draw(seed, n);
    Ok(Response::json(200, &json!({})).after(wait).telling(move |response, held| {
        let ms = |time: Duration| time.as_nanos() as f64 / 1e6;
        let told = json!({ "seed": seed, "law": text, "n": n, "hold_ms": ms(wait), "held_ms": ms(held) });
        response.body = Body::Bytes(pretty(&told));
        response.headers.push(("X-Hold-Ms".into(), ms(wait).to_string().into()));
        response.headers.push(("X-Held-Ms".into(), ms(held).to_string().into()));
    }))
}
