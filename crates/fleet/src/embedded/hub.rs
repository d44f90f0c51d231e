//! The coordinator's end: listens, or dials agents that do, and keeps a task that reads and one that writes for each
//! connection. Whoever dials: the coordinator is the one with the certificate.
//!
//! A connection that the coordinator has not welcomed costs little: one hello of `LONGEST_HELLO` bytes is read from it,
//! then nothing until the welcome has left, all of it within `HELLO_PATIENCE`. No more than `UNKNOWN` such connections
//! are open at once; others wait in the kernel's queue. Beside a broker, which carries the welcome, the secret in the
//! hello is enough.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::TlsAcceptor;

use super::{Certificate, LONGEST, LONGEST_HELLO, read_frame, write_frame};
use crate::backing::{Hub, Incoming};
use crate::clock;
use crate::coordinator::Link;
use crate::lines::{Doors, Lines};
use crate::message::{self, Order, Report};
use crate::token::Secret;

/// Connections at once that are not welcomed yet.
const UNKNOWN: usize = 256;
/// From the connection to the welcome.
const HELLO_PATIENCE: Duration = Duration::from_secs(10);
/// A dial, and the time until the next one.
const DIAL_PATIENCE: Duration = Duration::from_secs(5);
const DIAL_AGAIN: Duration = Duration::from_millis(300);
/// An agent that takes nothing for so long is gone.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// Connections of agents.
pub struct TcpHub {
    address: SocketAddr,
    lines: Lines,
    /// What accepts connections or makes them.
    connecting: Vec<JoinHandle<()>>,
}

impl TcpHub {
    /// Listens. Must be called in a runtime of tokio.
    pub async fn listen(address: SocketAddr, certificate: &Certificate) -> Result<TcpHub, String> {
        TcpHub::listen_for(address, certificate, None).await
    }

    /// Listens for what is too large for a broker. An agent whose hello has this secret is known at once: it gets its
    /// welcome through the broker.
    pub async fn listen_beside(
        address: SocketAddr,
        certificate: &Certificate,
        secret: Secret,
    ) -> Result<TcpHub, String> {
        TcpHub::listen_for(address, certificate, Some(secret)).await
    }

    async fn listen_for(
        address: SocketAddr,
        certificate: &Certificate,
        beside: Option<Secret>,
    ) -> Result<TcpHub, String> {
        let acceptor = TlsAcceptor::from(certificate.server()?);
        let failed = |error: std::io::Error| format!("cannot listen for agents at {address}: {error}");
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (lines, doors) = Lines::new();
        let connecting = vec![tokio::spawn(accept(listener, acceptor, doors, beside))];
        Ok(TcpHub { address, lines, connecting })
    }

    /// Dials agents that listen, each by its address, again and again until it is there. Must be called in a runtime of
    /// tokio.
    pub fn dial(agents: &[String], certificate: &Certificate) -> Result<TcpHub, String> {
        let acceptor = TlsAcceptor::from(certificate.server()?);
        let (lines, doors) = Lines::new();
        let links = Arc::new(AtomicU64::new(1));
        let dial =
            |address: &String| tokio::spawn(call(address.clone(), links.clone(), acceptor.clone(), doors.clone()));
        let connecting = agents.iter().map(dial).collect();
        Ok(TcpHub { address: SocketAddr::from(([0, 0, 0, 0], 0)), lines, connecting })
    }

    /// Where it listens; 0.0.0.0:0 when it dials.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Hub for TcpHub {
    async fn next(&mut self) -> Incoming {
        self.lines.next().await
    }

    fn send(&mut self, link: Link, order: Order) {
        self.lines.send(link, order);
    }

    fn close(&mut self, link: Link) {
        self.lines.close(link);
    }

    async fn flush(&mut self) {
        self.lines.flush().await;
    }
}

impl Drop for TcpHub {
    fn drop(&mut self) {
        self.connecting.iter().for_each(JoinHandle::abort);
    }
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, doors: Doors, beside: Option<Secret>) {
    let unknown = Arc::new(Semaphore::new(UNKNOWN));
    for link in 1.. {
        let Ok(place) = Arc::clone(&unknown).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // No descriptor is free: others may go.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let caller = Caller { place: Some(place), secret: beside.clone() };
        tokio::spawn(serve(link, stream, acceptor.clone(), doors.clone(), caller));
    }
}

/// Dials an agent whenever there is no connection to it.
async fn call(agent: String, links: Arc<AtomicU64>, acceptor: TlsAcceptor, doors: Doors) {
    loop {
        if let Ok(Ok(stream)) = timeout(DIAL_PATIENCE, TcpStream::connect(&agent)).await {
            let link = links.fetch_add(1, Ordering::Relaxed);
            serve(link, stream, acceptor.clone(), doors.clone(), Caller { place: None, secret: None }).await;
        }
        sleep(DIAL_AGAIN).await;
    }
}

/// What decides how long a connection is an unknown one.
struct Caller {
    /// Among the unknown ones.
    place: Option<OwnedSemaphorePermit>,
    /// What makes it known without a welcome.
    secret: Option<Secret>,
}

/// A connection from its first byte to its last. It keeps its place among the unknown ones until it is welcomed.
async fn serve(link: Link, stream: TcpStream, acceptor: TlsAcceptor, doors: Doors, caller: Caller) {
    let _small_messages_matter = stream.set_nodelay(true);
    let end = Instant::now() + HELLO_PATIENCE;
    let hello = async {
        let stream = acceptor.accept(stream).await?;
        let (mut read, write) = tokio::io::split(stream);
        let hello = read_frame(&mut read, LONGEST_HELLO).await?;
        Ok::<_, std::io::Error>((hello, read, write))
    };
    // Whoever does not get this far is nobody: a port scanner, or an agent with another run's token.
    let Ok(Ok((Some(hello), mut read, write))) = timeout_at(end, hello).await else { return };
    let at = clock::now();
    let Ok(Report::Hello(hello)) = message::decode(&hello) else { return };
    let is_known = caller.secret.is_some_and(|secret| secret.is(&hello.secret));
    let (line, orders) = unbounded_channel();
    let (welcome, welcomed) = oneshot::channel();
    let writing = tokio::spawn(write_orders(link, write, orders, doors.clone(), welcome));
    doors.open(link, line, writing);
    if !doors.tell(Incoming::Report(link, Report::Hello(hello), at)) {
        return;
    }
    if is_known || matches!(timeout_at(end, welcomed).await, Ok(Ok(()))) {
        drop(caller.place);
        read_reports(link, &mut read, &doors).await;
    }
    doors.tell(Incoming::Left(link));
}

/// Reports of an agent that has a seat.
async fn read_reports(link: Link, from: &mut (impl AsyncRead + Unpin), doors: &Doors) {
    while let Ok(Some(bytes)) = read_frame(from, LONGEST).await {
        let at = clock::now();
        let Ok(report) = message::decode::<Report>(&bytes) else { return };
        if !doors.tell(Incoming::Report(link, report, at)) {
            return;
        }
    }
}

/// Sends orders as they come; says by `welcome` when the agent was welcomed.
async fn write_orders(
    link: Link,
    mut to: impl AsyncWrite + Unpin,
    mut orders: UnboundedReceiver<Order>,
    doors: Doors,
    welcome: oneshot::Sender<()>,
) {
    let mut welcome = Some(welcome);
    while let Some(order) = orders.recv().await {
        let bytes = message::encode(&order);
        if matches!(order, Order::Welcome { .. })
            && let Some(welcome) = welcome.take()
        {
            let _left = welcome.send(());
        }
        if let Order::Ping { number } = order {
            doors.tell(Incoming::PingLeft(link, number, clock::now()));
        }
        match timeout(WRITE_PATIENCE, write_frame(&mut to, &bytes)).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
    let _ = tokio::io::AsyncWriteExt::shutdown(&mut to).await;
}
