//! Bodies of a wanted size or kind.
//!
//! Noise without a seed is the same each time and is in memory once, so that large downloads cost the target little.

use std::borrow::Cow;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::json;
use wire::field::is_token;

use crate::outgoing::respond::{BINARY, Body, Line, Reply, Response};
use crate::outgoing::timed::{TimedPiece, TimedPieces};
use crate::range::asked;
use crate::request::{Request, number};

/// Bytes a route makes at most.
pub(crate) const MAX_BYTES: u64 = 1 << 30;
/// Bytes of the noise that is ready.
pub(crate) const BLOCK: usize = 1 << 20;

/// 1 MiB of noise.
pub(crate) fn noise() -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    NOISE.get_or_init(|| {
        let mut noise = vec![0; BLOCK];
        fastrand::Rng::with_seed(1).fill(&mut noise);
        noise
    })
}

/// `total` bytes in runs of `step`: noise of that seed, or the static block again and again.
pub(crate) fn noise_pieces(
    total: u64,
    step: usize,
    seed: Option<u64>,
) -> impl Iterator<Item = TimedPiece> + Unpin + 'static {
    let mut rng = seed.map(fastrand::Rng::with_seed);
    let mut sent = 0;
    std::iter::from_fn(move || {
        let size = (total - sent).min(step as u64) as usize;
        sent += size as u64;
        let bytes = match &mut rng {
            Some(rng) => {
                let mut bytes = vec![0; size];
                rng.fill(&mut bytes);
                Bytes::from(bytes)
            }
            None => Bytes::from_static(&noise()[..size]),
        };
        (size > 0).then(|| TimedPiece::ready(bytes))
    })
}

/// The optional seed of noise.
pub(crate) fn seed(request: &Request<'_>) -> Result<Option<u64>, Box<Reply>> {
    request.arg("seed").map(|text| number("seed", &text, 0..=u64::MAX)).transpose()
}

pub(crate) fn bytes(request: &Request<'_>) -> Reply {
    let body = number("the size", &request.param(0), 0..=MAX_BYTES).and_then(|n| {
        Ok(match seed(request)? {
            None if n <= BLOCK as u64 => Body::Static(&noise()[..n as usize]),
            seed => {
                let pieces = Box::new(TimedPieces::new(noise_pieces(n, 128 * 1024, seed)));
                Body::Stream { length: Some(n), pieces }
            }
        })
    });
    body.map_or_else(|reply| *reply, |body| Response::new(200, BINARY, body).into())
}

/// Letters a to z again and again, whole or the one range asked for.
pub(crate) fn range(request: &Request<'_>) -> Reply {
    let total = match number("the size", &request.param(0), 0..=BLOCK as u64) {
        Ok(n) => n,
        Err(reply) => return *reply,
    };
    let letters = (0..total).map(|i| b'a' + (i % 26) as u8).collect();
    let tag = format!("\"range{total}\"");
    let range = asked(request, Some(&tag));
    Response::new(200, BINARY, Body::Bytes(letters)).within(range.as_deref()).header("ETag", tag).into()
}

pub(crate) fn json(_: &Request<'_>) -> Reply {
    let document = json!({
        "slideshow": {
            "author": "Onrush",
            "date": "today",
            "slides": [
                { "title": "One core, one loop", "type": "all" },
                { "title": "What was measured", "type": "all", "items": ["requests", "bytes", "time"] },
            ],
            "title": "Sample Slide Show",
        }
    });
    Response::json(200, &document).into()
}

pub(crate) fn html(_: &Request<'_>) -> Reply {
    const PAGE: &str = concat!(
        "<!doctype html>\n<html lang=\"en\">\n<head><title>Onrush target</title></head>\n<body>\n",
        "<h1 id=\"top\">Onrush target</h1>\n",
        "<p class=\"links\"><a href=\"/get\">get</a> <a href=\"/redirect/2\">redirect</a></p>\n",
        "<form action=\"/post\" method=\"post\">\n<input type=\"text\" name=\"name\" value=\"visitor\">\n",
        "<select name=\"size\"><option value=\"s\">small</option><option value=\"l\" \
         selected>large</option></select>\n",
        "<input type=\"checkbox\" name=\"extra\" value=\"yes\" checked>\n<button \
         type=\"submit\">send</button>\n</form>\n",
        "</body>\n</html>\n"
    );
    Response::new(200, "text/html; charset=utf-8", Body::Static(PAGE.as_bytes())).into()
}

/// Version 4; from a fast generator, so not for secrets.
pub(crate) fn uuid(_: &Request<'_>) -> Reply {
    let bits = fastrand::u128(..) & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    Response::json(200, &json!({ "uuid": uuid })).into()
}

/// Headers the connection owns are left out: a query must not break the framing.
pub(crate) fn response_headers(request: &Request<'_>) -> Reply {
    const OWN: [&str; 5] = ["content-length", "transfer-encoding", "connection", "date", "server"];
    let args = request.args();
    let mut response = Response::json(200, &json!(args));
    let fits = |name: &str| is_token(name) && !OWN.iter().any(|own| name.eq_ignore_ascii_case(own));
    for (name, values) in args.into_iter().filter(|(name, _)| fits(name)) {
        if name.eq_ignore_ascii_case("content-type") {
            response.content_type = values.into_iter().next().map(Cow::Owned);
            continue;
        }
        let lines = values.into_iter().map(|value| -> Line { (name.clone().into(), value.into()) });
        response.headers.extend(lines);
    }
    response.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_depends_on_the_seed_alone() {
        let all = |seed| noise_pieces(300, 128, seed).flat_map(|p| p.bytes).collect::<Vec<_>>();
        assert_eq!(all(Some(7)).len(), 300);
        assert_eq!(all(Some(7)), all(Some(7)));
        assert_ne!(all(Some(7)), all(Some(8)));
        assert_eq!(all(None).len(), 300);
    }
}
