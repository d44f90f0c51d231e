//! Responses a cache may keep, and the conditions a client may make (RFC 9110 section 13, RFC 9111).

use crate::outgoing::respond::{Reply, Response};
use crate::request::{Request, number};

/// The same for ever: what is answered here does not change.
const ETAG: &str = "\"onrush\"";
const LAST_MODIFIED: &str = "Thu, 01 Jan 2026 00:00:00 GMT";

/// As `/get`; 304 to conditional requests.
pub(crate) fn conditional(request: &Request<'_>) -> Reply {
    let asks = request.header("if-none-match").or(request.header("if-modified-since")).is_some();
    let response = if asks { Response::empty(304) } else { Response::json(200, &request.echo().into()) };
    response.header("Last-Modified", LAST_MODIFIED).header("ETag", ETAG).into()
}

/// As `/get`, with Cache-Control for this many seconds.
pub(crate) fn kept(request: &Request<'_>) -> Reply {
    match number("the seconds", &request.param(0), 0..=u32::MAX.into()) {
        Ok(n) => {
            let value = format!("public, max-age={n}");
            Response::json(200, &request.echo().into()).header("Cache-Control", value).into()
        }
        Err(reply) => *reply,
    }
}

/// As `/get` with that entity tag; obeys `If-None-Match` and `If-Match`.
pub(crate) fn etag(request: &Request<'_>) -> Reply {
    let tag = request.param(0);
    let tag = format!("\"{}\"", tag.trim_matches('"'));
    let names = |header: &str| request.header(header).map(|value| lists(&value, &tag));
    let response = match (names("if-none-match"), names("if-match")) {
        (Some(true), _) => Response::empty(304),
        (None, Some(false)) => Response::empty(412),
        _ => Response::json(200, &request.echo().into()),
    };
    response.header("ETag", tag).into()
}

/// Whether a list of entity tags has this one, weakly compared.
fn lists(header: &str, tag: &str) -> bool {
    header.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tags() {
        for (header, want) in
            [("\"a\"", true), ("\"b\", W/\"a\"", true), ("*", true), ("\"b\"", false), ("a", false), ("", false)]
        {
            assert_eq!(lists(header, "\"a\""), want, "{header}");
        }
    }
}
