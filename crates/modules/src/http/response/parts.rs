//! The objects inside of a response: `timings`, `cookies`, `ocsp` and `request`.
//!
//! Their names are looked up once a user: an object is made of a template in one step (`host::record`).

use std::borrow::Cow;
use std::rc::Rc;

use host::bytes;
use host::js::{Array, Ctx, Object, Result, Value};
use wire::cookies::Cookie;
use wire::{Payload, Segment};

use crate::http::request::call::Sent;
use crate::http::request::state::HttpState;
use crate::http::samples::sampler::ms;
use script::Vu;

/// k6 shows this for a cookie that has no expiry: the year 1 in milliseconds, wrapped around by 64 bits.
const NO_EXPIRY: i64 = -6_795_364_578_871;

/// `response.timings`, in milliseconds.
pub(crate) fn timings<'js>(ctx: &Ctx<'js>, timings: &wire::Timings) -> Result<Value<'js>> {
    let names = [
        c"duration",
        c"blocked",
        c"looking_up",
        c"connecting",
        c"tls_handshaking",
        c"sending",
        c"waiting",
        c"receiving",
    ];
    let times = [
        timings.duration(),
        timings.blocked,
        // k6 always has 0 here; the truth is worth more.
        timings.looking_up,
        timings.connecting,
        timings.tls_handshaking,
        timings.sending,
        timings.waiting,
        timings.receiving,
    ];
    let values = times.map(|time| number(ctx, ms(time)));
    state(ctx).shapes.timings.object(ctx, names, values).map(Object::into_value)
}

fn state(ctx: &Ctx<'_>) -> Rc<HttpState> {
    Vu::of(ctx).local::<HttpState>()
}

/// As the engine has numbers: whole ones as integers.
fn number<'js>(ctx: &Ctx<'js>, number: f64) -> Value<'js> {
    Value::new_number(ctx.clone(), number)
}

/// A text of the script.
pub(crate) fn text<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    host::js::String::from_str(ctx.clone(), text).map(host::js::String::into_value)
}

/// Adds to the list under a name, as `cookies` and `headers` of requests are shown.
pub(crate) fn append<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str, value: Value<'js>) -> Result<()> {
    if let Some(list) = object.get::<_, Option<Array<'js>>>(name)? {
        return list.set(list.len(), value);
    }
    let list = Array::new(ctx.clone())?;
    list.set(0, value)?;
    object.set(name, list)
}

/// A cookie of `response.cookies`.
pub(crate) fn cookie_object<'js>(ctx: &Ctx<'js>, cookie: &Cookie) -> Result<Value<'js>> {
    let names = [c"name", c"value", c"domain", c"path", c"http_only", c"secure", c"max_age", c"expires"];
    let values = [
        text(ctx, &cookie.name)?,
        text(ctx, &cookie.value)?,
        text(ctx, &cookie.domain)?,
        text(ctx, &cookie.path)?,
        Value::new_bool(ctx.clone(), cookie.http_only),
        Value::new_bool(ctx.clone(), cookie.secure),
        number(ctx, cookie.max_age as f64),
        number(ctx, cookie.expires_ms.unwrap_or(NO_EXPIRY) as f64),
    ];
    state(ctx).shapes.cookie.object(ctx, names, values).map(Object::into_value)
}

/// No stapled answer is ever read, which k6 calls unknown.
pub(crate) fn ocsp<'js>(ctx: &Ctx<'js>, tls_version: &str) -> Result<Value<'js>> {
    let names = [c"produced_at", c"this_update", c"next_update", c"revoked_at", c"revocation_reason", c"status"];
    let zero = || Value::new_int(ctx.clone(), 0);
    let status = text(ctx, if tls_version.is_empty() { "" } else { "unknown" })?;
    let values = [zero(), zero(), zero(), zero(), text(ctx, "")?, status];
    state(ctx).shapes.ocsp.object(ctx, names, values).map(Object::into_value)
}

/// The cookies that went out, in the order of the header.
fn sent_cookies(sent: &Sent) -> Vec<(String, String)> {
    let Some(request) = &sent.request else { return Vec::new() };
    let mut all: Vec<(String, String)> = Vec::new();
    for (_, value) in request.headers.iter().filter(|(name, _)| name == "Cookie") {
        let pairs = value.split(';').filter_map(|pair| pair.trim().split_once('='));
        all.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    all.extend(request.cookies.iter().map(|(name, value, _)| (name.clone(), value.clone())));
    let replaced = |name: &str| request.cookies.iter().any(|(known, _, replace)| *replace && known == name);
    all.extend(sent.jar_cookies.iter().filter(|(name, _)| !replaced(name)).cloned());
    all
}

/// `response.request`: what was sent. `lent`: what the script gave as body.
pub(crate) fn request<'js>(ctx: &Ctx<'js>, sent: &Sent, lent: Option<&Array<'js>>) -> Result<Value<'js>> {
    let headers = Object::new(ctx.clone())?;
    let given = sent.request.iter().flat_map(|request| request.headers.iter());
    let mut has_agent = false;
    for (name, value) in given.filter(|(name, _)| name != "Cookie") {
        has_agent |= name == "User-Agent";
        append(ctx, &headers, name, text(ctx, value)?)?;
    }
    if !has_agent && !sent.user_agent.is_empty() {
        append(ctx, &headers, "User-Agent", text(ctx, &sent.user_agent)?)?;
    }
    let state = state(ctx);
    let shapes = &state.shapes;
    let cookies = Object::new(ctx.clone())?;
    let all = sent_cookies(sent);
    if !all.is_empty() {
        let line: Vec<String> = all.iter().map(|(name, value)| format!("{name}={value}")).collect();
        append(ctx, &headers, "Cookie", text(ctx, &line.join("; "))?)?;
    }
    for (name, value) in &all {
        let values = [text(ctx, name)?, text(ctx, value)?, Value::new_bool(ctx.clone(), false)];
        let cookie = shapes.sent_cookie.object(ctx, [c"name", c"value", c"replace"], values)?;
        append(ctx, &cookies, name, cookie.into_value())?;
    }
    let names = [c"method", c"url", c"headers", c"body", c"cookies"];
    let values = [
        text(ctx, sent.method.as_str())?,
        text(ctx, &sent.target.text)?,
        headers.into_value(),
        body_text(ctx, sent, lent)?,
        cookies.into_value(),
    ];
    shapes.request.object(ctx, names, values).map(Object::into_value)
}

/// The body as text. Files and generated bytes may be of any size: they do not become text. What was lent is read where
/// it was lent from, so a buffer that the script has changed since shows the change.
fn body_text<'js>(ctx: &Ctx<'js>, sent: &Sent, lent: Option<&Array<'js>>) -> Result<Value<'js>> {
    let mut lent = lent.into_iter().flat_map(|lent| lent.iter::<Value<'js>>());
    let mut all = Vec::new();
    for segment in sent.body.iter().flat_map(Payload::segments) {
        match (segment, segment.in_memory()) {
            (Segment::Borrowed(_), _) => {
                let Some(value) = lent.next().transpose()? else { return text(ctx, "") };
                if value.is_string() && all.is_empty() && sent.body.iter().flat_map(Payload::segments).count() == 1 {
                    return Ok(value);
                }
                all.extend(bytes::read(ctx, &value, <[u8]>::to_vec)?.unwrap_or_default());
            }
            (_, Some(bytes)) => all.extend_from_slice(bytes),
            (_, None) => return text(ctx, ""),
        }
    }
    text(ctx, &lossy(&all))
}

/// Text with U+FFFD for each byte that is not UTF-8, as Go converts.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    let mut rest = bytes;
    let mut out = String::new();
    loop {
        match std::str::from_utf8(rest) {
            Ok(good) if out.is_empty() && rest.len() == bytes.len() => return Cow::Borrowed(good),
            Ok(good) => {
                out.push_str(good);
                return Cow::Owned(out);
            }
            Err(error) => {
                let (good, bad) = rest.split_at(error.valid_up_to());
                out.push_str(std::str::from_utf8(good).expect("valid up to here"));
                out.push(char::REPLACEMENT_CHARACTER);
                rest = &bad[1..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_byte_becomes_one_character() {
        assert_eq!(lossy(b"a\xff\xfe\xe2\x82\xacz"), "a\u{fffd}\u{fffd}€z");
        assert_eq!(lossy(b"\xe2\x82"), "\u{fffd}\u{fffd}");
        assert!(matches!(lossy("é".as_bytes()), Cow::Borrowed("é")));
    }
}
