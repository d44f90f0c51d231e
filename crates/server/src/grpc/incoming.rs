//! The messages of a client as they come: with prefixes, or one that is the whole body.

use std::task::{Context, Poll, ready};

use grpc::frame::{self, BadFrame, Frames};
use grpc::status::{self, Status};

use crate::grpc::ended::{Ended, Outcome};
use crate::incoming::body::{BodyError, RequestBody};
use crate::kept::{Full, Reservation};
use crate::worker::Worker;

/// Bytes of a message; more is RESOURCE_EXHAUSTED, as other servers have it unless told otherwise.
const MAX_MESSAGE: usize = 4 << 20;

/// Messages of the client as they come.
pub(crate) struct IncomingMessages {
    body: RequestBody,
    frames: Frames,
    /// The body, when it is one message, until that was asked for.
    whole: Option<Vec<u8>>,
    gzip: bool,
    reserved: Reservation,
    ended: bool,
}

impl IncomingMessages {
    /// `has_prefixes`: there may be several messages. `gzip`: those that are compressed are gzip.
    pub(crate) fn new(worker: &Worker, body: RequestBody, has_prefixes: bool, gzip: bool) -> Self {
        let whole = (!has_prefixes).then(Vec::new);
        let reserved = Reservation::new(worker.budget());
        IncomingMessages { body, frames: Frames::default(), whole, gzip, reserved, ended: false }
    }

    /// Of a body that is all there. It is accounted for by who keeps it.
    pub(crate) fn kept(worker: &Worker, body: &[u8], has_prefixes: bool, gzip: bool) -> Self {
        let mut incoming = IncomingMessages::new(worker, RequestBody::empty(), has_prefixes, gzip);
        match &mut incoming.whole {
            Some(whole) => whole.extend_from_slice(body),
            None => incoming.frames.add(body),
        }
        incoming.ended = true;
        incoming
    }

    /// The next message, `None` when the client has sent all.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Vec<u8>>, Ended>> {
        loop {
            if self.whole.is_none() {
                match self.frames.next(self.gzip, MAX_MESSAGE) {
                    Ok(None) => {}
                    Ok(message) => return Poll::Ready(Ok(message)),
                    Err(bad) => return Poll::Ready(Err(refused(&bad).into())),
                }
            }
            if self.ended {
                return Poll::Ready(self.last());
            }
            match ready!(self.body.poll_next(cx)) {
                None => self.ended = true,
                Some(Err(error)) => return Poll::Ready(Err(ended_by(&error))),
                Some(Ok(piece)) => self.add(&piece)?,
            }
        }
    }

    /// What is left when the body has ended.
    fn last(&mut self) -> Result<Option<Vec<u8>>, Ended> {
        match self.whole.take() {
            Some(whole) if self.gzip => frame::unzip(&whole, MAX_MESSAGE).map(Some).map_err(|bad| refused(&bad).into()),
            Some(whole) => Ok(Some(whole)),
            None if self.frames.is_empty() => Ok(None),
            None => Err(Status::new(status::INTERNAL, "the request ends within a message").into()),
        }
    }

    /// Takes memory for it as bodies that are kept do.
    fn add(&mut self, bytes: &[u8]) -> Outcome {
        let held = match &mut self.whole {
            Some(whole) if whole.len() + bytes.len() > MAX_MESSAGE => {
                return Err(refused(&BadFrame::TooLong { length: whole.len() + bytes.len() }).into());
            }
            Some(whole) => {
                whole.extend_from_slice(bytes);
                whole.capacity()
            }
            None => {
                self.frames.add(bytes);
                self.frames.held()
            }
        };
        self.reserved.cover(held as u64).map_err(|Full| {
            let message = "the messages of all clients together would take more memory than --max-kept";
            Status::new(status::RESOURCE_EXHAUSTED, message).into()
        })
    }
}

fn refused(bad: &BadFrame) -> Status {
    match bad {
        BadFrame::TooLong { length } => Status::new(
            status::RESOURCE_EXHAUSTED,
            format!("a message is {length} bytes long, expected at most {MAX_MESSAGE}"),
        ),
        BadFrame::Compression => Status::new(
            status::INTERNAL,
            "a message is marked as compressed, but it is no gzip or grpc-encoding does not say so",
        ),
        BadFrame::Flags(flags) => {
            Status::new(status::INTERNAL, format!("the flags of a message are {flags}, expected 0 or 1"))
        }
    }
}

fn ended_by(error: &BodyError) -> Ended {
    match error {
        BodyError::Gone(_) | BodyError::Over => Ended::Gone,
        BodyError::TooLarge(_) => Status::new(status::RESOURCE_EXHAUSTED, error.to_string()).into(),
        BodyError::Malformed(_) | BodyError::TimedOut => Status::new(status::INTERNAL, error.to_string()).into(),
    }
}
