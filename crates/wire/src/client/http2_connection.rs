//! An HTTP/2 connection of one user, which its requests share. Frames, HPACK, windows and the states of streams are the
//! `h2` crate's.
//!
//! The requests that wait for it poll it, so that a request costs no task and no channel. The one that polled last is
//! woken by the socket; when it leaves, it wakes another that waits. A request that is given up says so to the peer at
//! once (RST_STREAM). Invariant: while a request waits, the waker of one that waits is registered with the socket.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use ::h2::client::{self, Builder, SendRequest};
use bytes::Bytes;

use crate::client::connection::{Connection, ConnectionInfo};
use crate::client::context::IoContext;
use crate::client::http2_pipe::{Pipe, PipeEnd};
use crate::failure::{Failure, Step};
use crate::failure_map;
use crate::io::deadline_timer::DeadlineTimer;

/// Bytes that may be under way to us, on a connection and on each of its streams: all that h2load and others allow.
/// What arrives is taken at once, so it is no measure of memory.
const WINDOW: u32 = (1 << 30) - 1;
/// The header list of a response at most: that of HTTP/1.1 heads.
const MAX_HEADER_LIST: u32 = crate::h1::response_head::MAX_HEAD as u32;
/// Bytes of a request that wait in memory for the socket.
const SEND_BUFFER: usize = 256 << 10;
/// Small DATA frames cost the connection a budget that reading them restores. A stream of a million small messages is
/// what a server may send; each is taken when it arrives.
const DATA_FRAME_BUDGET: usize = 1 << 30;

/// A connection and those who wait for it.
pub(crate) struct SharedConnection {
    connection: RefCell<client::Connection<PipeEnd, Bytes>>,
    pub(crate) requests: SendRequest<Bytes>,
    pub(crate) pipe: Rc<Pipe>,
    info: ConnectionInfo,
    was_used: Cell<bool>,
    has_ended: Cell<bool>,
    /// The GOAWAY that ended it.
    farewell: RefCell<Option<::h2::Error>>,
    streams: Cell<usize>,
    waiting: RefCell<Vec<Option<Waker>>>,
    /// Who polled last.
    driver: Cell<usize>,
    timers: RefCell<Vec<DeadlineTimer>>,
}

/// What polling a connection came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// Something arrived: look at it, then poll again.
    Again,
    /// Nothing is to be done until the waker is called.
    Waits,
    /// It carries nothing more.
    Ended,
}

impl SharedConnection {
    /// Speaks HTTP/2 on a connection that carried nothing yet. Waits only while the preface does not fit into the
    /// socket.
    pub(crate) async fn begin(io: &IoContext, connection: Box<Connection>) -> Result<Rc<SharedConnection>, Failure> {
        let Connection { transport, info, timer, .. } = *connection;
        let pipe = Pipe::new(transport, io.buffers.clone());
        let begun = builder().handshake(PipeEnd(pipe.clone())).await;
        let (requests, connection) = begun
            .map_err(|error| pipe.failure(Step::Send).unwrap_or_else(|| failure_map::http2(&error, Step::Send)))?;
        Ok(Rc::new(SharedConnection {
            connection: RefCell::new(connection),
            requests,
            pipe,
            info,
            was_used: Cell::new(false),
            has_ended: Cell::new(false),
            farewell: RefCell::default(),
            streams: Cell::new(0),
            waiting: RefCell::default(),
            driver: Cell::new(usize::MAX),
            timers: RefCell::new(vec![timer]),
        }))
    }

    /// What is known of it, for the next exchange.
    pub(crate) fn info(&self) -> ConnectionInfo {
        let reused = self.was_used.replace(true);
        ConnectionInfo { reused, ..self.info.clone() }
    }

    /// Whether the peer takes another stream now, `most` at a time at the most. Looks at what arrived while the
    /// connection was idle: a close, a GOAWAY.
    pub(crate) fn is_usable(&self) -> bool {
        if self.streams.get() == 0 && !self.pipe.transport.borrow().socket.is_quiet() {
            let mut cx = Context::from_waker(Waker::noop());
            while self.drive(&mut cx, usize::MAX) == Drive::Again {}
        }
        !self.has_ended.get() && self.requests_open()
    }

    /// Whether the peer allows one more stream beside those under way.
    pub(crate) fn has_room(&self) -> bool {
        self.streams.get() < self.most_streams()
    }

    /// Streams that the peer allows at once.
    pub(crate) fn most_streams(&self) -> usize {
        self.connection.borrow().max_concurrent_send_streams()
    }

    /// After GOAWAY it carries no new streams.
    fn requests_open(&self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        !matches!(self.requests.clone().poll_ready(&mut cx), Poll::Ready(Err(_)))
    }

    /// Why it carries nothing more, at this step of an exchange; `None` while it does.
    pub(crate) fn failure(&self, step: Step) -> Option<Failure> {
        let farewell = self.farewell.borrow();
        farewell.as_ref().map(|error| failure_map::http2(error, step)).or_else(|| self.pipe.failure(step))
    }

    /// Polls the connection for the request of this slot, until something arrived or nothing is to be done.
    pub(crate) fn drive(&self, cx: &mut Context<'_>, slot: usize) -> Drive {
        if self.has_ended.get() {
            return Drive::Ended;
        }
        self.driver.set(slot);
        self.pipe.allow_read();
        let polled = std::pin::Pin::new(&mut *self.connection.borrow_mut()).poll(cx);
        match polled {
            Poll::Ready(ended) => {
                self.has_ended.set(true);
                *self.farewell.borrow_mut() = ended.err().filter(::h2::Error::is_go_away);
                Drive::Ended
            }
            Poll::Pending if self.pipe.has_read() => Drive::Again,
            Poll::Pending => Drive::Waits,
        }
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_header_list_size(MAX_HEADER_LIST)
        .max_send_buffer_size(SEND_BUFFER)
        .data_frame_budget(DATA_FRAME_BUDGET)
        .enable_push(false);
    builder
}

/// A request's place among those that share a connection; given up when it is dropped.
pub(crate) struct Slot {
    pub(crate) shared: Rc<SharedConnection>,
    pub(crate) at: usize,
    pub(crate) timer: DeadlineTimer,
    /// The stream came to its end on both sides.
    pub(crate) is_settled: bool,
}

impl Slot {
    pub(crate) fn of(shared: Rc<SharedConnection>) -> Slot {
        shared.streams.set(shared.streams.get() + 1);
        let mut waiting = shared.waiting.borrow_mut();
        let at = waiting.iter().position(Option::is_none).unwrap_or(waiting.len());
        // Taken, though nobody waits in it yet.
        let taken = Some(Waker::noop().clone());
        if at == waiting.len() {
            waiting.push(taken)
        } else {
            waiting[at] = taken
        }
        drop(waiting);
        let timer = shared.timers.borrow_mut().pop().unwrap_or_default();
        Slot { shared, at, timer, is_settled: false }
    }

    /// The request waits; it is woken when it is its turn to poll the connection. `false` when it waits with another
    /// waker than before.
    pub(crate) fn wait(&self, cx: &Context<'_>) -> bool {
        let mut waiting = self.shared.waiting.borrow_mut();
        let waker = waiting[self.at].get_or_insert_with(|| cx.waker().clone());
        let is_same = waker.will_wake(cx.waker());
        if !is_same {
            waker.clone_from(cx.waker());
        }
        is_same
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let shared = &self.shared;
        if !self.is_settled {
            // The stream is reset: the peer is told now, because nobody may poll the connection for long.
            shared.drive(&mut Context::from_waker(Waker::noop()), self.at);
        }
        shared.streams.set(shared.streams.get() - 1);
        shared.timers.borrow_mut().push(std::mem::take(&mut self.timer));
        let mut waiting = shared.waiting.borrow_mut();
        waiting[self.at] = None;
        while waiting.last().is_some_and(Option::is_none) {
            waiting.pop();
        }
        if shared.driver.get() == self.at
            && let Some((at, other)) = waiting.iter().enumerate().find_map(|(at, waker)| Some((at, waker.as_ref()?)))
        {
            // It may have its answer already and leave without polling: then it wakes the next.
            shared.driver.set(at);
            other.wake_by_ref();
        }
    }
}
