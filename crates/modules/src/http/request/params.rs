//! The params object of a request: only what is there is read, and what cannot be used is refused in k6's words.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host::bytes;
use host::js::object::Filter;
use host::js::{Coerced, Ctx, FromJs, Result, Value};
use host::kind::Kind;
use units::Span;
use wire::codec::Coding;
use wire::cookies::CookieJar;
use wire::field::canonical;

use super::cookies;
use super::events::{self, EventStream};
use super::intake::Intake;
use super::own_tls::WantedTls;
use crate::http::common::go_format::go_type;
use crate::http::common::refusal::{Checked, Refusal};
use crate::http::common::status::Expectation;
use crate::http::samples::sampler::RequestTags;

/// Pairs of name and value.
pub type Pairs = Rc<[(String, String)]>;
/// Cookies of one request: name, value, whether it replaces those of the jar.
pub type RequestCookies = Rc<[(String, String, bool)]>;

/// Time of a whole request unless the script says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// What the param `http2` can be.
const PRIOR_KNOWLEDGE: &str = "\"prior-knowledge\"";

/// How the script wants the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ResponseType {
    /// A string.
    #[default]
    Text,
    /// An ArrayBuffer.
    Binary,
    /// Not at all.
    None,
}

/// What params say. `None` where the options of the run decide.
#[derive(Clone)]
pub struct Params {
    /// Canonical names, in the order given.
    pub headers: Pairs,
    /// Cookies of this request alone.
    pub cookies: RequestCookies,
    /// A jar other than the user's.
    pub jar: Option<Rc<CookieJar>>,
    /// RequestTags but `name`.
    pub tags: Option<RequestTags>,
    /// The `name` tag.
    pub name: Option<Arc<str>>,
    /// Whole request.
    pub timeout: Duration,
    /// Redirects to follow.
    pub redirects: Option<u32>,
    /// Digest authentication.
    pub digest: bool,
    /// HTTP/2 without TLS, on http URLs.
    pub prior_knowledge: bool,
    /// What `tlsAuth` and `tlsResumption` say.
    pub tls: WantedTls,
    /// How the body is compressed.
    pub compression: Compression,
    /// Form of the body.
    pub response_type: Option<ResponseType>,
    /// Which statuses are expected.
    pub expectation: Option<Expectation>,
    /// Throw instead of returning a failed response.
    pub throw: Option<bool>,
    /// Who takes the body while it arrives.
    pub intake: Intake,
}

/// What `compression` asks for.
#[derive(Clone, Debug, Default)]
pub struct Compression {
    /// Content codings to apply, in order.
    pub codings: Vec<Coding>,
    /// The same as the header names them.
    pub header: String,
}

/// Shared empty lists: a request without params allocates none.
pub struct Empty {
    headers: Pairs,
    cookies: RequestCookies,
}

impl Default for Empty {
    fn default() -> Self {
        Empty { headers: Rc::from([]), cookies: Rc::from([]) }
    }
}

impl Params {
    /// What no params mean.
    pub fn none(empty: &Empty) -> Params {
        Params {
            headers: Rc::clone(&empty.headers),
            cookies: Rc::clone(&empty.cookies),
            jar: None,
            tags: None,
            name: None,
            timeout: DEFAULT_TIMEOUT,
            redirects: None,
            digest: false,
            prior_knowledge: false,
            tls: WantedTls::default(),
            compression: Compression::default(),
            response_type: None,
            expectation: None,
            throw: None,
            intake: Intake::Body,
        }
    }

    /// Reads params; anything but an object counts as none, as in k6.
    pub fn from_js<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>, empty: &Empty) -> Checked<Params> {
        let mut params = Params::none(empty);
        let Some(object) = value.and_then(Value::as_object) else { return Ok(params) };
        for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
            let (key, value) = entry?;
            if value.is_undefined() {
                continue;
            }
            let Some(key) = bytes::text(&key)? else { continue };
            params.field(ctx, &key, &value)?;
        }
        if let Intake::Events(events) = &params.intake {
            let events = Rc::clone(events);
            params.take_events(&events);
        }
        Ok(params)
    }

    fn field<'js>(&mut self, ctx: &Ctx<'js>, key: &str, value: &Value<'js>) -> Checked<()> {
        match key {
            "headers" => self.headers = headers(ctx, value)?,
            "cookies" => self.cookies = request_cookies(ctx, value)?,
            "jar" => self.jar = cookies::jar_of(value),
            "tags" => (self.tags, self.name) = tags(ctx, value)?,
            "timeout" => self.timeout = timeout(value)?,
            "redirects" => {
                let Coerced(count) = Coerced::<f64>::from_js(ctx, value.clone())?;
                self.redirects = Some(count.clamp(0.0, f64::from(u32::MAX)) as u32);
            }
            "responseCallback" => {
                let expectation = Expectation::from_js(value);
                self.expectation = Some(expectation.ok_or_else(|| Refusal::new("unsupported responseCallback"))?);
            }
            "http2" => match bytes::text(value)?.as_deref() {
                Some("prior-knowledge") => self.prior_knowledge = true,
                Some(other) => {
                    return Err(Refusal::new(format!("http2 is {other:?}, expected {PRIOR_KNOWLEDGE}")).into());
                }
                None => return Err(wrong(key, value, PRIOR_KNOWLEDGE).into()),
            },
            "tlsAuth" | "tlsResumption" => self.tls.field(ctx, key, value)?,
            "hash" => {
                let name = bytes::text(value)?.ok_or_else(|| wrong(key, value, "a string"))?;
                self.intake = Intake::hash(&name)?;
            }
            "onBody" => {
                let function = value.as_function().ok_or_else(|| wrong(key, value, "a function"))?;
                self.intake = Intake::callback(ctx, function.clone());
            }
            "onEvent" => {
                let function = value.as_function().ok_or_else(|| wrong(key, value, "a function"))?;
                self.intake = Intake::Events(EventStream::with_callback(ctx, function.clone()));
            }
            "throw" => self.throw = Some(Coerced::<bool>::from_js(ctx, value.clone())?.0),
            "auth" | "compression" | "responseType" => self.word(key, &bytes::to_text(ctx, value)?)?,
            _ => {}
        }
        Ok(())
    }

    /// Asks for a stream of events, from behind the last one it had.
    pub fn take_events(&mut self, events: &Rc<EventStream>) {
        let last_id = events.last_id();
        let mut headers = self.headers.to_vec();
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() && !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        };
        add("Accept", events::CONTENT_TYPE);
        add("Last-Event-ID", &last_id);
        self.headers = headers.into();
        self.intake = Intake::Events(Rc::clone(events));
    }

    fn word(&mut self, key: &str, text: &str) -> std::result::Result<(), Refusal> {
        match (key, text) {
            ("auth", "digest") => self.digest = true,
            ("auth", "ntlm") => {
                let instead = "use basic or digest authentication, or send the headers";
                return Err(Refusal::new(format!("auth \"ntlm\" is not supported yet: {instead}")));
            }
            ("responseType", "text") => self.response_type = Some(ResponseType::Text),
            ("responseType", "binary") => self.response_type = Some(ResponseType::Binary),
            ("responseType", "none") => self.response_type = Some(ResponseType::None),
            ("responseType", _) => return Err(Refusal::new(format!("{text} does not belong to ResponseType values"))),
            ("compression", _) if !text.trim().is_empty() => {
                let codings = codings(text)?;
                let names: Vec<&str> = codings.iter().map(|coding| coding.name()).collect();
                self.compression = Compression { header: names.join(", "), codings };
            }
            _ => {}
        }
        Ok(())
    }
}

/// A param of an unusable type.
fn wrong(key: &str, value: &Value<'_>, expected: &str) -> Refusal {
    Refusal::new(format!("{key} is {}, expected {expected}", value.type_name()))
}

fn codings(text: &str) -> std::result::Result<Vec<Coding>, Refusal> {
    text.split(',')
        .map(|name| match name.trim() {
            "gzip" => Ok(Coding::Gzip),
            "deflate" => Ok(Coding::Deflate),
            "br" => Ok(Coding::Brotli),
            "zstd" => Ok(Coding::Zstd),
            other => {
                let supported = "supported algorithms are [gzip deflate zstd br]";
                Err(Refusal::new(format!("unknown compression algorithm {other}, {supported}")))
            }
        })
        .collect()
}

/// A `headers` param.
pub fn headers<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Pairs> {
    let Some(object) = value.as_object() else { return Ok(Rc::from([])) };
    let mut headers: Vec<(String, String)> = Vec::new();
    for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (name, value) = entry?;
        let (name, value) = (canonical(&bytes::to_text(ctx, &name)?), bytes::to_text(ctx, &value)?);
        match headers.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => headers.push((name, value)),
        }
    }
    Ok(headers.into())
}

fn request_cookies<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<RequestCookies> {
    let Some(object) = value.as_object() else { return Ok(Rc::from([])) };
    let mut cookies = Vec::new();
    for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (name, value) = entry?;
        if value.is_null() || value.is_undefined() {
            continue;
        }
        let name = bytes::to_text(ctx, &name)?;
        match value.as_object() {
            Some(detailed) => {
                let text = bytes::to_text(ctx, &detailed.get("value")?)?;
                let Coerced(replace) = detailed.get::<_, Coerced<bool>>("replace")?;
                cookies.push((name, text, replace));
            }
            None => cookies.push((name, bytes::to_text(ctx, &value)?, false)),
        }
    }
    Ok(cookies.into())
}

/// The tags of a request, `name` apart.
pub fn tags<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Checked<(Option<RequestTags>, Option<Arc<str>>)> {
    let Some(object) = value.as_object() else { return Ok((None, None)) };
    let (mut tags, mut tagged_name) = (Vec::new(), None);
    for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (name, value) = entry?;
        let name = bytes::to_text(ctx, &name)?;
        if !matches!(Kind::of(&value), Kind::Text(_) | Kind::Number(_) | Kind::Bool(_)) {
            let message = format!(
                "invalid HTTP request metric tags: invalid value for metric tag '{name}': only String, Boolean and \
                 Number types are accepted as a metric tag values"
            );
            return Err(Refusal::new(message).into());
        }
        let text: Arc<str> = bytes::to_text(ctx, &value)?.into();
        match name.as_str() {
            "name" => tagged_name = Some(text),
            _ => tags.push((Arc::from(name), text)),
        }
    }
    let tags = if tags.is_empty() { None } else { Some(tags.into()) };
    Ok((tags, tagged_name))
}

/// The time that a call may take: a duration as text, or milliseconds.
pub fn timeout(value: &Value<'_>) -> Checked<Duration> {
    let refused = |why: String| Refusal::new(format!("invalid timeout value: {why}"));
    if let Some(ms) = value.as_number() {
        let endless_or_none = if ms > 0.0 { Duration::MAX } else { Duration::ZERO };
        return Ok(Duration::try_from_secs_f64(ms / 1e3).unwrap_or(endless_or_none));
    }
    let Some(text) = bytes::text(value)? else {
        return Err(refused(format!("unable to use type {} as a duration value", go_type(value))).into());
    };
    let time = Span::parse(&text).map_err(|_| refused(format!("time: invalid duration {text:?}")))?;
    Ok(time.or_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_lists() {
        assert_eq!(codings("gzip, br").unwrap(), [Coding::Gzip, Coding::Brotli]);
        assert!(codings("foo").unwrap_err().message.starts_with("unknown compression algorithm foo, supported"));
    }
}
