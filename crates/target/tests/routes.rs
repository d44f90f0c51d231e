//! What each route answers, over real sockets.

#![allow(clippy::unwrap_used)]

mod client;

use std::io::{ErrorKind, Read};

use client::{connect, server};
use md5::{Digest, Md5};
use serde_json::json;

#[test]
fn echoes_have_go_httpbins_shapes() {
    let server = server(1);
    let mut client = connect(&server);
    let echo = client.get_with("/get?a=1&a=2&b=x%20y", "x-one: 1\r\nX-One: 2\r\n").json();
    let want = json!({
        "args": { "a": ["1", "2"], "b": ["x y"] },
        "headers": { "Host": ["localhost"], "X-One": ["1", "2"] },
        "method": "GET",
        "origin": "127.0.0.1",
        "url": "http://localhost/get?a=1&a=2&b=x%20y",
    });
    assert_eq!(echo, want);
    let form = client.post("/post", "application/x-www-form-urlencoded", b"a=1&b=%26&a=2").json();
    assert_eq!(
        (&form["form"], &form["data"], &form["json"]),
        (&json!({"a": ["1", "2"], "b": ["&"]}), &json!(""), &json!(null))
    );
    let sent = client.post("/anything/deep/er", "application/json", b"{\"a\": [1]}").json();
    assert_eq!((&sent["json"], &sent["data"]), (&json!({"a": [1]}), &json!("{\"a\": [1]}")));
    assert_eq!(client.post("/post", "application/json", b"{").status, 400);
    assert_eq!(client.get_with("/user-agent", "User-Agent: me\r\n").json(), json!({ "user-agent": "me" }));
    assert_eq!(client.get("/headers").json(), json!({ "headers": { "Host": ["localhost"] } }));
}

#[test]
fn statuses() {
    let server = server(1);
    let mut client = connect(&server);
    for status in [200, 204, 205, 304, 404, 500, 599] {
        assert_eq!(client.get(&format!("/status/{status}")).status, status);
    }
    assert_eq!(client.get("/status/301").header("location"), Some("/redirect/1"));
    assert!([200, 500].contains(&client.get("/status/200,500").status));
    assert_eq!(client.get("/status/99").status, 400);
}

#[test]
fn redirects_lead_to_get() {
    let server = server(1);
    let mut client = connect(&server);
    for (path, first) in [
        ("/redirect/3", "/relative-redirect/2"),
        ("/relative-redirect/2", "/relative-redirect/1"),
        ("/absolute-redirect/2", "http://localhost/absolute-redirect/1"),
        ("/redirect/2?absolute=true", "http://localhost/absolute-redirect/1"),
        ("/redirect/1", "/get"),
    ] {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.header("location")), (302, Some(first)), "{path}");
    }
    assert_eq!(client.get("/redirect/0").status, 400);
    let answer = client.get("/redirect-to?url=http%3A%2F%2Fx%2Fy%0d%0aA:b&status_code=307");
    assert_eq!((answer.status, answer.header("location")), (307, Some("http://x/y  A:b")));
}

#[test]
fn cookies_are_set_shown_and_expired() {
    let server = server(1);
    let mut client = connect(&server);
    let answer = client.get("/cookies/set?a=1&b=x;y");
    assert_eq!((answer.status, answer.header("location")), (302, Some("/cookies")));
    assert!(answer.head.contains("Set-Cookie: a=1; HttpOnly\r\nSet-Cookie: b=xy; HttpOnly\r\n"), "{}", answer.head);
    assert!(client.get("/cookies/delete?a").head.contains("Set-Cookie: a=; Expires="));
    assert_eq!(client.get_with("/cookies", "Cookie: a=1; b=\"2\"\r\n").json(), json!({ "a": "1", "b": "2" }));
}

#[test]
fn authentication() {
    let server = server(1);
    let mut client = connect(&server);
    let denied = client.get("/basic-auth/u/p");
    assert_eq!((denied.status, denied.header("www-authenticate")), (401, Some("Basic realm=\"onrush\"")));
    let ok = client.get_with("/basic-auth/u/p", "Authorization: Basic dTpw\r\n");
    assert_eq!((ok.status, ok.json()), (200, json!({ "authenticated": true, "user": "u", "authorized": true })));
    assert_eq!(client.get_with("/basic-auth/u/q", "Authorization: Basic dTpw\r\n").status, 401);
    assert_eq!(client.get("/hidden-basic-auth/u/p").status, 404);
    assert_eq!(client.get_with("/bearer", "Authorization: Bearer t\r\n").json()["token"], "t");
    assert_eq!(client.get("/bearer").status, 401);
}

#[test]
fn digest_authentication() {
    let server = server(1);
    let mut client = connect(&server);
    let challenge = client.get("/digest-auth/auth/u/p");
    let header = challenge.header("www-authenticate").unwrap();
    let nonce = header.split_once("nonce=\"").unwrap().1.split_once('"').unwrap().0.to_owned();
    let hex = |text: String| Md5::digest(text).iter().map(|b| format!("{b:02x}")).collect::<String>();
    let uri = "/digest-auth/auth/u/p";
    let (secret, what) = (hex("u:onrush:p".into()), hex(format!("GET:{uri}")));
    let response = hex(format!("{secret}:{nonce}:00000001:c:auth:{what}"));
    let answer = |response: &str| {
        format!(
            "Authorization: Digest username=\"u\", realm=\"onrush\", nonce=\"{nonce}\", uri=\"{uri}\", qop=auth, \
             nc=00000001, cnonce=\"c\", response=\"{response}\"\r\n"
        )
    };
    assert_eq!((challenge.status, client.get_with(uri, &answer(&response)).status), (401, 200));
    assert_eq!(client.get_with(uri, &answer(&what)).status, 401);
    let sha = client.get("/digest-auth/auth/u/p/SHA-256");
    assert!(sha.header("www-authenticate").unwrap().contains("algorithm=SHA-256"));
}

#[test]
fn content_codings() {
    let server = server(1);
    let mut client = connect(&server);
    for (path, coding) in
        [("/gzip", "gzip"), ("/deflate", "deflate"), ("/brotli", "br"), ("/zstd", "zstd"), ("/zstd-br", "zstd, br")]
    {
        let answer = client.get(path);
        assert_eq!(answer.header("content-encoding"), Some(coding));
        assert!(!answer.body.starts_with(b"{"), "{path} is not encoded");
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(&client.get("/gzip").body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["gzipped"], true);
}

#[test]
fn bytes_and_ranges() {
    let server = server(1);
    let mut client = connect(&server);
    for n in [0, 1, 70_000, 1 << 20, (1 << 20) + 1] {
        let answer = client.get(&format!("/bytes/{n}"));
        assert_eq!((answer.body.len(), answer.header("content-length")), (n, Some(n.to_string().as_str())));
    }
    assert_eq!(client.get("/bytes/500?seed=4").body, client.get("/bytes/500?seed=4").body);
    assert_ne!(client.get("/bytes/500?seed=4").body, client.get("/bytes/500").body);
    let part = client.get_with("/range/26", "Range: bytes=2-4\r\n");
    assert_eq!((part.status, part.text(), part.header("content-range")), (206, "cde", Some("bytes 2-4/26")));
    assert_eq!(client.get_with("/range/26", "Range: bytes=26-\r\n").status, 416);
}

#[test]
fn streams_and_trailers() {
    let server = server(1);
    let mut client = connect(&server);
    let lines = client.get("/stream/3");
    let ids: Vec<_> =
        lines.text().lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [0, 1, 2]);
    assert_eq!(client.get("/stream-bytes/200001?chunk_size=1000").body.len(), 200_001);
    assert_eq!(client.get("/drip?numbytes=5&duration=10ms").text(), "*****");
    let trailers = client.get("/trailers?X-Sum=7");
    assert_eq!((trailers.header("trailer"), trailers.trailers.as_str()), (Some("X-Sum"), "X-Sum: 7\r\n\r\n"));
    client.send("GET /early-hints HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.until("\r\n\r\n").starts_with("HTTP/1.1 103 Early Hints\r\nLink: "));
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.get("/delay/1ms").status, 200);
    assert_eq!(client.get("/delay/never").status, 400);
    assert_eq!(client.get("/response-headers?X-A=1&Content-Length=9").header("x-a"), Some("1"));
    let uuid = client.get("/uuid").json()["uuid"].as_str().unwrap().to_owned();
    assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
    for path in ["/json", "/html", "/uuid", "/ip"] {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
}

#[test]
fn faults_misbehave_as_described() {
    let server = server(1);
    let fault = |path: &str| {
        let mut client = connect(&server);
        client.send(format!("GET /fault/{path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        client
    };
    let reset = fault("reset").socket.read(&mut [0; 9]).unwrap_err();
    assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
    fault("no-response").assert_closed();
    assert!(!fault("garbage").rest().starts_with(b"HTTP/"));
    let mut partial = fault("partial");
    assert!(partial.until("\r\n\r\n").contains("Content-Length: 1000\r\n"));
    assert_eq!(partial.rest().len(), 500);
    let mut surplus = fault("wrong-length");
    assert_eq!(surplus.answer().body.len(), 10);
    assert_eq!(surplus.until("9"), "0123456789");
    assert_eq!(surplus.get("/").status, 200);
    drop(surplus);
    assert!(fault("bad-chunk").rest().ends_with(b"\r\n\r\n5\r\nhello\r\nzz\r\nworld\r\n"));
    assert_eq!(fault("big-header?kb=100").answer().header("x-big").map(str::len), Some(102_400));
    let mut idle = fault("close-idle?after=5ms");
    assert_eq!(idle.answer().header("connection"), Some("keep-alive"));
    idle.assert_closed();
    let stalled = fault("stall");
    client::wait_until(|| server.requests() == 10);
    client::wait_until(|| server.stats()["connections"]["open"] == 1);
    drop(stalled);
    client::wait_until(|| server.stats()["connections"]["open"] == 0);
}
