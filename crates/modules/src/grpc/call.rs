//! One call with one request and one response, and what is known of a method before it is called.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use grpc::frame;
use grpc::status::{self, Status};
use grpc::{Method, Schema};
use wire::Url;
use wire::client::{CallHead, Fields, Http2Connection};

use super::carrier::Carrier;
use super::connect::{Connected, DEFAULT_TIMEOUT};
use super::dialect::{self, HeadFields};
use super::http1_call::{Http1Call, Http1Head};
use super::params::{self, CallParams};
use super::receiver::{self, Heard, Receiver};
use super::samples::CallLabels;
use crate::http::samples::sampler::ms;
use script::Vu;

/// A method on a connection.
pub struct Bound {
    /// Its types.
    pub schema: Arc<Schema>,
    /// Its facts.
    pub method: Method,
    /// Whose samples they are.
    pub labels: CallLabels,
    /// The head of calls without metadata, whose time is the default.
    plain: Head,
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
    /// A message `google.rpc.Status`, where the error has details.
    pub details: Option<Vec<u8>>,
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
    /// A method of a schema. The error says why its calls cannot be written.
    pub fn new(schema: &Arc<Schema>, method: &Method, connected: &Connected) -> Result<Rc<Bound>, String> {
        let service = method.path[1..].split('/').next().unwrap_or_default().to_owned();
        let labels = CallLabels::new(service, &method.name, &method.path, &connected.address);
        let plain = Head::new(connected, method, &[], Some(params::DEFAULT_TIMEOUT))?;
        Ok(Rc::new(Bound { schema: Arc::clone(schema), method: method.clone(), labels, plain }))
    }

    /// Begins a call, on a connection that is dialled anew if it has to be. A status when it cannot begin.
    pub async fn begin(
        &self,
        vu: &Vu,
        connected: &Connected,
        params: &CallParams,
        time: Option<Duration>,
    ) -> Result<Carrier, Status> {
        match self.begin_at_once(connected, params, time) {
            Some(begun) => begun,
            // Boxed: the way to a new connection is long and rarely taken.
            None => Box::pin(self.begin_anew(vu, connected, params, time)).await,
        }
    }

    /// `None` without a connection.
    fn begin_at_once(
        &self,
        connected: &Connected,
        params: &CallParams,
        time: Option<Duration>,
    ) -> Option<Result<Carrier, Status>> {
        let Some(client) = &connected.http1 else {
            let connection = connected.channel.current()?;
            return Some(self.begin_on(connection, connected, params, time));
        };
        Some(self.with_head(connected, params, time, |head| match head {
            Head::Http1(head) => Carrier::Http1(Box::new(Http1Call::new(client, head, time))),
            Head::Http2(_) => unreachable!("heads are made for what the client connected with"),
        }))
    }

    /// Dialling takes of the call's time.
    async fn begin_anew(
        &self,
        vu: &Vu,
        connected: &Connected,
        params: &CallParams,
        time: Option<Duration>,
    ) -> Result<Carrier, Status> {
        let (began, most) = (Instant::now(), time.map_or(DEFAULT_TIMEOUT, |time| time.min(DEFAULT_TIMEOUT)));
        let connection = connected.channel.connection(vu, most).await.map_err(|failure| receiver::lost(&failure))?;
        let time = time.map(|time| time.saturating_sub(began.elapsed()));
        self.begin_on(connection, connected, params, time)
    }

    fn begin_on(
        &self,
        connection: Http2Connection,
        connected: &Connected,
        params: &CallParams,
        time: Option<Duration>,
    ) -> Result<Carrier, Status> {
        self.with_head(connected, params, time, |head| match head {
            Head::Http2(head) => Carrier::Http2(connection.open(head, time), connection),
            Head::Http1(_) => unreachable!("heads are made for what the client connected with"),
        })
    }

    fn with_head(
        &self,
        connected: &Connected,
        params: &CallParams,
        time: Option<Duration>,
        begin: impl FnOnce(&Head) -> Carrier,
    ) -> Result<Carrier, Status> {
        if params.metadata.is_empty() && time == Some(params::DEFAULT_TIMEOUT) {
            return Ok(begin(&self.plain));
        }
        let head = Head::new(connected, &self.method, &params.metadata, time);
        head.map(|head| begin(&head)).map_err(|why| Status::new(status::INTERNAL, why))
    }

    /// What hears of a call.
    pub fn receiver(&self, connected: &Connected, time: Option<Duration>) -> Receiver {
        Receiver::new(connected.dialect, self.method.is_stream(), connected.max_receive, time)
    }
}

/// The head of calls.
enum Head {
    Http2(CallHead),
    Http1(Http1Head),
}

impl Head {
    fn new(
        connected: &Connected,
        method: &Method,
        own: &[(String, Vec<u8>)],
        time: Option<Duration>,
    ) -> Result<Head, String> {
        let mut fields = connected.dialect.fields(method.is_stream(), time);
        let url = &connected.channel.target.url;
        if connected.http1.is_none() {
            let head = call_head(connected, &method.path, fields, own);
            return head.map(Head::Http2);
        }
        fields.extend(connected.authority.iter().map(|name| (String::from("host"), name.clone().into_bytes())));
        fields.extend_from_slice(own);
        let scheme = if url.tls { "https" } else { "http" };
        let url = Url::parse(&format!("{scheme}://{}{}", url.authority, method.path)).map_err(|error| error.message)?;
        Ok(Head::Http1(Http1Head { url, fields: dialect::as_text(&fields) }))
    }
}

/// The head of calls on a connection of HTTP/2.
pub fn call_head(
    connected: &Connected,
    path: &str,
    mut fields: HeadFields,
    own: &[(String, Vec<u8>)],
) -> Result<CallHead, String> {
    if !connected.user_agent.is_empty() {
        fields.push((String::from("user-agent"), connected.user_agent.clone().into_bytes()));
    }
    fields.extend_from_slice(own);
    let url = &connected.channel.target.url;
    CallHead::new(url, connected.authority.as_deref(), path, &fields).map_err(|failure| failure.message)
}

/// Runs a call to its end and records it. `message` has room for the prefix at its start.
pub async fn unary(vu: &Vu, connected: &Connected, bound: &Bound, params: &CallParams, message: Vec<u8>) -> Ended {
    let (began, length) = (Instant::now(), message.len() - frame::PREFIX);
    let refused = |code, why: String| Ended::of(Status::new(code, why));
    let ended = if let Some(problem) = &params.problem {
        refused(status::INTERNAL, problem.clone())
    } else if length > connected.max_send {
        let why = format!("trying to send message larger than max ({length} vs. {})", connected.max_send);
        refused(status::RESOURCE_EXHAUSTED, why)
    } else {
        carried(vu, connected, bound, params, message).await
    };
    let failed = ended.status.code != status::OK;
    bound.labels.ended(vu, params, (&ended.status, failed), ms(began.elapsed()));
    ended
}

async fn carried(vu: &Vu, connected: &Connected, bound: &Bound, params: &CallParams, message: Vec<u8>) -> Ended {
    let message = match connected.dialect.written(&bound.schema, &bound.method, message) {
        Ok(message) => message,
        Err(status) => return Ended::of(status),
    };
    let mut carrier = match bound.begin(vu, connected, params, Some(params.time())).await {
        Ok(carrier) => carrier,
        Err(status) => return Ended::of(status),
    };
    let ended = talk(&mut carrier, connected, bound, params, message).await;
    carrier.count(vu);
    ended
}

async fn talk(
    carrier: &mut Carrier,
    connected: &Connected,
    bound: &Bound,
    params: &CallParams,
    message: Bytes,
) -> Ended {
    carrier.send(message, true);
    let mut receiver = bound.receiver(connected, Some(params.time()));
    let (mut first, mut broken) = (None, None);
    let status = loop {
        let event = poll_fn(|cx| carrier.poll(cx)).await;
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
            // Dropping the carrier tells the peer.
            break Status::default();
        }
    };
    let status = broken.unwrap_or(status);
    let answer = match first.or_else(|| receiver.one()) {
        _ if status.code != status::OK => Err(status),
        Some(message) => connected.dialect.read(&bound.schema, &bound.method, message, params.is_raw),
        None => Err(cardinality("received no response message from non-server-streaming RPC")),
    };
    let (status, message) = match answer {
        Ok(message) => (Status::default(), Some(message)),
        Err(status) => (status, None),
    };
    let Receiver { headers, trailers, details, .. } = receiver;
    Ended { status, headers, trailers, details, message }
}

fn cardinality(what: &str) -> Status {
    Status::new(status::INTERNAL, format!("cardinality violation: {what}"))
}
