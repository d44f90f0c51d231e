//! `Stream`: messages both ways on the user's event loop. The iteration does not end before its streams have.
//!
//! Polled on the worker's stack, where no JavaScript may run: what arrived is kept until it is dispatched. Invariant:
//! a stream is one sample of `grpc_req_duration`, recorded when it ends; once it is over it holds no function.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use bytes::Bytes;
use grpc::frame::PREFIX;
use grpc::status::{self, Status};
use host::event_loop::{Outgoing, Source};
use host::js::function::{Constructor, Opt, This};
use host::js::object::Property;
use host::js::prelude::Func;
use host::js::{Array, Ctx, Exception, Function, Object, Result, Value};
use host::native::{self, NativeClass};
use metrics::builtin;

use super::call::Bound;
use super::carrier::Carrier;
use super::client::{self, NOT_CONNECTED};
use super::connect::{Connected, EndsWithItsConnection};
use super::message;
use super::params::CallParams;
use super::receiver::{Heard, Receiver};
use super::samples::StreamMessages;
use crate::http::samples::sampler::ms;
use script::Vu;
use script::arguments::{self, ArgumentError};
use script::go_error;
use script::handlers::{Handlers, NamedEvent};

/// What handlers can be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Data,
    Error,
    Status,
    End,
}

impl NamedEvent for Event {
    const NAMES: &'static [(&'static str, Event)] =
        &[("data", Event::Data), ("error", Event::Error), ("status", Event::Status), ("end", Event::End)];
}

/// What happened and was not told yet.
enum Happened {
    Message(Vec<u8>, u64),
    Error(Status),
    Over(Status),
}

/// A stream.
pub struct Stream {
    vu: Weak<Vu>,
    connected: Rc<Connected>,
    bound: Rc<Bound>,
    params: CallParams,
    /// Gone once it is over.
    carrier: RefCell<Option<Carrier>>,
    receiver: RefCell<Receiver>,
    happened: RefCell<VecDeque<Happened>>,
    handlers: Handlers<Event>,
    began: Instant,
    messages: StreamMessages,
    has_ended: Cell<bool>,
    is_listed: Cell<bool>,
    is_over: Cell<bool>,
}

struct StreamObject(Rc<Stream>);

impl NativeClass for StreamObject {
    const NAME: &'static str = "Stream";

    fn methods<'js>(prototype: &Object<'js>) -> Result<()> {
        prototype.set("on", Func::from(on))?;
        prototype.set("write", Func::from(write))?;
        prototype.set("end", Func::from(end))
    }
}

/// The class.
pub fn constructor<'js>(ctx: &Ctx<'js>) -> Result<Constructor<'js>> {
    let constructor = Constructor::new_prototype(ctx, native::prototype::<StreamObject>(ctx)?, construct)?;
    constructor.set_name("Stream")?;
    Ok(constructor)
}

fn construct<'js>(
    ctx: Ctx<'js>,
    client: Opt<Value<'js>>,
    method: Opt<Value<'js>>,
    params: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    let vu = Vu::of(&ctx);
    let refused = |what: &str, why: &str| go_error::throw(&ctx, &format!("invalid GRPC Stream's {what}: {why}"));
    let Some(client) = client.0 else { return Err(refused("client", "empty gRPC client")) };
    let client = client::behind(&client).ok_or_else(|| refused("client", "not a gRPC client"))?;
    let connected = client.connected().ok_or_else(|| refused("client", NOT_CONNECTED))?;
    let method = arguments::text_or(&ctx, method, "")?;
    let bound = client.bind(&connected, &method).map_err(|why| refused("method", &why))?;
    let params = match CallParams::from_js(&ctx, params.0.as_ref()) {
        Ok(params) => params,
        Err(ArgumentError::Thrown(error)) => return Err(error),
        Err(ArgumentError::Refused(why)) => return Err(refused("parameters", &why)),
    };
    if connected.http1.is_some() && bound.method.client_streams && bound.method.server_streams {
        let why = "messages that go both ways need HTTP/2: connect with httpVersion \"2\"";
        return Err(refused("method", why));
    }
    let series = |metric| bound.labels.series(&vu, metric, &params);
    let (begun, sent, received) = (
        series(builtin::GRPC_STREAMS),
        series(builtin::GRPC_STREAMS_MSGS_SENT),
        series(builtin::GRPC_STREAMS_MSGS_RECEIVED),
    );
    vu.recorder().add(begun, 1.0, vu.now_ns());
    let begun = match &params.problem {
        Some(problem) => Err(Status::new(status::INTERNAL, problem.clone())),
        None => vu.block_on(&ctx, bound.begin(&vu, &connected, &params, params.timeout))?,
    };
    let (carrier, refusal) = match begun {
        Ok(carrier) => (Some(carrier), None),
        Err(status) => (None, Some(Happened::Over(status))),
    };
    let stream = Rc::new(Stream {
        vu: vu.weak(),
        receiver: RefCell::new(bound.receiver(&connected, params.timeout)),
        connected,
        bound: Rc::clone(&bound),
        params,
        carrier: RefCell::new(carrier),
        happened: RefCell::new(refusal.into_iter().collect()),
        handlers: Handlers::default(),
        began: Instant::now(),
        messages: StreamMessages::new(sent, received),
        has_ended: Cell::new(false),
        is_listed: Cell::new(false),
        is_over: Cell::new(false),
    });
    let open: Weak<dyn EndsWithItsConnection> = Rc::downgrade(&stream) as _;
    stream.connected.streams.borrow_mut().push(open);
    vu.events.add_source(stream.clone());
    native::object(&ctx, StreamObject(stream))
}

fn of<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> Result<Rc<Stream>> {
    native::with(this, |object: &StreamObject| Rc::clone(&object.0))
        .ok_or_else(|| Exception::throw_type(ctx, "this method belongs to a Stream: call it on one"))
}

fn on<'js>(
    ctx: Ctx<'js>,
    This(this): This<Value<'js>>,
    event: Opt<Value<'js>>,
    handler: Opt<Value<'js>>,
) -> Result<()> {
    let stream = of(&ctx, &this)?;
    let name = arguments::text_or(&ctx, event, "")?;
    let Some(event) = Event::named(&name) else {
        let message = format!("can't register {name} event handler: unknown GRPC stream's event type: {name}");
        Vu::of(&ctx).log().warn(&message, &[]);
        return Ok(());
    };
    let Some(handler) = handler.0.and_then(Value::into_function) else {
        return Err(Exception::throw_type(&ctx, &format!("the handler of {name:?} is no function")));
    };
    if !stream.is_over.get() {
        stream.handlers.add_with_context(&ctx, event, handler);
    }
    Ok(())
}

fn write<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>, request: Opt<Value<'js>>) -> Result<()> {
    let (stream, vu) = (of(&ctx, &this)?, Vu::of(&ctx));
    let Some(request) = arguments::given(request) else {
        vu.log().warn("can't send empty message", &[("streamMethod", &stream.bound.method.path)]);
        return Ok(());
    };
    if stream.has_ended.get() || stream.is_over.get() {
        return Ok(());
    }
    let mut message = vec![0; PREFIX];
    let fits = message::encode(&ctx, &stream.bound.schema, stream.bound.method.input, &request, &mut message)?;
    debug_assert!(message.len() >= PREFIX, "what is encoded goes behind the place of its prefix");
    let (length, most) = (message.len() - PREFIX, stream.connected.max_send);
    let written = match fits {
        Err(why) => {
            let why = format!("can't serialise request object to protocol buffer: {why}");
            Err(Status::new(status::UNKNOWN, why))
        }
        Ok(()) if length > most => {
            let why = format!("trying to send message larger than max ({length} vs. {most})");
            Err(Status::new(status::RESOURCE_EXHAUSTED, why))
        }
        Ok(()) => stream.connected.dialect.written(&stream.bound.schema, &stream.bound.method, message),
    };
    match written {
        Err(status) => stream.happened.borrow_mut().push_back(Happened::Error(status)),
        Ok(message) => {
            // A method that takes one message has it now, as in grpc-go.
            let end = !stream.bound.method.client_streams;
            stream.has_ended.set(end);
            stream.send(&vu, message, end);
            stream.messages.record_sent(&vu);
        }
    }
    Ok(())
}

fn end<'js>(ctx: Ctx<'js>, This(this): This<Value<'js>>) -> Result<()> {
    let stream = of(&ctx, &this)?;
    if !stream.has_ended.replace(true) {
        stream.send(&Vu::of(&ctx), Bytes::new(), true);
    }
    Ok(())
}

impl Stream {
    /// Queues bytes; the next that waits writes them.
    fn send(self: &Rc<Self>, vu: &Vu, bytes: Bytes, end: bool) {
        if let Some(carrier) = &mut *self.carrier.borrow_mut() {
            carrier.send(bytes, end);
        }
        if !self.is_listed.replace(true) {
            vu.events.add_outgoing(self.clone());
        }
    }

    /// Takes in what came, until something is to be told.
    fn pump(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut slot = self.carrier.borrow_mut();
        let mut happened = self.happened.borrow_mut();
        let receiver = &mut *self.receiver.borrow_mut();
        while let Some(carrier) = slot.as_mut() {
            let Poll::Ready(event) = carrier.poll(cx) else { break };
            let arrived_ns = carrier.arrived_ns();
            let mut over = match receiver.hear(event) {
                Heard::Over(status) => Some(status),
                Heard::More => None,
            };
            let went_well = over.as_ref().is_some_and(|status| status.code == status::OK);
            let mut take = |message| match self.read(message) {
                Ok(message) => happened.push_back(Happened::Message(message, arrived_ns)),
                Err(status) => over = Some(status),
            };
            let broken = loop {
                match receiver.message() {
                    Ok(Some(message)) => take(message),
                    Ok(None) => break None,
                    Err(status) => break Some(status),
                }
            };
            receiver.one().filter(|_| went_well).into_iter().for_each(take);
            if let Some(status) = broken.or(over) {
                happened.push_back(Happened::Over(status));
                self.drop_carrier(&mut slot);
            }
        }
        if happened.is_empty() { Poll::Pending } else { Poll::Ready(()) }
    }

    fn read(&self, message: Vec<u8>) -> std::result::Result<Vec<u8>, Status> {
        let Bound { schema, method, .. } = &*self.bound;
        self.connected.dialect.read(schema, method, message, self.params.is_raw)
    }

    /// Counts what went over the network. The peer is told, when it had more to say.
    fn drop_carrier(&self, slot: &mut Option<Carrier>) {
        if let (Some(mut carrier), Some(vu)) = (slot.take(), self.vu.upgrade()) {
            carrier.count(&vu);
        }
    }

    fn fail(&self, ctx: &Ctx<'_>, status: &Status) -> Result<()> {
        if !self.handlers.has(Event::Error) {
            let message = format!("no handlers for error registered, but an error happened: {}", status.message);
            Vu::of(ctx).log().warn(&message, &[("streamMethod", &self.bound.method.path)]);
            return Ok(());
        }
        let error = Object::new(ctx.clone())?;
        error.set("code", status.code)?;
        error.set("details", Array::new(ctx.clone())?)?;
        error.set("message", &*status.message)?;
        let shown = format!("code: {}, message: {}", status.code, status.message);
        let to_string = Function::new(ctx.clone(), move || shown.clone())?;
        error.prop("toString", Property::from(to_string).configurable())?;
        self.handlers.emit_one(ctx, Event::Error, error.as_value())
    }

    fn arrived(&self, ctx: &Ctx<'_>, bytes: Vec<u8>, arrived_ns: u64) -> Result<()> {
        let vu = Vu::of(ctx);
        let delay = || self.bound.labels.series(&vu, builtin::GRPC_STREAMS_MSG_DELAY, &self.params);
        self.messages.record_received(&vu, arrived_ns, delay);
        let value = match (self.params.discards, self.params.is_raw) {
            (true, _) => Object::new(ctx.clone())?.into_value(),
            (false, true) => host::bytes::array_buffer(ctx, bytes)?.into_value(),
            (false, false) => message::decode(ctx, &self.bound.schema, self.bound.method.output, &bytes)?,
        };
        let facts = Object::new(ctx.clone())?;
        facts.set("ts", (arrived_ns / 1_000_000_000) as f64)?;
        self.handlers.emit(ctx, Event::Data, &[value, facts.into_value()])
    }

    /// Records the end, once.
    fn finish(&self, vu: &Vu, status: &Status, failed: bool) {
        if self.is_over.replace(true) {
            return;
        }
        self.bound.labels.ended(vu, &self.params, (status, failed), ms(self.began.elapsed()));
        self.drop_carrier(&mut self.carrier.borrow_mut());
    }
}

impl EndsWithItsConnection for Stream {
    /// Ends with its client: the server is told, and the script hears an error and the end, as in k6.
    fn cancel(&self) {
        if self.is_over.get() {
            return;
        }
        self.has_ended.set(true);
        self.drop_carrier(&mut self.carrier.borrow_mut());
        let mut happened = self.happened.borrow_mut();
        happened.clear();
        happened.push_back(Happened::Over(Status::new(status::CANCELED, "canceled by client (k6)")));
    }
}

impl Source for Stream {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.happened.borrow().is_empty() { self.pump(cx) } else { Poll::Ready(()) }
    }

    fn dispatch(&self, ctx: &Ctx<'_>) -> Result<()> {
        let vu = Vu::of(ctx);
        loop {
            let Some(next) = self.happened.borrow_mut().pop_front() else { return Ok(()) };
            match next {
                Happened::Message(bytes, arrived_ns) => {
                    let _handling = vu.messages.begin(arrived_ns);
                    self.arrived(ctx, bytes, arrived_ns)?;
                }
                Happened::Error(status) => self.fail(ctx, &status)?,
                Happened::Over(status) => {
                    let failed = status.code != status::OK;
                    self.finish(&vu, &status, failed);
                    if failed {
                        self.fail(ctx, &status)?;
                    }
                    let ended = self.handlers.emit_one(ctx, Event::End, Object::new(ctx.clone())?.as_value());
                    self.handlers.clear();
                    return ended;
                }
            }
            // As after any call of the script from outside.
            vu.events.run_jobs(ctx)?;
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.get()
    }

    fn abandon(&self) {
        let Some(vu) = &self.vu.upgrade() else { return };
        self.finish(vu, &Status::new(status::CANCELED, "cut off by the end of its iteration"), false);
        self.handlers.clear();
    }
}

impl Outgoing for Stream {
    fn flush_now(&self) {
        self.is_listed.set(false);
        // What comes meanwhile is kept; whoever waits polls again.
        let _kept = self.pump(&mut Context::from_waker(Waker::noop()));
    }
}
