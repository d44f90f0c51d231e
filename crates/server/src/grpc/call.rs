//! A call: its messages and metadata both ways, its deadline and its end.
//!
//! A method asks for messages and gives some, in any order; what it gives leaves before anything is waited for. The
//! head of a stream leaves with the first message, so that a call of gRPC that ends without one is answered by trailers
//! alone. A method is dropped when its deadline has passed or its client has reset the stream.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use grpc::connect::{self, Codec};
use grpc::frame;
use grpc::metadata;
use grpc::status::{self, Status};
use grpc::{Method, json};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use wire::timer;

use crate::grpc::ended::{Ended, Outcome};
use crate::grpc::files::schema;
use crate::grpc::form::{CallForm, Form, MEDIA_TYPE};
use crate::grpc::incoming::IncomingMessages;
use crate::incoming::body::RequestBody;
use crate::outgoing::http2_out::{Out, Respond};
use crate::worker::Worker;

/// The field of an error's details.
pub(crate) const DETAILS: &str = "grpc-status-details-bin";
/// Messages that may wait to leave in pieces.
const MAX_PIECES: usize = 64;

/// A request that is served.
pub(crate) struct Call {
    pub(crate) worker: Rc<Worker>,
    /// The fields of the request's head.
    pub(crate) fields: HeaderMap,
    /// What the answer's head has of metadata, as long as it has not been sent.
    pub(crate) head: RefCell<HeaderMap>,
    /// What is sent of metadata behind the messages.
    pub(crate) trailers: RefCell<HeaderMap>,
    form: Form,
    /// Of Connect, whose messages may be JSON.
    method: Option<&'static Method>,
    incoming: RefCell<IncomingMessages>,
    answer: RefCell<Answer>,
    /// The message that is all of the answer.
    whole: RefCell<Option<Vec<u8>>>,
    gzip: bool,
}

/// What a method gave so far.
enum Answer {
    /// On a stream of HTTP/2, whose head has been sent once there is a sending half.
    Http2(Respond, Option<Out>),
    /// Pieces that have not left.
    Pieces(VecDeque<Bytes>),
}

impl Call {
    /// On a stream of HTTP/2.
    pub(crate) fn on_http2(
        worker: &Rc<Worker>,
        fields: &HeaderMap,
        (form, method): CallForm,
        respond: &Respond,
        body: RequestBody,
    ) -> Self {
        let gzip = form.is_gzip(fields);
        let incoming = IncomingMessages::new(worker, body, form.has_prefixes(), gzip);
        Call::new(worker, fields.clone(), (form, method), incoming, Answer::Http2(respond.clone(), None))
    }

    /// Of Connect, by a request that is all there.
    pub(crate) fn of_request(worker: &Rc<Worker>, fields: HeaderMap, (form, method): CallForm, body: &[u8]) -> Self {
        let incoming = IncomingMessages::kept(worker, body, form.has_prefixes(), form.is_gzip(&fields));
        Call::new(worker, fields, (form, method), incoming, Answer::Pieces(VecDeque::new()))
    }

    fn new(
        worker: &Rc<Worker>,
        fields: HeaderMap,
        (form, method): CallForm,
        incoming: IncomingMessages,
        answer: Answer,
    ) -> Self {
        let gzip = form.is_gzip(&fields);
        Call {
            worker: worker.clone(),
            fields,
            head: RefCell::default(),
            trailers: RefCell::default(),
            form,
            method,
            incoming: RefCell::new(incoming),
            answer: RefCell::new(answer),
            whole: RefCell::default(),
            gzip,
        }
    }

    /// When the client stops waiting, if it said so. The error is how a call ends whose head is not in order.
    pub(crate) fn deadline(&self) -> Result<Option<Instant>, Status> {
        let name = self.form.encoding_field();
        if let Some(encoding) = self.fields.get(name)
            && !self.gzip
            && encoding != "identity"
        {
            let message = format!("{name} is {encoding:?}, expected gzip or identity");
            return Err(Status::new(status::UNIMPLEMENTED, message));
        }
        let name = self.form.timeout_field();
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        let (left, expected) = match self.form {
            Form::Grpc => (metadata::parse_timeout(value.as_bytes()), "at most eight digits and one of HMSmun"),
            Form::Connect(..) => (connect::parse_timeout(value.as_bytes()), "at most ten digits"),
        };
        let left =
            left.ok_or_else(|| Status::new(status::INTERNAL, format!("{name} is {value:?}, expected {expected}")))?;
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
                let message = format!("the call's time is over ({})", self.form.timeout_field());
                return Poll::Ready(Err(Status::new(status::DEADLINE_EXCEEDED, message).into()));
            }
            Poll::Pending
        })
        .await
    }

    /// Ready once the client has reset the stream, or its connection has ended.
    fn poll_reset(&self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut *self.answer.borrow_mut() {
            Answer::Http2(_, Some(out)) => out.poll_reset(cx),
            Answer::Http2(respond, None) => respond.borrow_mut().poll_reset(cx).map(drop),
            // Who takes the pieces drops the method.
            Answer::Pieces(_) => Poll::Pending,
        }
    }

    fn flush(&self) -> Result<(), h2::Error> {
        match &mut *self.answer.borrow_mut() {
            Answer::Http2(_, Some(out)) => out.flush(false),
            _ => Ok(()),
        }
    }

    /// The next message of the client, `None` when it has sent all.
    pub(crate) async fn next(&self) -> Result<Option<Vec<u8>>, Ended> {
        let message = poll_fn(|cx| self.incoming.borrow_mut().poll_next(cx)).await?;
        let (Some(json), Form::Connect(Codec::Json, _), Some(method)) = (&message, self.form, self.method) else {
            return Ok(message);
        };
        let read = json::from_json(schema(), method.input, json);
        let unfit = |why| Status::new(status::INVALID_ARGUMENT, format!("the message is not in order: {why}"));
        Ok(Some(read.map_err(unfit)?))
    }

    /// The one message of a client that sends one.
    pub(crate) async fn only(&self) -> Result<Vec<u8>, Ended> {
        let first = self.next().await?;
        // What is no stream has no second one to ask for.
        let second = if self.form.has_prefixes() { self.next().await? } else { None };
        match (first, second) {
            (Some(message), None) => Ok(message),
            (None, _) => Err(Status::new(status::INTERNAL, "the request has no message, expected one").into()),
            (Some(_), Some(_)) => {
                Err(Status::new(status::INTERNAL, "the request has several messages, expected one").into())
            }
        }
    }

    /// A message as the call has them.
    fn written(&self, message: &[u8]) -> Result<Vec<u8>, Status> {
        let json = match (self.form, self.method) {
            (Form::Connect(Codec::Json, _), Some(method)) => {
                let json = json::to_json(schema(), method.output, message);
                Some(json.map_err(|why| Status::new(status::INTERNAL, format!("no JSON for the answer: {why}")))?)
            }
            _ => None,
        };
        let message = json.as_deref().unwrap_or(message);
        Ok(match self.form.has_prefixes() {
            true if self.gzip => frame::gzip(message),
            true => connect::enveloped(0, message),
            false => message.to_vec(),
        })
    }

    /// Sends a message as soon as the client's windows have room for its begin. One that is all of an answer waits for
    /// the end, whose status goes before it.
    pub(crate) async fn send(&self, message: &[u8]) -> Outcome {
        let written = self.written(message)?;
        if !self.form.has_prefixes() {
            *self.whole.borrow_mut() = Some(written);
            return Ok(());
        }
        self.open()?;
        poll_fn(|cx| self.poll_room(cx)).await.map_err(|_| Ended::Gone)?;
        self.gather(Bytes::from(written)).map_err(|_| Ended::Gone)
    }

    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        match &mut *self.answer.borrow_mut() {
            Answer::Http2(_, Some(out)) => out.poll_room(cx),
            // The method goes on when somebody has taken them.
            Answer::Pieces(pieces) if pieces.len() >= MAX_PIECES => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    }

    fn gather(&self, piece: Bytes) -> Result<(), h2::Error> {
        match &mut *self.answer.borrow_mut() {
            Answer::Http2(_, out) => out.as_mut().map_or(Ok(()), |out| out.gather(piece)),
            Answer::Pieces(pieces) => {
                pieces.push_back(piece);
                Ok(())
            }
        }
    }

    /// The next piece of an answer that leaves in pieces.
    pub(crate) fn take_piece(&self) -> Option<Bytes> {
        match &mut *self.answer.borrow_mut() {
            Answer::Http2(..) => None,
            Answer::Pieces(pieces) => pieces.pop_front(),
        }
    }

    /// Whether there is one.
    pub(crate) fn has_pieces(&self) -> bool {
        matches!(&*self.answer.borrow(), Answer::Pieces(pieces) if !pieces.is_empty())
    }

    /// Sends the head of a stream now.
    pub(crate) fn open(&self) -> Outcome {
        let Answer::Http2(respond, out @ None) = &mut *self.answer.borrow_mut() else { return Ok(()) };
        let stream = respond.borrow_mut().send_response(self.response(), false).map_err(|_| Ended::Gone)?;
        *out = Some(Out::new(stream));
        Ok(())
    }

    /// The head as far as it is known before the end.
    pub(crate) fn response(&self) -> http::Response<()> {
        let mut response = http::Response::new(());
        let fields = response.headers_mut();
        match self.form {
            Form::Grpc => {
                let content_type = self.fields.get(CONTENT_TYPE).cloned();
                fields.insert(CONTENT_TYPE, content_type.unwrap_or(HeaderValue::from_static(MEDIA_TYPE)));
                fields.insert("grpc-accept-encoding", HeaderValue::from_static("identity,gzip"));
            }
            Form::Connect(codec, is_stream) => {
                fields.insert(CONTENT_TYPE, HeaderValue::from_static(codec.content_type(is_stream)));
            }
        }
        if self.gzip && self.form.has_prefixes() {
            fields.insert(self.form.encoding_field(), HeaderValue::from_static("gzip"));
        }
        fields.extend(self.head.take());
        response
    }

    /// Ends the answer. One of Connect that is no stream and not on HTTP/2 is `whole_answer`'s.
    pub(crate) fn end(&self, outcome: Outcome) {
        let Some(status) = status_of(outcome) else { return };
        // Sending fails when the client has gone: then nobody is there to be told.
        match self.form {
            Form::Grpc => drop(self.end_with_trailers(&status)),
            Form::Connect(_, true) => drop(self.end_with_message(status)),
            Form::Connect(_, false) => drop(self.end_whole(status)),
        }
    }

    /// Of gRPC; without a message before, by its head.
    fn end_with_trailers(&self, status: &Status) -> Result<(), h2::Error> {
        let mut trailers = HeaderMap::with_capacity(2);
        trailers.insert("grpc-status", status.code.into());
        if !status.message.is_empty() {
            let message = HeaderValue::try_from(status.escaped_message()).expect("what is escaped is printable ASCII");
            trailers.insert("grpc-message", message);
        }
        trailers.extend(self.trailers.take());
        match &mut *self.answer.borrow_mut() {
            Answer::Http2(_, Some(out)) => out.flush(false).and_then(|()| out.end_with(trailers)),
            Answer::Http2(respond, None) => {
                let mut response = self.response();
                response.headers_mut().extend(trailers);
                respond.borrow_mut().send_response(response, true).map(drop)
            }
            Answer::Pieces(_) => unreachable!("gRPC goes by HTTP/2"),
        }
    }

    /// A stream of Connect.
    fn end_with_message(&self, status: Status) -> Outcome {
        let details = self.take_details();
        let trailers = self.trailers.take();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let metadata = trailers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        self.open()?;
        let end = connect::enveloped(connect::END, &connect::end(&connect::Outcome { status, details, metadata }));
        self.gather(Bytes::from(end)).map_err(|_| Ended::Gone)?;
        match &mut *self.answer.borrow_mut() {
            Answer::Http2(_, Some(out)) => out.flush(true).map_err(|_| Ended::Gone),
            _ => Ok(()),
        }
    }

    fn end_whole(&self, status: Status) -> Result<(), h2::Error> {
        let (head, body) = self.whole(status).into_parts();
        let Answer::Http2(respond, _) = &mut *self.answer.borrow_mut() else { return Ok(()) };
        let mut stream = respond.borrow_mut().send_response(http::Response::from_parts(head, ()), body.is_empty())?;
        if body.is_empty() { Ok(()) } else { stream.send_data(body, true) }
    }

    /// The whole answer of a call that is no stream.
    pub(crate) fn whole_answer(&self, outcome: Outcome) -> http::Response<Bytes> {
        let gone = || Status::new(status::CANCELED, "the client has gone");
        self.whole(status_of(outcome).unwrap_or_else(gone))
    }

    fn whole(&self, status: Status) -> http::Response<Bytes> {
        let details = self.take_details();
        let (mut head, ()) = self.response().into_parts();
        for (name, value) in &self.trailers.take() {
            let name = http::HeaderName::try_from(format!("trailer-{name}")).expect("a name stays one with a prefix");
            head.headers.append(name, value.clone());
        }
        let body = if status.code == status::OK {
            self.whole.take().unwrap_or_default()
        } else {
            head.status = http::StatusCode::from_u16(connect::http_status(status.code)).expect("three digits");
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(Codec::Json.content_type(false)));
            connect::error(&status, details.as_deref()).to_string().into_bytes()
        };
        http::Response::from_parts(head, Bytes::from(body))
    }

    /// The details of the error, which methods put where gRPC has them.
    fn take_details(&self) -> Option<Vec<u8>> {
        let details = self.trailers.borrow_mut().remove(DETAILS);
        details.map(|value| metadata::decode_binary(value.as_bytes()))
    }
}

/// `None`: nobody is there to be told.
fn status_of(outcome: Outcome) -> Option<Status> {
    match outcome {
        Ok(()) => Some(Status::default()),
        Err(Ended::Status(status)) => Some(status),
        Err(Ended::Gone) => None,
    }
}
