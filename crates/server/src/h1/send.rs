//! Carries out replies: responses, streams, faults, and the end of a connection.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::after::After;
use crate::connection::stream::Peeked;
use crate::fault::{Fault, STALL, Then};
use crate::h1::connection::{Begun, Connection, with_bytes};
use crate::outgoing::date::own_lines;
use crate::outgoing::output::{FLUSH_AT, LEND_FROM};
use crate::outgoing::respond::{Body, Response, claimed_length, closes, is_senders, lines};
use crate::outgoing::sending::{BodyEnd, Sending};
use wire::h1::encode::{self, Persistence};
use wire::h1::framing::BodyFraming;
use wire::timer;

/// How long a client that is still sending may go on after its refusal.
const LINGER: Duration = Duration::from_secs(1);

fn framing_of(response: &Response, begun: Begun) -> BodyFraming {
    match response.body.length() {
        _ if matches!(response.status, 100..=199 | 204 | 304) => BodyFraming::None,
        Some(0) if begun.is_head => BodyFraming::Length(claimed_length(&response.headers).unwrap_or(0)),
        Some(length) if response.trailers.is_empty() => BodyFraming::Length(length),
        _ if begun.minor == 1 => BodyFraming::Chunked,
        _ => BodyFraming::UntilClose,
    }
}

/// A few bytes behind the head.
fn small(body: &Body, framing: BodyFraming) -> Option<&[u8]> {
    let bytes: &[u8] = match body {
        Body::Static(bytes) => bytes,
        Body::Bytes(bytes) => bytes,
        Body::Shared(bytes) => bytes,
        _ => return None,
    };
    (bytes.len() < LEND_FROM && framing != BodyFraming::Chunked).then_some(bytes)
}

impl Connection {
    /// A reply that needs no wait and no memory of its own, whole in the output. `None`: it is one for `respond` and
    /// its like.
    pub(crate) fn reply_at_once(&mut self, begun: Begun, response: &Response) -> Option<After> {
        if response.is_held() || !response.early.is_empty() || self.out.len() >= FLUSH_AT {
            return None;
        }
        let framing = framing_of(response, begun);
        let without_body = begun.is_head || framing == BodyFraming::None;
        let body = if without_body { b"" } else { small(&response.body, framing)? };
        debug_assert!(
            without_body || !matches!(framing, BodyFraming::Length(length) if length != body.len() as u64),
            "a body is as long as its head says"
        );
        let after = self.head(begun, response, framing, begun.framing.keep_alive);
        self.out.copy(body, false);
        Some(after)
    }

    /// Appends the head; how the connection continues behind the body.
    fn head(&mut self, begun: Begun, response: &Response, framing: BodyFraming, keep_alive: bool) -> After {
        let keep_alive = keep_alive
            && !closes(&response.headers)
            && framing != BodyFraming::UntilClose
            && !self.worker.is_stopping();
        let persistence = match (keep_alive, begun.minor) {
            (true, 1) => Persistence::Default,
            (true, _) => Persistence::KeepAlive,
            (false, _) => Persistence::Close,
        };
        let content_type = response.content_type.iter().map(|value| ("Content-Type", value.as_bytes()));
        let headers = content_type.chain(lines(&response.headers).filter(|(name, _)| !is_senders(name)));
        if let Some(witness) = self.witness.as_ref().filter(|_| begun.is_told()) {
            let length = match framing {
                BodyFraming::Length(_) if begun.is_head => Some(0),
                BodyFraming::Length(length) => Some(length),
                BodyFraming::None => Some(0),
                _ => None,
            };
            witness.responds(Some(response.status), length);
        }
        encode::response_head(self.out.buffer(), response.status, &own_lines(), framing, persistence, headers);
        if keep_alive { After::Continue } else { After::Close }
    }

    /// Appends a response to the output; a stream or a large body goes out on the way.
    pub(crate) async fn respond(
        &mut self,
        begun: Begun,
        mut response: Response,
        keep_alive: bool,
    ) -> io::Result<After> {
        if response.is_held() {
            self.flush().await?;
            // Boxed: few responses are held back.
            response = Box::pin(response.wait_out()).await;
        }
        if !response.early.is_empty() && begun.minor == 1 {
            encode::interim(self.out.buffer(), 103, lines(&response.early));
            self.flush().await?;
        }
        let framing = framing_of(&response, begun);
        let after = self.head(begun, &response, framing, keep_alive);
        if begun.is_head || framing == BodyFraming::None {
            return Ok(after);
        }
        let mut sending = Sending::new(response.body, framing, response.trailers);
        // Nothing else can come from this client that anybody waits for, and the app's stream may wait forever.
        let mut watched = begun.watches_client() && self.start == self.input.len();
        let sent = poll_fn(|cx| {
            let sent = sending.poll(&mut self.out, &mut self.stream, cx);
            if sent.is_pending() && watched {
                match self.stream.poll_peek(cx) {
                    Poll::Ready(Peeked::End) => return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
                    Poll::Ready(Peeked::Bytes) => watched = false,
                    Poll::Pending => {}
                }
            }
            sent
        });
        let sent = sent.await;
        self.count_sent();
        match sent? {
            BodyEnd::Whole => {
                self.told_sent();
                Ok(after)
            }
            BodyEnd::CutShort => self.cut_short(framing),
        }
    }

    /// The client must not take what it got for the whole: the connection ends before the length or the last chunk, and
    /// where the end of the connection is the end of the body, by a reset.
    fn cut_short(&mut self, framing: BodyFraming) -> io::Result<After> {
        self.worker.stats().cut_short.add(1);
        self.count_sent();
        if framing == BodyFraming::UntilClose {
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
        self.told_sent();
        result
    }

    /// Has the witness know that what was answered so far has left.
    fn told_sent(&self) {
        if let Some(witness) = self.witness.as_ref().filter(|_| self.out.is_empty()) {
            witness.sent();
        }
    }

    pub(crate) async fn misbehave(&mut self, fault: Fault) -> io::Result<After> {
        if let Some(each) = fault.each {
            self.trickle(&fault.bytes, each).await?;
        } else {
            self.out.copy(&fault.bytes, false);
        }
        if fault.then == Then::GoOn {
            if let Some(witness) = &self.witness {
                witness.responds(None, None);
            }
            return Ok(After::Continue);
        }
        self.flush().await?;
        match fault.then {
            Then::GoOn | Then::Close => {}
            // A sleep of nothing takes a millisecond, in which the next request could arrive and never be read.
            Then::CloseAfter(wait) if wait.is_zero() => {}
            Then::CloseAfter(wait) => drop(timer::sleep(wait).await),
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

    /// Bytes one by one, each due so long after the one before it.
    async fn trickle(&mut self, bytes: &[u8], each: Duration) -> io::Result<()> {
        let mut due = Instant::now();
        for byte in bytes {
            self.out.copy(&[*byte], false);
            self.flush().await?;
            due += each;
            timer::sleep_until(due).await;
        }
        Ok(())
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
