//! Exports by gRPC: unary calls on one connection of HTTP/2, which is dialled again when it is gone.

use std::cell::RefCell;
use std::future::poll_fn;

use bytes::Bytes;
use wire::client::{CallEvent, CallHead, Http2Connection, Http2Dial};
use wire::{Client, ClientContext, Url};

use crate::post::Address;

/// The method that takes metrics.
pub(super) const EXPORT: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// Calls a method. Belongs to one thread, with an event loop there.
pub(super) struct Exporter {
    client: Client,
    address: Address,
    url: Url,
    head: CallHead,
    connection: RefCell<Option<Http2Connection>>,
}

impl Exporter {
    pub(super) fn new(address: Address, method: &str) -> Result<Exporter, String> {
        let context = ClientContext::new(address.settings()).map_err(|error| error.message)?;
        let url = Url::parse(&address.url).map_err(|error| error.message)?;
        let fixed = [("content-type", "application/grpc"), ("te", "trailers"), ("user-agent", "Onrush")];
        let fixed = fixed.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        let given = address.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone().into_bytes()));
        let fields: Vec<(String, Vec<u8>)> = fixed.chain(given).collect();
        let head = CallHead::new(&url, None, method, &fields).map_err(|failure| failure.message)?;
        Ok(Exporter { client: Client::new(context), address, url, head, connection: RefCell::new(None) })
    }

    /// Sends a request; why it was not taken.
    pub(super) async fn export(&self, body: Vec<u8>) -> Result<(), String> {
        let at = &self.url.authority;
        let result = self.call(body).await.map_err(|why| format!("{at}: {why}"));
        if result.is_err() {
            self.connection.take();
        }
        result
    }

    async fn call(&self, body: Vec<u8>) -> Result<(), String> {
        let connection = self.connected().await?;
        let mut call = connection.open(&self.head, Some(self.address.timeout));
        let mut frame = vec![0];
        frame.extend_from_slice(&(body.len() as u32).to_be_bytes());
        frame.extend_from_slice(&body);
        call.send(Bytes::from(frame), true);
        let mut status: Option<String> = None;
        loop {
            match poll_fn(|context| call.poll(context)).await {
                CallEvent::Head { status: http, fields, end } => {
                    if http != 200 {
                        return Err(format!("HTTP status {http}"));
                    }
                    status = told(&fields);
                    if end {
                        break;
                    }
                }
                CallEvent::Data(_) => {}
                CallEvent::Trailers(fields) => status = told(&fields).or(status),
                CallEvent::End => break,
                CallEvent::Reset(code) => return Err(format!("the stream was reset (code {code})")),
                CallEvent::TimedOut => return Err(format!("no answer within {} s", self.address.timeout.as_secs())),
                CallEvent::Failed(failure) => return Err(failure.message),
            }
        }
        match status.as_deref() {
            Some("0") => Ok(()),
            Some(status) => Err(format!("gRPC status {status}")),
            None => Err(String::from("an answer without grpc-status")),
        }
    }

    async fn connected(&self) -> Result<Http2Connection, String> {
        let known = self.connection.borrow().clone().filter(Http2Connection::is_usable);
        if let Some(connection) = known {
            return Ok(connection);
        }
        let dial = Http2Dial { url: &self.url, tls: None, server_name: None, timeout: self.address.timeout };
        let connection = self.client.connect_http2(&dial).await.map_err(|failure| failure.message)?;
        *self.connection.borrow_mut() = Some(connection.clone());
        Ok(connection)
    }
}

/// The status, and what is said of it unless all is well.
fn told(fields: &wire::client::Fields) -> Option<String> {
    let status = String::from_utf8_lossy(fields.get("grpc-status")?).into_owned();
    match fields.get("grpc-message") {
        Some(message) if status != "0" => Some(format!("{status}: {}", String::from_utf8_lossy(message))),
        _ => Some(status),
    }
}
