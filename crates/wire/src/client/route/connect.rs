//! From an endpoint to a connection: connect, proxy tunnel, TLS handshake, each step timed.
//!
//! Addresses are tried in order until one accepts; the first error is the one reported. Dialling ends after 30 s, as
//! k6's does, or at the request's deadline. Refuses to look names up: addresses come in. Invariant: on failure nothing
//! stays open.

use std::ffi::OsStr;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use socket2::{Domain, SockAddr, Type};

use crate::client::http1::connection::Connection;
use crate::client::http1::transaction::{Parties, Transaction, Work};
use crate::client::route::endpoint::{Address, Endpoint, Route, Tunnel};
use crate::client::worker::cancelled::{Cancelled, CancelledCounter};
use crate::client::worker::context::IoContext;
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h1::handling::Handling;
use crate::io::alarm::within;
use crate::io::arrival::TransportError;
use crate::io::socket::Socket;
use crate::io::stamps::Tick;
use crate::io::timer;
use crate::link::LinkedSocket;
use crate::request::BodyUse;
use crate::room::Room;
use crate::timings::Timings;
use crate::tls::client::ClientSession;
use crate::tls::config::TlsTarget;
use crate::tls::end::Line;
use crate::tls::missing_issuers::MissingIssuers;
use crate::transport::Transport;

/// A connection that was not opened, and what went over the network until that was clear.
#[derive(Debug)]
pub(crate) struct Unopened {
    pub(crate) failure: Failure,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl From<Failure> for Unopened {
    /// Nothing was sent.
    fn from(failure: Failure) -> Self {
        Unopened { failure, sent: 0, received: 0 }
    }
}

/// What kept a connection from being opened. Where TLS ended it, its error may say what to fetch.
pub(crate) struct Unready {
    pub(crate) failure: Failure,
    tls: Option<rustls::Error>,
}

impl From<Failure> for Unready {
    fn from(failure: Failure) -> Self {
        Unready { failure, tls: None }
    }
}

/// Opens a connection. A step that failed has no time, as in k6; those before it keep theirs.
pub(crate) async fn open(
    io: &IoContext,
    endpoint: &Rc<Endpoint>,
    route: &Route,
    deadline: Option<Tick>,
    timings: &mut Timings,
) -> Result<Box<Connection>, Unopened> {
    let (began, mut is_again, mut earlier) = (Tick::now(), false, (0, 0));
    loop {
        let dialing = if is_again { Tick::now() } else { began };
        let connection = Connection::new(connect(io, route, deadline, dialing).await?);
        let mut underway = Underway { connection: Some(connection), cancelled: &io.cancelled };
        let connection = underway.connection.as_mut().expect("just put there");
        (connection.transport.sent, connection.transport.received) = earlier;
        let prepared = prepare(io, connection, endpoint, dialing, deadline, timings).await;
        let fetched = match &prepared {
            Err(Unready { tls: Some(error), .. }) if !is_again => fetch_missing(io, error, deadline).await,
            _ => false,
        };
        let connection = underway.connection.take().expect("nobody else takes it");
        let Transport { sent, received, .. } = connection.transport;
        match prepared {
            Err(_) if fetched => (is_again, earlier) = (true, (sent, received)),
            Err(Unready { failure, .. }) => return Err(Unopened { failure, sent, received }),
            Ok(()) => {
                if is_again {
                    // The first handshake and what was fetched after it belong to this handshake.
                    timings.tls_handshaking = Tick::now().since(began).saturating_sub(timings.connecting);
                }
                return Ok(connection);
            }
        }
    }
}

/// Fetches what a server's certificate lacks; whether the next handshake will find it.
async fn fetch_missing(io: &IoContext, error: &rustls::Error, deadline: Option<Tick>) -> bool {
    let Some(missing) = MissingIssuers::in_error(error) else { return false };
    // Boxed, because it is rare, and each connection would have room for it.
    within(&io.stamps, deadline, Box::pin(missing.fetch())).await.unwrap_or(false)
}

/// A connected socket, dialled at `dialing`: over the route's link, where it has one.
async fn connect(
    io: &IoContext,
    route: &Route,
    deadline: Option<Tick>,
    dialing: Tick,
) -> Result<LinkedSocket, Failure> {
    #[cfg(feature = "simulated")]
    if let Some(network) = crate::io::simulated::network() {
        let attempt = async |address: &Address| match address {
            Address::Tcp(to) => network.connect(*to).await,
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        return dial(io, route, deadline, dialing, attempt).await.map(LinkedSocket::Simulated);
    }
    let attempt = async |address: &Address| attempt(address, route.local).await;
    let socket = dial(io, route, deadline, dialing, attempt).await?;
    let Some(link) = &route.link else {
        socket.size_send_buffer(io.send_buffer);
        return Ok(LinkedSocket::Direct(socket));
    };
    let far = dialing.after(link.connect_delay()).map_or_else(Instant::now, |tick| io.stamps.instant(tick));
    let carried = within(&io.stamps, deadline, timer::sleep_until(far)).await;
    carried.ok_or_else(|| failure_map::timeout(Step::Connect))?;
    LinkedSocket::over(socket, link).map_err(|error| failure_map::dial(&error))
}

/// A connection that is being opened. Dropped with it, as when the end of the test comes during its handshake, its
/// bytes are counted as cancelled.
struct Underway<'a> {
    connection: Option<Box<Connection>>,
    cancelled: &'a CancelledCounter,
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            let Transport { sent, received, .. } = connection.transport;
            self.cancelled.add(Cancelled { requests: 0, bytes_sent: sent, bytes_received: received });
        }
    }
}

/// What comes between the connect, begun at `dialing`, and the first request: a tunnel, TLS.
async fn prepare(
    io: &IoContext,
    connection: &mut Connection,
    endpoint: &Endpoint,
    dialing: Tick,
    deadline: Option<Tick>,
    timings: &mut Timings,
) -> Result<(), Unready> {
    match &endpoint.tunnel {
        None => {}
        Some(Tunnel::Connect(request)) => connection.open_tunnel(io, request, deadline).await?,
        Some(Tunnel::Socks(request)) => {
            let opened = within(&io.stamps, deadline, request.open(io, &mut connection.transport)).await;
            opened.unwrap_or_else(|| Err(failure_map::timeout(Step::Connect)))?;
        }
    }
    timings.connecting = Tick::now().since(dialing);
    if let Some(target) = &endpoint.tls {
        let started = Tick::now();
        encrypt(io, &mut connection.transport, target, deadline).await?;
        timings.tls_handshaking = Tick::now().since(started);
        connection.learn_tls();
    }
    Ok(())
}

/// Goes on encrypted on a connection that was not; until `end`.
pub(crate) async fn encrypt(
    io: &IoContext,
    transport: &mut Transport,
    target: &TlsTarget,
    end: Option<Tick>,
) -> Result<(), Unready> {
    let shaken = within(&io.stamps, end, shake(io, transport, target)).await;
    shaken.unwrap_or_else(|| Err(failure_map::timeout(Step::Handshake).into()))
}

async fn shake(io: &IoContext, transport: &mut Transport, target: &TlsTarget) -> Result<(), Unready> {
    let failed = |error| {
        let tls = match &error {
            TransportError::Tls(error) => MissingIssuers::in_error(error).map(|_| error.clone()),
            _ => None,
        };
        Unready { failure: target.explain(failure_map::transport(error, Step::Handshake)), tls }
    };
    let mut session = Box::new(ClientSession::towards(target).map_err(failed)?);
    let Transport { socket, sent, received, .. } = transport;
    let line = Line { socket, buffers: &io.buffers, sent, received };
    session.handshake(line).await.map_err(failed)?;
    transport.tls = Some(session);
    Ok(())
}

/// Tries the addresses in order, each by `attempt`, until one accepts or time is over.
async fn dial<S>(
    io: &IoContext,
    route: &Route,
    deadline: Option<Tick>,
    dialing: Tick,
    attempt: impl AsyncFn(&Address) -> io::Result<S>,
) -> Result<S, Failure> {
    let dial_end = dialing.after(io.limits.dial);
    let end = [deadline, dial_end].into_iter().flatten().min();
    let mut first_error = None;
    for address in route.addresses.iter() {
        match within(&io.stamps, end, attempt(address)).await {
            Some(Ok(socket)) => return Ok(socket),
            Some(Err(error)) => first_error = first_error.or(Some(error)),
            None if end == deadline => return Err(failure_map::timeout(Step::Connect)),
            None => return Err(failure_map::dial_timeout()),
        }
    }
    match first_error {
        Some(error) => Err(failure_map::dial(&error)),
        None => {
            let message = String::from("dial: no address to connect to");
            Err(Failure { step: Step::Connect, kind: FailureKind::Dial, message })
        }
    }
}

/// Connects to an address.
async fn attempt(address: &Address, local: Option<IpAddr>) -> io::Result<Socket> {
    let (socket, pending) = start(address, local)?;
    if pending {
        socket.connected().await?;
    }
    Ok(socket)
}

/// Starts a connect; `true` when it is still under way.
fn start(address: &Address, local: Option<IpAddr>) -> io::Result<(Socket, bool)> {
    let (socket, peer) = match address {
        Address::Tcp(peer) => (tcp_socket(peer, local)?, SockAddr::from(*peer)),
        Address::Unix(path) => {
            let socket = socket2::Socket::new(Domain::UNIX, Type::STREAM, None)?;
            socket.set_nonblocking(true)?;
            (socket, unix_address(path)?)
        }
    };
    let pending = match socket.connect(&peer) {
        Ok(()) => false,
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => true,
        Err(error) => return Err(error),
    };
    Ok((Socket::new(socket, matches!(address, Address::Tcp(_)))?, pending))
}

/// The kernel's name of an abstract socket begins with a zero byte instead of the `@`.
fn unix_address(path: &Path) -> io::Result<SockAddr> {
    match path.as_os_str().as_bytes().strip_prefix(b"@") {
        Some(name) => SockAddr::unix(OsStr::from_bytes(&[b"\0", name].concat())),
        None => SockAddr::unix(path),
    }
}

fn tcp_socket(peer: &SocketAddr, local: Option<IpAddr>) -> io::Result<socket2::Socket> {
    let socket = socket2::Socket::new(Domain::for_address(*peer), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(local) = local.filter(|l| l.is_ipv4() == peer.is_ipv4()) {
        socket.bind(&SocketAddr::new(local, 0).into())?;
    }
    Ok(socket)
}

impl Connection {
    /// Asks the proxy for a tunnel.
    async fn open_tunnel(&mut self, io: &IoContext, request: &Bytes, deadline: Option<Tick>) -> Result<(), Failure> {
        let (body_use, room) = (&BodyUse::Discard, &Room::new(0));
        let handling = Handling { is_bodiless: true, body_use, room, heads: &io.heads };
        let work = &Work { body: &[], deadline, handling };
        let nothing = Failure { step: Step::Connect, kind: FailureKind::Other, message: String::new() };
        let (start, mut result) = (Tick::now(), Err(nothing));
        let mut transaction = Transaction::new(self, io, work);
        let mut parties = Parties { connection: self, io, head: request, work, place: &mut result };
        let end = poll_fn(|cx| transaction.poll(cx, &mut parties)).await;
        transaction.outcome(end, start, &mut parties);
        let response = result?;
        if response.status / 100 == 2 {
            return Ok(());
        }
        // Go reports the proxy's reason phrase and nothing else.
        let message = format!("proxy refused the tunnel: {} {}", response.status, response.reason());
        Err(Failure { step: Step::Connect, kind: FailureKind::Other, message: String::from(message.trim_end()) })
    }
}
