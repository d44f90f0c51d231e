//! Byte tables of HTTP/1.1: the server reads this, replies that, the client must see this.

mod support;

use support::{Act, Peer, body, get, send, write};

#[test]
fn a_small_get_goes_out_and_comes_back() {
    let peer = Peer::play(vec![vec![Act::ReadRequest, write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")]]);
    let exchange = send(&get(peer.url("/a?b=c")));
    assert_eq!(body(&exchange), b"hi");
    let expected = format!("GET /a?b=c HTTP/1.1\r\nHost: {}\r\nUser-Agent: t\r\n\r\n", peer.address);
    assert_eq!(exchange.bytes_sent, expected.len() as u64);
    assert_eq!(exchange.bytes_received, 40);
    let connection = exchange.connection.unwrap();
    assert_eq!(connection.remote, Some(peer.address));
    assert!(!connection.reused);
    assert_eq!(peer.finish(), [expected.into_bytes()]);
}
