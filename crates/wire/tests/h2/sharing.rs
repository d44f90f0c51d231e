//! Users that share connections: how many there are, how many streams each carries, and who waits.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use onrush_wire::client::{Client, ClientContext, Http2Pool, Http2Use};
use onrush_wire::settings::Http2Limits;
use onrush_wire::{Exchange, FailureKind, Request, Settings, Url};

use crate::peer::*;
use crate::support::tls::trusting;
use crate::support::{body, get, run, settings};

const MAX_CONCURRENT_STREAMS: u16 = 3;

/// Requests that have not been answered, and how they lay on connections.
#[derive(Default)]
struct Gathered {
    connections: usize,
    unanswered: Vec<(usize, u32, TcpStream)>,
    /// Streams of each connection whenever all were there.
    rounds: Vec<Vec<usize>>,
}

/// Answers when so many requests are there, all of them.
fn gather(count: usize) -> (SocketAddr, Arc<Mutex<Gathered>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let gathered = Arc::new(Mutex::new(Gathered::default()));
    let shared = gathered.clone();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let all = shared.clone();
            let at = all.lock().unwrap().connections;
            all.lock().unwrap().connections += 1;
            thread::spawn(move || read_streams(socket, at, count, &all));
        }
    });
    (address, gathered)
}

fn read_streams(mut socket: TcpStream, at: usize, count: usize, all: &Mutex<Gathered>) {
    read_preface(&mut socket);
    write(&mut socket, &frame(SETTINGS, 0, 0, &setting(MAX_CONCURRENT_STREAMS, 1000)));
    while let Some(stream) = read_request(&mut socket) {
        let mut all = all.lock().unwrap();
        all.unanswered.push((at, stream, socket.try_clone().unwrap()));
        if all.unanswered.len() == count {
            let mut streams = vec![0; all.connections];
            for (at, stream, mut socket) in std::mem::take(&mut all.unanswered) {
                streams[at] += 1;
                answer(&mut socket, stream);
            }
            all.rounds.push(streams);
        }
    }
}

fn answer(socket: &mut TcpStream, stream: u32) {
    write(socket, &[frame(HEADERS, END_HEADERS, stream, STATUS_200), frame(DATA, END_STREAM, stream, b"ok")].concat());
}

fn limits(connections: usize, streams: impl Into<Option<usize>>) -> Http2Limits {
    Http2Limits { connections, streams: streams.into() }
}

fn to(scheme: &str, address: SocketAddr) -> Request {
    get(Url::parse(&format!("{scheme}://{address}/")).unwrap())
}

/// Users of one worker that share a pool, each in a task: they send `each` requests. All exchanges, in order of their
/// ends.
fn run_users(settings: Settings, limits: Http2Limits, users: usize, each: usize, request: &Request) -> Vec<Exchange> {
    let runtime = onrush_wire::event_loop().unwrap();
    let request = request.clone();
    runtime.block_on(async move {
        let worker = ClientContext::new(Arc::new(settings)).unwrap();
        let pool = Http2Pool::new(Some(limits));
        let ended = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..users)
            .map(|_| {
                let (client, request, ended) = (Client::new(worker.clone()), request.clone(), ended.clone());
                client.use_http2(Http2Use::Shared(pool.clone()));
                tokio::task::spawn_local(async move {
                    for _ in 0..each {
                        let exchange = *client.send(&request, None, &mut |_| {}).await;
                        ended.borrow_mut().push(exchange);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        ended.take()
    })
}

#[test]
fn places_are_as_many_as_the_limits_say() {
    for (connections, streams) in [(1, 100), (100, 1), (4, 25)] {
        let (address, gathered) = gather(100);
        let exchanges = run_users(settings(), limits(connections, streams), 100, 3, &to("h2c", address));
        assert!(exchanges.iter().all(|exchange| body(exchange) == b"ok"));
        let gathered = gathered.lock().unwrap();
        assert_eq!(gathered.rounds, vec![vec![streams; connections]; 3], "{connections} of {streams}");
    }
}

#[test]
fn users_that_outnumber_the_places_wait_in_turn() {
    let (address, gathered) = gather(1);
    let exchanges = run_users(settings(), limits(1, 1), 20, 5, &to("h2c", address));
    assert!(exchanges.len() == 100 && exchanges.iter().all(|exchange| body(exchange) == b"ok"));
    assert_eq!(gathered.lock().unwrap().rounds, vec![vec![1]; 100]);
}

/// Serves connections beside each other, each by a thread that is told its number.
fn serve_each(play: impl Fn(&mut TcpStream, usize) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let play = Arc::new(play);
    thread::spawn(move || {
        for (at, socket) in listener.incoming().map_while(Result::ok).enumerate() {
            let (mut socket, play) = (socket, play.clone());
            thread::spawn(move || {
                read_preface(&mut socket);
                play(&mut socket, at);
            });
        }
    });
    address
}

#[test]
fn who_waits_for_a_place_is_blocked() {
    let address = serve_each(|socket, _| {
        write(socket, &frame(SETTINGS, 0, 0, &[]));
        while let Some(stream) = read_request(socket) {
            thread::sleep(Duration::from_millis(40));
            answer(socket, stream);
        }
    });
    let exchanges = run_users(settings(), limits(1, 1), 4, 1, &to("h2c", address));
    for (place, exchange) in exchanges.iter().enumerate() {
        let timings = exchange.timings;
        let waited = Duration::from_millis(40) * place as u32;
        assert!(timings.blocked >= waited.saturating_sub(Duration::from_millis(5)), "{place}: {timings:?}");
        assert!(timings.waiting < Duration::from_millis(75), "{place}: {timings:?}");
        assert_eq!(timings.connecting.is_zero(), place > 0, "{place}: {timings:?}");
    }
}

#[test]
fn who_waits_too_long_leaves_the_line() {
    let address = serve_each(|socket, _| {
        write(socket, &frame(SETTINGS, 0, 0, &[]));
        while let Some(stream) = read_request(socket) {
            thread::sleep(Duration::from_millis(300));
            answer(socket, stream);
        }
    });
    let request = Request { timeout: Some(Duration::from_millis(450)), ..to("h2c", address) };
    let exchanges = run_users(settings(), limits(1, 1), 4, 1, &request);
    let failed: Vec<_> = exchanges.iter().filter_map(|exchange| exchange.outcome.as_ref().err()).collect();
    // The second has its place after 300 ms and its time is over before the answer; the others never have one.
    assert_eq!(failed.len(), 3, "{exchanges:?}");
    assert!(failed.iter().all(|failure| failure.kind == FailureKind::Timeout), "{failed:?}");
}

#[test]
fn who_leaves_wakes_one_that_still_waits() {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let address = serve_each(|socket, _| {
        write(socket, &frame(SETTINGS, 0, 0, &[]));
        for order in ORDERS {
            let streams: Vec<u32> = (0..3).map(|_| read_request(socket).unwrap()).collect();
            // Two answers arrive with one read: the second of them is there before its request looks.
            let answers = order[..2].iter().map(|at| {
                let data = frame(DATA, END_STREAM, streams[*at], b"ok");
                [frame(HEADERS, END_HEADERS, streams[*at], STATUS_200), data].concat()
            });
            write(socket, &answers.collect::<Vec<_>>().concat());
            thread::sleep(Duration::from_millis(30));
            answer(socket, streams[order[2]]);
            thread::sleep(Duration::from_millis(30));
        }
    });
    // Each user waits for the others before its next request.
    let runtime = onrush_wire::event_loop().unwrap();
    runtime.block_on(async move {
        let worker = ClientContext::new(Arc::new(settings())).unwrap();
        let pool = Http2Pool::new(Some(limits(1, 3)));
        for order in ORDERS {
            let tasks: Vec<_> = (0..3)
                .map(|_| {
                    let client = Client::new(worker.clone());
                    client.use_http2(Http2Use::Shared(pool.clone()));
                    let request = to("h2c", address);
                    tokio::task::spawn_local(async move { body(&*client.send(&request, None, &mut |_| {}).await) })
                })
                .collect();
            for task in tasks {
                // Long before the time of the request is over, which would wake it as well.
                let ended = tokio::time::timeout(Duration::from_secs(5), task).await;
                assert_eq!(ended.expect("it was woken").unwrap(), b"ok", "{order:?}");
            }
        }
    });
}

#[test]
fn a_server_may_allow_fewer_streams() {
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    let address = serve_each(move |socket, _| {
        write(socket, &frame(SETTINGS, 0, 0, &setting(MAX_CONCURRENT_STREAMS, 2)));
        let stream = read_request(socket).unwrap();
        answer(socket, stream);
        // What comes within 50 ms came at once.
        let mut unanswered = Vec::new();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        for _ in 0..40 {
            match read_request(socket) {
                Some(stream) => unanswered.push(stream),
                None => {
                    seen.fetch_max(unanswered.len(), Ordering::Relaxed);
                    unanswered.drain(..).for_each(|stream| answer(socket, stream));
                }
            }
        }
    });
    let (first, rest) = run(settings(), async |client| {
        client.use_http2(Http2Use::Shared(Http2Pool::new(Some(limits(1, 10)))));
        let request = to("h2c", address);
        let first = client.send(&request, None, &mut |_| {}).await;
        let send = async || client.send(&request, None, &mut |_| {}).await;
        let (a, b, c, d, e) = tokio::join!(send(), send(), send(), send(), send());
        (first, [a, b, c, d, e])
    });
    assert!(body(&first) == b"ok" && rest.iter().all(|exchange| body(exchange) == b"ok"));
    assert_eq!(most.load(Ordering::Relaxed), 2);
}

#[test]
fn a_connection_that_ends_is_replaced_for_those_who_wait() {
    let connections = Arc::new(AtomicUsize::new(0));
    let seen = connections.clone();
    let address = serve_each(move |socket, _| {
        seen.fetch_add(1, Ordering::Relaxed);
        write(socket, &frame(SETTINGS, 0, 0, &[]));
        for _ in 0..2 {
            let Some(stream) = read_request(socket) else { return };
            answer(socket, stream);
        }
        // The last stream of this connection was the second one, 3.
        write(socket, &frame(GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]));
        await_close(socket);
    });
    let exchanges = run_users(settings(), limits(1, 1), 3, 4, &to("h2c", address));
    assert!(exchanges.len() == 12 && exchanges.iter().all(|exchange| body(exchange) == b"ok"), "{exchanges:?}");
    assert_eq!(connections.load(Ordering::Relaxed), 6);
}

#[test]
fn a_host_that_nobody_reaches_fails_each_request() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let exchanges = run_users(settings(), limits(2, 1), 6, 2, &to("h2c", address));
    assert_eq!(exchanges.len(), 12);
    for exchange in exchanges {
        assert_eq!(exchange.outcome.unwrap_err().kind, FailureKind::DialRefused);
    }
}

#[test]
fn a_server_of_http1_is_spoken_to_as_ever() {
    let (address, connections) = serve_http1();
    let exchanges = run_users(trusting(), limits(1, 100), 5, 2, &to("https", address));
    assert_eq!(exchanges.len(), 10);
    for exchange in &exchanges {
        assert_eq!((body(exchange), exchange.outcome.as_ref().unwrap().proto), (b"ok".to_vec(), "HTTP/1.1"));
    }
    assert_eq!(connections.load(Ordering::Relaxed), 5, "one a user");
}

/// A TLS server that chooses HTTP/1.1.
fn serve_http1() -> (SocketAddr, Arc<AtomicUsize>) {
    use crate::support::tls::{OK, key_for, server_config};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = server_config(&key_for("localhost"), rustls::ALL_VERSIONS, None);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let (config, connections) = (Arc::new(config), Arc::new(AtomicUsize::new(0)));
    let seen = connections.clone();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            seen.fetch_add(1, Ordering::Relaxed);
            let session = rustls::ServerConnection::new(config.clone()).unwrap();
            thread::spawn(move || {
                let mut tls = rustls::StreamOwned::new(session, socket);
                while crate::support::read_request(&mut tls, true).ends_with(b"\r\n\r\n") {
                    write(&mut tls, OK);
                }
            });
        }
    });
    (address, connections)
}
