//! The body of a request that a built-in route answers: counted, or kept up to a limit, before the route runs.
//!
//! What is only counted is received into one buffer that all connections of a worker share, so it costs what a bare
//! recv loop costs. Bodies for apps are pulled instead (`body.rs`).

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Poll;

use crate::connection::phase_timer::Phase;
use crate::h1::connection::{Begun, Connection, SCRATCH, poll_bytes};
use crate::kept::{Full, Kept, MemoryBudget};
use crate::outgoing::respond::Response;
use crate::refusal::{most, too_large};
use crate::route::{BodyUse, ROUTES};
use wire::Role;
use wire::h1::body_decoder::{BodyDecoder, ChunkError};
use wire::h1::encode;

/// A request body as far as it was read.
pub(crate) struct BodyRead {
    decoder: BodyDecoder,
    pub(crate) kept: Option<Kept>,
    pub(crate) length: u64,
    /// Bytes it may have.
    most: u64,
}

impl Connection {
    /// Reads a body to its end and takes it out of the input, so that the next request follows the head.
    pub(crate) async fn read_body(
        &mut self,
        body: &mut BodyRead,
        begun: Begun,
        head_end: usize,
    ) -> io::Result<Uploaded> {
        if begun.framing.expect_continue && self.input.len() == head_end {
            encode::interim(self.out.buffer(), 100, std::iter::empty());
        }
        let mut refused = match body.take(&self.input[head_end..]) {
            Ok(used) => {
                self.input.drain(head_end..head_end + used);
                None
            }
            Err(bad) => Some(bad),
        };
        while refused.is_none() && !body.decoder.is_done() {
            self.flush().await?;
            self.timer.enter(Phase::Body, self.worker.now());
            let (stream, input, timer) = (&mut self.stream, &mut self.input, &self.timer);
            let received = &self.worker.stats().received;
            let most = self.worker.receive_size().unwrap_or(SCRATCH);
            let mut use_bytes = |bytes: &[u8]| {
                received.add(bytes.len() as u64);
                if refused.is_none() {
                    match body.take(bytes) {
                        Ok(used) => input.extend_from_slice(&bytes[used..]),
                        Err(bad) => refused = Some(bad),
                    }
                }
            };
            let in_time = poll_fn(|cx| match poll_bytes(stream, cx, most, &mut use_bytes) {
                Poll::Pending if timer.wait(cx) => Poll::Ready(Ok(false)),
                polled => polled.map_ok(|()| true),
            });
            if !in_time.await? {
                refused = Some(BadBody::TimedOut);
            }
        }
        self.timer.enter(Phase::Busy, self.worker.now());
        self.worker.stats().body_received.add(body.length);
        Ok(refused.map_or(Uploaded::Whole, Uploaded::Refused))
    }
}

/// How reading a body ended.
pub(crate) enum Uploaded {
    /// All of it was taken.
    Whole,
    /// The connection ends with the answer to it.
    Refused(BadBody),
}

/// A body that ends the connection.
pub(crate) enum BadBody {
    Chunk,
    /// More than this many bytes.
    TooLarge(u64),
    /// The bodies of other clients fill the total.
    Full,
    TimedOut,
}

impl BadBody {
    pub(crate) fn response(&self, total: &MemoryBudget) -> Response {
        match self {
            BadBody::Full => total.refusal(),
            BadBody::Chunk => Response::error(400, "a chunk is malformed"),
            BadBody::TooLarge(most) => too_large(*most),
            BadBody::TimedOut => Response::error(408, "the request body paused for too long"),
        }
    }
}

impl BodyRead {
    pub(crate) fn new(begun: Begun, wanted: bool, limit: Option<u64>, total: &Arc<MemoryBudget>) -> Self {
        let keeps = begun.route.is_some_and(|index| ROUTES[index].body == BodyUse::Keep);
        let kept = (keeps && wanted).then(|| Kept::new(total));
        let most = most(kept.is_some(), limit);
        BodyRead { decoder: BodyDecoder::new(Role::Server, begun.framing.body), kept, length: 0, most }
    }

    /// Takes what belongs to the body from `bytes`; how much that was, or the refusal.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, BadBody> {
        let mut at = 0;
        while at < bytes.len() && !self.decoder.is_done() {
            let taken = self.decoder.take(&bytes[at..]).map_err(|_: ChunkError| BadBody::Chunk)?;
            self.length += taken.data.len() as u64;
            // A chunk that will be too long need not be awaited.
            if self.length.saturating_add(self.decoder.run_left().unwrap_or(0)) > self.most {
                return Err(BadBody::TooLarge(self.most));
            }
            if let Some(kept) = &mut self.kept {
                kept.extend(&bytes[at..][taken.data]).map_err(|Full| BadBody::Full)?;
            }
            at += taken.consumed;
        }
        Ok(at)
    }
}
