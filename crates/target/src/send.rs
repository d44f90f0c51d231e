//! Carries out replies: responses, streams, faults, and the end of a connection.

use std::future::poll_fn;
use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::{sleep, timeout};

use crate::connection::{After, Begun, Connection, with_bytes};
use crate::fault::{Fault, STALL, Then};
use crate::h1::respond::{self, Length, Persistence};
use crate::output::{FLUSH_AT, LEND_FROM};
use crate::respond::{Body, Line, Response};
use crate::sending::{End, Sending};

/// How long a client that is still sending may go on after its refusal.
const LINGER: Duration = Duration::from_secs(1);

pub(crate) fn lines(lines: &[Line]) -> impl Iterator<Item = (&str, &[u8])> {
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
            respond::interim(self.out.buffer(), 103, lines(&response.early));
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
        respond::head(self.out.buffer(), response.status, length, persistence, headers);
        if begun.is_head || length == Length::NoBody || self.send_small(&response.body, length) {
            return Ok(if keep_alive { After::Continue } else { After::Close });
        }
        let mut sending = Sending::new(response.body, length, response.trailers);
        match poll_fn(|cx| sending.poll(&mut self.out, &mut self.stream, cx)).await? {
            End::Whole if keep_alive => Ok(After::Continue),
            End::Whole => Ok(After::Close),
            End::CutShort => self.cut_short(length),
        }
    }

    /// The common case without more ado: a few bytes behind the head. False when that is not the case.
    fn send_small(&mut self, body: &Body, length: Length) -> bool {
        let bytes: &[u8] = match body {
            Body::Static(bytes) => bytes,
            Body::Bytes(bytes) => bytes,
            _ => return false,
        };
        let small = bytes.len() < LEND_FROM && length != Length::Chunked && self.out.len() < FLUSH_AT;
        if small {
            self.out.copy(bytes, false);
        }
        small
    }

    /// The client must not take what it got for the whole: the connection ends before the length or the last chunk, and where the
    /// end of the connection is the end of the body, by a reset.
    fn cut_short(&mut self, length: Length) -> io::Result<After> {
        self.worker.stats().cut_short.add(1);
        self.count_sent();
        if length == Length::UntilClose {
            self.stream.reset_on_close()?;
        }
        Ok(After::Abandon)
    }

    fn count_sent(&mut self) {
        let sent = self.out.take_sent();
        self.worker.stats().sent.add(sent.bytes);
        self.worker.stats().writes.add(sent.writes);
    }

    /// Sends the output.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        let result = poll_fn(|cx| self.out.poll_flush(&mut self.stream, cx)).await;
        self.count_sent();
        result
    }

    pub(crate) async fn misbehave(&mut self, fault: Fault) -> io::Result<After> {
        self.out.copy(&fault.bytes, false);
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
