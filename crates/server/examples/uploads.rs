//! Receives uploads as an app in Rust: `uploads ADDRESS [pool|fresh|copy] [RECEIVE_SIZE]`, until it is killed.
//!
//! `PUT /BACKPRESSURE/DELAY` is read to its end and answered without a body. DELAY is what comes before a piece is
//! processed (-1 nothing, 0 a turn of the event loop, else milliseconds), and with BACKPRESSURE 1 the next piece is
//! asked for only then. `fresh` allocates memory for each piece instead of using it again, `copy` receives into the
//! pool and copies each piece into memory of its own (as servers do that own one static buffer): both show what the
//! pool is worth. RECEIVE_SIZE is in bytes, 65536 unless given.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use onrush_server::app::{Answering, Piece};
use onrush_server::{App, AppFactory, AppRequest, Buffers, Response, Server, ServerConfig};
use tokio::task::{spawn_local, yield_now};
use tokio::time::sleep;

/// Copies pieces before it processes them.
struct Uploads {
    copies: bool,
}

impl App for Uploads {
    fn fetch(&self, request: AppRequest) -> Answering {
        Box::pin(receive(request, self.copies))
    }
}

async fn receive(mut request: AppRequest, copies: bool) -> Result<Response, String> {
    let mut path = request.target().rsplit('/').map(|part| part.parse::<i64>().unwrap_or(-1));
    let (delay, backpressure) = (path.next().unwrap_or(-1), path.next() == Some(1));
    while let Some(piece) = request.body.next().await {
        let piece = piece.map_err(|e| e.to_string())?;
        let piece = if copies { Piece::from(Bytes::copy_from_slice(&piece)) } else { piece };
        match delay {
            ..0 => drop(piece),
            _ if backpressure => process(piece, delay).await,
            _ => drop(spawn_local(process(piece, delay))),
        }
    }
    Ok(Response::empty(200))
}

async fn process(piece: Piece, delay: i64) {
    if delay == 0 {
        yield_now().await;
    } else {
        sleep(Duration::from_millis(delay.unsigned_abs())).await;
    }
    drop(piece);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let address = args.next().unwrap_or_else(|| "127.0.0.1:0".to_owned()).parse()?;
    let kind = args.next().unwrap_or_default();
    let receive_size = args.next().map(|bytes| bytes.parse()).transpose()?;
    let (reuse, copies) = (kind != "fresh", kind == "copy");
    let app: AppFactory = Arc::new(move || Ok(Rc::new(Uploads { copies })));
    let buffers = Buffers { receive_size, reuse };
    let config = ServerConfig { tcp: vec![address], app: Some(app), buffers, ..ServerConfig::default() };
    let server = Server::start(config)?;
    println!("http://{}", server.addresses().tcp[0]);
    loop {
        std::thread::park();
    }
}
