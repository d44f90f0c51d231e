//! A server that speaks frames byte by byte: it reads until a request is there, then plays its part.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};

use crate::support::tls::{key_for, server_config};

/// A connection as the server sees it.
pub type Tls = StreamOwned<ServerConnection, TcpStream>;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 32;

/// `:status: 200`.
pub const STATUS_200: &[u8] = &[0x88];

/// One frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

/// A literal field that is not indexed.
pub fn field(name: &[u8], value: &[u8]) -> Vec<u8> {
    [&[0, name.len() as u8], name, &[value.len() as u8], value].concat()
}

/// A setting.
pub fn setting(id: u16, value: u32) -> Vec<u8> {
    [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// Reads one frame: kind, flags, stream, payload; `None` at the end.
pub fn read_frame(tls: &mut impl Read) -> Option<(u8, u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    tls.read_exact(&mut head).ok()?;
    let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    tls.read_exact(&mut payload).ok()?;
    Some((head[3], head[4], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload))
}

/// Reads the preface.
pub fn read_preface(tls: &mut impl Read) {
    let mut preface = [0; 24];
    tls.read_exact(&mut preface).unwrap();
    assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
}

/// Reads until a request's head is there; its stream.
pub fn read_request(tls: &mut impl Read) -> Option<u32> {
    loop {
        let (kind, _, stream, _) = read_frame(tls)?;
        if kind == HEADERS {
            return Some(stream);
        }
    }
}

/// Reads until the client closes.
pub fn await_close(tls: &mut impl Read) {
    let mut sink = vec![0; 1 << 16];
    while tls.read(&mut sink).is_ok_and(|n| n > 0) {}
}

/// Serves this many connections of HTTP/2 one after the other.
pub fn serve(
    connections: usize,
    mut play: impl FnMut(&mut Tls, usize) + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = server_config(&key_for("localhost"), rustls::ALL_VERSIONS, None);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let config = Arc::new(config);
    let thread = thread::spawn(move || {
        for at in 0..connections {
            let (socket, _) = listener.accept().unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            socket.set_nodelay(true).unwrap();
            let mut tls = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), socket);
            play(&mut tls, at);
            tls.conn.send_close_notify();
            let _gone = tls.flush();
        }
    });
    (address, thread)
}

/// Writes; a client that is gone already has its right to be.
pub fn write(tls: &mut impl Write, bytes: &[u8]) {
    let _gone = tls.write_all(bytes).and_then(|()| tls.flush());
}
