//! Small documents of the kinds that clients parse, and pages that lead to one another.

use std::fmt::Write;

use serde_json::json;

use crate::outgoing::respond::{BINARY, Body, Reply, Response, TEXT};
use crate::request::{Request, bad_request, number};

const HTML: &str = "text/html; charset=utf-8";

pub(crate) fn robots(_: &Request<'_>) -> Reply {
    Response::text(200, "User-agent: *\nDisallow: /deny\n").into()
}

/// What `robots.txt` asks robots to leave alone.
pub(crate) fn deny(_: &Request<'_>) -> Reply {
    Response::text(200, "robots were asked not to come here\n").into()
}

pub(crate) fn xml(_: &Request<'_>) -> Reply {
    const DOCUMENT: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<fleet harbour=\"north\">\n  \
        <ship name=\"Gale\" sails=\"3\"><crew>14</crew></ship>\n  <ship name=\"Swell &amp; Sons\" sails=\"1\"/>\n\
        <!-- more to come -->\n</fleet>\n";
    Response::new(200, "application/xml", Body::Static(DOCUMENT.as_bytes())).into()
}

/// Letters of one, two, three and four bytes, composed and right to left.
pub(crate) fn utf8(_: &Request<'_>) -> Reply {
    const PAGE: &str = "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>UTF-8</title></head><body>\n\
        <p>sea, S\u{f8}, \u{39f}\u{3b4}\u{3cd}\u{3c3}\u{3c3}\u{3b5}\u{3b9}\u{3b1}, \u{43c}\u{43e}\u{440}\u{435}, \
        \u{d9}\u{308}, \u{5d9}\u{5dd}, \u{628}\u{62d}\u{631}, \u{6d77}, \u{bc14}\u{b2e4}, \u{1f30a}</p>\n\
        <p>\u{20ac}5 \u{2264} \u{221e}, 0\u{2009}\u{b5}s, \u{201e}low\u{201c}, \u{1d7d8}</p>\n</body></html>\n";
    Response::new(200, HTML, Body::Static(PAGE.as_bytes())).into()
}

pub(crate) fn form(_: &Request<'_>) -> Reply {
    const PAGE: &str = "<!doctype html>\n<html><head><title>Order</title></head><body>\n\
        <form action=\"/post\" method=\"post\">\n<input name=\"custname\"> <input type=\"email\" name=\"custemail\">\n\
        <label><input type=\"radio\" name=\"size\" value=\"small\">small</label>\n\
        <label><input type=\"radio\" name=\"size\" value=\"large\">large</label>\n\
        <label><input type=\"checkbox\" name=\"topping\" value=\"cheese\">cheese</label>\n\
        <textarea name=\"comments\"></textarea>\n<button>send</button>\n</form>\n</body></html>\n";
    Response::new(200, HTML, Body::Static(PAGE.as_bytes())).into()
}

/// `n` pages that link to each other; this one by its number does not link to itself.
pub(crate) fn links(request: &Request<'_>) -> Reply {
    let numbers = number("the number of links", &request.param(0), 1..=200).and_then(|n| {
        let here = request.param(1);
        Ok((n, if here.is_empty() { 0 } else { number("the page", &here, 0..=n - 1)? }))
    });
    let (n, here) = match numbers {
        Ok(numbers) => numbers,
        Err(reply) => return *reply,
    };
    let mut page = "<!doctype html>\n<html><head><title>Links</title></head><body>\n".to_owned();
    for other in 0..n {
        let line = match other == here {
            true => writeln!(page, "{other}"),
            false => writeln!(page, "<a href=\"/links/{n}/{other}\">{other}</a>"),
        };
        line.expect("a String takes every write");
    }
    page.push_str("</body></html>\n");
    Response::new(200, HTML, Body::Bytes(page.into_bytes())).into()
}

/// Decodes standard or URL-safe base64, with or without padding.
pub(crate) fn base64(request: &Request<'_>) -> Reply {
    let text = request.param(0);
    let standard = text.replace('-', "+").replace('_', "/");
    match base64_simd::STANDARD_NO_PAD.decode_to_vec(standard.trim_end_matches('=')) {
        Ok(bytes) if std::str::from_utf8(&bytes).is_ok() => Response::new(200, TEXT, Body::Bytes(bytes)).into(),
        Ok(bytes) => Response::new(200, BINARY, Body::Bytes(bytes)).into(),
        Err(_) => *bad_request(&format!("the value is {text:?}, expected base64")),
    }
}

pub(crate) fn to_base64(request: &Request<'_>) -> Reply {
    let encoded = base64_simd::STANDARD.encode_to_string(request.param(0).as_bytes());
    Response::new(200, TEXT, Body::Bytes(encoded.into_bytes())).into()
}

pub(crate) fn hostname(_: &Request<'_>) -> Reply {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Response::json(200, &json!({ "hostname": name.trim() })).into()
}

/// The request as it came, for debugging clients; the body when it is short enough to be kept.
pub(crate) fn dump(request: &Request<'_>) -> Reply {
    let head = request.head;
    let mut text = format!("{} {} HTTP/1.{}\r\n", head.method, head.target, head.minor).into_bytes();
    for line in head.headers.iter() {
        text.extend_from_slice(&[line.name.as_bytes(), b": ", line.value, b"\r\n"].concat());
    }
    text.extend_from_slice(b"\r\n");
    text.extend_from_slice(request.body);
    Response::new(200, TEXT, Body::Bytes(text)).into()
}
