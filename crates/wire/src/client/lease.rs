//! A connection of HTTP/1.1 in use, and one try of an exchange on it.
//!
//! Invariant: what went over a connection is counted once, by the exchange that ends on it or as cancelled when it is
//! dropped before.

use std::task::{Context, Poll};

use crate::client::exchange::{Exchange, Outgoing, Site, WrittenHead};
use crate::client::http1::connection::Connection;
use crate::client::http1::transaction::{End, Parties, Transaction};
use crate::client::worker::cancelled::Cancelled;
use crate::client::worker::context::IoContext;
use crate::h1::decode::{Fed, Unreadable};
use crate::io::arrival::{Arrival, TransportError};
use crate::io::stamps::Tick;
use crate::io::upload::Cursor;
use crate::response::Marks;

/// What the first read of an answer came to.
pub(crate) struct FirstRead {
    pub(crate) arrival: Result<Arrival, TransportError>,
    /// What its bytes did to the reader.
    pub(crate) fed: Result<Fed, Unreadable>,
}

/// A connection of HTTP/1.1 in use. Dropped before it is given back, its bytes are counted as cancelled.
pub(crate) struct Lease<'a> {
    pub(crate) io: &'a IoContext,
    /// There until the end.
    connection: Option<Box<Connection>>,
    /// Bytes it had sent before: a handshake.
    sent_before: u64,
}

impl<'a> Lease<'a> {
    #[inline]
    pub(crate) fn of(io: &'a IoContext, connection: Box<Connection>) -> Lease<'a> {
        let sent_before = connection.transport.sent;
        Lease { io, connection: Some(connection), sent_before }
    }

    #[inline]
    pub(crate) fn connection(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("it is not over")
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Box<Connection> {
        self.connection.take().expect("it ends once")
    }

    /// The same lease for who goes on with it; it is over here.
    pub(crate) fn hand_over(&mut self) -> Lease<'a> {
        Lease { io: self.io, connection: self.connection.take(), sent_before: self.sent_before }
    }
}

impl Drop for Lease<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.connection.is_some() {
            self.cancelled();
        }
    }
}

impl Lease<'_> {
    // Cold: a request is dropped on its way only when its iteration is cut short.
    #[cold]
    fn cancelled(&self) {
        if let Some(connection) = &self.connection {
            let (bytes_sent, bytes_received) = (connection.transport.sent, connection.transport.received);
            let requests = u64::from(bytes_sent > self.sent_before);
            self.io.cancelled.add(Cancelled { requests, bytes_sent, bytes_received });
        }
    }
}

/// One try on a connection of HTTP/1.1. Who drives it shows it the request and the hop at each turn.
pub(crate) struct Leased<'a> {
    lease: Lease<'a>,
    transaction: Transaction,
    /// When the connection was had.
    start: Tick,
}

impl<'a> Leased<'a> {
    pub(crate) fn new(io: &'a IoContext, out: &Outgoing<'_>, connection: Box<Connection>, start: Tick) -> Leased<'a> {
        let transaction = Transaction::new(&connection, io, &out.work);
        Leased { lease: Lease::of(io, connection), transaction, start }
    }

    /// One that has begun.
    pub(crate) fn begun(lease: Lease<'a>, transaction: Transaction, start: Tick) -> Leased<'a> {
        Leased { lease, transaction, start }
    }

    /// What the first attempt to write came to, which reached this place.
    pub(crate) fn wrote_first(&mut self, sent: Poll<Result<(), TransportError>>, written: Cursor) {
        self.transaction.wrote_first(sent, written);
    }

    /// What one read came to; an end when the exchange is over.
    pub(crate) fn take(
        &mut self,
        read: FirstRead,
        head: WrittenHead<'_>,
        out: &Outgoing<'_>,
        hop: &mut Exchange,
    ) -> Option<End> {
        let FirstRead { arrival, fed } = read;
        let (io, place) = (self.lease.io, &mut hop.outcome);
        let connection = self.lease.connection();
        self.transaction.take(arrival, fed, &mut Parties { connection, io, head: head.bytes, work: &out.work, place })
    }

    /// Goes on until it is over; `end` takes what comes out.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        head: WrittenHead<'_>,
        out: &Outgoing<'_>,
        hop: &mut Exchange,
    ) -> Poll<End> {
        let (io, place) = (self.lease.io, &mut hop.outcome);
        let connection = self.lease.connection();
        self.transaction.poll(cx, &mut Parties { connection, io, head: head.bytes, work: &out.work, place })
    }

    /// Gives the connection back and fills in what happened. `None` when the request must be repeated on a new one.
    #[inline]
    pub(crate) fn end(
        &mut self,
        end: End,
        Site { io, pool, endpoint }: Site<'_>,
        head: WrittenHead<'_>,
        out: &Outgoing<'_>,
        hop: &mut Exchange,
    ) -> Option<Marks> {
        let mut connection = self.lease.take();
        let (start, place) = (self.start, &mut hop.outcome);
        let parties = &mut Parties { connection: &mut connection, io, head: head.bytes, work: &out.work, place };
        let outcome = self.transaction.outcome(end, start, parties);
        debug_assert!(start >= out.asked, "a connection is had after it was asked for");
        hop.timings.blocked = start.since(out.asked);
        // Before the counts are taken over: it looks at what was sent.
        let again = out.deserves_another_try(hop, &outcome, &connection);
        hop.count(&mut connection, outcome.stamped);
        if again {
            return None;
        }
        if outcome.keep && !out.close {
            pool.give_back(endpoint, connection);
        }
        hop.finish(io, &outcome, start);
        Some(outcome.marks)
    }
}
