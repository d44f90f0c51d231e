//! A request as routes see it: the head, the body as far as the route wanted it, and the pieces of both that routes ask
//! for.
//!
//! Names and shapes are go-httpbin's: arguments, headers and form values are arrays, header names are in canonical
//! case, `Host` is among the headers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};
use units::Span;
use wire::field::canonical;

use crate::outgoing::respond::{Reply, Response};
use crate::worker::Worker;
use wire::h1::request_head::Head;

/// The longest wait a route accepts.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Names with all their values, sorted by name.
pub(crate) type Values = BTreeMap<String, Vec<String>>;

/// One request with its body.
pub(crate) struct Request<'a> {
    pub(crate) head: &'a Head<'a, 'a>,
    /// Values of the `{…}` in the route's pattern, in order, percent-decoded by `param`.
    pub(crate) params: [&'a str; 4],
    /// The body when the route keeps bodies.
    pub(crate) body: &'a [u8],
    /// Bytes of the body, kept or not.
    pub(crate) body_length: u64,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) tls: bool,
    pub(crate) worker: &'a Rc<Worker>,
}

impl Request<'_> {
    pub(crate) fn query(&self) -> &str {
        split_target(self.head.target).1
    }

    /// The value of one `{…}`, percent-decoded.
    pub(crate) fn param(&self, index: usize) -> Cow<'_, str> {
        percent_decode_str(self.params[index]).decode_utf8_lossy()
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.head.header(name).map(String::from_utf8_lossy)
    }

    /// The first value of a query argument.
    pub(crate) fn arg(&self, name: &str) -> Option<Cow<'_, str>> {
        form_urlencoded::parse(self.query().as_bytes()).find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// A whole number from the query; the error is the 400 that says what was expected.
    pub(crate) fn number(&self, name: &str, default: u64, range: RangeInclusive<u64>) -> Result<u64, Box<Reply>> {
        self.arg(name).map_or(Ok(default), |text| number(name, &text, range))
    }

    /// A duration from the query, `default` without one.
    pub(crate) fn duration(&self, name: &str, default: Duration) -> Result<Duration, Box<Reply>> {
        self.arg(name).map_or(Ok(default), |text| duration(name, &text))
    }

    /// The query's arguments.
    pub(crate) fn args(&self) -> Values {
        collect(form_urlencoded::parse(self.query().as_bytes()))
    }

    /// All headers in canonical case.
    pub(crate) fn headers(&self) -> Values {
        let lines = self.head.headers.iter().map(|h| (canonical(h.name), String::from_utf8_lossy(h.value)));
        collect(lines.map(|(n, v)| (Cow::Owned(n), v)))
    }

    pub(crate) fn origin(&self) -> String {
        self.peer.map_or_else(|| "unix".to_owned(), |ip| ip.to_string())
    }

    /// Scheme and authority the client used.
    pub(crate) fn base_url(&self) -> String {
        let host = self.head.authority.map(Cow::Borrowed).or_else(|| self.header("host"));
        let host = host.unwrap_or(Cow::Borrowed("localhost"));
        format!("{}://{host}", if self.tls { "https" } else { "http" })
    }

    pub(crate) fn url(&self) -> String {
        self.base_url() + self.head.target
    }

    /// What every echo answers: arguments, headers, method, origin, url.
    pub(crate) fn echo(&self) -> Map<String, Value> {
        let mut echo = Map::new();
        echo.insert("args".into(), json!(self.args()));
        echo.insert("headers".into(), json!(self.headers()));
        echo.insert("method".into(), self.head.method.into());
        echo.insert("origin".into(), self.origin().into());
        echo.insert("url".into(), self.url().into());
        echo
    }
}

/// Path and query, either without the question mark.
pub(crate) fn split_target(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}

/// A whole number within a range, or the 400.
pub(crate) fn number(name: &str, text: &str, range: RangeInclusive<u64>) -> Result<u64, Box<Reply>> {
    text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| {
        let expected = format!("{} to {}", range.start(), range.end());
        bad_request(&format!("{name} is {text:?}, expected a whole number from {expected}"))
    })
}

/// Seconds (`1.5`) or a number with `ms`, `s` or `m`, at most a minute.
pub(crate) fn duration(name: &str, text: &str) -> Result<Duration, Box<Reply>> {
    let wait = Span::parse_seconds(text).and_then(Span::to_duration);
    wait.filter(|d| *d <= MAX_WAIT).ok_or_else(|| {
        bad_request(&format!("{name} is {text:?}, expected seconds or a duration such as 50ms, at most 60s"))
    })
}

pub(crate) fn bad_request(detail: &str) -> Box<Reply> {
    Box::new(Response::error(400, detail).into())
}

/// Groups pairs by name, values in order.
pub(crate) fn collect<'a>(pairs: impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)>) -> Values {
    let mut values = Values::new();
    for (name, value) in pairs {
        values.entry(name.into_owned()).or_default().push(value.into_owned());
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_queries() {
        let values = collect(form_urlencoded::parse(b"a=1&b=x+y%21&a=%zz&&c&d=%E2%82%AC%4"));
        let want = [("a", vec!["1", "%zz"]), ("b", vec!["x y!"]), ("c", vec![""]), ("d", vec!["\u{20ac}%4"])];
        let got: Vec<_> = values.iter().map(|(n, v)| (n.as_str(), v.iter().map(String::as_str).collect())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn reads_durations() {
        for (text, ms) in [("1", 1000), ("0.25", 250), ("50ms", 50), ("2s", 2000), ("1m", 60_000)] {
            assert_eq!(duration("d", text).ok(), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "ms", "-1", "61", "2h", "1e9", "NaN"] {
            assert!(duration("d", text).is_err(), "{text}");
        }
    }
}
