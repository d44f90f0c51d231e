//! Messages as lines of standard input and output. A thread reads, because standard input cannot be waited for without
//! one; whoever ends it still gets every answer that is due.

use std::future::{Future, pending, ready};
use std::io::{self, BufRead};

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Incoming = RxJsonRpcMessage<RoleServer>;
type Outgoing = TxJsonRpcMessage<RoleServer>;

/// The client at the other end.
pub(crate) struct McpClient {
    /// What was read; none for a line that is no message.
    incoming: UnboundedReceiver<Option<Incoming>>,
    /// Requests that have no answer yet.
    due: usize,
    print: fn(&str) -> io::Result<()>,
}

impl McpClient {
    /// Begins to read.
    pub(crate) fn open(print: fn(&str) -> io::Result<()>) -> io::Result<McpClient> {
        let (sender, incoming) = unbounded_channel();
        std::thread::Builder::new().name(String::from("client")).spawn(move || read(&sender))?;
        Ok(McpClient { incoming, due: 0, print })
    }
}

fn read(to: &UnboundedSender<Option<Incoming>>) {
    for line in io::stdin().lock().lines().map_while(Result::ok).filter(|line| !line.trim().is_empty()) {
        if to.send(serde_json::from_str(&line).ok()).is_err() {
            return;
        }
    }
}

impl Transport<RoleServer> for McpClient {
    type Error = io::Error;

    fn send(&mut self, message: Outgoing) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if matches!(message, Outgoing::Response(_) | Outgoing::Error(_)) {
            self.due = self.due.saturating_sub(1);
        }
        ready(serde_json::to_string(&message).map_err(io::Error::from).and_then(|text| (self.print)(&text)))
    }

    /// Asked again whenever something was sent.
    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            match self.incoming.recv().await {
                Some(Some(message)) => {
                    self.due += usize::from(matches!(message, Incoming::Request(_)));
                    return Some(message);
                }
                Some(None) => {
                    let text = "found no message of the protocol, expected one of JSON-RPC on the line";
                    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": text } });
                    (self.print)(&error.to_string()).ok()?;
                }
                None if self.due == 0 => return None,
                None => pending().await,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
