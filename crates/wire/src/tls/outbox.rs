//! Encrypted bytes on their way to the socket.
//!
//! The memory is the thread's and goes back there when all is written. A peer that reads slowly costs what is left for
//! it and no more. Invariant: bytes go out in the order in which they were encrypted, each exactly once.

use std::io;
use std::task::{Context, Poll};

use rustls::unbuffered::{EncodeError, EncodeTlsData, EncryptError, InsufficientSizeError};

use super::end::{Line, TlsEnd};
use crate::io::buffers::Buffers;

/// Content of one record at most (RFC 8446 5.1).
pub(crate) const RECORD: usize = 16 << 10;
/// Header, nonce and tag of a record stay below this.
const RECORD_EXTRA: usize = 64;
/// Encrypted bytes of one write. A server's output that is full leaves in one, at most `FLUSH_AT` (128 KiB).
const OUTBOX: usize = 10 * (RECORD + RECORD_EXTRA);
/// Room for most messages of a handshake.
const MESSAGE: usize = 1024;

/// What was encrypted and not yet written.
#[derive(Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Whoever sends waits for the socket, and goes on with all of it.
    is_awaited: bool,
}

impl Outbox {
    /// Another record of content may go in before the next write.
    pub(crate) fn has_room(&self) -> bool {
        !self.is_awaited && self.end + RECORD + RECORD_EXTRA <= OUTBOX
    }

    /// All of it is written.
    pub(crate) fn is_flushed(&self) -> bool {
        self.start == self.end
    }

    /// Writes all of it, for whoever sends.
    pub(crate) fn poll_flush<E: TlsEnd>(
        &mut self,
        cx: &mut Context<'_>,
        line: &mut Line<'_, E::Socket>,
    ) -> Poll<io::Result<()>> {
        let polled = self.poll_write::<E>(cx, line);
        self.is_awaited = polled.is_pending();
        polled
    }

    /// Writes what the session itself has to say, for whoever receives. Where the sender waits for the socket, that is
    /// the sender's: the socket has one waker for writing.
    pub(crate) fn poll_flush_messages<E: TlsEnd>(
        &mut self,
        cx: &mut Context<'_>,
        line: &mut Line<'_, E::Socket>,
    ) -> io::Result<()> {
        if self.is_awaited {
            return Ok(());
        }
        // What the socket does not take now is written before anything else is sent.
        if let Poll::Ready(Err(error)) = self.poll_write::<E>(cx, line) { Err(error) } else { Ok(()) }
    }

    fn poll_write<E: TlsEnd>(&mut self, cx: &mut Context<'_>, line: &mut Line<'_, E::Socket>) -> Poll<io::Result<()>> {
        while self.start < self.end {
            let Poll::Ready(written) = E::poll_send(line.socket, cx, &self.bytes[self.start..self.end]) else {
                self.shrink(line.buffers);
                return Poll::Pending;
            };
            let n = written?;
            *line.sent += n as u64;
            self.start += n;
        }
        if !self.bytes.is_empty() {
            (self.start, self.end) = (0, 0);
            line.buffers.return_cipher(std::mem::take(&mut self.bytes));
        }
        Poll::Ready(Ok(()))
    }

    /// Keeps no more memory than what is left needs, where that is much less.
    fn shrink(&mut self, buffers: &Buffers) {
        if 2 * (self.end - self.start) > self.bytes.len() {
            return;
        }
        let left = self.bytes[self.start..self.end].to_vec();
        (self.start, self.end) = (0, left.len());
        buffers.return_cipher(std::mem::replace(&mut self.bytes, left));
    }

    fn room(&mut self, buffers: &Buffers, len: usize) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = buffers.take_cipher(OUTBOX);
        }
        if self.bytes.len() - self.end < len {
            self.bytes.resize(self.end + len, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Puts in what `encrypt` makes of `len` bytes of content, at most a record.
    pub(crate) fn put(
        &mut self,
        buffers: &Buffers,
        len: usize,
        encrypt: impl FnOnce(&mut [u8]) -> Result<usize, EncryptError>,
    ) -> Result<(), rustls::Error> {
        debug_assert!(len <= RECORD, "a record has {RECORD} bytes at most: {len}");
        let written = encrypt(self.room(buffers, len + RECORD_EXTRA));
        self.end += written.map_err(|error| rustls::Error::General(error.to_string()))?;
        debug_assert!(self.start <= self.end && self.end <= self.bytes.len(), "{} to {}", self.start, self.end);
        Ok(())
    }

    /// Puts in a message of rustls' own: of the handshake, an alert, a ticket.
    pub(crate) fn put_message<Data>(
        &mut self,
        buffers: &Buffers,
        message: &mut EncodeTlsData<'_, Data>,
    ) -> Result<(), rustls::Error> {
        let mut len = MESSAGE;
        loop {
            match message.encode(self.room(buffers, len)) {
                Ok(written) => {
                    self.end += written;
                    return Ok(());
                }
                Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) if required_size > len => {
                    len = required_size;
                }
                Err(error) => return Err(rustls::Error::General(error.to_string())),
            }
        }
    }
}
