//! The response object: no part of it becomes a script value before the script reads it.
//!
//! Fields come in k6's order; enumerating, copying and `JSON.stringify` see all of them. A script may overwrite any.
//! `json()` works on the bytes as received when the body was not read yet, else on what `body` holds by then.

use std::borrow::Cow;
use std::rc::Rc;

use host::bytes;
use host::js::function::Opt;
use host::js::prelude::{Func, This};
use host::js::{Array, ArrayBuffer, Ctx, Object, Result, Value};
use host::lazy_object::{Lazy, LazyFields, LazyObject};
use rustc_hash::FxHashMap;
use wire::cookies::Cookie;
use wire::field::canonical;
use wire::request::Auth;
use wire::{Body, Exchange, Request, Response};

use super::page;
use super::parts::{append, cookie_object, lossy, ocsp, request, text, timings};
use crate::http::common::error_code;
use crate::http::common::k6_error::k6_error;
use crate::http::common::refusal::Refusal;
use crate::http::request::call::{Call, without_userinfo};
use crate::http::request::params::ResponseType;
use crate::http::request::state::HttpState;
use script::Vu;
use script::go_error;
use script::json_path::{self, Selector};

/// The response of a request that was sent, or could not be because of its URL.
/// `lent`: what the script gave as body and was sent without a copy, in the order of the payload's lent segments.
pub fn object<'js>(ctx: &Ctx<'js>, call: Rc<Lazy<Call>>, lent: Vec<Value<'js>>) -> Result<Value<'js>> {
    let kept = (!lent.is_empty()).then(|| list(ctx, lent)).transpose()?;
    LazyObject::create(ctx, call, kept)
}

#[cold]
fn list<'js>(ctx: &Ctx<'js>, values: Vec<Value<'js>>) -> Result<Value<'js>> {
    let list = Array::new(ctx.clone())?;
    for (index, value) in values.into_iter().enumerate() {
        list.set(index, value)?;
    }
    Ok(list.into_value())
}

/// The response of a request whose arguments were refused; `None` for one that was never looked at.
pub fn refused<'js>(ctx: &Ctx<'js>, refusal: Option<Refusal>) -> Result<Value<'js>> {
    LazyObject::create(ctx, Lazy::new(|| RefusedCall(refusal)), None)
}

/// What the response to refused arguments is made from.
struct RefusedCall(Option<Refusal>);

const METHODS: &[&str] = &["clickLink", "html", "json", "submitForm"];

/// The object that holds the methods of a user's responses.
fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let prototype = Object::new(ctx.clone())?;
    prototype.set("clickLink", Func::from(page::click_link))?;
    prototype.set("html", Func::from(page::html))?;
    prototype.set("json", Func::from(json_method))?;
    prototype.set("submitForm", Func::from(page::submit_form))?;
    Ok(prototype)
}

macro_rules! fields {
    ($($field:ident $name:literal;)*) => {
        /// The fields of a response, in k6's order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum ResponseField { $($field),* }

        impl ResponseField {
            const ALL: &'static [ResponseField] = &[$(ResponseField::$field),*];
            const NAMES: &'static [&'static str] = &[$($name),*];
        }
    };
}

fields! {
    RemoteIp "remote_ip";
    RemotePort "remote_port";
    Url "url";
    Status "status";
    StatusText "status_text";
    Proto "proto";
    Headers "headers";
    Cookies "cookies";
    Body "body";
    Timings "timings";
    TlsVersion "tls_version";
    TlsCipherSuite "tls_cipher_suite";
    Ocsp "ocsp";
    Error "error";
    ErrorCode "error_code";
    Request "request";
}

/// Whether a value is a response, whatever became of its request.
pub fn is_response(value: &Value<'_>) -> bool {
    LazyObject::is_of::<Call>(value) || LazyObject::is_of::<RefusedCall>(value)
}

impl LazyFields for Call {
    const FIELDS: &'static [&'static str] = ResponseField::NAMES;
    const METHODS: &'static [&'static str] = METHODS;

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        prototype(ctx).map(Some)
    }

    #[inline]
    fn retire(block: Rc<Lazy<Call>>) {
        Call::retire(block);
    }

    fn field<'js>(&self, ctx: &Ctx<'js>, index: usize) -> Result<Value<'js>> {
        let int = |value: u16| Ok(Value::new_int(ctx.clone(), i32::from(value)));
        match ResponseField::ALL[index] {
            ResponseField::RemoteIp => {
                text(ctx, &self.remote().map(|remote| remote.ip().to_string()).unwrap_or_default())
            }
            ResponseField::RemotePort => int(self.remote().map_or(0, |remote| remote.port())),
            ResponseField::Url => text(ctx, &self.url()),
            ResponseField::Status => int(self.answer().map_or(0, |answer| answer.status)),
            ResponseField::StatusText => {
                text(ctx, &self.answer().map(|a| format!("{} {}", a.status, a.reason())).unwrap_or_default())
            }
            ResponseField::Proto => text(ctx, self.answer().map_or("", |answer| answer.proto)),
            ResponseField::Headers => self.headers(ctx),
            ResponseField::Cookies => self.cookies(ctx),
            ResponseField::Body => self.body(ctx),
            ResponseField::Timings => {
                timings(ctx, &self.exchange().map(|exchange| exchange.timings).unwrap_or_default())
            }
            ResponseField::TlsVersion => text(ctx, self.tls(|c| c.tls_version)),
            ResponseField::TlsCipherSuite => text(ctx, self.tls(|c| c.tls_cipher_suite)),
            ResponseField::Ocsp => ocsp(ctx, self.tls(|c| c.tls_version)),
            ResponseField::Error => text(ctx, self.error().1),
            ResponseField::ErrorCode => int(self.error().0),
            ResponseField::Request => request(ctx, &self.prepared.sent, None),
        }
    }

    fn field_with<'js>(&self, ctx: &Ctx<'js>, index: usize, kept: Value<'js>) -> Result<Value<'js>> {
        match ResponseField::ALL[index] {
            ResponseField::Request => request(ctx, &self.prepared.sent, kept.as_array()),
            _ => self.field(ctx, index),
        }
    }
}

impl LazyFields for RefusedCall {
    const FIELDS: &'static [&'static str] = ResponseField::NAMES;
    const METHODS: &'static [&'static str] = METHODS;

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        prototype(ctx).map(Some)
    }

    fn field<'js>(&self, ctx: &Ctx<'js>, index: usize) -> Result<Value<'js>> {
        let (code, message) = self.0.as_ref().map_or((0, ""), |why| (why.code, &why.message));
        match ResponseField::ALL[index] {
            ResponseField::RemotePort | ResponseField::Status => Ok(Value::new_int(ctx.clone(), 0)),
            ResponseField::Headers | ResponseField::Cookies => Object::new(ctx.clone()).map(Object::into_value),
            // A refused request has an empty list here, a failed one nothing: k6 does so.
            ResponseField::Body => Array::new(ctx.clone()).map(Array::into_value),
            ResponseField::Timings => timings(ctx, &wire::Timings::default()),
            ResponseField::Ocsp => ocsp(ctx, ""),
            ResponseField::Error => text(ctx, message),
            ResponseField::ErrorCode => Ok(Value::new_int(ctx.clone(), i32::from(code))),
            ResponseField::Request => Ok(Value::new_null(ctx.clone())),
            ResponseField::Url
            | ResponseField::StatusText
            | ResponseField::Proto
            | ResponseField::TlsVersion
            | ResponseField::TlsCipherSuite
            | ResponseField::RemoteIp => text(ctx, ""),
        }
    }
}

impl Call {
    fn answer(&self) -> Option<&Response> {
        self.exchange()?.outcome.as_ref().ok()
    }

    fn remote(&self) -> Option<std::net::SocketAddr> {
        self.exchange()?.connection.as_ref()?.remote
    }

    fn tls(&self, what: impl Fn(&wire::ConnectionInfo) -> Option<&'static str>) -> &'static str {
        self.answer().and_then(|_| self.exchange()?.connection.as_ref()).and_then(what).unwrap_or("")
    }

    /// Where the answer came from, userinfo in clear except after digest authentication.
    fn url(&self) -> Cow<'_, str> {
        let sent = &self.prepared.sent;
        match (self.exchange(), &sent.request) {
            (Some(exchange), Some(Request { auth: Auth::Digest, .. })) if exchange.url.userinfo.is_some() => {
                Cow::Owned(without_userinfo(&exchange.url))
            }
            (Some(exchange), _) => Cow::Borrowed(exchange.url.full_text()),
            _ => Cow::Borrowed(&sent.target.text),
        }
    }

    /// k6's error code and the text.
    fn error(&self) -> (u16, &str) {
        match (&self.prepared.unsendable, self.exchange()) {
            (Some(why), _) => (error_code::of_failure(why.kind), &why.message),
            (None, Some(Exchange { outcome: Err(failure), .. })) => {
                (error_code::of_failure(failure.kind), k6_error(failure))
            }
            (None, _) => (self.answer().map_or(0, |answer| error_code::of_status(answer.status)), ""),
        }
    }

    fn headers<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let object = Object::new(ctx.clone())?;
        let mut joined: Vec<(String, String)> = Vec::new();
        // Where each name is: a server may send ten thousand.
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        for (name, value) in self.answer().into_iter().flat_map(Response::headers) {
            let (name, value) = (canonical(name), lossy(value));
            match places.get(&name) {
                Some(place) => joined[*place].1.extend([", ", &value]),
                None => {
                    places.insert(name.clone(), joined.len());
                    joined.push((name, value.into_owned()));
                }
            }
        }
        for (name, value) in joined {
            object.set(name, value)?;
        }
        Ok(object.into_value())
    }

    fn cookies<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let object = Object::new(ctx.clone())?;
        for (name, value) in self.answer().into_iter().flat_map(Response::headers) {
            if !name.eq_ignore_ascii_case("Set-Cookie") {
                continue;
            }
            if let Some(cookie) = Cookie::parse(value) {
                append(ctx, &object, &cookie.name, cookie_object(ctx, &cookie)?)?;
            }
        }
        Ok(object.into_value())
    }

    fn body<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let Some(answer) = self.answer() else {
            return match self.exchange().and_then(|exchange| exchange.partial_body.as_ref()) {
                Some(part) => self.content(ctx, part),
                None => Ok(Value::new_null(ctx.clone())),
            };
        };
        let none_by_status = matches!(answer.status, 100..=199 | 204 | 304);
        match &answer.body {
            _ if none_by_status => Ok(Value::new_null(ctx.clone())),
            Body::Kept(bytes) => self.content(ctx, bytes),
            Body::None => self.content(ctx, &[]),
            Body::Discarded(_) => Ok(Value::new_null(ctx.clone())),
        }
    }

    fn content<'js>(&self, ctx: &Ctx<'js>, content: &[u8]) -> Result<Value<'js>> {
        match self.prepared.response_type {
            ResponseType::None => Ok(Value::new_null(ctx.clone())),
            ResponseType::Text => text(ctx, &lossy(content)),
            ResponseType::Binary if self.prepared.is_of_client() => bytes::indexed_buffer(ctx, content),
            ResponseType::Binary => bytes::array_buffer(ctx, content.to_vec()).map(ArrayBuffer::into_value),
        }
    }
}

/// `response.json(selector?)`.
fn json_method<'js>(ctx: Ctx<'js>, this: This<Value<'js>>, selector: Opt<Value<'js>>) -> Result<Value<'js>> {
    let content = content(&ctx, &this.0, "JSON")?;
    let Some(selector) = selector.0.filter(|selector| !selector.is_undefined()) else {
        return parse(&ctx, &content);
    };
    let state = Vu::of(&ctx).local::<HttpState>();
    let known = match state.paths.get(&selector) {
        Some(known) => known,
        None => {
            let path = bytes::to_text(&ctx, &selector)?;
            let read = Rc::new(Selector::parse(&path).map_err(|message| go_error::throw(&ctx, &message))?);
            state.paths.put(&ctx, &selector, Rc::clone(&read));
            read
        }
    };
    match known.as_ref().as_ref().and_then(|selector| selector.find(&content).ok().flatten()) {
        Some(raw) => match simple(&ctx, &raw)? {
            Some(value) => Ok(value),
            None => parse(&ctx, &raw),
        },
        None => Ok(Value::new_undefined(ctx)),
    }
}

/// The value of a JSON text that says it without more ado: a small whole number, a text of ASCII without escapes, or a
/// word. The text is known to be JSON.
fn simple<'js>(ctx: &Ctx<'js>, json: &[u8]) -> Result<Option<Value<'js>>> {
    Ok(match json {
        b"true" => Some(Value::new_bool(ctx.clone(), true)),
        b"false" => Some(Value::new_bool(ctx.clone(), false)),
        b"null" => Some(Value::new_null(ctx.clone())),
        [b'"', inner @ .., b'"'] if inner.iter().all(|byte| byte.is_ascii() && *byte != b'\\') => {
            Some(bytes::string(ctx, inner)?)
        }
        // Nine digits fit into an integer, and the first of several is no zero; "-0" is no integer.
        [b'0'..=b'9', ..] if json.len() <= 9 && json.iter().all(u8::is_ascii_digit) => {
            let number = json.iter().fold(0, |number, digit| number * 10 + i32::from(digit - b'0'));
            Some(Value::new_int(ctx.clone(), number))
        }
        _ => None,
    })
}

/// The text to parse as `wanted`: the received bytes when nobody touched `body` yet.
pub(crate) fn content<'js>(ctx: &Ctx<'js>, this: &Value<'js>, wanted: &str) -> Result<::bytes::Bytes> {
    if let Some(call) = LazyObject::unread::<Call>(this, ResponseField::Body as usize) {
        if let Some(Response { body: Body::Kept(bytes), .. }) = call.answer() {
            return Ok(bytes.to_bytes());
        }
    } else if LazyObject::unread::<RefusedCall>(this, ResponseField::Body as usize).is_some() {
        // RefusedCall arguments: k6 has no bytes there rather than no body.
        return Ok(::bytes::Bytes::new());
    }
    let body: Value<'js> = match this.as_object() {
        Some(object) => object.get("body")?,
        None => Value::new_null(ctx.clone()),
    };
    bytes::read(ctx, &body, ::bytes::Bytes::copy_from_slice)?.ok_or_else(|| {
        let reason = "this likely was because of a request error getting the response";
        go_error::throw(ctx, &format!("the body is null so we can't transform it to {wanted} - {reason}"))
    })
}

fn parse<'js>(ctx: &Ctx<'js>, content: &[u8]) -> Result<Value<'js>> {
    ctx.json_parse(&*lossy(content)).map_err(|error| match json_path::explain(content) {
        Some(message) => {
            ctx.catch();
            go_error::throw(ctx, &message)
        }
        None => error,
    })
}
