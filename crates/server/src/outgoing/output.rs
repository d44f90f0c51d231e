//! Bytes on their way to one client: heads and small pieces copied together, large pieces lent, sent in few calls.
//!
//! Order is kept by remembering behind how many copied bytes each lent piece stands. A write takes whatever the socket
//! accepts; the rest stays here, so a partial write, a full socket and a slow reader are all the same case. An empty
//! output owns no memory: its buffer goes to a small stock of the thread, because ten thousand idle connections would
//! hold ten thousand of them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

use crate::connection::stream::Stream;
use wire::h1::chunks;

/// Output that is sent before more is gathered.
pub(crate) const FLUSH_AT: usize = 128 * 1024;
/// Pieces from this size on are lent to the kernel; smaller ones are copied. A hundred pieces of 1 KiB, 100
/// connections, a busy machine: 31-38 µs of processor time a response when copied together, 38-42 when lent (8 rounds
/// side by side). With 20 connections lending was cheaper by 1 µs of 20.
pub(crate) const LEND_FROM: usize = 4 * 1024;
/// Runs of bytes in one call: enough for `FLUSH_AT` in lent pieces with their chunk lines.
const MOST_RUNS: usize = 2 * FLUSH_AT / LEND_FROM + 1;
/// The same for a few pieces: filling the longer list costs more than sending them.
const FEW_RUNS: usize = 25;
/// Buffers of this size or less are kept for the next output of the thread.
const KEPT_CAPACITY: usize = 2 * FLUSH_AT;
/// How many of them.
const KEPT: usize = 16;

/// Large pieces, each with the end of the copied bytes before it.
type Lent = VecDeque<(usize, Bytes)>;

thread_local!(static STOCK: RefCell<Vec<(Vec<u8>, Lent)>> = const { RefCell::new(Vec::new()) });

/// What is still to be sent.
#[derive(Debug, Default)]
pub(crate) struct Output {
    copied: Vec<u8>,
    /// How much of `copied` was sent.
    at: usize,
    lent: Lent,
    /// Bytes in `lent`.
    lent_len: usize,
    sent: Sent,
}

/// What went out since the last `take_sent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) bytes: u64,
    /// Calls that took bytes: of the socket, or of the TLS session, which hands its records on in few.
    pub(crate) writes: u64,
    /// Those among them that the kernel might keep for what follows.
    pub(crate) kept_back: u64,
}

/// What comes behind the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// Perhaps nothing.
    Unknown,
    /// Bytes of a file, at once: packets need not go out half full.
    File,
}

impl Output {
    /// The buffer that heads are appended to. It holds unsent bytes: append, nothing else.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.copied.capacity() == 0
            && self.lent.is_empty()
            && let Some(room) = STOCK.with_borrow_mut(Vec::pop)
        {
            (self.copied, self.lent) = room;
        }
        &mut self.copied
    }

    /// Bytes to send.
    pub(crate) fn len(&self) -> usize {
        self.copied.len() - self.at + self.lent_len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What went out since the last call.
    pub(crate) fn take_sent(&mut self) -> Sent {
        std::mem::take(&mut self.sent)
    }

    /// Counts a write, also one that went past this.
    pub(crate) fn count_sent(&mut self, bytes: usize) {
        self.sent.bytes += bytes as u64;
        self.sent.writes += 1;
    }

    /// Adds a piece of a body, as a chunk when the coding is chunked.
    pub(crate) fn push(&mut self, piece: Bytes, chunked: bool) {
        if piece.len() < LEND_FROM {
            return self.copy(&piece, chunked);
        }
        let buffer = self.buffer();
        if chunked {
            chunks::chunk_size(buffer, piece.len());
        }
        let behind = buffer.len();
        if chunked {
            buffer.extend_from_slice(b"\r\n");
        }
        self.lent_len += piece.len();
        self.lent.push_back((behind, piece));
    }

    /// The same, always copied.
    pub(crate) fn copy(&mut self, piece: &[u8], chunked: bool) {
        match chunked {
            true => chunks::chunk(self.buffer(), piece),
            false => self.buffer().extend_from_slice(piece),
        }
    }

    /// Sends all of it; `Pending` when the socket is full.
    pub(crate) fn poll_flush(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_send(Behind::Unknown, stream, cx)
    }

    /// The same for an output that a file follows: the kernel keeps what fills no packet until the file's bytes come.
    pub(crate) fn poll_flush_before_file(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_send(Behind::File, stream, cx)
    }

    fn poll_send(&mut self, behind: Behind, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.is_empty() {
            let sent = match ready!(self.poll_write(behind, stream, cx)) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            };
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.count_sent(sent);
            self.sent.kept_back += u64::from(behind == Behind::File);
            self.advance(sent);
        }
        self.release();
        Pin::new(stream).poll_flush(cx)
    }

    fn poll_write(&self, behind: Behind, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.lent.is_empty() {
            return write(behind, &[IoSlice::new(&self.copied[self.at..])], stream, cx);
        }
        match 2 * self.lent.len() < FEW_RUNS {
            true => self.poll_write_runs(behind, &mut [IoSlice::new(&[]); FEW_RUNS], stream, cx),
            false => self.poll_write_runs(behind, &mut [IoSlice::new(&[]); MOST_RUNS], stream, cx),
        }
    }

    fn poll_write_runs<'a>(
        &'a self,
        behind: Behind,
        runs: &mut [IoSlice<'a>],
        stream: &mut Stream,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let count = self.runs(runs);
        write(behind, &runs[..count], stream, cx)
    }

    /// The first unsent runs in order, as many as fit.
    fn runs<'a>(&'a self, runs: &mut [IoSlice<'a>]) -> usize {
        let (mut at, mut count) = (self.at, 0);
        for (behind, piece) in &self.lent {
            if *behind > at {
                let Some(slot) = runs.get_mut(count) else { return count };
                *slot = IoSlice::new(&self.copied[at..*behind]);
                (at, count) = (*behind, count + 1);
            }
            let Some(slot) = runs.get_mut(count) else { return count };
            *slot = IoSlice::new(piece);
            count += 1;
        }
        if let Some(slot) = runs.get_mut(count).filter(|_| at < self.copied.len()) {
            *slot = IoSlice::new(&self.copied[at..]);
            count += 1;
        }
        count
    }

    fn advance(&mut self, mut sent: usize) {
        if sent == self.len() {
            self.at = self.copied.len();
            self.lent_len = 0;
            return self.lent.clear();
        }
        loop {
            let end = self.lent.front().map_or(self.copied.len(), |(behind, _)| *behind);
            let copied = sent.min(end - self.at);
            self.at += copied;
            sent -= copied;
            let Some((_, piece)) = self.lent.front_mut() else { return };
            if sent == 0 && !piece.is_empty() {
                return;
            }
            let of_piece = sent.min(piece.len());
            piece.advance(of_piece);
            self.lent_len -= of_piece;
            sent -= of_piece;
            if !piece.is_empty() {
                return;
            }
            self.lent.pop_front();
        }
    }

    /// Everything was sent: the buffer is free for another connection.
    fn release(&mut self) {
        self.at = 0;
        self.copied.clear();
        if (1..=KEPT_CAPACITY).contains(&self.copied.capacity()) && self.lent.capacity() <= KEPT_CAPACITY / LEND_FROM {
            STOCK.with_borrow_mut(|stock| {
                if stock.len() < KEPT {
                    stock.push((std::mem::take(&mut self.copied), std::mem::take(&mut self.lent)));
                }
            });
        }
        (self.copied, self.lent) = (Vec::new(), VecDeque::new());
    }
}

fn write(behind: Behind, runs: &[IoSlice<'_>], stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    match (behind, runs) {
        (Behind::File, _) => stream.poll_write_more(cx, runs),
        (Behind::Unknown, [only]) => Pin::new(stream).poll_write(cx, only),
        (Behind::Unknown, _) => Pin::new(stream).poll_write_vectored(cx, runs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(output: &Output) -> Vec<u8> {
        let mut runs = [IoSlice::new(&[]); 64];
        let count = output.runs(&mut runs);
        runs[..count].iter().flat_map(|run| run.to_vec()).collect()
    }

    #[test]
    fn order_survives_partial_writes_of_any_size() {
        let large = |byte: u8| Bytes::from(vec![byte; LEND_FROM + 3]);
        for step in [1, 2, 7, LEND_FROM - 1, LEND_FROM, LEND_FROM + 9, 3 * LEND_FROM] {
            let mut output = Output::default();
            output.buffer().extend_from_slice(b"head");
            output.push(large(b'a'), true);
            output.push(large(b'b'), true);
            output.push(Bytes::from_static(b"small"), true);
            output.push(large(b'c'), false);
            let size = format!("{:x}\r\n", LEND_FROM + 3);
            let mut want = [b"head", size.as_bytes()].concat();
            want.extend_from_slice(&large(b'a'));
            want.extend_from_slice(format!("\r\n{size}").as_bytes());
            want.extend_from_slice(&large(b'b'));
            want.extend_from_slice(b"\r\n5\r\nsmall\r\n");
            want.extend_from_slice(&large(b'c'));
            assert_eq!((all(&output) == want, output.len()), (true, want.len()), "before the first write");
            for sent in (0..want.len()).step_by(step) {
                assert!(all(&output) == want[sent..], "after {sent} bytes in steps of {step}");
                output.advance(step.min(want.len() - sent));
            }
            assert!(output.is_empty() && output.lent.is_empty());
        }
    }

    #[test]
    fn a_full_output_fits_one_call() {
        let mut output = Output::default();
        while output.len() < FLUSH_AT {
            output.push(Bytes::from(vec![0; LEND_FROM]), true);
        }
        let mut runs = [IoSlice::new(&[]); MOST_RUNS];
        let count = output.runs(&mut runs);
        assert_eq!(runs[..count].iter().map(|run| run.len()).sum::<usize>(), output.len());
    }
}
