//! Carries out replies: responses, streams, faults, and the end of a connection.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::os::unix::fs::FileExt;
use std::task::Poll;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::{sleep, timeout};

use crate::connection::{After, Begun, Connection, with_bytes};
use crate::fault::{Fault, STALL, Then};
use crate::h1::respond::{self, Length, Persistence};
use crate::respond::{Body, Line, PieceStream, Response};

/// Output that is sent without waiting for more.
const FLUSH_AT: usize = 64 * 1024;
/// How long a client that is still sending may go on after its refusal.
const LINGER: Duration = Duration::from_secs(1);

fn lines(lines: &[Line]) -> impl Iterator<Item = (&str, &[u8])> {
    lines.iter().map(|(name, value)| (name.as_ref(), value.as_bytes()))
}

/// A stream that does not keep to the length it declared.
fn another_length() -> io::Error {
    io::Error::other("the body has another length than it declared")
}

fn length_of(response: &Response, minor: u8) -> Length {
    match response.body.length() {
        _ if matches!(response.status, 100..=199 | 204 | 304) => Length::NoBody,
        Some(length) if response.trailers.is_empty() => Length::Known(length),
        _ if minor == 1 => Length::Chunked,
        _ => Length::UntilClose,
    }
}

impl Connection {
    /// Appends a response to the output; a stream or a large body goes out on the way.
    pub(crate) async fn respond(&mut self, begun: Begun, response: Response, keep_alive: bool) -> io::Result<After> {
        if !response.after.is_zero() {
            self.flush().await?;
            sleep(response.after).await;
        }
        if !response.early.is_empty() && begun.minor == 1 {
            respond::interim(&mut self.out, 103, lines(&response.early));
            self.flush().await?;
        }
        let length = length_of(&response, begun.minor);
        let keep_alive = keep_alive && length != Length::UntilClose && !self.worker.is_stopping();
        let persistence = match (keep_alive, begun.minor) {
            (true, 1) => Persistence::Default,
            (true, _) => Persistence::KeepAlive,
            (false, _) => Persistence::Close,
        };
        let content_type = response.content_type.iter().map(|value| ("Content-Type", value.as_bytes()));
        let headers = content_type.chain(lines(&response.headers));
        respond::head(&mut self.out, response.status, length, persistence, headers);
        if !begun.is_head && length != Length::NoBody {
            match response.body {
                Body::Static(bytes) => self.send(bytes, length).await?,
                Body::Bytes(bytes) => self.send(&bytes, length).await?,
                Body::Shared(bytes) => self.send(&bytes, length).await?,
                Body::Array(pieces) => {
                    for piece in pieces {
                        self.send(&piece, length).await?;
                    }
                }
                Body::Stream { mut pieces, .. } => self.send_stream(&mut *pieces, length).await?,
                Body::File { file, offset, length } => self.send_file(&file, offset, length).await?,
            }
            if length == Length::Chunked {
                respond::last_chunk(&mut self.out, lines(&response.trailers));
            }
        }
        Ok(if keep_alive { After::Continue } else { After::Close })
    }

    /// Small bytes join the output; large ones leave with it in one call, uncopied.
    async fn send(&mut self, bytes: &[u8], length: Length) -> io::Result<()> {
        if length == Length::Chunked {
            respond::chunk(&mut self.out, bytes);
            return Ok(());
        }
        if self.out.len() + bytes.len() <= FLUSH_AT {
            self.out.extend_from_slice(bytes);
            return Ok(());
        }
        let sent = self.stream.write_vectored(&[IoSlice::new(&self.out), IoSlice::new(bytes)]).await?;
        self.worker.stats().sent.add(sent as u64);
        let of_bytes = sent.saturating_sub(self.out.len());
        self.out.drain(..sent.min(self.out.len()));
        self.flush().await?;
        self.stream.write_all(&bytes[of_bytes..]).await?;
        self.worker.stats().sent.add((bytes.len() - of_bytes) as u64);
        self.stream.flush().await
    }

    /// Pieces as they come: what is ready leaves together, and at the latest when the next one is not.
    async fn send_stream(&mut self, pieces: &mut (dyn PieceStream + Send), length: Length) -> io::Result<()> {
        let mut left = match length {
            Length::Known(length) => Some(length),
            _ => None,
        };
        loop {
            let ready = match poll_fn(|cx| Poll::Ready(pieces.poll_next(cx))).await {
                Poll::Ready(next) => next,
                Poll::Pending => {
                    self.flush().await?;
                    poll_fn(|cx| pieces.poll_next(cx)).await
                }
            };
            let Some(piece) = ready.transpose().map_err(io::Error::other)? else { break };
            if let Some(left) = &mut left {
                *left = left.checked_sub(piece.len() as u64).ok_or_else(another_length)?;
            }
            match length {
                Length::Chunked => respond::chunk(&mut self.out, &piece),
                _ => self.out.extend_from_slice(&piece),
            }
            if self.out.len() >= FLUSH_AT {
                self.flush().await?;
            }
        }
        if left.is_some_and(|left| left > 0) { Err(another_length()) } else { Ok(()) }
    }

    async fn send_file(&mut self, file: &File, mut offset: u64, mut left: u64) -> io::Result<()> {
        while left > 0 {
            let start = self.out.len();
            let size = left.min(FLUSH_AT as u64);
            self.out.resize(start + size as usize, 0);
            file.read_exact_at(&mut self.out[start..], offset)?;
            self.flush().await?;
            (offset, left) = (offset + size, left - size);
        }
        Ok(())
    }

    /// Sends the output.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        self.stream.write_all(&self.out).await?;
        self.stream.flush().await?;
        self.worker.stats().sent.add(self.out.len() as u64);
        self.out.clear();
        if self.out.capacity() > 4 * FLUSH_AT {
            self.out = Vec::new();
        }
        Ok(())
    }

    pub(crate) async fn misbehave(&mut self, fault: Fault) -> io::Result<After> {
        self.out.extend_from_slice(&fault.bytes);
        if fault.then == Then::GoOn {
            return Ok(After::Continue);
        }
        self.flush().await?;
        match fault.then {
            Then::GoOn | Then::Close => {}
            // A sleep of nothing takes a millisecond, in which the next request could arrive and never be read.
            Then::CloseAfter(wait) if wait.is_zero() => {}
            Then::CloseAfter(wait) => sleep(wait).await,
            Then::Reset => {
                self.stream.reset_on_close()?;
                return Ok(After::Abandon);
            }
            Then::Stall => {
                let ignore = async { while with_bytes(&mut self.stream, |_| ()).await.is_ok() {} };
                let _over = timeout(STALL, ignore).await;
            }
        }
        Ok(After::Close)
    }

    /// Says goodbye; drops what a client is still sending for a while, if it is.
    pub(crate) async fn close(&mut self, after: After) -> io::Result<()> {
        self.flush().await?;
        self.stream.shutdown().await?;
        if after == After::CloseUnread {
            let drop_rest = async { while with_bytes(&mut self.stream, |_| ()).await.is_ok() {} };
            let _over = timeout(LINGER, drop_rest).await;
        }
        Ok(())
    }
}
