//! A call: its messages and metadata both ways, its deadline and its end.
//!
//! A method asks for messages and gives some, in any order; what it gives leaves before anything is waited for. The
//! head leaves with the first message, so that a call that ends without one is answered by trailers alone. A method is
//! dropped when its deadline has passed or its client has reset the stream.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use grpc::frame::{self, BadFrame, Frames};
use grpc::metadata;
use grpc::status::{self, Status};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use wire::timer;

use crate::body::{BodyError, RequestBody};
use crate::http2_out::{Out, Respond};
use crate::kept::{Full, Reservation};
use crate::worker::Worker;

/// What the content types of gRPC begin with.
pub(crate) const MEDIA_TYPE: &str = "application/grpc";
/// Bytes of a message; more is RESOURCE_EXHAUSTED, as other servers have it unless told otherwise.
const MAX_MESSAGE: usize = 4 << 20;

/// How a method went.
pub(crate) type Outcome = Result<(), Ended>;

/// Why a call ended before its method did.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With this status.
    Status(Status),
    /// Nobody waits for it.
    Gone,
}

impl From<Status> for Ended {
    fn from(status: Status) -> Self {
        Ended::Status(status)
    }
}

/// A request that is served.
pub(crate) struct Call {
    pub(crate) worker: Rc<Worker>,
    /// The fields of the request's head.
    pub(crate) fields: HeaderMap,
    /// What the answer's head has of metadata, as long as it has not been sent.
    pub(crate) head: RefCell<HeaderMap>,
    /// What the trailers have of metadata.
    pub(crate) trailers: RefCell<HeaderMap>,
    messages: RefCell<Messages>,
    respond: Respond,
    /// There once the head has been sent.
    out: RefCell<Option<Out>>,
    gzip: bool,
}

/// Messages of the client as they come.
struct Messages {
    body: RequestBody,
    frames: Frames,
    reserved: Reservation,
    ended: bool,
}

impl Call {
    pub(crate) fn new(worker: &Rc<Worker>, fields: &HeaderMap, respond: &Respond, body: RequestBody) -> Self {
        let messages =
            Messages { body, frames: Frames::default(), reserved: Reservation::new(worker.budget()), ended: false };
        Call {
            worker: worker.clone(),
            fields: fields.clone(),
            head: RefCell::default(),
            trailers: RefCell::default(),
            messages: RefCell::new(messages),
            respond: respond.clone(),
            out: RefCell::new(None),
            gzip: fields.get("grpc-encoding").is_some_and(|value| value == "gzip"),
        }
    }

    /// When the client stops waiting, if it said so. The error is how a call ends whose head is not in order.
    pub(crate) fn deadline(&self) -> Result<Option<Instant>, Status> {
        if let Some(encoding) = self.fields.get("grpc-encoding")
            && !self.gzip
            && encoding != "identity"
        {
            let message = format!("grpc-encoding is {encoding:?}, expected gzip or identity");
            return Err(Status::new(status::UNIMPLEMENTED, message));
        }
        let Some(value) = self.fields.get("grpc-timeout") else { return Ok(None) };
        let left = metadata::parse_timeout(value.as_bytes()).ok_or_else(|| {
            let message = format!("grpc-timeout is {value:?}, expected at most eight digits and one of HMSmun");
            Status::new(status::INTERNAL, message)
        })?;
        Ok(Instant::now().checked_add(left))
    }

    /// Runs the method until it has ended, its time is over or its client has gone.
    pub(crate) async fn until(&self, deadline: Option<Instant>, method: impl Future<Output = Outcome>) -> Outcome {
        let mut method = pin!(method);
        let mut deadline = pin!(deadline.map(timer::sleep_until));
        poll_fn(|cx| {
            if let Poll::Ready(outcome) = method.as_mut().poll(cx) {
                return Poll::Ready(outcome);
            }
            if self.flush().is_err() || self.poll_reset(cx).is_ready() {
                return Poll::Ready(Err(Ended::Gone));
            }
            if let Some(deadline) = deadline.as_mut().as_pin_mut()
                && deadline.poll(cx).is_ready()
            {
                let message = "the call's time is over (grpc-timeout)";
                return Poll::Ready(Err(Status::new(status::DEADLINE_EXCEEDED, message).into()));
            }
            Poll::Pending
        })
        .await
    }

    /// Ready once the client has reset the stream, or its connection has ended.
    fn poll_reset(&self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self.out.borrow_mut() {
            Some(out) => out.poll_reset(cx),
            None => self.respond.borrow_mut().poll_reset(cx).map(drop),
        }
    }

    fn flush(&self) -> Result<(), h2::Error> {
        self.out.borrow_mut().as_mut().map_or(Ok(()), |out| out.flush(false))
    }

    /// The next message of the client, `None` when it has sent all.
    pub(crate) async fn next(&self) -> Result<Option<Vec<u8>>, Ended> {
        poll_fn(|cx| self.messages.borrow_mut().poll_next(self.gzip, cx)).await
    }

    /// The one message of a client that sends one.
    pub(crate) async fn only(&self) -> Result<Vec<u8>, Ended> {
        let (first, second) = (self.next().await?, self.next().await?);
        match (first, second) {
            (Some(message), None) => Ok(message),
            (None, _) => Err(Status::new(status::INTERNAL, "the request has no message, expected one").into()),
            (Some(_), Some(_)) => {
                Err(Status::new(status::INTERNAL, "the request has several messages, expected one").into())
            }
        }
    }

    /// Sends a message as soon as the client's windows have room for its begin.
    pub(crate) async fn send(&self, message: &[u8]) -> Outcome {
        self.open()?;
        let framed = if self.gzip { frame::gzip(message) } else { framed(message) };
        poll_fn(|cx| self.out.borrow_mut().as_mut().map_or(Poll::Ready(Ok(())), |out| out.poll_room(cx)))
            .await
            .map_err(|_| Ended::Gone)?;
        let mut out = self.out.borrow_mut();
        out.as_mut().map_or(Ok(()), |out| out.gather(Bytes::from(framed))).map_err(|_| Ended::Gone)
    }

    /// Sends the head now.
    pub(crate) fn open(&self) -> Outcome {
        if self.out.borrow().is_some() {
            return Ok(());
        }
        let stream = self.respond.borrow_mut().send_response(self.response(), false).map_err(|_| Ended::Gone)?;
        *self.out.borrow_mut() = Some(Out::new(stream));
        Ok(())
    }

    fn response(&self) -> http::Response<()> {
        let mut response = http::Response::new(());
        let fields = response.headers_mut();
        let content_type = self.fields.get(CONTENT_TYPE).cloned();
        fields.insert(CONTENT_TYPE, content_type.unwrap_or(HeaderValue::from_static(MEDIA_TYPE)));
        fields.insert("grpc-accept-encoding", HeaderValue::from_static("identity,gzip"));
        if self.gzip {
            fields.insert("grpc-encoding", HeaderValue::from_static("gzip"));
        }
        fields.extend(self.head.take());
        response
    }

    /// Ends the answer; without a message before, by its head.
    pub(crate) fn end(&self, outcome: Outcome) {
        let status = match outcome {
            Ok(()) => Status::default(),
            Err(Ended::Status(status)) => status,
            Err(Ended::Gone) => return,
        };
        let mut trailers = HeaderMap::with_capacity(2);
        trailers.insert("grpc-status", status.code.into());
        if !status.message.is_empty() {
            let message = HeaderValue::try_from(status.escaped_message()).expect("what is escaped is printable ASCII");
            trailers.insert("grpc-message", message);
        }
        trailers.extend(self.trailers.take());
        // Sending fails when the client has gone: then nobody is there to be told.
        match &mut *self.out.borrow_mut() {
            Some(out) => drop(out.flush(false).and_then(|()| out.end_with(trailers))),
            None => {
                let mut response = self.response();
                response.headers_mut().extend(trailers);
                drop(self.respond.borrow_mut().send_response(response, true));
            }
        }
    }
}

impl Messages {
    fn poll_next(&mut self, gzip: bool, cx: &mut Context<'_>) -> Poll<Result<Option<Vec<u8>>, Ended>> {
        loop {
            match self.frames.next(gzip, MAX_MESSAGE) {
                Ok(None) => {}
                Ok(message) => return Poll::Ready(Ok(message)),
                Err(bad) => return Poll::Ready(Err(refused(&bad).into())),
            }
            if self.ended {
                let whole = self.frames.is_empty();
                let cut = || Status::new(status::INTERNAL, "the request ends within a message").into();
                return Poll::Ready(if whole { Ok(None) } else { Err(cut()) });
            }
            match ready!(self.body.poll_next(cx)) {
                None => self.ended = true,
                Some(Err(error)) => return Poll::Ready(Err(ended_by(&error))),
                Some(Ok(piece)) => self.add(&piece)?,
            }
        }
    }

    /// Takes memory for it as bodies that are kept do.
    fn add(&mut self, bytes: &[u8]) -> Outcome {
        self.frames.add(bytes);
        self.reserved.cover(self.frames.held() as u64).map_err(|Full| {
            let message = "the messages of all clients together would take more memory than --max-kept";
            Status::new(status::RESOURCE_EXHAUSTED, message).into()
        })
    }
}

/// A message with its prefix.
fn framed(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(frame::PREFIX + message.len());
    out.resize(frame::PREFIX, 0);
    out.extend_from_slice(message);
    frame::finish(&mut out, 0);
    out
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
