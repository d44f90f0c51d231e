//! Apps behind a real server on 127.0.0.1.

mod driver;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use driver::{Lines, load};
use server::{Buffers, Server, ServerConfig};

/// Serves the app and receives so many bytes at once.
fn serve(source: &str, receive_size: usize) -> Server {
    let runtime = wire::event_loop().expect("an event loop");
    let program = runtime.block_on(load(source, &Arc::new(Lines::default())));
    let app = program.unwrap_or_else(|error| panic!("{error}\n{}", error.stack)).factory();
    Server::start(ServerConfig {
        tcp: vec!["127.0.0.1:0".parse().expect("an address")],
        app: Some(app),
        buffers: Buffers { receive_size: Some(receive_size), reuse: true },
        ..ServerConfig::default()
    })
    .expect("a server")
}

/// The body of the answer to this one, sent with these lines about it.
fn post(server: &Server, path: &str, lines: &str, body: &str) -> String {
    let mut client = TcpStream::connect(server.addresses().tcp[0]).expect("a connection");
    let request = format!("POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{lines}\r\n\r\n{body}");
    client.write_all(request.as_bytes()).expect("sends");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer");
    answer.split_once("\r\n\r\n").map_or(answer.clone(), |(_, body)| body.to_string())
}

#[test]
fn pieces_are_the_servers_memory_until_they_are_released() {
    let server = serve(
        "const kept = []
        export default { async fetch(request) {
            const shown = []
            for await (const piece of request.body) {
                kept.push(piece)
                piece[0] -= 32
                shown.push(String.fromCharCode(...piece))
                if (request.url.endsWith('/released')) Onrush.release(piece)
                shown.push(piece.length)
            }
            return new Response(shown.join())
        } }",
        3,
    );
    let post = |path| post(&server, path, "content-length: 5", "abcde");
    assert_eq!(post("/released"), "Abc,0,De,0");
    assert_eq!(server.stats()["buffers"]["in_use"], 0, "the script still has the arrays");
    assert_eq!(post("/kept"), "Abc,3,De,2");
    assert_eq!(server.stats()["buffers"]["in_use"], 2);
    let stats = server.stop(Duration::from_secs(60));
    assert_eq!(stats["buffers"]["in_use"], 0, "the end of the app gives back what it kept");
}

#[test]
fn memory_of_the_app_is_received_into() {
    let server = serve(
        "const pools = {}
        let made = 0
        export default {
            allocate(size, request) {
                const pool = pools[request.tenant] ??= []
                if (pool.length === 0) made++
                return pool.pop() ?? new ArrayBuffer(size)
            },
            async fetch(request) {
                request.tenant = request.headers.get('tenant')
                const found = []
                for await (const piece of request.body) {
                    found.push(String.fromCharCode(...piece), piece.buffer.byteLength)
                    pools[request.tenant].push(piece.buffer)
                }
                return new Response(`${found} in ${made}`)
            },
        }",
        8,
    );
    // Memory of one tenant is not used for the other.
    let cases = [
        ("a", "3\r\nabc\r\n0\r\n\r\n", "abc,8 in 1"),
        ("a", "a\r\nabcdefghij\r\n0\r\n\r\n", "abcdefgh,8,ij,8 in 1"),
        ("b", "1\r\ng\r\n0\r\n\r\n", "g,8 in 2"),
        ("a", "1\r\nh\r\n0\r\n\r\n", "h,8 in 2"),
    ];
    for (tenant, chunks, expected) in cases {
        let lines = format!("tenant: {tenant}\r\ntransfer-encoding: chunked");
        assert_eq!(post(&server, "/", &lines, chunks), expected);
    }
    assert_eq!(post(&server, "/", "tenant: c\r\ncontent-length: 3", "abc"), "abc,3 in 3");
    let buffers = &server.stats()["buffers"];
    assert_eq!((&buffers["allocated"], &buffers["reused"]), (&0.into(), &0.into()), "no memory of the server");
}
