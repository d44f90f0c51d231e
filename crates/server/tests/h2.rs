//! HTTP/2 of the target over real sockets: routes, apps, windows, resets, limits.

#![allow(clippy::unwrap_used)]

mod function_app;
mod h2_client;

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use function_app::config;
use h2::{Reason, SendStream};
use h2_client::{noise, plain, request, test, until, whole};
use http::HeaderMap;
use onrush_server::app::{Answering, PieceBuffer, Version};
use onrush_server::{App, AppRequest, Body, Limits, PieceStream, Response, ServerConfig};
use serde_json::json;
use tokio::time::{sleep, timeout};

/// What the server lets come of one body that nobody reads.
const WINDOW: usize = 256 * 1024;

/// Sends what the windows allow until nothing more goes for a while; how much that was.
async fn send_until_stopped(stream: &mut SendStream<Bytes>, most: usize) -> usize {
    let mut sent = 0;
    while sent < most {
        stream.reserve_capacity(most - sent);
        let room = match timeout(Duration::from_millis(300), poll_fn(|cx| stream.poll_capacity(cx))).await {
            Ok(room) => room.unwrap().unwrap(),
            Err(_) => break,
        };
        stream.send_data(vec![0; room].into(), false).unwrap();
        sent += room;
    }
    sent
}

#[test]
fn routes_answer_as_over_http1() {
    test(plain(), async |client, server| {
        assert_eq!(client.get("/").await.body, b"hello from onrush\n");
        let answer = client.get("/get?a=1&a=2").await;
        assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
        assert_eq!(answer.headers["content-length"], answer.body.len().to_string());
        assert_eq!(answer.headers["server"], "onrush");
        let echo = answer.json();
        assert_eq!((&echo["args"], &echo["headers"]), (&json!({ "a": ["1", "2"] }), &json!({ "Host": ["localhost"] })));
        assert_eq!(echo["url"], "http://localhost/get?a=1&a=2");
        assert_eq!(client.ask("POST", "/post", b"some text").await.json()["data"], "some text");
        let head = client.ask("HEAD", "/bytes/1000", b"").await;
        assert_eq!((head.headers["content-length"].as_bytes(), head.body.len()), (&b"1000"[..], 0));
        let none = client.get("/status/204").await;
        assert_eq!((none.status, none.headers.get("content-length")), (204, None));
        assert_eq!(client.get("/nowhere").await.status, 404);
        assert_eq!(client.get("/post").await.headers["allow"], "POST, OPTIONS");
        assert!(client.get("/stream/5").await.body.iter().filter(|b| **b == b'\n').count() == 5);
        assert_eq!(client.get("/ws/echo").await.status / 100, 4);
        let stats = client.get("/stats").await.json();
        assert_eq!((&stats["requests"], &stats["routes"]["/post"]), (&9.into(), &2.into()));
        assert_eq!((&stats["body_bytes_received"], server.requests()), (&9.into(), 9));
        assert!(stats["bytes_received"].as_u64() > Some(100) && stats["bytes_sent"].as_u64() > Some(1000));
    });
}

#[test]
fn large_bodies_pass_both_ways() {
    test(plain(), async |client, server| {
        let body = noise(3_000_001);
        let answer = client.ask("PUT", "/anything", &body).await;
        assert_eq!(answer.status, 200);
        assert_eq!(client.ask("POST", "/upload", &body).await.json()["received"], 3_000_001);
        let whole = client.get("/body/string/2m").await.body;
        assert!(client.get("/body/file/2m").await.body == whole);
        let piece = &client.get("/body/array/1000?piece=1000").await.body;
        for kind in ["array", "chunked"] {
            let body = client.get(&format!("/body/{kind}/2000k?piece=1000")).await.body;
            assert!(body.len() == 2_048_000 && body.chunks_exact(1000).all(|run| run == piece), "{kind}");
        }
        assert_eq!(server.stats()["body_bytes_received"], 2 * 3_000_001);
    });
}

#[test]
fn many_streams_at_once_are_answered_as_they_are_ready() {
    test(plain(), async |client, server| {
        let (_stalled, _stream) = client.begin(request("GET", "/fault/stall"), true).await;
        let mut all = tokio::task::JoinSet::new();
        for i in 0..200 {
            all.spawn(whole(client.begin(request("GET", &format!("/bytes/{}", 1000 + i)), true).await.0));
        }
        let mut lengths: Vec<_> = all.join_all().await.into_iter().map(|answer| answer.unwrap().body.len()).collect();
        lengths.sort_unstable();
        assert!(lengths.into_iter().eq(1000..1200));
        assert_eq!((server.requests(), &server.stats()["connections"]["accepted"]), (201, &1.into()));
    });
}

async fn mirror(mut request: AppRequest) -> Result<Response, String> {
    let mut all = Vec::new();
    while let Some(piece) = request.body.next().await {
        all.extend_from_slice(&piece.map_err(|e| e.to_string())?);
    }
    if request.target() == "/fail" {
        return Err("it failed".to_owned());
    }
    assert_eq!(request.version(), Version::Http2);
    let headers = request.headers().map(|(n, v)| (n.to_owned(), String::from_utf8_lossy(v).into()));
    let headers: serde_json::Map<_, _> = headers.collect();
    let trailers = request.body.trailers().into_iter().map(|(n, v)| (n, String::from_utf8(v).unwrap().into()));
    let trailers: serde_json::Map<_, _> = trailers.collect();
    let what = json!({
        "method": request.method(), "url": request.url(), "headers": headers, "length": all.len(), "trailers": trailers,
    });
    let mut response = Response::json(200, &what);
    response.trailers.push(("X-Sum".into(), all.len().to_string().into()));
    Ok(response)
}

#[test]
fn apps_get_the_same_requests_and_trailers_pass_both_ways() {
    test(config(mirror), async |client, _server| {
        let mut head = request("POST", "/a?b");
        head.headers_mut().append("cookie", "a=1".parse().unwrap());
        head.headers_mut().append("cookie", "b=2".parse().unwrap());
        let (response, mut stream) = client.begin(head, false).await;
        stream.send_data(noise(100_000).into(), false).unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("x-end", "yes".parse().unwrap());
        stream.send_trailers(trailers).unwrap();
        let answer = whole(response).await.unwrap();
        let want = json!({
            "method": "POST", "url": "http://localhost/a?b", "headers": { "host": "localhost", "cookie": "a=1; b=2" },
            "length": 100_000, "trailers": { "x-end": "yes" },
        });
        assert_eq!(answer.json(), want);
        assert_eq!(answer.trailers.unwrap()["x-sum"], "100000");
        let failed = client.get("/fail").await;
        assert_eq!((failed.status, failed.json()["detail"].as_str()), (500, Some("it failed")));
    });
}

#[test]
fn an_app_that_does_not_read_stops_the_client() {
    let reads = Arc::new(AtomicBool::new(false));
    let told = reads.clone();
    let app = move |request: AppRequest| {
        let told = told.clone();
        async move {
            while !told.load(Ordering::Acquire) {
                sleep(Duration::from_millis(1)).await;
            }
            mirror(request).await
        }
    };
    test(config(app), async |client, _server| {
        let (response, mut stream) = client.begin(request("POST", "/"), false).await;
        let before = send_until_stopped(&mut stream, 2_000_000).await;
        assert_eq!(before, WINDOW);
        reads.store(true, Ordering::Release);
        stream.send_data(vec![0; 2_000_000 - before].into(), true).unwrap();
        assert_eq!(whole(response).await.unwrap().json()["length"], 2_000_000);
    });
}

/// Gives small buffers, and says of each piece whether it is in one.
struct Giving;

struct Small(Vec<u8>);

impl PieceBuffer for Small {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }
}

impl App for Giving {
    fn fetch(&self, mut request: AppRequest) -> Answering {
        Box::pin(async move {
            let mut all = Vec::new();
            while let Some(piece) = request.body.next().await {
                let (buffer, range) = piece.map_err(|e| e.to_string())?.into_buffer().map_err(|_| "not of the app")?;
                all.extend_from_slice(&buffer.bytes()[range]);
            }
            Ok(Response::new(200, "a/b", Body::Bytes(all)))
        })
    }

    fn allocates(&self) -> bool {
        true
    }

    fn allocate(&self, _: usize) -> Option<Box<dyn PieceBuffer>> {
        Some(Box::new(Small(vec![0; 5000])))
    }
}

#[test]
fn an_app_that_gives_memory_gets_its_pieces_in_it() {
    let app: onrush_server::AppFactory = Arc::new(|| Ok(Rc::new(Giving)));
    test(ServerConfig { app: Some(app), ..plain() }, async |client, _server| {
        let body = noise(123_456);
        assert!(client.ask("POST", "/", &body).await.body == body);
    });
}

/// Counts itself as long as it lives.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Alive(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[test]
fn a_reset_drops_what_it_asked_for_and_nothing_else() {
    let alive = Arc::new(AtomicUsize::new(0));
    let count = alive.clone();
    let app = move |mut request: AppRequest| {
        let one = Alive::new(&count);
        async move {
            let _alive = one;
            match request.target() {
                "/wait" => std::future::pending().await,
                "/endless" => Ok(Response::bare(200, Body::stream(Endless(_alive)))),
                _ => {
                    while request.body.next().await.is_some_and(|piece| piece.is_ok()) {}
                    Ok(Response::text(200, "read"))
                }
            }
        }
    };
    test(config(app), async |client, server| {
        let (response, mut stream) = client.begin(request("POST", "/read"), false).await;
        stream.send_data(vec![0; 50_000].into(), false).unwrap();
        until(|| server.stats()["body_bytes_received"] == 50_000).await;
        assert_eq!(alive.load(Ordering::Acquire), 1);
        stream.send_reset(Reason::CANCEL);
        drop(response);
        until(|| alive.load(Ordering::Acquire) == 0).await;

        let (response, mut stream) = client.begin(request("GET", "/wait"), true).await;
        until(|| alive.load(Ordering::Acquire) == 1).await;
        stream.send_reset(Reason::CANCEL);
        drop(response);
        until(|| alive.load(Ordering::Acquire) == 0).await;

        let (response, mut stream) = client.begin(request("GET", "/endless"), true).await;
        assert_eq!(response.await.unwrap().status(), 200);
        stream.send_reset(Reason::CANCEL);
        until(|| alive.load(Ordering::Acquire) == 0).await;

        assert_eq!(client.get("/").await.body, b"read");
        let waiting = client.begin(request("GET", "/wait"), true).await;
        until(|| alive.load(Ordering::Acquire) == 1).await;
        client.end.abort();
        drop((waiting, client.requests));
        until(|| alive.load(Ordering::Acquire) == 0).await;
        until(|| server.stats()["connections"]["open"] == 0).await;
    });
}

/// Gives a piece, then never another.
struct Endless(#[allow(dead_code, reason = "lives as long as the stream")] Alive);

impl PieceStream for Endless {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        Poll::Pending
    }
}

/// Gives two pieces and fails.
struct Failing(Cell<u32>);

impl PieceStream for Failing {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        self.0.set(self.0.get() + 1);
        Poll::Ready(Some(if self.0.get() < 3 { Ok(Bytes::from_static(b"piece")) } else { Err("no more".to_owned()) }))
    }
}

#[test]
fn a_body_that_fails_is_not_taken_for_whole() {
    let app = async |_: AppRequest| Ok(Response::bare(200, Body::stream(Failing(Cell::new(0)))));
    test(config(app), async |client, server| {
        let error = client.try_ask("GET", "/", b"").await.err().unwrap();
        assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
        assert_eq!(server.stats()["cut_short"], 1);
    });
}

#[test]
fn early_hints_and_100_continue() {
    test(plain(), async |client, _server| {
        let (mut response, _stream) = client.begin(request("GET", "/early-hints"), true).await;
        let early = poll_fn(|cx| response.poll_informational(cx)).await.unwrap().unwrap();
        assert_eq!(early.status(), 103);
        assert!(early.headers().contains_key("link"));
        assert_eq!(whole(response).await.unwrap().status, 200);

        let mut head = request("POST", "/upload");
        head.headers_mut().insert("expect", "100-continue".parse().unwrap());
        let (mut response, mut stream) = client.begin(head, false).await;
        let interim = poll_fn(|cx| response.poll_informational(cx)).await.unwrap().unwrap();
        assert_eq!(interim.status(), 100);
        stream.send_data(Bytes::from_static(b"body"), true).unwrap();
        assert_eq!(whole(response).await.unwrap().json()["received"], 4);
    });
}

#[test]
fn limits_have_their_statuses() {
    let limits = Limits {
        body: Some(100_000),
        body_time: Duration::from_millis(100),
        head: 8 * 1024,
        idle_time: Duration::from_millis(300),
        ..Limits::default()
    };
    test(ServerConfig { limits, ..config(mirror) }, async |client, _server| {
        assert_eq!(client.ask("POST", "/", &noise(100_000)).await.json()["length"], 100_000);
        let (response, mut stream) = client.begin(request("POST", "/"), false).await;
        stream.send_data(noise(100_001).into(), false).unwrap();
        assert_eq!(whole(response).await.unwrap().status, 413);
        let mut head = request("POST", "/");
        head.headers_mut().insert("content-length", "100001".parse().unwrap());
        assert_eq!(whole(client.begin(head, false).await.0).await.unwrap().status, 413);
        // A body that stops coming.
        let (response, _stream) = client.begin(request("POST", "/"), false).await;
        assert_eq!(whole(response).await.unwrap().status, 408);
        let mut head = request("GET", "/");
        head.headers_mut().insert("x-big", "x".repeat(10_000).parse().unwrap());
        assert_eq!(whole(client.begin(head, true).await.0).await.unwrap().status, 431);
        // Nothing happens for a while.
        client.end.await.unwrap().unwrap();
    });
}

#[test]
fn routes_keep_no_more_than_their_total() {
    let limits = Limits { kept: 100_000, ..Limits::default() };
    test(ServerConfig { limits, ..plain() }, async |client, server| {
        let (first, mut stream) = client.begin(request("POST", "/post"), false).await;
        stream.send_data(vec![b'x'; 60_000].into(), false).unwrap();
        until(|| server.stats()["body_bytes_received"].as_u64() >= Some(60_000)).await;
        assert_eq!(client.ask("POST", "/post", &[b'x'; 60_000]).await.status, 503);
        stream.send_data(Bytes::new(), true).unwrap();
        assert_eq!(whole(first).await.unwrap().status, 200);
        assert_eq!(client.ask("POST", "/post", &[b'x'; 60_000]).await.status, 200);
    });
}

#[test]
fn a_route_keeps_no_more_than_it_may() {
    test(plain(), async |client, _server| {
        let (response, mut stream) = client.begin(request("POST", "/post"), false).await;
        stream.send_data(vec![b'x'; (16 << 20) + 1].into(), false).unwrap();
        assert_eq!(whole(response).await.unwrap().status, 413);
        assert_eq!(client.get("/").await.status, 200);
    });
}

#[test]
fn many_refused_bodies_leave_the_connection() {
    test(plain(), async |client, server| {
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..100 {
            let (response, mut stream) = client.begin(request("POST", "/nowhere"), false).await;
            stream.send_data(vec![b'x'; 10_000].into(), true).unwrap();
            all.spawn(whole(response));
        }
        assert!(all.join_all().await.into_iter().all(|answer| answer.is_ok_and(|answer| answer.status == 404)));
        assert_eq!((client.get("/").await.status, server.requests()), (200, 101));
    });
}
