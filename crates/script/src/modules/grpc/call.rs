//! One call with one request and one response, and what is known of a method before it is called.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use grpc::frame::{self, BadFrame, Frames};
use grpc::status::{self, Status};
use grpc::{Method, Schema, metadata};
use wire::client::{CallEvent, CallHead, Fields, Http2Call, Http2Connection};
use wire::{Failure, FailureKind};

use super::channel;
use super::connect::{Connected, DEFAULT_TIMEOUT};
use super::params::{self, CallParams};
use super::samples::CallLabels;
use crate::Vu;
use crate::modules::http::samples::ms;

/// A method on a connection.
pub struct Bound {
    /// Its types.
    pub schema: Arc<Schema>,
    /// Its facts.
    pub method: Method,
    /// Whose samples they are.
    pub labels: CallLabels,
    /// The head of calls without metadata, whose time is the default.
    plain: CallHead,
}

/// How a call ended.
#[derive(Default)]
pub struct Ended {
    /// Status, OK or not.
    pub status: Status,
    /// The head's fields.
    pub headers: Fields,
    /// The trailers.
    pub trailers: Fields,
    /// Bytes of the message.
    pub message: Option<Vec<u8>>,
}

impl Ended {
    /// A call that ended before anything came of it.
    fn of(status: Status) -> Ended {
        Ended { status, ..Ended::default() }
    }
}

impl Bound {
    /// A method of a schema.
    pub fn new(schema: &Arc<Schema>, method: &Method, connected: &Connected) -> Result<Rc<Bound>, Failure> {
        let service = method.path[1..].split('/').next().unwrap_or_default().to_owned();
        let labels = CallLabels::new(service, &method.name, &method.path, &connected.address);
        let plain = head(connected, &method.path, &[], Some(params::DEFAULT_TIMEOUT))?;
        Ok(Rc::new(Bound { schema: Arc::clone(schema), method: method.clone(), labels, plain }))
    }

    /// Begins a call on a connection.
    pub fn begin(
        &self,
        connected: &Connected,
        connection: &Http2Connection,
        params: &CallParams,
        time: Option<Duration>,
    ) -> Result<Http2Call, Failure> {
        if params.metadata.is_empty() && time == Some(params::DEFAULT_TIMEOUT) {
            return Ok(connection.open(&self.plain, time));
        }
        let head = head(connected, &self.method.path, &params.metadata, time)?;
        Ok(connection.open(&head, time))
    }
}

/// The head of a call.
pub fn head(
    connected: &Connected,
    path: &str,
    own: &[(String, Vec<u8>)],
    time: Option<Duration>,
) -> Result<CallHead, Failure> {
    let mut fields = vec![
        (String::from("content-type"), b"application/grpc".to_vec()),
        (String::from("user-agent"), connected.user_agent.clone().into_bytes()),
        (String::from("te"), b"trailers".to_vec()),
        (String::from("grpc-accept-encoding"), b"gzip".to_vec()),
    ];
    fields.retain(|(_, value)| !value.is_empty());
    fields.extend(time.map(|time| (String::from("grpc-timeout"), metadata::timeout(time).into_bytes())));
    fields.extend_from_slice(own);
    CallHead::new(&connected.channel.target.url, connected.authority.as_deref(), path, &fields)
}

/// What comes of a stream, put together from the events of the wire.
#[derive(Default)]
pub struct Receiver {
    frames: Frames,
    gzip: bool,
    most: usize,
    deadline: Option<Instant>,
    /// The head's fields.
    pub headers: Fields,
    /// The trailers.
    pub trailers: Fields,
    problem: Option<Status>,
}

/// What an event of the wire means.
pub enum Heard {
    /// Look for messages.
    More,
    /// The call is over.
    Over(Status),
}

impl Receiver {
    /// For messages of at most this many bytes, of a call that may take so long.
    pub fn new(most: usize, time: Option<Duration>) -> Receiver {
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        Receiver { most, deadline, ..Receiver::default() }
    }

    /// The next message that is complete.
    pub fn message(&mut self) -> Result<Option<Vec<u8>>, Status> {
        self.frames.next(self.gzip, self.most).map_err(|bad| match bad {
            BadFrame::TooLong { length } => {
                let why = format!("grpc: received message larger than max ({length} vs. {})", self.most);
                Status::new(status::RESOURCE_EXHAUSTED, why)
            }
            BadFrame::Compression => Status::new(
                status::INTERNAL,
                "grpc: the server sent a compressed message that is no gzip, or did not announce it",
            ),
            BadFrame::Flags(flags) => {
                Status::new(status::INTERNAL, format!("grpc: received unexpected payload format {flags}"))
            }
        })
    }

    /// Takes an event in.
    pub fn hear(&mut self, event: CallEvent) -> Heard {
        match event {
            CallEvent::Head { status, fields, end } => {
                self.problem = problem_of(status, &fields);
                self.gzip = fields.get("grpc-encoding") == Some(b"gzip");
                if end { self.trailers = fields } else { self.headers = fields }
            }
            CallEvent::Data(bytes) => self.frames.add(&bytes),
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

    fn end(&mut self) -> Status {
        let told = Status::from_fields(self.trailers.get("grpc-status"), self.trailers.get("grpc-message"));
        let silent = || Status::new(status::INTERNAL, "server closed the stream without sending trailers");
        let status = told.or_else(|| self.problem.take()).unwrap_or_else(silent);
        if status.code == status::OK && !self.frames.is_empty() {
            return Status::new(status::INTERNAL, "the stream ended within a message");
        }
        status
    }
}

/// What a head that is none of gRPC says.
fn problem_of(status: u16, fields: &Fields) -> Option<Status> {
    let kind = String::from_utf8_lossy(fields.get("content-type").unwrap_or_default()).into_owned();
    if status == 200 && kind.starts_with("application/grpc") {
        return None;
    }
    let http = format!("unexpected HTTP status code received from server: {status}");
    let content = match kind.as_str() {
        "" => String::from("malformed header: missing HTTP content-type"),
        kind if kind.starts_with("application/grpc") => String::new(),
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

/// Runs a call to its end and records it. `message` has room for the prefix at its start.
pub async fn unary(vu: &Vu, connected: &Connected, bound: &Bound, params: &CallParams, mut message: Vec<u8>) -> Ended {
    let (began, length) = (Instant::now(), message.len() - frame::PREFIX);
    let refused = |code, why: String| Ended::of(Status::new(code, why));
    let ended = if let Some(problem) = &params.problem {
        refused(status::INTERNAL, problem.clone())
    } else if length > connected.max_send {
        let why = format!("trying to send message larger than max ({length} vs. {})", connected.max_send);
        refused(status::RESOURCE_EXHAUSTED, why)
    } else {
        frame::finish(&mut message, 0);
        carried(vu, connected, bound, params, message).await
    };
    bound.labels.ended(vu, params, ended.status.code, ms(began.elapsed()));
    ended
}

/// A call on a connection, which may have to be dialled anew: that takes of the call's time.
async fn carried(vu: &Vu, connected: &Connected, bound: &Bound, params: &CallParams, message: Vec<u8>) -> Ended {
    let mut time = params.time();
    let connection = match connected.channel.current() {
        Some(connection) => connection,
        None => {
            let began = Instant::now();
            match connected.channel.connection(vu, time.min(DEFAULT_TIMEOUT)).await {
                Ok(connection) => {
                    time = time.saturating_sub(began.elapsed());
                    connection
                }
                Err(failure) => return Ended::of(lost(&failure)),
            }
        }
    };
    let ended = match bound.begin(connected, &connection, params, Some(time)) {
        Ok(call) => talk(call, connected, bound, params, message).await,
        Err(failure) => Ended::of(Status::new(status::INTERNAL, failure.message)),
    };
    channel::count(vu, &connection);
    ended
}

async fn talk(
    mut call: Http2Call,
    connected: &Connected,
    bound: &Bound,
    params: &CallParams,
    message: Vec<u8>,
) -> Ended {
    call.send(Bytes::from(message), true);
    let mut receiver = Receiver::new(connected.max_receive, Some(params.time()));
    let (mut first, mut broken) = (None, None);
    let status = loop {
        let event = poll_fn(|cx| call.poll(cx)).await;
        if let Heard::Over(status) = receiver.hear(event) {
            break status;
        }
        loop {
            match receiver.message() {
                Ok(None) => break,
                Ok(Some(_)) if first.is_some() => {
                    broken =
                        Some(cardinality("expected <EOF> for non server-streaming RPCs, but received another message"));
                }
                Ok(Some(message)) => first = Some(message),
                Err(status) => {
                    broken = Some(status);
                    break;
                }
            }
        }
        if broken.is_some() {
            call.reset(8);
            break Status::default();
        }
    };
    let malformed = |message: &Vec<u8>| {
        if params.is_raw {
            return None;
        }
        let plan = bound.schema.plan(bound.method.output);
        let problem = grpc::decode::check(&bound.schema, plan, message).err()?;
        Some(Status::new(status::INTERNAL, format!("grpc: failed to unmarshal the received message: {problem}")))
    };
    let none = || cardinality("received no response message from non-server-streaming RPC");
    let status = match (broken, &first) {
        (Some(broken), _) => broken,
        (None, Some(message)) if status.code == status::OK => malformed(message).unwrap_or(status),
        (None, None) if status.code == status::OK => none(),
        _ => status,
    };
    let message = first.filter(|_| status.code == status::OK);
    Ended { status, headers: receiver.headers, trailers: receiver.trailers, message }
}

fn cardinality(what: &str) -> Status {
    Status::new(status::INTERNAL, format!("cardinality violation: {what}"))
}
