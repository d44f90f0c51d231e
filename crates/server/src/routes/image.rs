//! A small picture in four formats, chosen by path or by the `Accept` header.
//!
//! The picture, a wave of 64 by 64 pixels, was drawn by arithmetic for this purpose; nobody else's file is here.

use crate::outgoing::respond::{Body, Reply, Response};
use crate::request::Request;

/// One format: the last part of its path, its type, the file.
type Format = (&'static str, &'static str, &'static [u8]);

const SVG: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 64 64\" width=\"64\" height=\"64\">\n\
    <rect width=\"64\" height=\"64\" fill=\"#faf6ec\"/>\n\
    <path d=\"M0 34q8-18 20-6t20 8 24-2v30H0z\" fill=\"#1c76a8\" stroke=\"#fff\" stroke-width=\"3\"/>\n</svg>\n";

/// In the order in which they are preferred where a client takes all of them.
const FORMATS: [Format; 4] = [
    ("png", "image/png", include_bytes!("image/wave.png")),
    ("jpeg", "image/jpeg", include_bytes!("image/wave.jpg")),
    ("webp", "image/webp", include_bytes!("image/wave.webp")),
    ("svg", "image/svg+xml", SVG),
];

fn image((_, kind, bytes): Format) -> Response {
    Response::new(200, kind, Body::Static(bytes))
}

pub(crate) fn of_kind(request: &Request<'_>) -> Reply {
    let name = request.param(0);
    let format = FORMATS.iter().find(|(n, ..)| *n == name);
    format.map_or_else(|| Response::error(404, "the images are png, jpeg, webp and svg"), |f| image(*f)).into()
}

/// The format a client likes best; weights are heeded, the most exact of several ranges is not searched for.
pub(crate) fn accepted(request: &Request<'_>) -> Reply {
    let accept = request.header("accept").unwrap_or("*/*".into());
    let best =
        accept.split(',').filter_map(liked).fold(None, |best: Option<(f64, Format)>, (weight, format)| match best {
            Some((heaviest, _)) if heaviest >= weight => best,
            _ => Some((weight, format)),
        });
    let response = best.map_or_else(
        || Response::error(406, "the images are image/png, image/jpeg, image/webp and image/svg+xml"),
        |(_, format)| image(format),
    );
    response.header("Vary", "Accept").into()
}

/// One part of `Accept`: its weight and the first format it covers; nothing when there is none or the weight is 0.
fn liked(part: &str) -> Option<(f64, Format)> {
    let mut parts = part.split(';').map(str::trim);
    let range = parts.next()?.to_ascii_lowercase();
    let weight = parts.find_map(|p| p.strip_prefix("q=")?.parse::<f64>().ok()).unwrap_or(1.0);
    let format = FORMATS.iter().find(|(_, kind, _)| range == "*/*" || range == "image/*" || range == *kind)?;
    (weight > 0.0).then_some((weight, *format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_decide_and_order_decides_between_equals() {
        let best = |accept: &str| {
            let parts: Vec<_> = accept.split(',').filter_map(liked).map(|(w, f)| (w, f.0)).collect();
            parts.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, name)| name)
        };
        for (accept, want) in [
            ("image/webp,image/png", Some("webp")),
            ("image/png;q=0.5, image/svg+xml;q=0.9", Some("svg")),
            ("text/html, image/*;q=0.1", Some("png")),
            ("image/webp;q=0, text/html", None),
        ] {
            assert_eq!(best(accept), want, "{accept}");
        }
    }
}
