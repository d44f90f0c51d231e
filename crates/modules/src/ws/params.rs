//! What both WebSocket modules take for a connection: its address and its params.
//!
//! Reads the addresses as Go does and refuses what k6 refuses, in its words. Headers that the handshake writes itself
//! cannot be given, which is a failure of the connection, not an exception. Invariant: what `Plan` holds can be sent.

use std::rc::Rc;
use std::sync::Arc;

use host::bytes;
use host::js::object::Filter;
use host::js::{Ctx, Result, Value};
use wire::cookies::CookieJar;
use wire::mask::Mask;
use wire::ws::DeflateOffer;
use wire::{FailureKind, Url};

use crate::http::common::refusal::Refusal;
use crate::http::request::cookies;
use crate::http::request::params::{self as http_params, Pairs};
use crate::http::request::state::HttpState;
use crate::http::samples::sampler::RequestTags;
use script::Vu;
use script::arguments::ArgumentError;
use script::go_error;

/// Where a connection goes and how.
pub struct Plan {
    /// As the script wrote it.
    pub text: String,
    /// The same as an http(s) address, or why it cannot be requested.
    pub url: std::result::Result<Url, String>,
    /// Params of the script.
    pub params: ConnectParams,
    /// Subprotocols to offer.
    pub protocols: Vec<String>,
}

/// The params object.
pub struct ConnectParams {
    /// Canonical names.
    pub headers: Pairs,
    /// Tags but `name`.
    pub tags: Option<RequestTags>,
    /// The `name` tag.
    pub name: Option<Arc<str>>,
    /// Cookies to send, and where to put those that come.
    pub jar: Rc<CookieJar>,
    /// `compression: "deflate"`.
    pub deflate: Option<DeflateOffer>,
}

/// Headers of the handshake itself.
const OURS: [&str; 5] =
    ["Upgrade", "Connection", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions"];

/// A param that cannot be used, in k6's words.
pub struct RefusedParam(pub String);

impl From<RefusedParam> for ArgumentError<RefusedParam> {
    fn from(refused: RefusedParam) -> Self {
        ArgumentError::Refused(refused)
    }
}

impl ConnectParams {
    /// Reads params; throws what is wrong with them. `strict`: unknown ones are refused.
    pub fn from_js<'js>(ctx: &Ctx<'js>, vu: &Vu, value: Option<&Value<'js>>, strict: bool) -> Result<ConnectParams> {
        let jar = Rc::clone(&vu.local::<HttpState>().jar);
        let mut params = ConnectParams { headers: Rc::from([]), tags: None, name: None, jar, deflate: None };
        let Some(object) = value.and_then(Value::as_object) else { return Ok(params) };
        for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
            let (key, value) = entry?;
            let Some(key) = bytes::text(&key)? else { continue };
            let read = params.field(ctx, &key, &value, strict);
            read.map_err(|error| error.or_throw(|refused| go_error::throw(ctx, &refused.0)))?;
        }
        Ok(params)
    }

    fn field<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        key: &str,
        value: &Value<'js>,
        strict: bool,
    ) -> std::result::Result<(), ArgumentError<RefusedParam>> {
        match (key, value.is_null() || value.is_undefined()) {
            ("headers" | "tags" | "jar" | "compression", true) => {}
            ("headers", _) => self.headers = http_params::headers(ctx, value)?,
            ("tags", _) => {
                let refuse = |refusal: Refusal| {
                    let why = refusal.message.trim_start_matches("invalid HTTP request metric tags: ");
                    let what =
                        if strict { "invalid WebSocket tags option" } else { "invalid ws.connect() metric tags" };
                    RefusedParam(format!("{what}: {why}"))
                };
                (self.tags, self.name) = http_params::tags(ctx, value).map_err(|error| error.map(refuse))?;
            }
            ("jar", _) => {
                if let Some(jar) = cookies::jar_of(value) {
                    self.jar = jar;
                }
            }
            ("compression", _) => match bytes::to_text(ctx, value)?.trim() {
                "" => {}
                "deflate" => self.deflate = Some(DeflateOffer::WithoutContext),
                other => {
                    let known = "supported algorithm is 'deflate'";
                    return Err(RefusedParam(format!("unsupported compression algorithm '{other}', {known}")).into());
                }
            },
            (unknown, _) if strict => {
                return Err(RefusedParam(format!("unknown WebSocket's option {unknown}")).into());
            }
            _ => {}
        }
        Ok(())
    }
}

impl Plan {
    /// Why the handshake cannot be made with these headers.
    pub fn conflict(&self) -> Option<String> {
        let names = self.params.headers.iter().map(|(name, _)| name.as_str());
        let twice =
            |name: &&str| OURS.contains(name) || *name == "Sec-Websocket-Protocol" && !self.protocols.is_empty();
        names.into_iter().find(twice).map(|name| format!("websocket: duplicate header not allowed: {name}"))
    }
}

/// Why a text is no address of a websocket.
pub enum BadAddress {
    /// Not a URL at all: Go's words.
    Malformed(String),
    /// Of another scheme, this one.
    Scheme(String),
    /// One that cannot be connected to, in words.
    Unreachable(String),
}

/// The http(s) address that a ws(s) address means.
pub fn address(text: &str) -> std::result::Result<Url, BadAddress> {
    let scheme_end = text.find(':').filter(|end| {
        text[..*end].starts_with(|c: char| c.is_ascii_alphabetic())
            && text[..*end].bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    let Some(end) = scheme_end else {
        let starts_badly = text.starts_with(':');
        let why = format!("parse {:?}: missing protocol scheme", Mask::of([]).text(text));
        return Err(if starts_badly { BadAddress::Malformed(why) } else { BadAddress::Scheme(String::new()) });
    };
    let scheme = text[..end].to_ascii_lowercase();
    let http = match scheme.as_str() {
        "ws" => "http",
        "wss" => "https",
        _ => return Err(BadAddress::Scheme(scheme)),
    };
    match Url::parse(&format!("{http}{}", &text[end..])) {
        Ok(url) if url.userinfo.is_some() => Err(BadAddress::Unreachable("malformed ws or wss URL".into())),
        Ok(url) => Ok(url),
        Err(error) if error.kind == FailureKind::InvalidUrl => {
            let why = error.message.replacen("\"http", "\"ws", 1);
            Err(BadAddress::Malformed(why.strip_prefix("invalid URL: ").map_or(why.clone(), String::from)))
        }
        Err(error) if error.message.contains("no Host") => Err(BadAddress::Unreachable("lookup : no such host".into())),
        Err(error) => Err(BadAddress::Unreachable(error.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let host = |text: &str| match address(text) {
            Ok(url) => format!("{} {} {}", url.tls, url.authority, url.target),
            Err(BadAddress::Malformed(why) | BadAddress::Unreachable(why)) => why,
            Err(BadAddress::Scheme(scheme)) => format!("scheme {scheme:?}"),
        };
        assert_eq!(host("ws://a.test/b?c"), "false a.test /b?c");
        assert_eq!(host("WSS://a.test:1"), "true a.test:1 /");
        assert_eq!(host("ws://u:p@a.test/"), "malformed ws or wss URL");
        assert_eq!(host("http://a.test/"), "scheme \"http\"");
        assert_eq!(host("::"), "parse \"::\": missing protocol scheme");
        assert_eq!(host("ws://"), "lookup : no such host");
        assert_eq!(host("5"), "scheme \"\"");
    }
}
