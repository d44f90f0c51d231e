//! Time limits of single steps, each against a peer that never comes to the end of it.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use onrush_wire::settings::StepLimits;
use onrush_wire::{Exchange, Settings, Step};
use socket2::{Domain, Socket, Type};

use crate::server::{Scripted, get, outcome, post, response, send};

const SHORT: Duration = Duration::from_millis(50);

fn limited(limits: StepLimits, url: &str, body: &str) -> Exchange {
    let request = if body.is_empty() { get(url) } else { post(url, body) };
    let settings = Settings { limits, ..Settings::default() };
    send(settings, &request, None).pop().unwrap()
}

#[test]
fn a_response_that_does_not_come() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let exchange = limited(StepLimits { read: Some(SHORT), ..StepLimits::default() }, &url, "short");
    assert_eq!(outcome(&exchange), "Timeout: request timeout");
    assert_eq!(exchange.outcome.unwrap_err().step, Step::Wait);
}

#[test]
fn a_request_that_is_not_taken() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let exchange = limited(StepLimits { write: Some(SHORT), ..StepLimits::default() }, &url, &"x".repeat(64 << 20));
    assert_eq!(outcome(&exchange), "Timeout: request timeout");
    assert_eq!(exchange.outcome.unwrap_err().step, Step::Send);
}

#[test]
fn a_connection_that_does_not_come_to_stand() {
    // Its queue has room for one connection that nobody accepts; the kernel ignores those behind it.
    let full = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    full.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    full.listen(0).unwrap();
    let address = full.local_addr().unwrap().as_socket().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, SHORT) {
        waiting.push(stream);
        assert!(waiting.len() < 100, "the queue never fills");
    }
    let exchange = limited(StepLimits { dial: SHORT, ..StepLimits::default() }, &format!("http://{address}/"), "");
    assert_eq!(outcome(&exchange), "DialTimeout: dial: i/o timeout");
}

#[test]
fn limits_that_are_kept_change_nothing() {
    let server = Scripted::start(|_| response("200 OK", &[], b""));
    let long = Duration::from_secs(60);
    let limits = StepLimits { dial: long, write: Some(long), read: Some(long) };
    assert_eq!(outcome(&limited(limits, &server.url("/"), "body")), "200");
}
