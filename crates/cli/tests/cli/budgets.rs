//! Bodies and messages without end: what a user may hold bounds them while they arrive.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::lab::{Lab, Run};

/// A server that sends this head and then its piece for as long as somebody reads.
fn endless(head: &'static str, piece: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = listener.local_addr().expect("bound").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let piece = piece.clone();
            std::thread::spawn(move || answer(stream, head, &piece));
        }
    });
    url
}

fn answer(mut stream: TcpStream, head: &str, piece: &[u8]) {
    let mut request = [0; 4096];
    let _read = stream.read(&mut request);
    if stream.write_all(head.as_bytes()).is_ok() {
        while stream.write_all(piece).is_ok() {}
    }
}

fn run(url: &str, flags: &[&str]) -> Run {
    let lab = Lab::with(&format!(
        "import http from 'k6/http';
         export default function () {{
           const one = http.get('http://{url}/', {{ timeout: '20s' }});
           console.log('one', one.status, one.error_code, one.error);
           const get = ['GET', 'http://{url}/', null, {{ timeout: '20s' }}];
           console.log('three', http.batch([get, get, get]).map((r) => r.error_code).join());
         }}"
    ));
    lab.run(&[&["--summary-mode=disabled", "--log-format=raw"], flags].concat()).code(0)
}

#[test]
fn a_body_without_end_fails_at_its_limit_however_it_is_framed() {
    let chunk = [b"10000\r\n".to_vec(), vec![b'x'; 65536], b"\r\n".to_vec()].concat();
    for (head, piece) in [
        ("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 65536]),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", vec![b'x'; 65536]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk),
    ] {
        let url = endless(head, piece);
        run(&url, &["--max-decoded-body", "8m"])
            .says("one 0 1710 response body too large: it has more than 8388608 bytes, the limit of the option")
            .says("maxDecodedBody")
            .says("three 1710,1710,1710");
        run(&url, &["--vu-memory-limit", "48m"])
            .says("one 0 1710 response body too large: it does not fit into the 50331648 bytes of a virtual user;")
            .says("three 1710,1710,1710");
    }
}
