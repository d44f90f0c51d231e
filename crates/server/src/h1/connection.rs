//! The state of a connection of HTTP/1.x, and how it reads.
//!
//! A connection that waits for its next request holds no buffer: rooms for heads and the buffer for bodies that are
//! only counted belong to the thread.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncReadExt;

use crate::connection::phase_timer::{Phase, PhaseTimer};
use crate::connection::stream::Stream;
use crate::outgoing::output::Output;
use crate::request::Request;
use crate::route::STATS;
use crate::witness::ConnectionWitness;
use crate::worker::Worker;
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::{Framing, Head};

/// Room for a head, and for what comes with it.
const INPUT: usize = 4 * 1024;
/// Such rooms that a thread keeps for its connections: more are in use at once only while heads arrive in parts.
const KEPT_INPUTS: usize = 16;
/// Bytes of a body read in one call, into a buffer that all connections of a worker share (and that stays in its
/// cache). `Buffers::receive_size` replaces it.
pub(crate) const SCRATCH: usize = 256 * 1024;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; SCRATCH]);
    static INPUTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An accepted connection.
pub(crate) struct Connection {
    pub(crate) stream: Stream,
    pub(crate) worker: Rc<Worker>,
    pub(crate) timer: Rc<PhaseTimer>,
    pub(crate) input: Vec<u8>,
    /// Where in `input` the next request begins.
    pub(crate) start: usize,
    pub(crate) out: Output,
    pub(crate) peer: Option<IpAddr>,
    /// No request was read yet, so that the protocol may still turn out to be another.
    pub(crate) is_first: bool,
    pub(crate) witness: Option<Rc<ConnectionWitness>>,
}

/// A head that is complete, without the borrow of its bytes.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    pub(crate) route: Option<usize>,
    /// The app answers it.
    pub(crate) of_app: bool,
    pub(crate) head_len: usize,
    pub(crate) framing: Framing,
    pub(crate) minor: u8,
    pub(crate) is_head: bool,
}

impl Begun {
    /// A witness hears of it: it is a request, and not one to `/stats`.
    pub(crate) fn is_told(&self) -> bool {
        self.head_len > 0 && self.route != Some(STATS)
    }

    /// The end of the client's side means that nobody waits for the response: an app answers, and no body is still
    /// being read.
    pub(crate) fn watches_client(&self) -> bool {
        self.of_app && self.framing.body == BodyFraming::None
    }
}

/// How waiting for input ended.
pub(crate) enum Filled {
    Bytes,
    End,
    TooLong(Phase),
}

impl Connection {
    pub(crate) fn new(
        stream: Stream,
        peer: Option<IpAddr>,
        worker: Rc<Worker>,
        timer: Rc<PhaseTimer>,
        witness: Option<Rc<ConnectionWitness>>,
    ) -> Self {
        let (input, out) = (Vec::new(), Output::default());
        Connection { stream, worker, timer, input, start: 0, out, peer, is_first: true, witness }
    }

    pub(crate) fn request<'r>(
        &'r self,
        head: &'r Head<'r, 'r>,
        params: [&'r str; 4],
        body: &'r [u8],
        body_length: u64,
    ) -> Request<'r> {
        let tls = self.stream.is_tls();
        Request { head, params, body, body_length, peer: self.peer, tls, worker: &self.worker }
    }

    /// Leaves a head without a body behind.
    pub(crate) fn begin(&mut self, begun: Begun) {
        self.is_first = false;
        self.start += begun.head_len;
    }

    /// Sends what is ready, then reads more.
    pub(crate) async fn fill(&mut self) -> io::Result<Filled> {
        // At once: letting all connections that are ready have their turn first cost 4 % more (8 rounds, 64
        // connections).
        if !self.out.is_empty() {
            self.flush().await?;
        }
        if self.start == self.input.len() {
            self.input.clear();
        } else {
            self.input.drain(..self.start);
        }
        self.start = 0;
        let now = self.worker.now();
        match self.timer.phase() {
            Phase::Fresh => {}
            Phase::Head if !self.input.is_empty() => {}
            _ if self.input.is_empty() => self.timer.enter(Phase::Idle, now),
            _ => self.timer.enter(Phase::Head, now),
        }
        poll_fn(|cx| self.poll_fill(cx)).await
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Filled>> {
        if self.input.capacity() == 0 {
            self.input = INPUTS.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(INPUT));
        } else if self.input.capacity() - self.input.len() < INPUT / 4 {
            self.input.reserve(INPUT);
        }
        let Poll::Ready(read) = pin!(self.stream.read_buf(&mut self.input)).poll(cx) else {
            if self.input.is_empty() {
                self.give_input_back();
            }
            let phase = self.timer.phase();
            let leave = self.timer.wait(cx) || (phase == Phase::Idle && self.worker.is_stopping());
            return if leave { Poll::Ready(Ok(Filled::TooLong(phase))) } else { Poll::Pending };
        };
        let read = read?;
        self.worker.stats().received.add(read as u64);
        if read == 0 {
            return Poll::Ready(Ok(Filled::End));
        }
        if self.timer.phase() == Phase::Idle {
            self.timer.enter(Phase::Head, self.worker.now());
        } else if self.timer.phase() == Phase::Fresh {
            self.timer.begins();
        }
        Poll::Ready(Ok(Filled::Bytes))
    }

    /// An idle connection has no room for a head.
    fn give_input_back(&mut self) {
        let input = std::mem::take(&mut self.input);
        if input.capacity() <= 4 * INPUT {
            INPUTS.with_borrow_mut(|inputs| {
                if inputs.len() < KEPT_INPUTS {
                    inputs.push(input);
                }
            });
        }
    }
}

/// What stands for a request that cannot be told from its bytes.
pub(crate) const NO_REQUEST: Begun = Begun {
    route: None,
    of_app: false,
    head_len: 0,
    framing: Framing { body: BodyFraming::None, keep_alive: false, expect_continue: false },
    minor: 1,
    is_head: false,
};

/// Reads once and hands over what came, possibly in several pieces; the end of the input is an error.
pub(crate) async fn with_bytes(stream: &mut Stream, mut use_bytes: impl FnMut(&[u8])) -> io::Result<()> {
    poll_fn(|cx| poll_bytes(stream, cx, SCRATCH, &mut use_bytes)).await
}

/// As `with_bytes`, of at most `most` bytes.
pub(crate) fn poll_bytes(
    stream: &mut Stream,
    cx: &mut Context<'_>,
    most: usize,
    use_bytes: &mut impl FnMut(&[u8]),
) -> Poll<io::Result<()>> {
    BUFFER.with_borrow_mut(|buffer| {
        if buffer.len() < most {
            buffer.resize(most, 0);
        }
        match ready!(stream.poll_bytes(cx, &mut buffer[..most], use_bytes))? {
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            _ => Poll::Ready(Ok(())),
        }
    })
}
