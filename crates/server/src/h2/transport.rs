//! The byte stream an HTTP/2 connection runs on: what was read ahead of it, then the socket; counted both ways.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::stream::Stream;
use crate::worker::Worker;

/// A socket whose first bytes were read before its protocol was known.
pub(crate) struct Transport {
    ahead: Vec<u8>,
    used: usize,
    stream: Stream,
    worker: Rc<Worker>,
}

impl Transport {
    /// `ahead` was read (and counted) already.
    pub(crate) fn new(stream: Stream, worker: Rc<Worker>, ahead: Vec<u8>) -> Self {
        Transport { ahead, used: 0, stream, worker }
    }

    fn written(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(n)) = polled {
            self.worker.stats().sent.add(n as u64);
            self.worker.stats().writes.add(1);
        }
        polled
    }
}

impl AsyncRead for Transport {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.used < self.ahead.len() {
            let n = buf.remaining().min(self.ahead.len() - self.used);
            buf.put_slice(&self.ahead[self.used..self.used + n]);
            self.used += n;
            if self.used == self.ahead.len() {
                (self.ahead, self.used) = (Vec::new(), 0);
            }
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.worker.stats().received.add((buf.filled().len() - before) as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
