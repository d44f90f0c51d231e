//! What both WebSocket modules are told about a connection: its address and its params.
//!
//! Reads the addresses as Go does and refuses what k6 refuses, in its words. Headers that the handshake writes itself cannot be
//! given, which is a failure of the connection, not an exception. Invariant: what `Plan` holds can be sent.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::object::Filter;
use rquickjs::{Ctx, Result, Value};
use wire::cookies::CookieJar;
use wire::mask::Mask;
use wire::ws::DeflateOffer;
use wire::{FailureKind, Url};

use crate::Vu;
use crate::host::bytes;
use crate::modules::http::params::{self as http_params, Pairs, Tags};
use crate::modules::http::{cookies, request::HttpState};

/// Where a connection goes and how.
pub struct Plan {
    /// As the script wrote it.
    pub text: String,
    /// The same as an http(s) address, or why it cannot be requested.
    pub url: std::result::Result<Url, String>,
    /// Params of the script.
    pub params: Params,
    /// Subprotocols to offer.
    pub protocols: Vec<String>,
}

/// The params object.
pub struct Params {
    /// Canonical names.
    pub headers: Pairs,
    /// Tags but `name`.
    pub tags: Option<Tags>,
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
pub struct Refused(pub String);

impl Params {
    /// Reads params. `strict`: unknown ones are refused. Inside: the refusal.
    pub fn from_js<'js>(
        ctx: &Ctx<'js>,
        vu: &Vu,
        value: Option<&Value<'js>>,
        strict: bool,
    ) -> Result<std::result::Result<Params, Refused>> {
        let jar = Rc::clone(&vu.local::<HttpState>().jar);
        let mut params = Params { headers: Rc::from([]), tags: None, name: None, jar, deflate: None };
        let Some(object) = value.and_then(Value::as_object) else { return Ok(Ok(params)) };
        for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
            let (key, value) = entry?;
            let Some(key) = bytes::text(&key)? else { continue };
            match (key.as_str(), value.is_null() || value.is_undefined()) {
                ("headers" | "tags" | "jar" | "compression", true) => {}
                ("headers", _) => params.headers = http_params::headers(ctx, &value)?,
                ("tags", _) => match http_params::tags(ctx, &value)? {
                    Ok((tags, name)) => (params.tags, params.name) = (tags, name),
                    Err(refusal) => {
                        let why = refusal.message().trim_start_matches("invalid HTTP request metric tags: ");
                        let what =
                            if strict { "invalid WebSocket tags option" } else { "invalid ws.connect() metric tags" };
                        return Ok(Err(Refused(format!("{what}: {why}"))));
                    }
                },
                ("jar", _) => params.jar = cookies::jar_of(&value).unwrap_or(params.jar),
                ("compression", _) => match bytes::to_text(ctx, &value)?.trim() {
                    "" => {}
                    "deflate" => params.deflate = Some(DeflateOffer::WithoutContext),
                    other => {
                        let known = "supported algorithm is 'deflate'";
                        return Ok(Err(Refused(format!("unsupported compression algorithm '{other}', {known}"))));
                    }
                },
                (unknown, _) if strict => return Ok(Err(Refused(format!("unknown WebSocket's option {unknown}")))),
                _ => {}
            }
        }
        Ok(Ok(params))
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
}

/// The http(s) address that a ws(s) address means. Inside of the result: an address that cannot be connected to, in words.
pub fn address(text: &str) -> std::result::Result<std::result::Result<Url, String>, BadAddress> {
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
        Ok(url) if url.userinfo.is_some() => Ok(Err("malformed ws or wss URL".into())),
        Ok(url) => Ok(Ok(url)),
        Err(error) if error.kind == FailureKind::InvalidUrl => {
            let why = error.message.replacen("\"http", "\"ws", 1);
            Err(BadAddress::Malformed(why.strip_prefix("invalid URL: ").map_or(why.clone(), String::from)))
        }
        Err(error) if error.message.contains("no Host") => Ok(Err("lookup : no such host".into())),
        Err(error) => Ok(Err(error.message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let host = |text: &str| match address(text) {
            Ok(Ok(url)) => format!("{} {} {}", url.tls, url.authority, url.target),
            Ok(Err(why)) => why,
            Err(BadAddress::Malformed(why)) => why,
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
