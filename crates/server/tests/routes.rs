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
    for (tag, status) in [("\"range26\"", 206), ("\"range25\"", 200)] {
        let range = format!("Range: bytes=2-4\r\nIf-Range: {tag}\r\n");
        assert_eq!(client.get_with("/range/26", &range).status, status, "{tag}");
    }
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
fn caches_and_conditions() {
    let server = server(1);
    let mut client = connect(&server);
    let fresh = client.get("/cache");
    assert_eq!((fresh.status, fresh.header("etag")), (200, Some("\"onrush\"")));
    assert!(fresh.header("last-modified").is_some());
    for condition in ["If-None-Match: x\r\n", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n"] {
        assert_eq!(client.get_with("/cache", condition).status, 304);
    }
    assert_eq!(client.get("/cache/60").header("cache-control"), Some("public, max-age=60"));
    assert_eq!(client.get("/cache/never").status, 400);
    for (condition, status) in [
        ("", 200),
        ("If-None-Match: \"b\", W/\"a\"\r\n", 304),
        ("If-None-Match: \"b\"\r\n", 200),
        ("If-Match: \"a\"\r\n", 200),
        ("If-Match: \"b\"\r\n", 412),
    ] {
        let answer = client.get_with("/etag/a", condition);
        assert_eq!((answer.status, answer.header("etag")), (status, Some("\"a\"")), "{condition}");
    }
}

#[test]
fn pictures_are_what_they_say() {
    let server = server(1);
    let mut client = connect(&server);
    let starts: [(&str, &str, &[u8]); 4] = [
        ("png", "image/png", b"\x89PNG\r\n\x1a\n"),
        ("jpeg", "image/jpeg", b"\xff\xd8\xff"),
        ("webp", "image/webp", b"RIFF"),
        ("svg", "image/svg+xml", b"<svg "),
    ];
    for (name, kind, start) in starts {
        let picture = client.get(&format!("/image/{name}"));
        assert_eq!((picture.header("content-type"), picture.body.starts_with(start)), (Some(kind), true), "{name}");
        let accepted = client.get_with("/image", &format!("Accept: text/html, {kind};q=0.8\r\n"));
        assert_eq!(accepted.body, picture.body, "{name}");
    }
    assert_eq!(client.get("/image").header("content-type"), Some("image/png"));
    assert_eq!(client.get_with("/image", "Accept: image/avif\r\n").status, 406);
    assert_eq!(client.get("/image/gif").status, 404);
}

#[test]
fn documents() {
    let server = server(1);
    let mut client = connect(&server);
    for (path, kind, part) in [
        ("/robots.txt", "text/plain; charset=utf-8", "Disallow: /deny"),
        ("/deny", "text/plain; charset=utf-8", "not to come"),
        ("/xml", "application/xml", "Swell &amp; Sons"),
        ("/encoding/utf8", "text/html; charset=utf-8", "\u{6d77}"),
        ("/forms/post", "text/html; charset=utf-8", "action=\"/post\""),
        ("/base64/aGVsbG8_", "text/plain; charset=utf-8", "hello?"),
        ("/base64/decode/aGk%3D", "text/plain; charset=utf-8", "hi"),
        ("/base64/encode/hello%3F", "text/plain; charset=utf-8", "aGVsbG8/"),
        ("/base64/_w", "application/octet-stream", ""),
    ] {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)), "{path}");
        assert!(String::from_utf8_lossy(&answer.body).contains(part), "{path}: {answer:?}");
    }
    assert_eq!(client.get("/base64/a").status, 400);
    let page = client.get("/links/3/1");
    let hrefs: Vec<_> = page.text().split("href=\"").skip(1).map(|part| part.split_once('"').unwrap().0).collect();
    assert_eq!(hrefs, ["/links/3/0", "/links/3/2"]);
    assert_eq!((client.get("/links/2").text().matches("href").count(), client.get("/links/3/3").status), (1, 400));
    assert!(!client.get("/hostname").json()["hostname"].as_str().unwrap().is_empty());
    client.send("POST /dump/request?a=b HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(client.answer().text(), "POST /dump/request?a=b HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(client.get("/unstable?failure_rate=0").status, 200);
    assert_eq!(client.get("/unstable?failure_rate=1").status, 500);
    assert_eq!(client.get("/unstable?failure_rate=2").status, 400);
    let events = client.get("/sse?count=3&duration=20ms");
    let want = ["0,\"ms\":0", "1,\"ms\":10", "2,\"ms\":20"].map(|id| format!("event: ping\ndata: {{\"id\":{id}}}\n\n"));
    assert_eq!((events.text(), events.header("content-type")), (want.concat().as_str(), Some("text/event-stream")));
    let before = wire::wall_ns() / 1000;
    let events = client.get("/sse?count=3&duration=20ms&stamp=1");
    let (texts, stamps): (Vec<_>, Vec<_>) =
        events.text().split_terminator("}\n\n").map(|event| event.split_once(",\"sent\":").unwrap()).unzip();
    assert!(texts.iter().zip(&want).all(|(text, want)| want.strip_prefix(text) == Some("}\n\n")), "{texts:?}");
    let stamps: Vec<u64> = stamps.iter().map(|stamp| stamp.parse().unwrap()).collect();
    assert!(
        before <= stamps[0] && stamps[0] + 9_000 < stamps[1] && stamps[2] <= wire::wall_ns() / 1000,
        "{before}, {stamps:?}"
    );
    assert_eq!(client.get("/sse?stamp=2").status, 400);
}

#[test]
fn a_chat_completion_comes_at_once_or_by_tokens() {
    let server = server(1);
    let mut client = connect(&server);
    let mut ask = |query: &str, body: &str| {
        let (path, length) = ("/v1/chat/completions", body.len());
        client.send(format!("POST {path}?{query} HTTP/1.1\r\nhost: a\r\nContent-Length: {length}\r\n\r\n{body}"));
        client.answer()
    };
    let begun = std::time::Instant::now();
    let whole = ask("first=30ms&gap=10ms", r#"{"max_tokens":3,"model":"m"}"#).json();
    assert!(begun.elapsed().as_millis() >= 50);
    assert_eq!((&whole["model"], &whole["usage"]["completion_tokens"]), (&"m".into(), &3.into()));
    assert_eq!(whole["choices"][0]["message"]["content"], "load is what");
    let stream = r#"{"max_tokens":2,"stream":true,"stream_options":{"include_usage":true}}"#;
    let streamed = ask("first=1ms&gap=1ms", stream);
    assert_eq!(streamed.header("content-type"), Some("text/event-stream"));
    let events: Vec<&str> = streamed.text().split("\n\n").map(|event| event.trim_start_matches("data: ")).collect();
    assert_eq!((events.len(), events[4], events[5]), (6, "[DONE]", ""));
    let chunk = |at: usize| serde_json::from_str::<serde_json::Value>(events[at]).unwrap();
    assert_eq!(chunk(1)["choices"][0]["delta"]["content"], " is");
    assert_eq!(chunk(2)["choices"][0]["finish_reason"], "length");
    assert_eq!(chunk(3)["usage"]["total_tokens"], 3);
    for (query, body) in [("", "no"), ("", r#"{"max_tokens":0}"#), ("gap=x", "{}")] {
        assert_eq!(ask(query, body).status, 400, "{query} {body}");
    }
}

#[test]
fn holds_follow_their_law_and_tell_the_truth() {
    let ask = |client: &mut client::Client<std::net::TcpStream>, query: &str| {
        let begun = std::time::Instant::now();
        let answer = client.get(&format!("/delay-list?{query}"));
        let took = begun.elapsed().as_secs_f64() * 1e3;
        let told = answer.json();
        let (hold, held) = (told["hold_ms"].as_f64().unwrap(), told["held_ms"].as_f64().unwrap());
        assert!(hold <= held && held <= took, "{hold} {held} {took}");
        assert_eq!(answer.header("x-hold-ms").unwrap().parse(), Ok(hold));
        assert_eq!(answer.header("x-held-ms").unwrap().parse(), Ok(held));
        (told["n"].as_u64().unwrap(), hold)
    };
    let law = "law=uniform(1ms,4ms)";
    let deal = |workers| {
        let server = server(workers);
        let mut clients = [connect(&server), connect(&server)];
        (0..6).map(|n| ask(&mut clients[n % 2], &format!("seed=7&{law}"))).collect::<Vec<_>>()
    };
    let (one, two) = (deal(1), deal(2));
    assert_eq!(one, two);
    assert_eq!(one.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    let server = server(1);
    let mut client = connect(&server);
    assert_eq!(ask(&mut client, &format!("seed=7&n=3&{law}")), one[3]);
    assert_eq!(ask(&mut client, &format!("seed=7&{law}")), one[0]);
    assert_ne!(ask(&mut client, &format!("seed=8&{law}")).1, one[0].1);
    assert_eq!(ask(&mut client, "law=list(1ms,2ms)"), (0, 1.0));
    assert_eq!(ask(&mut client, "law=list(1ms,2ms)"), (1, 2.0));
    let refused = client.get("/delay-list?law=gamma(1)");
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("lognormal(5ms,0.5)"), "{}", refused.text());
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
    let begun = std::time::Instant::now();
    let mut slow = fault("slow?rate=10000");
    assert_eq!(slow.answer().text(), "slow\n");
    // 69 bytes, the first at once.
    assert!(begun.elapsed() >= std::time::Duration::from_micros(6_800));
    assert_eq!(slow.get("/").status, 200);
    drop(slow);
    let mut idle = fault("close-idle?after=5ms");
    assert_eq!(idle.answer().header("connection"), Some("keep-alive"));
    idle.assert_closed();
    let stalled = fault("stall");
    client::wait_until(|| server.requests() == 12);
    client::wait_until(|| server.stats()["connections"]["open"] == 1);
    drop(stalled);
    client::wait_until(|| server.stats()["connections"]["open"] == 0);
}
