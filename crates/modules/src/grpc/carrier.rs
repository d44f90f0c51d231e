//! What carries a call: a stream of HTTP/2, or a request of HTTP/1.1.

use std::task::{Context, Poll};

use bytes::Bytes;
use wire::client::{CallEvent, Http2Call, Http2Connection};

use super::http1_call::Http1Call;
use script::Vu;

/// What carries a call.
pub enum Carrier {
    /// A stream of a connection.
    Http2(Http2Call, Http2Connection),
    /// A request. Boxed: it is rare, and what carries most calls should not have the room for it.
    Http1(Box<Http1Call>),
}

impl Carrier {
    /// Queues bytes. `end`: they are the last.
    pub fn send(&mut self, bytes: Bytes, end: bool) {
        match self {
            Carrier::Http2(call, _) => call.send(bytes, end),
            Carrier::Http1(call) => call.send(bytes, end),
        }
    }

    /// Sends what may be sent and gives what came next. Not to be called after the end.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<CallEvent> {
        match self {
            Carrier::Http2(call, _) => call.poll(cx),
            Carrier::Http1(call) => call.poll(cx),
        }
    }

    /// When the last arrival reached this machine, in nanoseconds since 1970.
    pub fn arrived_ns(&self) -> u64 {
        match self {
            Carrier::Http2(call, _) => call.arrived_ns(),
            Carrier::Http1(call) => call.arrived_ns(),
        }
    }

    /// Counts what went over the network for it.
    pub fn count(&mut self, vu: &Vu) {
        match self {
            Carrier::Http2(_, connection) => count(vu, connection),
            Carrier::Http1(call) => {
                let (sent, received) = call.take_counts();
                vu.count_data(sent, received);
            }
        }
    }
}

/// Counts what went over a connection since the last time.
pub fn count(vu: &Vu, connection: &Http2Connection) {
    let (sent, received) = connection.take_counts();
    vu.count_data(sent, received);
}
