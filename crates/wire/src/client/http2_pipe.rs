//! The bytes below an HTTP/2 connection: a client's transport as the `h2` crate wants it.
//!
//! Counts what goes over the network and keeps the stamp of the last read. One read at a time: whoever polls the
//! connection allows the next when it has looked at what the last one brought, so that its stamp belongs to that.
//! Invariant: a read that was refused registers no waker; whoever refused it polls again.

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::failure::{Failure, Step};
use crate::failure_map;
use crate::io::arrival::{Moment, TransportError};
use crate::io::buffers::Buffers;
use crate::io::stamps::Tick;
use crate::transport::Transport;

/// The transport, and what its users want to know of it.
pub(crate) struct Pipe {
    pub(crate) transport: RefCell<Transport>,
    buffers: Rc<Buffers>,
    may_read: Cell<bool>,
    /// Reads that brought something.
    reads: Cell<u64>,
    last: Cell<Option<Moment>>,
    has_unsent: Cell<bool>,
    is_closed: Cell<bool>,
    failure: RefCell<Option<Failure>>,
}

impl Pipe {
    pub(crate) fn new(transport: Transport, buffers: Rc<Buffers>) -> Rc<Pipe> {
        Rc::new(Pipe {
            transport: RefCell::new(transport),
            buffers,
            may_read: Cell::new(true),
            reads: Cell::new(0),
            last: Cell::new(None),
            has_unsent: Cell::new(false),
            is_closed: Cell::new(false),
            failure: RefCell::new(None),
        })
    }

    /// The next read may take place.
    pub(crate) fn allow_read(&self) {
        self.may_read.set(true);
    }

    /// The read that was allowed took place.
    pub(crate) fn has_read(&self) -> bool {
        !self.may_read.get()
    }

    /// How many reads brought something.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.get()
    }

    /// When the last of them did.
    pub(crate) fn last(&self) -> Option<Moment> {
        self.last.get()
    }

    /// Something was written that is not with the kernel.
    pub(crate) fn has_unsent(&self) -> bool {
        self.has_unsent.get()
    }

    /// Why the transport carries nothing more, at this step of an exchange; `None` while it does.
    pub(crate) fn failure(&self, step: Step) -> Option<Failure> {
        match &*self.failure.borrow() {
            Some(failure) => Some(Failure { step, ..failure.clone() }),
            // Go's words, also where nothing of the response came.
            None => self.is_closed.get().then(|| Failure { step, ..failure_map::closed(Step::Receive) }),
        }
    }

    fn failed(&self, error: TransportError, step: Step) -> io::Error {
        let failure = failure_map::transport(error, step);
        let error = io::Error::other(failure.message.clone());
        self.failure.borrow_mut().get_or_insert(failure);
        error
    }
}

/// The end of a pipe that the `h2` crate holds.
pub(crate) struct PipeEnd(pub(crate) Rc<Pipe>);

impl AsyncRead for PipeEnd {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let pipe = &*self.0;
        if !pipe.may_read.get() || room.remaining() == 0 {
            return Poll::Pending;
        }
        let mut transport = pipe.transport.borrow_mut();
        loop {
            let is_kept = transport.tls.as_ref().is_some_and(|session| session.has_content());
            let most = room.remaining();
            let arrival = ready!(transport.poll_receive_most(cx, &pipe.buffers, most, |bytes| room.put_slice(bytes)));
            let arrival = arrival.map_err(|error| pipe.failed(error, Step::Receive))?;
            if !is_kept {
                pipe.last.set(Some(Moment { seen: Tick::now(), stamp_ns: arrival.stamp_ns }));
            }
            if arrival.content > 0 {
                pipe.may_read.set(false);
                pipe.reads.set(pipe.reads.get() + 1);
                return Poll::Ready(Ok(()));
            }
            if arrival.closed {
                pipe.is_closed.set(true);
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for PipeEnd {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let pipe = &*self.0;
        pipe.has_unsent.set(true);
        let taken = ready!(pipe.transport.borrow_mut().poll_take(cx, &pipe.buffers, parts));
        Poll::Ready(taken.map_err(|error| pipe.failed(error, Step::Send)))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let pipe = &*self.0;
        let flushed = ready!(pipe.transport.borrow_mut().poll_flush(cx, &pipe.buffers));
        flushed.map_err(|error| pipe.failed(error, Step::Send))?;
        pipe.has_unsent.set(false);
        Poll::Ready(Ok(()))
    }

    /// The socket is closed when the connection is dropped.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
