//! The receiving side of a request body of HTTP/1.1: from the socket into a piece's memory.
//!
//! Bytes go from recv(2) into the memory they stay in. Only what came along with the head, or behind a chunk's size, is
//! copied (once), and chunks smaller than a quarter of a buffer are moved together within it. Nothing is read, and no
//! memory is held, but for a piece that somebody asked for.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::app::App;
use crate::connection::phase_timer::{Phase, PhaseTimer};
use crate::connection::stream::Stream;
use crate::incoming::body::BodyError;
use crate::incoming::pool::{Buffer, Piece};
use crate::worker::Worker;
use wire::Role;
use wire::h1::body_decoder::{BodyDecoder, ChunkError};
use wire::h1::framing::BodyFraming;
use wire::h1::request_head::Framing;

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// Read when the next chunk's size is awaited and chunks are large: little of its data is copied.
const SIZE_LINE: usize = 32;

/// The receiving side of one body.
pub(crate) struct Reading {
    stream: Stream,
    worker: Rc<Worker>,
    app: Option<Rc<dyn App>>,
    timer: Rc<PhaseTimer>,
    pub(crate) decoder: BodyDecoder,
    /// Bytes that were received before anybody asked, with how many of them are used up.
    ahead: Vec<u8>,
    used: usize,
    /// The client waits for 100 Continue and did not get it.
    pub(crate) continue_awaited: bool,
    continue_sent: usize,
    /// Memory that a read found nothing for.
    buffer: Option<Buffer>,
    /// Bytes of the body, where the client declared them.
    declared: Option<u64>,
    length: u64,
    pub(crate) failed: Option<BodyError>,
}

impl Reading {
    /// `ahead` is what came behind the head.
    pub(crate) fn new(
        stream: Stream,
        worker: Rc<Worker>,
        timer: Rc<PhaseTimer>,
        app: Option<Rc<dyn App>>,
        framing: Framing,
        ahead: Vec<u8>,
    ) -> Self {
        let continue_awaited = framing.expect_continue && ahead.is_empty();
        let declared = if let BodyFraming::Length(length) = framing.body { Some(length) } else { None };
        Reading {
            stream,
            worker,
            app,
            timer,
            decoder: BodyDecoder::new(Role::Server, framing.body),
            ahead,
            used: 0,
            continue_awaited,
            continue_sent: 0,
            buffer: None,
            declared,
            length: 0,
            failed: None,
        }
    }

    /// What was received behind the body.
    pub(crate) fn into_rest(mut self) -> Vec<u8> {
        self.ahead.drain(..self.used);
        self.ahead
    }

    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        if let Some(failed) = &self.failed {
            return Poll::Ready(Some(Err(failed.clone())));
        }
        let piece = match self.try_poll_piece(cx) {
            Poll::Ready(piece) => piece,
            Poll::Pending => {
                if self.timer.phase() != Phase::Body {
                    self.timer.enter(Phase::Body, self.worker.now());
                }
                if !self.timer.wait(cx) {
                    return Poll::Pending;
                }
                self.worker.stats().timed_out.add(1);
                Some(Err(BodyError::TimedOut))
            }
        };
        self.timer.enter(Phase::Busy, self.worker.now());
        if let Some(Err(e)) = &piece {
            self.failed = Some(e.clone());
        }
        Poll::Ready(piece)
    }

    /// Bytes of memory that the next piece asks for, once there is something to put into it; 0: it asks for none. What
    /// is wrong with the body is left for `poll_piece` to find.
    pub(crate) fn poll_wanted(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        if self.failed.is_some() || self.buffer.is_some() {
            return Poll::Ready(0);
        }
        loop {
            if self.skip_framing().is_err() || self.decoder.is_done() {
                return Poll::Ready(0);
            }
            if self.used < self.ahead.len() {
                break;
            }
            let arrived = match self.awaits_size_line() {
                true => ready!(self.poll_size_line(cx)),
                false => match ready!(self.poll_continue(cx)) {
                    Ok(()) => ready!(self.stream.poll_readable(cx)),
                    Err(e) => Err(e),
                },
            };
            match arrived {
                Err(_) => return Poll::Ready(0),
                Ok(()) if self.used == self.ahead.len() => break,
                Ok(()) => {}
            }
        }
        Poll::Ready(self.worker.pool().wanted(self.declared))
    }

    /// The next chunk's size is received on its own, because chunks are large.
    fn awaits_size_line(&self) -> bool {
        self.decoder.run_left().is_none() && self.decoder.last_chunk() >= self.large()
    }

    fn try_poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, BodyError>>> {
        loop {
            if self.used == self.ahead.len() {
                self.ahead.clear();
                self.used = 0;
            }
            let piece = if self.decoder.is_done() {
                self.buffer = None;
                return Poll::Ready(None);
            } else if self.used < self.ahead.len() {
                self.copy_ahead()
            } else if self.awaits_size_line() {
                ready!(self.poll_size_line(cx)).map(|()| None).map_err(|e| gone(&e))
            } else {
                match ready!(self.poll_receive(cx)) {
                    Ok(received) => self.decode(received),
                    Err(e) => Err(gone(&e)),
                }
            };
            match piece {
                Ok(Some(piece)) => {
                    self.length += piece.len() as u64;
                    self.worker.stats().body_received.add(piece.len() as u64);
                    return Poll::Ready(Some(self.within_limit().map(|()| piece)));
                }
                Ok(None) => {
                    if let Err(e) = self.within_limit() {
                        return Poll::Ready(Some(Err(e)));
                    }
                }
                Err(e) => return Poll::Ready(Some(Err(e))),
            }
        }
    }

    /// Counts a chunk that was announced as if it was there.
    fn within_limit(&self) -> Result<(), BodyError> {
        let length = self.length.saturating_add(self.decoder.run_left().unwrap_or(0));
        self.worker
            .limits()
            .body
            .filter(|limit| length > *limit)
            .map_or(Ok(()), |limit| Err(BodyError::TooLarge(limit)))
    }

    /// The next run of data among the bytes that are there already.
    fn copy_ahead(&mut self) -> Result<Option<Piece>, BodyError> {
        // No memory is asked for when no data follows.
        self.skip_framing()?;
        if self.decoder.is_done() || self.used == self.ahead.len() {
            return Ok(None);
        }
        let mut buffer = self.buffer_for(self.ahead.len() - self.used);
        let room = buffer.bytes_mut();
        let mut filled = 0;
        while filled < room.len() && self.used < self.ahead.len() && !self.decoder.is_done() {
            let end = self.ahead.len().min(self.used + room.len() - filled);
            let input = &self.ahead[self.used..end];
            let taken = self.decoder.take(input).map_err(malformed)?;
            let data = &input[taken.data];
            room[filled..filled + data.len()].copy_from_slice(data);
            filled += data.len();
            self.used += taken.consumed;
        }
        Ok(self.piece(buffer, filled))
    }

    /// Uses up what is there of chunks' sizes and ends, up to the next data.
    fn skip_framing(&mut self) -> Result<(), BodyError> {
        while self.decoder.run_left().is_none() && !self.decoder.is_done() && self.used < self.ahead.len() {
            let framing = &self.ahead[self.used..=self.used];
            self.used += self.decoder.take(framing).map_err(malformed)?.consumed;
        }
        Ok(())
    }

    fn piece(&mut self, buffer: Buffer, filled: usize) -> Option<Piece> {
        if filled == 0 {
            self.buffer = Some(buffer);
            return None;
        }
        Some(Piece::new(buffer, 0..filled))
    }

    /// Memory for about `size` bytes.
    fn buffer_for(&mut self, size: usize) -> Buffer {
        if let Some(buffer) = self.buffer.take() {
            return buffer;
        }
        let pool = self.worker.pool();
        let of_app = self.app.as_ref().and_then(|app| app.allocate(size.min(pool.size())));
        of_app.filter(|b| !b.bytes().is_empty()).map_or_else(|| Buffer::Pooled(pool.take()), Buffer::App)
    }

    /// Chunks of this size are received each on its own; smaller ones together.
    fn large(&self) -> u64 {
        self.worker.pool().size() as u64 / 4
    }

    /// Receives what may be the next chunk's size, and little more, since that is copied.
    fn poll_size_line(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut line = [MaybeUninit::uninit(); SIZE_LINE];
        let mut room = ReadBuf::uninit(&mut line);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room))?;
        self.received(room.filled().len())?;
        self.ahead.extend_from_slice(room.filled());
        Poll::Ready(Ok(()))
    }

    fn received(&self, n: usize) -> io::Result<()> {
        self.worker.stats().received.add(n as u64);
        if n == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Receives once; at least a byte.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(Buffer, usize)>> {
        ready!(self.poll_continue(cx))?;
        ready!(self.stream.poll_readable(cx))?;
        let left = self.decoder.run_left();
        let pool_size = self.worker.pool().size();
        let wanted = left.map_or(pool_size, |left| usize::try_from(left).unwrap_or(usize::MAX));
        let mut buffer = self.buffer_for(wanted);
        let all = buffer.bytes_mut();
        let size = match left {
            // To the end of the data and no further: what follows belongs into other memory.
            Some(left) if self.decoder.is_plain() || left >= self.worker.pool().size() as u64 / 4 => {
                wanted.min(all.len())
            }
            _ => all.len(),
        };
        let mut room = ReadBuf::new(&mut all[..size]);
        let polled = Pin::new(&mut self.stream).poll_read(cx, &mut room);
        let n = room.filled().len();
        if polled.is_pending() {
            // A pool's buffer is of use to others meanwhile; an app's is kept, because the app knows of it.
            self.buffer = Some(buffer).filter(|b| matches!(b, Buffer::App(_)));
            return Poll::Pending;
        }
        ready!(polled)?;
        self.received(n)?;
        Poll::Ready(Ok((buffer, n)))
    }

    /// Finds the data among what was received, moved together where small chunks lie apart.
    fn decode(&mut self, (mut buffer, received): (Buffer, usize)) -> Result<Option<Piece>, BodyError> {
        let bytes = buffer.bytes_mut();
        let (mut at, mut filled) = (0, 0);
        while at < received && !self.decoder.is_done() {
            let taken = self.decoder.take(&bytes[at..received]).map_err(malformed)?;
            let data = at + taken.data.start..at + taken.data.end;
            if data.start > filled {
                bytes.copy_within(data.clone(), filled);
            }
            filled += data.len();
            at += taken.consumed;
        }
        debug_assert!(filled <= at && at <= received, "{filled} bytes of data in {at} of {received}");
        self.ahead.extend_from_slice(&bytes[at..received]);
        Ok(self.piece(buffer, filled))
    }

    /// Sends what the client waits for, now that the body is wanted.
    fn poll_continue(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.continue_awaited {
            let rest = &CONTINUE[self.continue_sent..];
            let n = ready!(Pin::new(&mut self.stream).poll_write(cx, rest))?;
            self.worker.stats().sent.add(n as u64);
            self.continue_sent += n;
            if self.continue_sent == CONTINUE.len() {
                self.continue_awaited = false;
                ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn malformed(_: ChunkError) -> BodyError {
    BodyError::Malformed("a chunk breaks the chunked coding")
}

fn gone(e: &io::Error) -> BodyError {
    let why = if e.kind() == io::ErrorKind::UnexpectedEof { "the client closed it".to_owned() } else { e.to_string() };
    BodyError::Gone(why)
}
