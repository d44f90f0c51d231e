//! Carries out replies: responses, streams, faults, and the end of a connection.

use std::io::{self, IoSlice};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::{sleep, timeout};

use crate::connection::{After, Begun, Connection, with_bytes};
use crate::fault::{Fault, STALL, Then};
use crate::h1::respond::{self, Length, Persistence};
use crate::respond::{Body, Line, Pieces, Response};

/// Output that is sent without waiting for more.
const FLUSH_AT: usize = 64 * 1024;
/// How long a client that is still sending may go on after its refusal.
const LINGER: Duration = Duration::from_secs(1);

fn lines(lines: &[Line]) -> impl Iterator<Item = (&str, &[u8])> {
    lines.iter().map(|(name, value)| (name.as_ref(), value.as_bytes()))
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
                Body::Static(bytes) => self.send(bytes).await?,
                Body::Bytes(bytes) => self.send(&bytes).await?,
                Body::Pieces(pieces) => self.stream_pieces(pieces, length, &response.trailers).await?,
            }
        }
        Ok(if keep_alive { After::Continue } else { After::Close })
    }

    /// Small bytes join the output; large ones leave with it in one call, uncopied.
    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
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

    async fn stream_pieces(&mut self, pieces: Pieces, length: Length, trailers: &[Line]) -> io::Result<()> {
        for piece in pieces.pieces {
            if !piece.wait.is_zero() {
                self.flush().await?;
                sleep(piece.wait).await;
            }
            match length {
                Length::Chunked => respond::chunk(&mut self.out, &piece.bytes),
                _ => self.out.extend_from_slice(&piece.bytes),
            }
            if self.out.len() >= FLUSH_AT {
                self.flush().await?;
            }
        }
        if length == Length::Chunked {
            respond::last_chunk(&mut self.out, lines(trailers));
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
