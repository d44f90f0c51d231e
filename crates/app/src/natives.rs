//! The native functions that the JavaScript of apps is built on. Scripts never see them; our own sources get them as
//! one object.

use std::borrow::Cow;
use std::ffi::CStr;
use std::rc::Rc;

use host::js::{Array, Ctx, Exception, Function, Object, Result, Value};
use host::plain::{self, Args, Plain};
use host::{bytes, native, received};
use script::{Vu, exception};
use server::respond::Body;

use crate::outflow::{AnswerStream, Outflow};
use crate::ticket::{self, Reply, answered};
use crate::values::{argument, bool, flat, string, undefined};
use crate::{answer, body, door, failure, form, response, socket};

/// A native function: its name and what it does.
type Native = (&'static CStr, for<'a, 'js> fn(&Ctx<'js>, Args<'a, 'js>) -> Result<Value<'js>>);

/// One line a function. `request` is an incoming `Request`; `reply` and `sink` are what the functions of that name
/// gave.
const NATIVES: &[Native] = &[
    // Getters, called on the request.
    (c"get method", method),
    (c"get url", request_url),
    // (request) → [name, value, …], names in lower case
    (c"headers", headers),
    // (request, lower-case name) → string or null
    (c"header", header),
    // (request) → string or null
    (c"peer", peer),
    // (request) → declared length, or -1
    (c"bodyLength", body_length),
    // (request, (error, piece) => …): piece is undefined at the end
    (c"pull", body::pull),
    // (request, kind, (error, value) => …): 0 ArrayBuffer, 1 text, 2 JSON, 3 Uint8Array
    (c"collect", body::collect),
    // (request, () => …): called when the client goes away
    (c"watch", watch),
    // (request) → reply
    (c"reply", reply),
    // (extract, flatten, keep, Response)
    (c"slowPaths", response::slow_paths),
    // Getters, called on the response.
    (c"get status", response::status),
    (c"get statusText", response::status_text),
    // (value)
    (c"isResponse", response::is_response),
    // (response, whether the object keeps them) → [name, value, …]
    (c"responseLines", response::lines),
    // (response) → Uint8Array, null or undefined
    (c"responseBytes", response::bytes),
    // (request or reply, response, [name, value, …] or undefined) → whether the body was whole
    (c"answerWhole", response::answer_whole),
    // (request or reply, status, [name, value, …]) → sink
    (c"stream", stream),
    // (sink, chunk) → whether there is room for more
    (c"push", push),
    // (sink, () => …): called when there is room; at once when nobody wants more
    (c"drained", drained),
    // (sink) → whether nobody wants more
    (c"isDropped", is_dropped),
    // (sink, error?)
    (c"finish", finish),
    // (request or reply, error)
    (c"fail", fail),
    // (what, error): logs it
    (c"report", report),
    // (name, value) → [lower-case name, trimmed value]; throws
    (c"checkHeader", check_header),
    // (view or buffer)
    (c"release", release),
    // (bytes, content type) → [name, file name or undefined, type, ArrayBuffer or string, …]; throws
    (c"parseForm", form::parse_native),
    // (bytes) → text
    (c"decode", decode),
    // (path, offset or undefined, length or undefined) → { a file body }
    (c"openFile", answer::open_file),
];

/// Methods and getters of a WebSocket.
const OF_SOCKETS: &[Native] = &[
    (c"send", socket::send),
    (c"ping", socket::ping),
    (c"close", socket::close),
    (c"terminate", socket::terminate),
    (c"readyState", socket::ready_state),
    (c"bufferedAmount", socket::buffered),
    (c"protocol", socket::protocol),
    (c"subscribe", socket::subscribe),
    (c"unsubscribe", socket::unsubscribe),
    (c"isSubscribed", socket::is_subscribed),
    (c"publish", socket::publish),
];

struct OfSocket;

impl Plain for OfSocket {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        (OF_SOCKETS[number as usize].1)(ctx, args)
    }
}

struct ByNumber;

impl Plain for ByNumber {
    fn call<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, number: i32) -> Result<Value<'js>> {
        (NATIVES[number as usize].1)(ctx, args)
    }
}

/// The object of all of them.
pub(crate) fn object<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("socketNatives", table::<OfSocket>(ctx, Object::new(ctx.clone())?, OF_SOCKETS)?)?;
    let prototype = Object::new(ctx.clone())?;
    natives.set("Response", plain::constructor::<response::Constructor>(ctx, c"Response", 0, &prototype)?)?;
    table::<ByNumber>(ctx, natives, NATIVES)
}

fn table<'js, F: Plain>(ctx: &Ctx<'js>, natives: Object<'js>, list: &[Native]) -> Result<Object<'js>> {
    for (number, (name, _)) in list.iter().enumerate() {
        let function: Function<'js> = plain::function::<F>(ctx, name, number as i32)?;
        natives.set(name.to_str().unwrap_or_default().trim_start_matches("get "), function)?;
    }
    Ok(natives)
}

/// What the script holds of a body on its way out. Forgotten before its end, the body is broken off.
struct Sink(Rc<Outflow>);

impl Drop for Sink {
    fn drop(&mut self) {
        self.0.finish(Err(String::from("the app left the body unfinished")));
    }
}

fn sink<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Rc<Sink>> {
    native::get::<Sink>(&argument(ctx, args, 0)).ok_or_else(|| Exception::throw_type(ctx, "not a sink"))
}

fn function_argument<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>, index: usize) -> Result<Function<'js>> {
    argument(ctx, args, index).into_function().ok_or_else(|| Exception::throw_type(ctx, "not a function"))
}

fn method<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    string(ctx, ticket::of(ctx, &args.this())?.head.method())
}

fn request_url<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    string(ctx, &ticket::of(ctx, &args.this())?.head.url())
}

fn headers<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let ticket = ticket::of(ctx, &argument(ctx, args, 0))?;
    let lines = ticket.head.headers();
    let lines: Vec<_> =
        lines.map(|(name, value)| (name.to_ascii_lowercase(), String::from_utf8_lossy(value))).collect();
    flat(ctx, lines.iter().map(|(name, value)| (name.as_str(), value.as_ref())))
}

fn header<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let ticket = ticket::of(ctx, &argument(ctx, args, 0))?;
    let name = bytes::to_text(ctx, &argument(ctx, args, 1))?;
    let lines = ticket.head.headers().filter(|(known, _)| known.eq_ignore_ascii_case(&name));
    let values = lines.map(|(_, value)| String::from_utf8_lossy(value));
    let joined = values.reduce(|before, value| Cow::Owned(format!("{before}, {value}")));
    joined.map_or_else(|| Ok(Value::new_null(ctx.clone())), |text| string(ctx, &text))
}

fn peer<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let peer = ticket::of(ctx, &argument(ctx, args, 0))?.head.peer();
    peer.map_or_else(|| Ok(Value::new_null(ctx.clone())), |peer| string(ctx, &peer.to_string()))
}

fn body_length<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let length = ticket::of(ctx, &argument(ctx, args, 0))?.body.borrow().length_hint();
    Ok(Value::new_number(ctx.clone(), length.map_or(-1.0, |length| length as f64)))
}

fn watch<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let ticket = ticket::of(ctx, &argument(ctx, args, 0))?;
    let callback = function_argument(ctx, args, 1)?;
    if ticket.is_gone() {
        callback.call::<_, ()>(())?;
    } else if !ticket.is_answered() {
        ticket.on_gone.set(Some(door::of(ctx).keep(ctx, callback.into_value())));
    }
    Ok(undefined(ctx))
}

fn reply<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let ticket = ticket::of(ctx, &argument(ctx, args, 0))?;
    native::shared(ctx, None, Rc::new(Reply(ticket)))
}

fn stream<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let ticket = answered(ctx, &argument(ctx, args, 0))?;
    let flow = Outflow::new(door::listener(ctx));
    let status = argument(ctx, args, 1).as_int().and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
    let headers = answer::lines(ctx, &argument(ctx, args, 2))?;
    let body = Body::stream(AnswerStream(flow.clone()));
    ticket.answer(Ok(answer::build(status, headers, None, body)));
    native::shared(ctx, None, Rc::new(Sink(flow)))
}

fn push<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let sink = sink(ctx, args)?;
    let chunk = argument(ctx, args, 1);
    let Some(piece) = answer::piece(ctx, &chunk)? else {
        let message =
            format!("a piece of the body is {}, expected a string, an ArrayBuffer or a typed array", chunk.type_name());
        return Err(Exception::throw_type(ctx, &message));
    };
    sink.0.push(piece);
    Ok(bool(ctx, sink.0.has_room() && !sink.0.is_dropped()))
}

fn drained<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let sink = sink(ctx, args)?;
    let callback = function_argument(ctx, args, 1)?;
    if sink.0.has_room() || sink.0.is_dropped() {
        callback.call::<_, ()>(())?;
    } else {
        sink.0.on_drained.set(Some(door::of(ctx).keep(ctx, callback.into_value())));
    }
    Ok(undefined(ctx))
}

fn is_dropped<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    Ok(bool(ctx, sink(ctx, args)?.0.is_dropped()))
}

fn finish<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let sink = sink(ctx, args)?;
    let end = match args.get(1) {
        None => Ok(()),
        Some(error) => {
            let error = exception::describe(&error, Vu::of(ctx).modules());
            failure::log(ctx, &format!("a response body broke off: {}", error.with_stack()));
            Err(error.message)
        }
    };
    sink.0.finish(end);
    Ok(undefined(ctx))
}

fn fail<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let ticket = answered(ctx, &argument(ctx, args, 0))?;
    let error = exception::describe(&argument(ctx, args, 1), Vu::of(ctx).modules());
    failure::refuse(ctx, &ticket, &error);
    Ok(undefined(ctx))
}

fn report<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let what = bytes::to_text(ctx, &argument(ctx, args, 0))?;
    let error = exception::describe(&argument(ctx, args, 1), Vu::of(ctx).modules());
    failure::log(ctx, &format!("{what}: {}", error.with_stack()));
    Ok(undefined(ctx))
}

fn check_header<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let name = bytes::to_text(ctx, &argument(ctx, args, 0))?;
    let value = bytes::to_text(ctx, &argument(ctx, args, 1))?;
    let value = value.trim_matches([' ', '\t', '\r', '\n']);
    if let Some(refusal) = answer::header_refusal(&name, value) {
        return Err(Exception::throw_type(ctx, &refusal));
    }
    let pair = Array::new(ctx.clone())?;
    pair.set(0, name.to_ascii_lowercase())?;
    pair.set(1, value)?;
    Ok(pair.into_value())
}

fn release<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    received::release(ctx, &argument(ctx, args, 0))?;
    Ok(undefined(ctx))
}

fn decode<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let text = bytes::read(ctx, &argument(ctx, args, 0), body::decode)?;
    string(ctx, &text.unwrap_or_default())
}
