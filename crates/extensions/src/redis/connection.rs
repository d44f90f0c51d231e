//! One connection to a server: requests out, replies in, in order.

use std::rc::Rc;
use std::time::Duration;

use redis_protocol::resp2::decode;
use redis_protocol::resp2::types::OwnedFrame;
use script::Vu;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wire::client::{ByteStream, StreamTraffic};

use super::arguments::Request;
use super::options::{Login, NodeOptions};
use crate::client::dial::{self, Certificates};

/// Why a reply did not come: the connection is of no use any more.
pub type Lost = String;

/// An open connection, ready for commands.
pub struct Connection {
    stream: ByteStream,
    traffic: Rc<StreamTraffic>,
    received: Vec<u8>,
}

impl Connection {
    /// Connects, and says who asks.
    pub async fn open(vu: &Vu, node: &NodeOptions, read_only: bool) -> Result<Connection, String> {
        let given = node.tls.as_ref().filter(|certificates| **certificates != Certificates::default());
        let configs = given.map(|certificates| certificates.configs(vu, None)).transpose()?;
        let tls = node.tls.as_ref().map(|_| configs.as_ref());
        let stream = dial::open(vu, &node.place, tls, node.timeouts.dial).await?;
        let traffic = stream.traffic();
        let mut connection = Connection { stream, traffic, received: Vec::new() };
        for request in greeting(&node.login, read_only) {
            let reply = connection.call(vu, &request, node.timeouts.read).await?;
            if let OwnedFrame::Error(why) = reply {
                return Err(why);
            }
        }
        Ok(connection)
    }

    /// One request and its reply. A connection whose call failed, or was dropped, must not be used again.
    pub async fn call(&mut self, vu: &Vu, request: &Request, timeout: Duration) -> Result<OwnedFrame, Lost> {
        let outcome = tokio::time::timeout(timeout, self.exchange(request)).await;
        dial::count(vu, &self.traffic);
        match outcome {
            Ok(reply) => reply,
            Err(_) => {
                let peer = self.stream.peer().map_or_else(|| String::from("unix"), |peer| peer.to_string());
                Err(format!("read tcp {peer}: i/o timeout"))
            }
        }
    }

    async fn exchange(&mut self, request: &Request) -> Result<OwnedFrame, Lost> {
        let lost = |error: std::io::Error| error.to_string();
        self.stream.write_all(request.bytes()).await.map_err(lost)?;
        self.stream.flush().await.map_err(lost)?;
        loop {
            if !self.received.is_empty() {
                match decode::decode(&self.received) {
                    Ok(Some((reply, length))) => {
                        self.received.drain(..length);
                        return Ok(reply);
                    }
                    Ok(None) => {}
                    Err(error) => return Err(format!("redis: invalid reply: {error}")),
                }
            }
            // The room grows with the reply: each try reads it from its beginning, so a long one should take few reads.
            self.received.reserve(self.received.len().max(4 << 10));
            if self.stream.read_buf(&mut self.received).await.map_err(lost)? == 0 {
                return Err(String::from("EOF"));
            }
        }
    }

    /// Whether the server has not closed it while it was idle.
    pub fn is_usable(&mut self) -> bool {
        self.received.is_empty() && self.stream.is_quiet()
    }
}

/// What a new connection says first.
fn greeting(login: &Login, read_only: bool) -> Vec<Request> {
    let mut requests = Vec::new();
    match (&login.username, &login.password) {
        (Some(name), Some(password)) => requests.push(Request::of(&["AUTH", name, password])),
        (None, Some(password)) => requests.push(Request::of(&["AUTH", password])),
        _ => {}
    }
    if login.database != 0 {
        requests.push(Request::of(&["SELECT", &login.database.to_string()]));
    }
    if let Some(name) = &login.client_name {
        requests.push(Request::of(&["CLIENT", "SETNAME", name]));
    }
    if read_only {
        requests.push(Request::of(&["READONLY"]));
    }
    requests
}
