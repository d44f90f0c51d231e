//! What carries messages between a coordinator and its agents. A backing delivers what was said in order while a
//! connection stands, and says when it does not any more; the rest is the state machines' matter.

use std::future::Future;

use crate::Ns;
use crate::coordinator::Link;
use crate::message::{Order, Report};

/// What URLs of object stores look like.
pub const STORES: &str = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER";

/// What a coordinator's end of a backing brings.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A report, and when it was here.
    Report(Link, Report, Ns),
    /// A ping has left, and when.
    PingLeft(Link, u32, Ns),
    /// A connection is gone.
    Left(Link),
    /// Nothing can be read or written, for this reason, by no connection.
    Unreachable(String),
    /// It can again.
    Reachable,
}

/// The coordinator's end.
pub trait Hub: Send + 'static {
    /// What comes next.
    fn next(&mut self) -> impl Future<Output = Incoming> + Send;

    /// Sends an order, in its turn. One for a connection that is gone is dropped: whoever comes back is told what it
    /// missed.
    fn send(&mut self, link: Link, order: Order);

    /// Ends a connection when what was sent is out.
    fn close(&mut self, link: Link);

    /// Resolves when all that was sent is out, or cannot be sent.
    fn flush(&mut self) -> impl Future<Output = ()> + Send;
}

/// An agent's end.
pub trait Line: Send + 'static {
    /// Makes a connection; the error says why there is none, for the log.
    fn connect(&mut self) -> impl Future<Output = Result<(), ConnectError>> + Send;

    /// The next order and when it was here; none when the connection is gone.
    fn next(&mut self) -> impl Future<Output = Option<(Order, Ns)>> + Send;

    /// Sends a report; false when the connection is gone.
    fn send(&mut self, report: Report) -> impl Future<Output = bool> + Send;
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// It may work later.
    Now(String),
    /// It never will.
    Ever(String),
}
