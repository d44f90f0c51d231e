//! TCP and TLS, behind a proxy.

use onrush_fleet::embedded::{TcpHub, TcpLine};
use onrush_fleet::{Credentials, Invitation, Token};

use crate::fixture::{Backing, Opening};
use crate::proxy::Proxy;

pub struct Embedded(std::sync::Arc<Proxy>);

impl Backing for Embedded {
    type Hub = TcpHub;
    type Line = TcpLine;

    fn make() -> Result<Embedded, String> {
        Proxy::start().map(|proxy| Embedded(proxy.into())).map_err(|error| error.to_string())
    }

    fn hub(&self, credentials: &Credentials, _: &[u8]) -> Opening<TcpHub> {
        let (proxy, certificate) = (self.0.clone(), credentials.certificate.clone());
        Box::pin(async move {
            let hub = TcpHub::listen("127.0.0.1:0".parse().expect("an address"), &certificate).await?;
            proxy.lead_to(hub.address());
            Ok(hub)
        })
    }

    fn line(&self, token: &Token) -> TcpLine {
        let invitation = Invitation { token: token.clone(), address: self.0.address.to_string() };
        TcpLine::new(&invitation).expect("a line")
    }

    fn cut(&self) {
        self.0.cut();
    }
}

/// Somebody says hello by a byte a second: it gets ten seconds for the whole of it.
#[test]
fn a_hello_that_trickles_is_cut_off() {
    use std::io::Read;
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    let backing = Embedded::make().unwrap();
    let fleet = crate::fixture::Fleet::start(&backing, 1);
    let mut stream = TcpStream::connect(backing.0.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let began = Instant::now();
    let mut is_closed = false;
    // The beginning of a TLS record, of which one byte comes now and then.
    while !is_closed && began.elapsed() < crate::fixture::PATIENCE {
        is_closed = std::io::Write::write_all(&mut stream, &[22]).is_err();
        is_closed |= matches!(stream.read(&mut [0; 64]), Ok(0));
    }
    assert!(is_closed, "it may go on for ever");
    fleet.thread.finish();
}

/// Nothing but one short hello is read from an agent that is not welcome.
#[test]
fn frames_of_an_agent_that_is_refused_are_not_taken() {
    use onrush_fleet::backing::Line;
    use onrush_fleet::message::{Hello, PROTOCOL};
    use onrush_fleet::{Report, clock};

    let backing = Embedded::make().unwrap();
    let fleet = crate::fixture::Fleet::start(&backing, 1);
    let mut line = backing.line(&fleet.credentials.token());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let other = Credentials::make().unwrap();
    let hello = Hello {
        protocol: PROTOCOL,
        version: String::from("test"),
        secret: other.secret,
        name: String::from("a stranger"),
        index: None,
        incarnation: 1,
        seat: None,
    };
    let is_taken = runtime.block_on(async {
        line.connect().await.unwrap();
        assert!(line.send(Report::Hello(hello)).await, "a hello is read");
        let began = clock::now();
        // Larger than what the kernel keeps for both ends: it is with the other end only when that has read it.
        let frame = || Report::Frame { number: 1, content: vec![0; 64 << 20] };
        let sent = tokio::time::timeout(crate::fixture::PATIENCE, line.send(frame())).await;
        assert!(clock::now() > began);
        matches!(sent, Ok(true))
    });
    assert!(!is_taken, "64 MiB were read before the secret was checked");
    fleet.thread.finish();
}

/// Beside a broker nothing says welcome: it took ten seconds, and each agent's connection was ended and made again.
#[test]
fn beside_a_broker_the_right_secret_is_enough() {
    use onrush_fleet::Report;
    use onrush_fleet::backing::{Hub, Incoming, Line};
    use onrush_fleet::message::{Hello, PROTOCOL};

    let (ours, other) = (Credentials::make().unwrap(), Credentials::make().unwrap());
    let frame_is_read = |secret: onrush_fleet::token::Secret| async {
        let any = "127.0.0.1:0".parse().unwrap();
        let mut hub = TcpHub::listen_beside(any, &ours.certificate, ours.secret.clone()).await.unwrap();
        let mut line = TcpLine::new(&Invitation { token: ours.token(), address: hub.address().to_string() }).unwrap();
        line.connect().await.unwrap();
        let (version, name) = (String::from("test"), String::from("an agent"));
        let hello = Hello { protocol: PROTOCOL, version, secret, name, index: None, incarnation: 1, seat: None };
        assert!(line.send(Report::Hello(hello)).await);
        assert!(line.send(Report::Frame { number: 1, content: vec![1] }).await);
        assert!(matches!(hub.next().await, Incoming::Report(_, Report::Hello(_), _)));
        matches!(hub.next().await, Incoming::Report(_, Report::Frame { .. }, _))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert!(runtime.block_on(frame_is_read(ours.secret.clone())));
    assert!(!runtime.block_on(frame_is_read(other.secret.clone())));
}
