//! Links under real connections: what they add, what they carry, and how connections end over them.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use onrush_wire::link::{Link, LinkSettings};
use onrush_wire::{Exchange, FailureKind, Request};
use support::{Act, Peer, get, post, settings, write};
use units::Bandwidth;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Sends requests over a link: those of each list one after the other, the lists at the same time.
fn send_over(link: LinkSettings, lists: Vec<Vec<Request>>) -> Vec<Vec<Exchange>> {
    let runtime = onrush_wire::event_loop().unwrap();
    runtime.block_on(async {
        let worker = onrush_wire::ClientContext::new(std::sync::Arc::new(settings())).unwrap();
        let client = std::rc::Rc::new(onrush_wire::Client::new(worker));
        client.set_link(Some(Link::new(link, 1)));
        let mut running = Vec::new();
        for list in lists {
            let client = client.clone();
            running.push(tokio::task::spawn_local(async move {
                let mut exchanges = Vec::new();
                for request in &list {
                    exchanges.push(*client.send(request, None, &mut |_| {}).await);
                }
                exchanges
            }));
        }
        let mut all = Vec::new();
        for task in running {
            all.push(task.await.unwrap());
        }
        all
    })
}

#[test]
fn a_connect_and_each_request_take_a_round_trip() {
    let acts = vec![Act::ReadRequest, write(OK), Act::ReadRequest, write(OK), Act::AwaitClose];
    let peer = Peer::play(vec![acts]);
    let link = LinkSettings { latency: ms(60), ..LinkSettings::default() };
    let exchanges = send_over(link, vec![vec![get(peer.url("/1")), get(peer.url("/2"))]]).remove(0);
    assert!(exchanges[0].timings.connecting >= ms(60), "{:?}", exchanges[0].timings);
    for exchange in &exchanges {
        assert_eq!(support::body(exchange), b"ok");
        assert!(exchange.timings.waiting >= ms(59), "{:?}", exchange.timings);
    }
    assert!(exchanges[1].connection.as_ref().unwrap().reused);
    assert_eq!(exchanges[0].connection.as_ref().unwrap().remote, Some(peer.address), "the server, not the relay");
    peer.finish();
}

#[test]
fn both_directions_keep_to_their_rates_and_lose_nothing() {
    // 100 kB up at 2 Mbit/s: 0.4 s; 100 kB down at 4 Mbit/s: 0.2 s.
    let body: Vec<u8> = (0..100_000u32).map(|n| ((n * 7919) >> 5) as u8).collect();
    let answer = [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes(), body.clone()];
    let peer = Peer::play(vec![vec![Act::ReadRequest, Act::Write(answer.concat()), Act::AwaitClose]]);
    let rate = |text| Some(Bandwidth::parse(text).unwrap());
    let link =
        LinkSettings { upload: rate("2mbps"), download: rate("4mbps"), latency: ms(20), jitter: ms(8), loss: 0.02 };
    let start = Instant::now();
    let exchange = send_over(link, vec![vec![post(peer.url("/"), body.clone())]]).remove(0).remove(0);
    let took = start.elapsed();
    assert!(took >= ms(600), "{took:?}");
    assert!(support::body(&exchange) == body);
    // What the relay's buffers hold at the end is not felt by the sender; the rest is.
    assert!(exchange.timings.sending >= ms(100), "{:?}", exchange.timings);
    assert!(exchange.timings.receiving >= ms(150), "{:?}", exchange.timings);
    let seen = peer.finish().remove(0);
    assert!(seen.ends_with(&body));
}

#[test]
fn more_than_the_window_arrives_whole() {
    let body: Vec<u8> = (0..9_000_000u32).map(|n| (n.wrapping_mul(7919) >> 7) as u8).collect();
    let answer = [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes(), body.clone()];
    let peer = Peer::play(vec![vec![Act::ReadRequest, Act::Write(answer.concat()), Act::AwaitClose]]);
    let link = LinkSettings { latency: ms(60), ..LinkSettings::default() };
    let exchange = send_over(link, vec![vec![get(peer.url("/"))]]).remove(0).remove(0);
    assert!(support::body(&exchange) == body);
    peer.finish();
}

#[test]
fn connections_of_one_user_share_its_link() {
    let body = vec![b'x'; 50_000];
    let answer = [&b"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n"[..], &body].concat();
    let acts = || vec![Act::ReadRequest, Act::Write(answer.clone()), Act::AwaitClose];
    let peer = Peer::play(vec![acts(), acts(), acts()]);
    let link = LinkSettings { download: Some(Bandwidth::parse("4mbps").unwrap()), ..LinkSettings::default() };
    let start = Instant::now();
    let lists = ["/1", "/2", "/3"].map(|path| vec![get(peer.url(path))]).to_vec();
    let all = send_over(link, lists);
    let took = start.elapsed();
    assert!(took >= ms(300), "three times 0.1 s: {took:?}");
    let times: Vec<Duration> = all.iter().map(|list| list[0].timings.waiting + list[0].timings.receiving).collect();
    assert!(times.iter().all(|time| *time >= ms(200)), "they take turns, none is served before the others: {times:?}");
    peer.finish();
}

#[test]
fn ends_of_connections_are_what_they_are_without_a_link() {
    let link = || LinkSettings { latency: ms(10), ..LinkSettings::default() };
    // A close behind a body without a length ends it; everything before it arrives.
    let open_end = write("HTTP/1.1 200 OK\r\n\r\nall of it");
    let peer = Peer::play(vec![vec![Act::ReadRequest, open_end, Act::ShutdownWrite]]);
    let exchange = send_over(link(), vec![vec![get(peer.url("/"))]]).remove(0).remove(0);
    assert_eq!(support::body(&exchange), b"all of it");
    peer.finish();

    // A reset is one.
    let peer = Peer::play(vec![vec![Act::ReadHead, Act::Reset]]);
    let exchange = send_over(link(), vec![vec![get(peer.url("/"))]]).remove(0).remove(0);
    assert_eq!(exchange.outcome.unwrap_err().kind, FailureKind::ConnectionReset);
    peer.finish();

    // Nobody listens: refused, as ever.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = onrush_wire::Url::parse(&format!("http://{address}/")).unwrap();
    let exchange = send_over(link(), vec![vec![get(url)]]).remove(0).remove(0);
    assert_eq!(exchange.outcome.unwrap_err().kind, FailureKind::DialRefused);
}

#[test]
fn a_deadline_ends_a_connect_over_a_long_link() {
    let peer = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = onrush_wire::Url::parse(&format!("http://{}/", peer.local_addr().unwrap())).unwrap();
    let link = LinkSettings { latency: Duration::from_secs(60), ..LinkSettings::default() };
    let request = Request { timeout: Some(ms(50)), ..get(url) };
    let exchange = send_over(link, vec![vec![request]]).remove(0).remove(0);
    assert_eq!(exchange.outcome.unwrap_err().kind, FailureKind::Timeout);
}

/// The worker computes from before the answer reaches the machine until long after: the answer's time is the link's all
/// the same.
#[test]
fn a_busy_worker_adds_nothing_to_what_a_link_takes() {
    use std::io::{Read, Write};
    const BUSY: Duration = Duration::from_millis(300);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (asked, heard) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        asked.send(()).unwrap();
        socket.write_all(OK.as_bytes()).unwrap();
        let _closed = socket.read(&mut [0]);
    });
    let runtime = onrush_wire::event_loop().unwrap();
    let (exchange, took) = runtime.block_on(async {
        let worker = onrush_wire::ClientContext::new(std::sync::Arc::new(settings())).unwrap();
        let client = onrush_wire::Client::new(worker);
        client.set_link(Some(Link::new(LinkSettings { latency: ms(4), ..LinkSettings::default() }, 1)));
        tokio::task::spawn_local(async move {
            while heard.try_recv().is_err() {
                tokio::time::sleep(ms(1)).await;
            }
            std::thread::sleep(BUSY);
        });
        let began = Instant::now();
        let request = get(onrush_wire::Url::parse(&url).unwrap());
        (*client.send(&request, None, &mut |_| {}).await, began.elapsed())
    });
    assert_eq!(support::body(&exchange), b"ok");
    assert!(exchange.connection.as_ref().unwrap().kernel_stamps && took >= BUSY, "{took:?}");
    let waiting = exchange.timings.waiting;
    assert!(waiting >= ms(4) && waiting < BUSY / 2, "{:?} of {took:?}", exchange.timings);
    // The link's task has the connection, which the server waits for the end of.
    drop(runtime);
    server.join().unwrap();
}
