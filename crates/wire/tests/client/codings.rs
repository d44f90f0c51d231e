//! Content codings of responses.

use onrush_wire::codec::{Coding, DecodeLimits, encode};
use onrush_wire::request::BodyUse;
use onrush_wire::settings::SizeLimits;
use onrush_wire::{Body, FailureKind, Payload, Request, Settings, Step};

use crate::server::{Scripted, Seen, body, get, response, send_all};

const TEXT: &str = "some text, some more text, and more of it";

fn packed(coding: Coding, bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    encode(coding, &Payload::from_bytes(bytes.to_vec()))
        .unwrap()
        .read(|piece| packed.extend_from_slice(piece))
        .unwrap();
    packed
}

fn serve(seen: &Seen) -> Vec<u8> {
    let coded = |name: &str, bytes: Vec<u8>| response("200 OK", &[&format!("content-encoding: {name}")], &bytes);
    match seen.target.as_str() {
        "/two" => coded("gzip, br", packed(Coding::Brotli, &packed(Coding::Gzip, TEXT.as_bytes()))),
        "/short" => coded("gzip", packed(Coding::Gzip, TEXT.as_bytes())[..20].to_vec()),
        "/bomb" => coded("zstd", packed(Coding::Zstd, &vec![0; 1 << 20])),
        "/plain" => response("200 OK", &[], TEXT.as_bytes()),
        path => coded(&path[1..], packed(Coding::parse(&path[1..]).unwrap(), TEXT.as_bytes())),
    }
}

#[test]
fn bodies_arrive_decoded_and_the_header_stays() {
    let server = Scripted::start(serve);
    let paths = ["/gzip", "/deflate", "/br", "/zstd", "/two", "/plain"];
    let requests = paths.map(|p| get(&server.url(p)));
    for (exchanges, path) in send_all(Settings::default(), &requests, None).iter().zip(paths) {
        assert_eq!(body(&exchanges[0]), TEXT.as_bytes(), "{path}");
        let kept = exchanges[0].outcome.as_ref().unwrap().header("Content-Encoding").is_some();
        assert_eq!(kept, path != "/plain");
    }
    assert_eq!(server.last().header("accept-encoding"), "-", "nobody asked for codings");
}

#[test]
fn damaged_and_oversized_bodies_fail_and_the_connection_goes_on() {
    let server = Scripted::start(serve);
    let standard = Settings::default();
    let decoded = DecodeLimits { bytes: 1000, ..DecodeLimits::default() };
    let settings = Settings { sizes: SizeLimits { decoded, ..standard.sizes }, ..standard };
    let requests = ["/short", "/bomb", "/gzip"].map(|p| get(&server.url(p)));
    let all = send_all(settings, &requests, None);
    let rows = [
        (0, FailureKind::Other, "unexpected EOF"),
        (
            1,
            FailureKind::BodyTooLarge,
            "response body too large: it decodes to more than 1000 bytes, the limit of the option maxDecodedBody",
        ),
    ];
    for (at, kind, says) in rows {
        let failure = all[at][0].outcome.as_ref().unwrap_err();
        assert_eq!((failure.step, failure.kind, failure.message.as_str()), (Step::Decode, kind, says));
        assert!(all[at][0].bytes_received > 0 && all[at][0].connection.is_some());
    }
    assert_eq!(body(&all[2][0]), TEXT.as_bytes());
    assert!(all[2][0].connection.as_ref().unwrap().reused, "a damaged body is no reason to close");
}

#[test]
fn discarded_bodies_are_not_decoded() {
    let server = Scripted::start(serve);
    let request = Request { body_use: BodyUse::Discard, ..get(&server.url("/short")) };
    let all = send_all(Settings::default(), &[request], None);
    let response = all[0][0].outcome.as_ref().unwrap();
    assert!(matches!(response.body, Body::Discarded(20)), "{:?}", response.body);
}
