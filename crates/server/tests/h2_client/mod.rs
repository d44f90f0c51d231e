//! A client of HTTP/2 for these tests, over the `h2` crate: it shows windows, resets and how the connection ended.

#![allow(dead_code, reason = "no test uses all of it")]

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request};
use onrush_server::{Server, ServerConfig};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// No test comes near it unless it has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);
pub fn plain() -> ServerConfig {
    ServerConfig { tcp: vec!["127.0.0.1:0".parse().unwrap()], ..ServerConfig::default() }
}

/// Runs a test with a server and a client connected to it.
pub fn test<T: Future>(config: ServerConfig, body: impl FnOnce(Client, Server) -> T) -> T::Output {
    let server = Server::start(config).unwrap();
    let runtime = wire::event_loop().unwrap();
    runtime.block_on(async {
        let address: SocketAddr = server.addresses().tcp[0];
        let client = Client::over(TcpStream::connect(address).await.unwrap()).await;
        timeout(PATIENCE, body(client, server)).await.unwrap()
    })
}

pub struct Client {
    pub requests: SendRequest<Bytes>,
    /// How the connection ended.
    pub end: JoinHandle<Result<(), h2::Error>>,
}

/// A response with all of its body.
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub trailers: Option<HeaderMap>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Client {
    pub async fn over(socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Client {
        let (requests, connection) = h2::client::handshake(socket).await.unwrap();
        Client { requests, end: tokio::spawn(connection) }
    }

    /// Begins a request; without a body `ends`.
    pub async fn begin(&self, request: Request<()>, ends: bool) -> (ResponseFuture, SendStream<Bytes>) {
        let mut requests = self.requests.clone().ready().await.unwrap();
        requests.send_request(request, ends).unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, b"").await
    }

    pub async fn ask(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        self.try_ask(method, path, body).await.unwrap()
    }

    pub async fn try_ask(&self, method: &str, path: &str, body: &[u8]) -> Result<Answer, h2::Error> {
        let (response, mut stream) = self.begin(request(method, path), body.is_empty()).await;
        if !body.is_empty() {
            stream.send_data(Bytes::copy_from_slice(body), true)?;
        }
        whole(response).await
    }
}

pub fn request(method: &str, path: &str) -> Request<()> {
    Request::builder().method(method).uri(format!("http://localhost{path}")).body(()).unwrap()
}

pub async fn whole(response: ResponseFuture) -> Result<Answer, h2::Error> {
    let (head, mut stream) = response.await?.into_parts();
    let mut body = Vec::new();
    while let Some(data) = stream.data().await {
        body.extend_from_slice(&take(&mut stream, data?));
    }
    let trailers = stream.trailers().await?;
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, trailers })
}

pub fn take(stream: &mut RecvStream, data: Bytes) -> Bytes {
    stream.flow_control().release_capacity(data.len()).unwrap();
    data
}

/// Different everywhere, so that misplaced bytes show.
pub fn noise(size: usize) -> Vec<u8> {
    (0..size as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Waits for something that the server does.
pub async fn until(happened: impl Fn() -> bool) {
    while !happened() {
        sleep(Duration::from_millis(1)).await;
    }
}
