//! A collector that speaks gRPC and keeps what it is sent, or behaves badly.

use std::future::poll_fn;
use std::sync::mpsc::{Receiver as Channel, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream};
use tokio::net::{TcpListener, TcpStream};

/// What it does with a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Takes it and answers with this status and message.
    Status(&'static str, &'static str),
    /// Takes it and answers after so long.
    IsSlow(Duration),
    /// Takes it and never answers.
    Hangs,
    /// Accepts the connection and says nothing, not even HTTP/2's settings.
    IsMute,
    /// Answers with this status of HTTP.
    Http(u16),
    /// Resets the stream.
    Resets,
    /// Closes the connection.
    HangsUp,
    /// Answers with messages without end.
    Babbles,
}

/// The path and the content type of a call, and its body.
pub type Call = (String, Vec<u8>);

/// Bytes of a body that is kept.
const KEPT: usize = 64 << 10;

/// Its address and what it is sent. Lives as long as the test process.
pub fn collector(answer: Answer) -> (String, Channel<Call>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let runtime = wire::event_loop().unwrap();
        runtime.block_on(async move {
            listener.set_nonblocking(true).unwrap();
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer, sender.clone()));
            }
        });
    });
    (address, receiver)
}

async fn serve(stream: TcpStream, answer: Answer, calls: Sender<Call>) {
    if answer == Answer::IsMute {
        return std::future::pending().await;
    }
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (parts, content) = request.into_parts();
        let kind = parts.headers["content-type"].to_str().unwrap();
        let Some(body) = read(&mut connection, content).await else { return };
        // Nobody may be interested.
        let _kept = calls.send((format!("{} {kind}", parts.uri.path()), body));
        match answer {
            Answer::HangsUp => return,
            // The connection has to be polled all the same.
            Answer::Hangs => {
                let _held = respond;
                return poll_fn(|context| connection.poll_closed(context)).await.unwrap_or_default();
            }
            _ => tokio::spawn(reply(respond, answer)),
        };
    }
}

async fn read(connection: &mut Connection<TcpStream, Bytes>, mut content: RecvStream) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(piece) = poll_fn(|context| {
        // The connection has to be polled for its streams to move.
        let _nothing_new = connection.poll_closed(context);
        content.poll_data(context)
    })
    .await
    {
        let piece = piece.ok()?;
        let _window = content.flow_control().release_capacity(piece.len());
        // Large ones would be mistaken for memory of the product.
        let most = piece.len().min(KEPT.saturating_sub(body.len()));
        body.extend_from_slice(&piece[..most]);
    }
    Some(body)
}

async fn reply(mut respond: SendResponse<Bytes>, answer: Answer) {
    let status = if let Answer::Http(status) = answer { status } else { 200 };
    let head = http::Response::builder().status(status).header("content-type", "application/grpc").body(()).unwrap();
    match answer {
        Answer::Resets => return respond.send_reset(Reason::INTERNAL_ERROR),
        Answer::IsSlow(time) => tokio::time::sleep(time).await,
        _ => {}
    }
    // Whoever has given up gets no answer.
    let Ok(mut stream) = respond.send_response(head, false) else { return };
    if answer == Answer::Babbles {
        stream.reserve_capacity(16 << 10);
        while let Some(Ok(room)) = poll_fn(|context| stream.poll_capacity(context)).await {
            let _sent = stream.send_data(Bytes::from(vec![0; room]), false);
            stream.reserve_capacity(16 << 10);
        }
        return;
    }
    let _sent = stream.send_data(Bytes::from_static(&[0, 0, 0, 0, 0]), false);
    let (code, message) = if let Answer::Status(code, message) = answer { (code, message) } else { ("0", "") };
    let fields = [("grpc-status", code), ("grpc-message", message)];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
    let fields = fields.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let _sent = stream.send_trailers(fields.collect());
}
