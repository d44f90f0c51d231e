//! An agent's end: dials the coordinator, or waits until it dials, and knows it by its fingerprint either way.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::io::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::tls::{client, server_name};
use super::{LONGEST, read_frame, write_frame};
use crate::agent::seal;
use crate::backing::{ConnectError, Line};
use crate::message::{self, Order, Report};
use crate::token::Invitation;
use crate::{Ns, clock};

/// How long one waits to be dialled; then it looks whether it is wanted at all, and waits again.
const ACCEPT_PATIENCE: Duration = Duration::from_secs(1);
/// Handshakes under way at an agent that listens; with one more the oldest is given up.
const UNKNOWN: usize = 16;
/// From dialling to a finished handshake.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// Before the address in an invitation: the agent listens there.
pub const LISTENING: &str = "listen://";
/// A coordinator that takes nothing for so long is gone.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// A connection to the coordinator.
pub struct TcpLine {
    way: Approach,
    config: Arc<ClientConfig>,
    open: Option<OpenStream>,
}

/// How a connection comes about.
enum Approach {
    /// To there.
    Dial(String),
    /// Somebody dials this address; the listener stands from the first attempt on.
    Wait(String, Option<TcpListener>),
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
        let way = match invitation.address.strip_prefix(LISTENING) {
            Some(address) => Approach::Wait(address.to_owned(), None),
            None => Approach::Dial(invitation.address.clone()),
        };
        Ok(TcpLine { way, config, open: None })
    }

    async fn make(&mut self) -> Result<TlsStream<TcpStream>, ConnectError> {
        match &mut self.way {
            Approach::Dial(there) => {
                let name = format!("the coordinator at {there}");
                match TcpStream::connect(there.as_str()).await {
                    Ok(stream) => shake_hands(stream, name, Arc::clone(&self.config)).await,
                    Err(error) => Err(ConnectError::Now(format!("{name}: {error}"))),
                }
            }
            Approach::Wait(here, listener) => {
                let failed =
                    |error| ConnectError::Ever(format!("cannot listen for the coordinator at {here}: {error}"));
                let listener = match listener {
                    Some(listener) => listener,
                    None => listener.insert(TcpListener::bind(here.as_str()).await.map_err(failed)?),
                };
                first_accepted(listener, here, &self.config).await
            }
        }
    }
}

/// The first connection to the listener whose other end has the certificate. Several handshakes run at once, so that
/// one who dials and says nothing does not keep the coordinator out.
async fn first_accepted(
    listener: &TcpListener,
    here: &str,
    config: &Arc<ClientConfig>,
) -> Result<TlsStream<TcpStream>, ConnectError> {
    let (mut handshakes, mut oldest) = (JoinSet::new(), VecDeque::new());
    let mut last = format!("no coordinator has dialled {here}");
    let patience = sleep(ACCEPT_PATIENCE);
    tokio::pin!(patience);
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, from) = accepted.map_err(|error| ConnectError::Now(error.to_string()))?;
                let name = format!("the coordinator that has dialled from {from}");
                oldest.push_back(handshakes.spawn(shake_hands(stream, name, Arc::clone(config))));
                if oldest.len() > UNKNOWN
                    && let Some(oldest) = oldest.pop_front()
                {
                    oldest.abort();
                }
            }
            Some(ended) = handshakes.join_next() => match ended {
                Ok(Ok(stream)) => return Ok(stream),
                // Anybody can dial; the right one may come yet.
                Ok(Err(ConnectError::Now(why) | ConnectError::Ever(why))) => last = why,
                Err(_given_up) => {}
            },
            () = &mut patience, if handshakes.is_empty() => return Err(ConnectError::Now(last)),
        }
    }
}

/// A handshake with the one that has the certificate.
async fn shake_hands(
    stream: TcpStream,
    there: String,
    config: Arc<ClientConfig>,
) -> Result<TlsStream<TcpStream>, ConnectError> {
    let _small_messages_matter = stream.set_nodelay(true);
    let connected = timeout(CONNECT_PATIENCE, TlsConnector::from(config).connect(server_name(), stream)).await;
    let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    connected.map_err(|error| match error.get_ref() {
        Some(inner) if inner.downcast_ref::<rustls::Error>().is_some_and(is_another) => ConnectError::Ever(format!(
            "{there} is another one than the token was made by: give the token that was printed for this run"
        )),
        _ => ConnectError::Now(format!("{there}: {error}")),
    })
}

/// Whether a certificate has another fingerprint.
fn is_another(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(_))
}

impl Line for TcpLine {
    async fn connect(&mut self) -> Result<(), ConnectError> {
        self.open = None;
        let made = timeout(CONNECT_PATIENCE, self.make()).await;
        let stream = made.unwrap_or_else(|_| {
            let (Approach::Dial(there) | Approach::Wait(there, _)) = &self.way;
            Err(ConnectError::Now(format!("no coordinator answers at {there} within 5 s")))
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
