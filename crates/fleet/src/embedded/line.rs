//! An agent's end: dials the coordinator, and knows it by its fingerprint.

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::io::{ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::tls::{client, server_name};
use super::{LONGEST, read_frame, write_frame};
use crate::agent::seal;
use crate::backing::{ConnectError, Line};
use crate::message::{self, Order, Report};
use crate::token::Invitation;
use crate::{Ns, clock};

/// From dialling to a finished handshake.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// A coordinator that takes nothing for so long is gone.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// A connection to the coordinator.
pub struct TcpLine {
    address: String,
    config: Arc<ClientConfig>,
    open: Option<OpenStream>,
}

struct OpenStream {
    write: WriteHalf<TlsStream<TcpStream>>,
    orders: Receiver<(Order, Ns)>,
    reading: JoinHandle<()>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl TcpLine {
    /// To where the invitation says.
    pub fn new(invitation: &Invitation) -> Result<TcpLine, String> {
        let config = client(invitation.token.fingerprint)?;
        Ok(TcpLine { address: invitation.address.clone(), config, open: None })
    }

    async fn dial(&self) -> Result<TlsStream<TcpStream>, ConnectError> {
        let there = &self.address;
        let now = |what: String| ConnectError::Now(format!("the coordinator at {there}: {what}"));
        let stream = TcpStream::connect(there).await.map_err(|error| now(error.to_string()))?;
        let _small_messages_matter = stream.set_nodelay(true);
        let connector = TlsConnector::from(Arc::clone(&self.config));
        connector.connect(server_name(), stream).await.map_err(|error| match error.get_ref() {
            Some(inner) if inner.downcast_ref::<rustls::Error>().is_some_and(is_another) => {
                ConnectError::Ever(format!(
                    "the coordinator at {there} is another one than the token was made by: give the token that was \
                 printed for this run"
                ))
            }
            _ => now(error.to_string()),
        })
    }
}

/// Whether a certificate has another fingerprint.
fn is_another(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(_))
}

impl Line for TcpLine {
    async fn connect(&mut self) -> Result<(), ConnectError> {
        self.open = None;
        let dialled = timeout(CONNECT_PATIENCE, self.dial()).await;
        let stream = dialled.unwrap_or_else(|_| {
            Err(ConnectError::Now(format!("the coordinator at {}: no answer in 5 s", self.address)))
        })?;
        let (read, write) = tokio::io::split(stream);
        let (tell, orders) = channel(64);
        let reading = tokio::spawn(read_orders(read, tell));
        self.open = Some(OpenStream { write, orders, reading });
        Ok(())
    }

    async fn next(&mut self) -> Option<(Order, Ns)> {
        match &mut self.open {
            Some(open) => open.orders.recv().await,
            None => None,
        }
    }

    async fn send(&mut self, mut report: Report) -> bool {
        let Some(open) = &mut self.open else { return false };
        let bytes = seal(&mut report, clock::now());
        matches!(timeout(WRITE_PATIENCE, write_frame(&mut open.write, &bytes)).await, Ok(Ok(())))
    }
}

/// Reads in a task of its own, so that an order is dated when it is here.
async fn read_orders(mut from: ReadHalf<TlsStream<TcpStream>>, tell: tokio::sync::mpsc::Sender<(Order, Ns)>) {
    while let Ok(Some(bytes)) = read_frame(&mut from, LONGEST).await {
        let at = clock::now();
        let Ok(order) = message::decode::<Order>(&bytes) else { return };
        if tell.send((order, at)).await.is_err() {
            return;
        }
    }
}
