//! What comes of a call, put together from the events of the wire: messages, metadata and a status at the end.

use std::time::{Duration, Instant};

use grpc::connect::{self, Codec};
use grpc::frame::{BadFrame, Frames, unzip};
use grpc::metadata::decode_binary;
use grpc::status::{self, Status};
use wire::client::{CallEvent, Fields};
use wire::{Failure, FailureKind};

use super::dialect::CallDialect;

/// What comes of a call.
pub struct Receiver {
    form: Form,
    frames: Frames,
    gzip: bool,
    most: usize,
    deadline: Option<Instant>,
    /// The head's fields.
    pub headers: Fields,
    /// The trailers.
    pub trailers: Fields,
    /// A message `google.rpc.Status`, where the error has details.
    pub details: Option<Vec<u8>>,
    problem: Option<Status>,
}

/// How an answer is written.
enum Form {
    Grpc,
    /// Messages with prefixes; the last says how it ended, once it came.
    ConnectStream(Codec, Option<connect::Outcome>),
    /// The body is the message, or an error where the status is another than 200.
    ConnectOne(Codec, u16, Vec<u8>),
}

/// What an event of the wire means.
pub enum Heard {
    /// Look for messages.
    More,
    /// The call is over; there may be messages before its end.
    Over(Status),
}

impl Receiver {
    /// For messages of at most this many bytes, of a call that may take so long.
    pub fn new(dialect: CallDialect, is_stream: bool, most: usize, time: Option<Duration>) -> Receiver {
        let form = match dialect {
            CallDialect::Grpc => Form::Grpc,
            CallDialect::Connect(codec) if is_stream => Form::ConnectStream(codec, None),
            CallDialect::Connect(codec) => Form::ConnectOne(codec, 0, Vec::new()),
        };
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let (headers, trailers) = (Fields::default(), Fields::default());
        let frames = Frames::default();
        Receiver { form, frames, gzip: false, most, deadline, headers, trailers, details: None, problem: None }
    }

    /// The next message that is complete.
    pub fn message(&mut self) -> Result<Option<Vec<u8>>, Status> {
        let most = self.most;
        match &mut self.form {
            Form::Grpc => self.frames.next(self.gzip, most).map_err(|bad| refused(&bad, most)),
            Form::ConnectStream(_, end) => {
                let next = self.frames.next_of(connect::END, self.gzip, most).map_err(|bad| refused(&bad, most))?;
                let Some((flags, message)) = next else { return Ok(None) };
                if end.is_some() {
                    return Err(Status::new(
                        status::INTERNAL,
                        "the server sent a message behind the end of its stream",
                    ));
                }
                if flags != connect::END {
                    return Ok(Some(message));
                }
                *end = Some(connect::read_end(&message).map_err(|why| {
                    Status::new(status::INTERNAL, format!("the message that ends the stream cannot be read: {why}"))
                })?);
                Ok(None)
            }
            // Taken by `one`, when it is complete.
            Form::ConnectOne(..) => Ok(None),
        }
    }

    /// The message of a call that has one without a prefix, when the call is over and went well.
    pub fn one(&mut self) -> Option<Vec<u8>> {
        match &mut self.form {
            Form::ConnectOne(_, _, body) => Some(std::mem::take(body)),
            _ => None,
        }
    }

    /// Takes an event in.
    pub fn hear(&mut self, event: CallEvent) -> Heard {
        match event {
            CallEvent::Head { status, fields, end } => self.head(status, fields, end),
            CallEvent::Data(bytes) => {
                let Form::ConnectOne(_, _, body) = &mut self.form else {
                    self.frames.add(&bytes);
                    return Heard::More;
                };
                if body.len() + bytes.len() > self.most {
                    return Heard::Over(refused(&BadFrame::TooLong { length: body.len() + bytes.len() }, self.most));
                }
                body.extend_from_slice(&bytes);
            }
            CallEvent::Trailers(fields) => self.trailers = fields,
            CallEvent::End => return Heard::Over(self.end()),
            // The server knows the time too, and cancels the call in the same moment as we do.
            CallEvent::Reset(8) if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) => {
                return Heard::Over(out_of_time());
            }
            CallEvent::Reset(code) => return Heard::Over(Status::from_reset(code, wire::http2_error_name(code))),
            CallEvent::TimedOut => return Heard::Over(out_of_time()),
            CallEvent::Failed(failure) => return Heard::Over(lost(&failure)),
        }
        Heard::More
    }

    fn head(&mut self, status: u16, fields: Fields, end: bool) {
        let coding = |name: &str| fields.get(name) == Some(b"gzip");
        match &mut self.form {
            Form::Grpc => {
                self.problem = problem_of(status, &fields, "application/grpc");
                self.gzip = coding("grpc-encoding");
                if end { self.trailers = fields } else { self.headers = fields }
            }
            Form::ConnectStream(codec, _) => {
                self.problem = problem_of(status, &fields, codec.content_type(true));
                self.gzip = coding("connect-content-encoding");
                self.headers = fields;
            }
            Form::ConnectOne(codec, known, _) => {
                *known = status;
                self.problem = problem_of(status, &fields, codec.content_type(false));
                self.gzip = coding("content-encoding");
                let of_trailer = |name: &str| name.strip_prefix("trailer-").map(str::to_owned);
                let behind: Vec<_> =
                    fields.iter().filter_map(|(name, value)| Some((of_trailer(name)?, value))).collect();
                self.trailers = Fields::of(behind.iter().map(|(name, value)| (&**name, *value)));
                self.headers = Fields::of(fields.iter().filter(|(name, _)| of_trailer(name).is_none()));
            }
        }
    }

    fn end(&mut self) -> Status {
        match &mut self.form {
            Form::Grpc => {
                let told = Status::from_fields(self.trailers.get("grpc-status"), self.trailers.get("grpc-message"));
                let silent = || Status::new(status::INTERNAL, "server closed the stream without sending trailers");
                let status = told.or_else(|| self.problem.take()).unwrap_or_else(silent);
                self.details = self.trailers.get("grpc-status-details-bin").map(decode_binary);
                self.if_whole(status)
            }
            Form::ConnectStream(_, end) => {
                let silent = || Status::new(status::INTERNAL, "the stream ended without the message that says how");
                let Some(outcome) = end.take() else { return self.problem.take().unwrap_or_else(silent) };
                let metadata = outcome.metadata.iter();
                self.trailers = Fields::of(metadata.map(|(name, value)| (&**name, value.as_bytes())));
                self.details = outcome.details;
                self.if_whole(outcome.status)
            }
            Form::ConnectOne(_, status, body) => {
                if self.gzip {
                    match unzip(body, self.most) {
                        Ok(plain) => *body = plain,
                        Err(bad) => return refused(&bad, self.most),
                    }
                }
                let Some(problem) = self.problem.take() else { return Status::default() };
                let error = if *status == 200 { None } else { connect::read_error(body, problem.code) };
                let Some(outcome) = error else { return problem };
                self.details = outcome.details;
                outcome.status
            }
        }
    }

    fn if_whole(&self, status: Status) -> Status {
        if status.code == status::OK && !self.frames.is_empty() {
            return Status::new(status::INTERNAL, "the stream ended within a message");
        }
        status
    }
}

fn refused(bad: &BadFrame, most: usize) -> Status {
    match bad {
        BadFrame::TooLong { length } => {
            let why = format!("grpc: received message larger than max ({length} vs. {most})");
            Status::new(status::RESOURCE_EXHAUSTED, why)
        }
        BadFrame::Compression => Status::new(
            status::INTERNAL,
            "grpc: the server sent a compressed message that is no gzip, or did not announce it",
        ),
        BadFrame::Flags(flags) => {
            Status::new(status::INTERNAL, format!("grpc: received unexpected payload format {flags}"))
        }
    }
}

/// What a head says that is none of the protocol, whose content types begin like this.
fn problem_of(status: u16, fields: &Fields, content_type: &str) -> Option<Status> {
    let kind = String::from_utf8_lossy(fields.get("content-type").unwrap_or_default()).into_owned();
    if status == 200 && kind.starts_with(content_type) {
        return None;
    }
    let http = format!("unexpected HTTP status code received from server: {status}");
    let content = match kind.as_str() {
        "" => String::from("malformed header: missing HTTP content-type"),
        kind if kind.starts_with(content_type) => String::new(),
        kind => format!("transport: received unexpected content-type {kind:?}"),
    };
    let why = match (status, content.is_empty()) {
        (200, _) => content,
        (_, true) => http,
        _ => format!("{http}; {content}"),
    };
    Some(Status::from_http(status, why))
}

fn out_of_time() -> Status {
    Status::new(status::DEADLINE_EXCEEDED, "context deadline exceeded")
}

/// A connection that is lost.
pub fn lost(failure: &Failure) -> Status {
    match failure.kind {
        FailureKind::Timeout => out_of_time(),
        FailureKind::Cancelled => Status::new(status::CANCELED, "context canceled"),
        _ => Status::new(status::UNAVAILABLE, format!("connection error: {}", failure.message)),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const STREAM: CallDialect = CallDialect::Connect(Codec::Json);

    fn head(status: u16, fields: &[(&str, &str)]) -> CallEvent {
        let fields = Fields::of(fields.iter().map(|(name, value)| (*name, value.as_bytes())));
        CallEvent::Head { status, fields, end: false }
    }

    /// What comes of these events: messages, and the status.
    fn heard(receiver: &mut Receiver, events: Vec<CallEvent>) -> (Vec<Vec<u8>>, Status) {
        let mut messages = Vec::new();
        for event in events {
            if let Heard::Over(status) = receiver.hear(event) {
                messages.extend(receiver.one().filter(|_| status.code == status::OK));
                return (messages, status);
            }
            loop {
                match receiver.message() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(status) => return (messages, status),
                }
            }
        }
        panic!("the call does not end");
    }

    #[test]
    fn an_answer_of_connect_may_be_compressed() {
        let mut zipped = Vec::new();
        grpc::frame::zip(b"{\"a\":1}", &mut zipped);
        let fields = [("Content-Type", "application/json"), ("content-encoding", "gzip"), ("Trailer-X-A", "1")];
        let mut receiver = Receiver::new(STREAM, false, 100, None);
        let events = vec![head(200, &fields), CallEvent::Data(Bytes::from(zipped)), CallEvent::End];
        assert_eq!(heard(&mut receiver, events), (vec![b"{\"a\":1}".to_vec()], Status::default()));
        assert_eq!((receiver.trailers.get("x-a"), receiver.headers.get("trailer-x-a")), (Some(&b"1"[..]), None));
    }

    #[test]
    fn an_answer_of_connect_that_is_none_has_a_status() {
        let one = |events| heard(&mut Receiver::new(STREAM, false, 10, None), events);
        let page = [head(503, &[("content-type", "text/html")]), CallEvent::Data("<p>".into()), CallEvent::End];
        let why = "unexpected HTTP status code received from server: 503; transport: received unexpected content-type \
                   \"text/html\"";
        assert_eq!(one(page.into()), (vec![], Status::new(14, why)));
        let long = vec![head(200, &[("content-type", "application/json")]), CallEvent::Data([0; 11][..].into())];
        assert_eq!(one(long).1.code, status::RESOURCE_EXHAUSTED);
    }

    #[test]
    fn a_stream_of_connect_ends_with_its_last_message() {
        let stream = |pieces: &[(u8, &str)]| {
            let mut events = vec![head(200, &[("content-type", "application/connect+json")])];
            let data = |(flags, text): &(u8, &str)| Bytes::from(connect::enveloped(*flags, text.as_bytes()));
            events.extend(pieces.iter().map(|piece| CallEvent::Data(data(piece))));
            events.push(CallEvent::End);
            let (messages, status) = heard(&mut Receiver::new(STREAM, true, 100, None), events);
            (messages.len(), status)
        };
        assert_eq!(stream(&[(0, "{}"), (0, "{}"), (2, "{}")]), (2, Status::default()));
        let error = (2, "{\"error\":{\"code\":\"aborted\",\"message\":\"no\"}}");
        assert_eq!(stream(&[(0, "{}"), error]), (1, Status::new(10, "no")));
        for (pieces, why) in [
            (&[(0, "{}")][..], "the stream ended without the message that says how"),
            (&[(2, "{}"), (0, "{}")], "the server sent a message behind the end of its stream"),
            (&[(2, "[]")], "the message that ends the stream cannot be read: found [], expected an object"),
            (&[(4, "")], "grpc: received unexpected payload format 4"),
        ] {
            assert_eq!(stream(pieces).1, Status::new(status::INTERNAL, why));
        }
    }
}
