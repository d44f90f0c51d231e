//! Streams of bytes against real peers: in the clear, over TLS, from the clear to TLS, over a unix socket and a link.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use onrush_wire::client::{StreamDial, StreamTls};
use onrush_wire::link::{Link, LinkSettings};
use onrush_wire::settings::Blocked;
use onrush_wire::{FailureKind, Settings};
use support::tls::{key_for, server_config, trusting};
use support::{run, settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const TLS: StreamTls<'static> = StreamTls { configs: None, server_name: None };

fn dial<'a>(host: &'a str, port: u16, tls: Option<StreamTls<'static>>) -> StreamDial<'a> {
    StreamDial { host, port, tls, timeout: Duration::from_secs(10) }
}

/// Sends back what comes until the end.
fn echo(mut stream: impl Read + Write) {
    let mut buffer = [0; 30_000];
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        stream.write_all(&buffer[..n]).unwrap();
    }
}

/// One connection of TLS, after `greeting` and an answer to it in the clear.
fn serve_tls(greeting: &'static [u8]) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = Arc::new(server_config(&key_for("localhost"), rustls::ALL_VERSIONS, None));
    let server = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut asked = vec![0; greeting.len()];
        socket.read_exact(&mut asked).unwrap();
        assert_eq!(asked, greeting);
        socket.write_all(&greeting[..greeting.len().min(1)]).unwrap();
        echo(rustls::StreamOwned::new(rustls::ServerConnection::new(config).unwrap(), socket));
    });
    (address, server)
}

/// More than the buffers on the way hold: whoever writes has to read beside it.
async fn there_and_back(stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite) {
    let sent: Vec<u8> = (0..3_000_000u32).map(|i| (i * 7 / 5) as u8).collect();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut seen = vec![0; sent.len()];
    let write = async {
        writer.write_all(&sent).await.unwrap();
        writer.flush().await.unwrap();
    };
    let (_, read) = tokio::join!(write, reader.read_exact(&mut seen));
    read.unwrap();
    assert!(seen == sent, "what came back differs");
}

#[test]
fn in_the_clear_over_tcp_unix_and_a_link() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let path = std::env::temp_dir().join(format!("onrush-byte-stream-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let unix = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        echo(listener.accept().unwrap().0);
        echo(unix.accept().unwrap().0);
        echo(listener.accept().unwrap().0);
    });
    run(settings(), async |client| {
        let mut stream = client.open_stream(&dial("LOCALHOST", port, None)).await.unwrap();
        let traffic = stream.traffic();
        assert!(stream.is_quiet());
        there_and_back(&mut stream).await;
        assert_eq!(traffic.take(), (3_000_000, 3_000_000));
        assert_eq!(traffic.take(), (0, 0));
        drop(stream);
        let stream = client.open_stream(&dial(path.to_str().unwrap(), 0, None)).await.unwrap();
        assert_eq!(stream.peer(), None);
        there_and_back(stream).await;
        let latency = Duration::from_millis(40);
        client.set_link(Some(Link::new(LinkSettings { latency, ..LinkSettings::default() }, 1)));
        let began = Instant::now();
        let mut stream = client.open_stream(&dial("127.0.0.1", port, None)).await.unwrap();
        stream.write_all(b"x").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
        // The connect and the answer: a round trip each.
        assert!(began.elapsed() >= 2 * latency, "{:?}", began.elapsed());
    });
    server.join().unwrap();
    let _ = std::fs::remove_file(&path);
}

#[test]
fn over_tls_from_the_first_byte_and_later() {
    let (at_once, first) = serve_tls(b"");
    let (later, second) = serve_tls(b"tls, please");
    run(trusting(), async |client| {
        let stream = client.open_stream(&dial("127.0.0.1", at_once.port(), Some(TLS))).await.unwrap();
        let traffic = stream.traffic();
        there_and_back(stream).await;
        let (sent, received) = traffic.take();
        assert!(sent > 3_000_000 && received > 3_000_000, "{sent} {received}");
        let mut stream = client.open_stream(&dial("127.0.0.1", later.port(), None)).await.unwrap();
        stream.write_all(b"tls, please").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b't');
        there_and_back(client.encrypt(stream, "127.0.0.1", &TLS, None).await.unwrap()).await;
    });
    first.join().unwrap();
    second.join().unwrap();
}

#[test]
fn the_rules_of_the_run_hold() {
    let blocked = Settings {
        blocked: Blocked { addresses: vec!["127.0.0.0/8".parse().unwrap()].into(), ..Blocked::default() },
        ..settings()
    };
    let failure = run(blocked, async |client| client.open_stream(&dial("127.0.0.1", 1, None)).await.err().unwrap());
    assert_eq!(failure.kind, FailureKind::BlacklistedIp);
    let (address, server) = serve_tls(b"");
    let failure = run(settings(), async |client| {
        client.open_stream(&dial("127.0.0.1", address.port(), Some(TLS))).await.err().unwrap()
    });
    assert_eq!(failure.kind, FailureKind::WrongHost, "{failure}");
    drop(server);
}
