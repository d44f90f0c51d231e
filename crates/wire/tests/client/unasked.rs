//! Bytes that come over an idle connection, for which no request asked: the client drops the connection and counts
//! them.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use onrush_wire::{Client, ClientContext, Exchange, Settings};

use crate::server::{get, outcome, read_request, response, run};

#[test]
fn bytes_that_came_unasked_are_counted_with_the_next_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let request = get(&format!("http://{}/", listener.local_addr().unwrap()));
    let ((answered, is_answered), (wrote, has_written)) = (channel(), channel());
    let server = std::thread::spawn(move || {
        for stray in [&b"stray"[..], b""] {
            let (mut stream, _) = listener.accept().unwrap();
            read_request(&mut BufReader::new(stream.try_clone().unwrap()), None).unwrap();
            stream.write_all(&response("200 OK", &[], b"ok")).unwrap();
            is_answered.recv().unwrap();
            stream.write_all(stray).unwrap();
            wrote.send(()).unwrap();
        }
    });
    run(async {
        let client = Client::new(ClientContext::new(Arc::new(Settings::default())).unwrap());
        let mut received = Vec::new();
        for _ in 0..2 {
            let exchange = client.send(&request, None, &mut |_: &Exchange| {}).await;
            assert_eq!(outcome(&exchange), "200");
            assert!(!exchange.connection.as_ref().unwrap().reused);
            received.push(exchange.bytes_received);
            answered.send(()).unwrap();
            has_written.recv().unwrap();
            // The event loop is to notice.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(received[1], received[0] + 5, "{received:?}");
    });
    server.join().unwrap();
}
