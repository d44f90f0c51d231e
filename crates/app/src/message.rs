//! What a server and an app give to each other: requests as the server has them, answers as plain values.

use std::borrow::Cow;
use std::fs::File;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use host::received::{ForeignMemory, ReceiveBuffer};

use crate::outflow::AnswerStream;

/// A request as the server has it: the head complete, the body still to come.
pub trait Incoming {
    /// As sent, `GET`.
    fn method(&self) -> &str;
    /// Scheme, host, path and query.
    fn url(&self) -> String;
    /// The first header of that name, in whatever case.
    fn header(&self, name: &str) -> Option<&[u8]>;
    /// Shows every header line in order; names in any case.
    fn each_header(&self, show: &mut dyn FnMut(&str, &[u8]));
    /// The client's address; unix sockets have none.
    fn peer(&self) -> Option<IpAddr>;
    /// Bytes of the body when the client has declared them; 0 without a body.
    fn body_length(&self) -> Option<u64>;
    /// Bytes of memory that the next piece asks `App::take_allocated` for, ready when there is something to put into
    /// it; 0: none.
    fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<usize>;
    /// The next piece of the body, `None` at its end. Nothing is received unless this is called.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Received, String>>>;
}

/// A piece of a request's body, still where it was received.
pub enum Received {
    /// In memory of the server. Dropping it gives it back.
    Own(Box<dyn ForeignMemory>),
    /// In memory that the app's `allocate` gave.
    Allocated(ReceiveBuffer, Range<usize>),
}

/// What a handler answered.
#[derive(Debug)]
pub struct Answer {
    /// 200 to 599.
    pub status: u16,
    /// In order; names in lower case.
    pub headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// Unless it is among `headers`.
    pub content_type: Option<Cow<'static, str>>,
    /// The body.
    pub body: AnswerBody,
}

/// The body of an answer.
#[derive(Debug)]
pub enum AnswerBody {
    /// All of it.
    Bytes(Bytes),
    /// Pieces that are all there.
    Pieces(Vec<Bytes>),
    /// Pieces as the script makes them.
    Stream(AnswerStream),
    /// A part of a file.
    File {
        /// Open for reading.
        file: Arc<File>,
        /// Where the body begins.
        offset: u64,
        /// Bytes of it.
        length: u64,
    },
}
