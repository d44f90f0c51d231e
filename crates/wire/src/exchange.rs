//! One request-response pair as it happened: what the metrics are made from.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use crate::connect::{self, Endpoint, Route};
use crate::failure::{Failure, FailureKind, Step};
use crate::failure_map;
use crate::h1::client::{Outcome, Work};
use crate::payload::Segment;
use crate::pool::{Connection, Pool};
use crate::request::{BodyUse, Method};
use crate::response::{Marks, Response};
use crate::timings::Timings;
use crate::url::Url;
use crate::worker_io::WorkerIo;

/// One hop: a redirect or a digest challenge makes one of its own.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Method of this hop.
    pub method: Method,
    /// URL of this hop.
    pub url: Url,
    /// The response, or why there is none.
    pub outcome: Result<Response, Failure>,
    /// How long each step took. On failure: what was reached.
    pub timings: Timings,
    /// When the hop ended (last byte or failure); samples carry it.
    pub ended_at: SystemTime,
    /// Bytes written to the network for this hop, TLS and handshake included.
    pub bytes_sent: u64,
    /// Bytes read from the network for this hop, TLS and handshake included.
    pub bytes_received: u64,
    /// The connection used, when one was made.
    pub connection: Option<ConnectionInfo>,
}

/// Facts of the connection an exchange used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Peer; `None` on a unix socket.
    pub remote: Option<SocketAddr>,
    /// Whether an earlier exchange used it already.
    pub reused: bool,
    /// `tls1.2` or `tls1.3` as k6 names them.
    pub tls_version: Option<&'static str>,
    /// IANA name of the cipher suite.
    pub tls_cipher_suite: Option<&'static str>,
    /// Whether waiting and receiving ended by kernel receive stamps.
    pub kernel_stamps: bool,
}

/// One hop ready to go: the head is bytes already.
pub(crate) struct Outgoing<'a> {
    pub(crate) method: &'a Method,
    pub(crate) url: &'a Url,
    /// The whole head, empty line included; see `h1::encode::RequestHead`.
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [Segment],
    pub(crate) body_use: BodyUse,
    pub(crate) deadline: Option<Instant>,
    /// The head carries Idempotency-Key: a repetition is harmless whatever the method.
    pub(crate) idempotency_key: bool,
    /// The head says `Connection: close`.
    pub(crate) close: bool,
}

impl Outgoing<'_> {
    /// Whether sending the request twice does no harm: Go's rule.
    fn is_repeatable(&self) -> bool {
        let method = self.method.as_str();
        self.idempotency_key || ["GET", "HEAD", "OPTIONS", "TRACE"].contains(&method)
    }

    /// A kept connection that the server closed just before the request reached it is no failure of the request: it is
    /// sent once more, on a new connection. The first try is not an exchange of its own; its bytes are counted.
    ///
    /// Stricter than Go, for the server's count of requests must stay ours: only when the server cannot have read it.
    /// That is when the kernel took nothing of it, or when the server closed in an orderly way and, by its own TCP's
    /// word, had received not one byte by then (each segment it sends acknowledges all that came before). A reset gives
    /// no such word: the acknowledgement may have been delayed and lost with it.
    fn deserves_another_try(&self, outcome: &Outcome, connection: &Connection) -> bool {
        let Err(failure) = &outcome.result else { return false };
        if !connection.info.reused || outcome.first.is_some() {
            return false;
        }
        let closed = match failure.kind {
            FailureKind::BrokenPipe => true,
            FailureKind::Other => matches!(failure.step, Step::Send | Step::Wait),
            FailureKind::ConnectionReset => return outcome.nothing_sent,
            _ => return false,
        };
        let unread = || self.is_repeatable() && connection.transport.is_all_unacknowledged();
        closed && (outcome.nothing_sent || unread())
    }
}

/// An exchange under way.
struct Progress<'a> {
    io: &'a WorkerIo,
    timings: Timings,
    bytes_sent: u64,
    bytes_received: u64,
    info: Option<ConnectionInfo>,
}

/// Runs one hop to its end: leases or opens a connection, sends, receives, gives the connection back.
/// `resolve` says where to connect to; it is asked only when no idle connection serves.
pub(crate) async fn exchange(
    io: &WorkerIo,
    pool: &Pool,
    endpoint: &Rc<Endpoint>,
    out: &Outgoing<'_>,
    resolve: impl AsyncFn() -> Result<Route, Failure>,
) -> (Exchange, Marks) {
    let asked = Instant::now();
    io.stamps.refresh_at(asked);
    let timings = Timings::default();
    let mut progress = Progress { io, timings, bytes_sent: 0, bytes_received: 0, info: None };
    let mut idle = pool.lease(io, endpoint);
    loop {
        let mut start = asked;
        let mut connection = match idle.take() {
            Some(connection) => connection,
            None => match progress.open(endpoint, out, &resolve).await {
                Ok((connection, at)) => {
                    start = at;
                    connection
                }
                Err(failure) => return (progress.refused(out, failure), Marks::default()),
            },
        };
        progress.timings.blocked = start - asked;
        let outcome = progress.run(&mut connection, out, start).await;
        let again = out.deserves_another_try(&outcome, &connection);
        progress.count(&mut connection);
        if again {
            continue;
        }
        if outcome.keep && !out.close {
            pool.give_back(endpoint, connection);
        }
        let marks = outcome.marks;
        return (progress.finish(out, outcome, start), marks);
    }
}

impl Progress<'_> {
    async fn open(
        &mut self,
        endpoint: &Rc<Endpoint>,
        out: &Outgoing<'_>,
        resolve: &impl AsyncFn() -> Result<Route, Failure>,
    ) -> Result<(Box<Connection>, Instant), Failure> {
        let lookup = Instant::now();
        let route = match out.deadline {
            Some(deadline) => match tokio::time::timeout_at(deadline.into(), resolve()).await {
                Ok(route) => route,
                Err(_) => Err(failure_map::timeout(Step::Lookup)),
            },
            None => resolve().await,
        };
        self.timings.looking_up = lookup.elapsed();
        let connection = connect::open(self.io, endpoint, &route?, out.deadline, &mut self.timings).await?;
        Ok((connection, Instant::now()))
    }

    async fn run(&mut self, connection: &mut Connection, out: &Outgoing<'_>, start: Instant) -> Outcome {
        let work = Work {
            head: out.head,
            body: out.body,
            to_head_request: *out.method == Method::Head,
            body_use: out.body_use,
            deadline: out.deadline,
        };
        let outcome = connection.transact(self.io, &work, start).await;
        let mut info = connection.info.clone();
        info.kernel_stamps = outcome.stamped;
        self.info = Some(info);
        outcome
    }

    /// Takes over what the connection counted.
    fn count(&mut self, connection: &mut Connection) {
        self.bytes_sent += std::mem::take(&mut connection.transport.sent);
        self.bytes_received += std::mem::take(&mut connection.transport.received);
    }

    /// No connection could be had: nothing was blocked until, as in k6.
    fn refused(self, out: &Outgoing<'_>, failure: Failure) -> Exchange {
        self.into_exchange(out, Err(failure), Instant::now())
    }

    fn finish(mut self, out: &Outgoing<'_>, outcome: Outcome, start: Instant) -> Exchange {
        // On loopback the answer can be here before the write call has returned: then sending ended with its arrival.
        let first = outcome.first.unwrap_or(outcome.ended);
        let sent = outcome.sent_at.unwrap_or(first).min(first).max(start);
        self.timings.sending = sent - start;
        self.timings.waiting = first.saturating_duration_since(sent);
        self.timings.receiving = match (outcome.first, outcome.last, &outcome.result) {
            (Some(first), Some(last), Ok(_)) => last.saturating_duration_since(first),
            (Some(first), _, Err(_)) => outcome.ended.saturating_duration_since(first),
            _ => Duration::ZERO,
        };
        self.into_exchange(out, outcome.result, outcome.ended)
    }

    fn into_exchange(self, out: &Outgoing<'_>, outcome: Result<Response, Failure>, ended: Instant) -> Exchange {
        Exchange {
            method: out.method.clone(),
            url: out.url.clone(),
            outcome,
            timings: self.timings,
            ended_at: self.io.stamps.to_wall(ended),
            bytes_sent: self.bytes_sent,
            bytes_received: self.bytes_received,
            connection: self.info,
        }
    }
}
