//! Readers behind sockets: our client before a server that answers anything, our server before a client that says
//! anything.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use server::server::{Server, ServerConfig};
use wire::client::{Client, ClientContext};
use wire::cookies::CookieJar;
use wire::request::{Auth, BodyUse};
use wire::settings::Proxies;
use wire::{FailureKind, Method, Request, Settings, Url};

use super::subjects::Check;

/// What takes longer than this is a hang.
const PATIENCE: Duration = Duration::from_secs(4);

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The client reads the input as a response, in pieces, from a server that closes afterwards.
pub fn responses() -> Result<Check, String> {
    client_of(|head| head.ends_with(b"\r\n\r\n"), <[u8]>::to_vec, false)
}

/// The same with frames of HTTP/2. A character of the input stands for the byte of its number, so that examples can be
/// text.
pub fn frames() -> Result<Check, String> {
    let bytes = |input: &[u8]| String::from_utf8_lossy(input).chars().map(|c| c as u8).collect();
    client_of(|said| said.len() > PREFACE, bytes, true)
}

/// The client reads the input as what a SOCKS proxy says, a piece up to each `|` in answer to what the client says.
pub fn socks() -> Result<Check, String> {
    let answer: Arc<Mutex<Vec<u8>>> = Arc::default();
    let listener = TcpListener::bind("127.0.0.1:0").map_err(told)?;
    let address = listener.local_addr().map_err(told)?;
    let said = Arc::clone(&answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bytes = said.lock().map(|said| said.clone()).unwrap_or_default();
            speak_by_turns(stream, &bytes);
        }
    });
    let proxies =
        Proxies { http: Some(format!("socks5://user:word@{address}")), even_local: true, ..Proxies::default() };
    let settings = Settings { proxies, ..Settings::default() };
    let runtime = wire::event_loop().map_err(told)?;
    let worker = runtime.block_on(async { ClientContext::new(Arc::new(settings)) }).map_err(|error| error.message)?;
    let client = Client::new(worker);
    Ok(Box::new(move |input| {
        *answer.lock().map_err(told)? = input.to_vec();
        let request = get("http://a.test/", false)?;
        let exchange = runtime.block_on(client.send(&request, None, &mut |_| {}));
        match exchange.outcome {
            Err(failure) if failure.kind == FailureKind::Timeout => {
                Err(String::from("the client waits for more after the end"))
            }
            _ => Ok(()),
        }
    }))
}

/// Says a piece each time that the other side has said something, or has waited for a while, then closes.
fn speak_by_turns(mut stream: TcpStream, bytes: &[u8]) {
    let _ = (stream.set_read_timeout(Some(Duration::from_millis(20))), stream.set_nodelay(true));
    let mut buffer = [0; 4096];
    // A longer dialogue would only take time.
    for piece in bytes.split(|byte| *byte == b'|').take(8) {
        if stream.read(&mut buffer).is_ok_and(|n| n == 0) || stream.write_all(piece).is_err() {
            break;
        }
    }
    let _ = (stream.shutdown(Shutdown::Write), stream.set_read_timeout(Some(PATIENCE)));
    while stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
}

fn get(url: &str, prior_knowledge: bool) -> Result<Request, String> {
    Ok(Request {
        method: Method::Get,
        url: Url::parse(url).map_err(|error| error.message)?,
        headers: Rc::new([]),
        cookies: Rc::new([]),
        body: None,
        timeout: Some(PATIENCE),
        max_redirects: 0,
        auth: Auth::FromUserinfo,
        body_use: BodyUse::Keep,
        prior_knowledge,
        tls: None,
    })
}

/// Bytes that a client of HTTP/2 says at least.
const PREFACE: usize = 24;

fn client_of(
    is_asked: fn(&[u8]) -> bool,
    to_answer: fn(&[u8]) -> Vec<u8>,
    prior_knowledge: bool,
) -> Result<Check, String> {
    let answer: Arc<Mutex<Vec<u8>>> = Arc::default();
    let answers = Arc::<AtomicUsize>::default();
    let address = answering(Arc::clone(&answer), Arc::clone(&answers), is_asked)?;
    let runtime = wire::event_loop().map_err(told)?;
    let worker =
        runtime.block_on(async { ClientContext::new(Arc::new(Settings::default())) }).map_err(|error| error.message)?;
    let client = Client::new(worker);
    Ok(Box::new(move |input| {
        *answer.lock().map_err(told)? = to_answer(input);
        let head = input.len().is_multiple_of(5);
        let request = Request {
            method: if head { Method::Head } else { Method::Get },
            auth: if input.len().is_multiple_of(3) { Auth::Digest } else { Auth::FromUserinfo },
            body_use: if input.len().is_multiple_of(2) { BodyUse::Keep } else { BodyUse::Discard },
            ..get(&format!("http://user:word@{address}/"), prior_knowledge)?
        };
        let (jar, before) = (CookieJar::default(), answers.load(Ordering::Relaxed));
        let exchange = runtime.block_on(client.send(&request, Some(&jar), &mut |_| {}));
        match exchange.outcome {
            // A stream that the server refuses is tried again after 0, 1, 2, 4 … s, as Go does.
            Err(failure) if failure.kind == FailureKind::Timeout && answers.load(Ordering::Relaxed) - before < 2 => {
                Err(String::from("the client waits for more after the end"))
            }
            Ok(response) => {
                response.headers().for_each(drop);
                Ok(())
            }
            Err(_) => Ok(()),
        }
    }))
}

/// A server that reads until it is asked and answers with whatever there is, in a few pieces, then closes.
/// `answers` counts them.
fn answering(
    answer: Arc<Mutex<Vec<u8>>>,
    answers: Arc<AtomicUsize>,
    is_asked: fn(&[u8]) -> bool,
) -> Result<SocketAddr, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(told)?;
    let address = listener.local_addr().map_err(told)?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.set_read_timeout(Some(PATIENCE));
            let _ = stream.set_nodelay(true);
            let mut head = Vec::new();
            let mut buffer = [0; 4096];
            while !is_asked(&head) {
                match stream.read(&mut buffer) {
                    Ok(n) if n > 0 => head.extend_from_slice(&buffer[..n]),
                    _ => break,
                }
            }
            answers.fetch_add(1, Ordering::Relaxed);
            let bytes = answer.lock().map(|answer| answer.clone()).unwrap_or_default();
            let pieces = 1 + bytes.len() % 3;
            for piece in bytes.chunks((bytes.len() / pieces).max(1)) {
                if stream.write_all(piece).is_err() {
                    break;
                }
            }
            let _ = stream.shutdown(Shutdown::Write);
            // Until the client closes: a close with unread bytes would be a reset.
            while stream.read(&mut buffer).is_ok_and(|n| n > 0) {}
        }
    });
    Ok(address)
}

/// The target reads the input as requests, must close afterwards, and must serve the next client.
pub fn requests() -> Result<Check, String> {
    let config = ServerConfig { tcp: vec![([127, 0, 0, 1], 0).into()], ..ServerConfig::default() };
    let server = Server::start(config).map_err(told)?;
    let address = server.addresses().tcp[0];
    Ok(Box::new(move |input| {
        // Delays and faults do what they are asked to, which looks like a hang.
        let text = String::from_utf8_lossy(input).to_ascii_lowercase();
        if ["/delay", "/drip", "/fault", "/stall", "delay", "after"].iter().any(|slow| text.contains(slow)) {
            return Ok(());
        }
        converse(address, input)?;
        let reply = converse(address, b"GET /status/200 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
        let _ = &server;
        if reply.starts_with(b"HTTP/1.1 200") { Ok(()) } else { Err(String::from("the next client is not served")) }
    }))
}

/// Says everything, closes that side, and listens until the other side closes.
fn converse(address: SocketAddr, said: &[u8]) -> Result<Vec<u8>, String> {
    let mut stream = TcpStream::connect(address).map_err(told)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(told)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(told)?;
    let _ = stream.write_all(said);
    let _ = stream.shutdown(Shutdown::Write);
    let mut heard = Vec::new();
    match stream.take(64 << 20).read_to_end(&mut heard) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(String::from("the server does not close after the client did"))
        }
        _ => Ok(heard),
    }
}
