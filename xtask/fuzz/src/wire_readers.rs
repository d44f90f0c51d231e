//! Readers of `wire` and `server` that other subjects reach seldom or never: fields of heads, settings, keys.
//!
//! What must hold of each stands beside its function, in the crate's own `fuzzing`.

use server::fuzzing as target;
use wire::fuzzing as client;

use super::network;
use super::subjects::Subject;

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        name: "proxy",
        examples: &[
            "http://u:hunter2@proxy.test:3128\nsocks5h://n:hunter2@[::1]\na.test,.b.test:80,10.0.0.0/8,[fd00::1]:9,*",
            "proxy.test\n\n*.x., 127.0.0.1 ,*",
        ],
        words: &["http://", "socks5://", "@", ":", "[", "]", "/8", "*", ",", "%0d%0a", ".", "\n"],
        start: || Ok(Box::new(client::proxy)),
    },
    Subject {
        name: "socks",
        examples: &[
            "\u{5}\0|\u{5}\0\0\u{1}\0\0\0\0\0\0|HTTP/1.1 204 No Content\r\n\r\n",
            "\u{5}\u{2}|\u{1}\0|\u{5}\0\0\u{3}\u{1}x\0\u{1}|HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "\u{5}\u{2}|\u{1}\u{1}",
            "\u{5}\0|\u{5}\u{5}\0\u{4}0123456789abcdef\0\0",
        ],
        words: &["|", "\u{5}", "\0", "\u{1}", "\u{3}", "\u{4}", "\u{7f}", "HTTP/1.1 "],
        start: network::socks,
    },
    Subject {
        name: "challenge",
        examples: &[
            "Digest realm=\"r\\\"\", qop=\"auth,auth-int\", nonce=\"n,=\", opaque=\"o\\\\\", algorithm=SHA-256-sess, \
             userhash=true, stale=TRUE",
            "Negotiate, Basic realm=\"x\", Digest realm=a, nonce=b\nDigest nonce=\"\", realm=\"\", algorithm=MD5",
        ],
        words: &["Digest ", "realm=", "nonce=", "qop=", "algorithm=", "\"", "\\", ", ", "=", "-sess", "\n", "\t"],
        start: || Ok(Box::new(client::challenge)),
    },
    Subject {
        name: "identity",
        examples: &[],
        words: &[
            "-----BEGIN CERTIFICATE-----\n",
            "-----END CERTIFICATE-----\n",
            "-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
            "Proc-Type: 4,ENCRYPTED\n",
            "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n",
            "-----",
            "MII",
            "=",
        ],
        start: || Ok(Box::new(client::identity)),
    },
    Subject {
        name: "issuers",
        examples: &[],
        words: &[
            "-----BEGIN CERTIFICATE-----\n",
            "-----END CERTIFICATE-----\n",
            "0\u{3}",
            "http://",
            "\u{6}\u{8}+",
            "MII",
        ],
        start: || Ok(Box::new(client::issuers)),
    },
    Subject {
        name: "hpack",
        examples: &["\u{3}\u{40}\u{1}x\u{1}y\u{3e}", "\0\u{3f}\u{61}\u{10}\u{1}a\u{2}bc\u{7f}\u{1}", "www.example.com"],
        words: &["\u{3f}", "\u{40}", "\u{20}", "\u{7f}", "\u{1}", "\0", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
        start: || Ok(Box::new(client::hpack)),
    },
    Subject {
        name: "hosts",
        examples: &[
            "a.test=1.2.3.4\n*.b.test=[::1]:80\nC.test:8080=unix:/x\nd=unix:@n\n10.0.0.0/8\n::ffff:1.2.3.4/100",
            "10.0.0.1\nfd00::/8\n*\n10.1.2.3/8",
        ],
        words: &["=", "*", ".", ":", "[", "]", "/", "unix:", "::ffff:", "\n", "-", ","],
        start: || Ok(Box::new(client::hosts)),
    },
    Subject {
        name: "mask",
        examples: &[
            "http://u:p@h/a?token=abc&x=1#sig=9",
            "Get \"https://h/?next=%2Fhome%3Ftoken%3Dabc%26b\": dial 'http://a:b@c/?X-Amz-Signature=1'",
        ],
        words: &["://", "@", "?", "&", "#", "=", "%3D", "%3f", "%26", "token=", "\"", " ", "****", "%"],
        start: || Ok(Box::new(client::mask)),
    },
    Subject {
        name: "response-head",
        examples: &[
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX : y\r\nA: b\r\n c\r\n\r\nhello",
            "\r\nHTTP/1.0 999 \nA:\n\tb\n\n",
            "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\nConnection: close, x\r\nKeep-Alive: timeout=5\r\n\r\n0\r\n",
        ],
        words: &["\r\n", "\n", " ", "\t", ":", "HTTP/1.1 ", "\r\n\r\n", "Content-Length: ", "chunked", "\0"],
        start: || Ok(Box::new(client::response_head)),
    },
    Subject {
        name: "upgrade",
        examples: &[
            "Upgrade: websocket\nConnection: keep-alive, Upgrade\nSec-WebSocket-Version: 13\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nSec-WebSocket-Protocol: a, b\n\
             Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits; server_max_window_bits=9, x",
            "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\n\
             Sec-WebSocket-Protocol: a\nSec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover",
        ],
        words: &[
            "permessage-deflate",
            "; ",
            ", ",
            "=",
            "\"",
            "server_max_window_bits=",
            "client_max_window_bits=",
            "server_no_context_takeover",
            "Sec-WebSocket-Extensions: ",
            "\n",
        ],
        start: || Ok(Box::new(client::upgrade)),
    },
    Subject {
        name: "cookie-date",
        examples: &[
            "Wed, 21 Oct 2099 07:28:00 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Thu, 01 Jan 1970 00:00:00 GMT",
        ],
        words: &["Mon", "Tue", "Feb", "29", "31", " ", "-", ":", "GMT", "00", "60", "1601", "9999", ", "],
        start: || Ok(Box::new(cookie_date)),
    },
    Subject {
        name: "range",
        examples: &["bytes=0-0", "bytes=5-", "bytes=-3", "bytes=99-100", "bytes=3-2", "bytes=0-1,3-4"],
        words: &["bytes=", "-", ",", " ", "+", "18446744073709551616", "0", "x"],
        start: || Ok(Box::new(target::range)),
    },
    Subject {
        name: "form",
        examples: &[
            "multipart/form-data; charset=utf-8; boundary=\"B\"\n--B\r\nContent-Disposition: form-data; \
             name=\"a\"\r\n\r\n1\r\n2\r\n--B\r\ncontent-disposition: form-data; name=f; \
             filename=\"x;\\\"y.txt\"\r\nContent-Type: text/plain\r\n\r\nx--Bad\r\n--B--\r\n",
            "application/x-www-form-urlencoded\na=b&c=%ff+d&&=",
            "application/json\n{\"a\":[1,null]}",
        ],
        words: &["--B", "\r\n", "\r\n\r\n", "--", "name=\"", "filename=", ";", "\\\"", "%22", "boundary=", "\n"],
        start: || Ok(Box::new(forms)),
    },
    Subject {
        name: "waits",
        examples: &["uniform(1ms,9ms)", "lognormal(5ms,0.5)", "pareto(1ms,2)", "list(1ms,5ms)", "normal(5ms,1s)"],
        words: &["(", ")", ",", "exponential", "constant", "ms", "s", "inf", "1e-300", "1e300", "60s"],
        start: || Ok(Box::new(target::waits)),
    },
];

/// Dates that the crate httpdate reads, too, are the same dates; of the form of RFC 850 it does not look at all spaces.
fn cookie_date(input: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let ours = client::parse_date(&text);
    let Ok(theirs) = httpdate::parse_http_date(&text) else { return Ok(()) };
    if text.contains('-') {
        return Ok(());
    }
    let theirs = theirs.duration_since(std::time::UNIX_EPOCH).map_err(|error| error.to_string())?.as_millis();
    match ours.and_then(|ms| u128::try_from(ms).ok()) {
        Some(ms) if ms == theirs => Ok(()),
        // The one has leap seconds; cookies have none.
        None if text.contains(":60") => Ok(()),
        other => Err(format!("{text:?} is {other:?} ms after 1970, by httpdate {theirs}")),
    }
}

/// The readers of the target's routes and of apps.
fn forms(input: &[u8]) -> Result<(), String> {
    target::form(input)?;
    app::fuzzing::form(input)
}
