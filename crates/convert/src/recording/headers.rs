//! Which recorded headers a script sends: not those of the connection, nor those that the client makes itself, nor
//! cookies that an earlier answer has set.

use std::collections::HashSet;

use super::exchange::{authority_of, value_of};
use crate::template::Template;

/// Headers between two hops (RFC 9110 section 7.6.1), and what the client knows better.
const OWN: [&str; 14] = [
    "connection",
    "content-length",
    "cookie",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "priority",
];

/// The headers of a request.
pub fn to_send(headers: &[(String, String)], url: &str) -> Vec<(String, Template)> {
    let is_sent = |name: &str, value: &str| {
        let lower = name.to_ascii_lowercase();
        let is_name = !name.is_empty() && name.bytes().all(is_token);
        let is_own_host = lower == "host" && value.eq_ignore_ascii_case(authority_of(url));
        is_name && !OWN.contains(&lower.as_str()) && !is_own_host && !value.contains(['\r', '\n', '\0'])
    };
    let sent = headers.iter().filter(|(name, value)| is_sent(name, value));
    sent.map(|(name, value)| (name.clone(), Template::text(value.as_str()))).collect()
}

/// Characters of methods and names (RFC 9110 section 5.6.2).
pub fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

/// Cookies that answers have set.
#[derive(Debug, Default)]
pub struct Cookies {
    known: HashSet<(String, String)>,
}

impl Cookies {
    /// Reads `Set-Cookie`.
    pub fn learn(&mut self, headers: &[(String, String)], host: &str) {
        let set = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        // Exports join the lines of one name by line feeds.
        for line in set.flat_map(|(_, value)| value.split('\n')) {
            let name = line.split(['=', ';']).next().unwrap_or_default().trim();
            self.known.insert((site(host), name.to_owned()));
        }
    }

    /// The cookies of a request that no answer has set.
    pub fn not_set_by_answers(&self, headers: &[(String, String)], host: &str) -> Option<String> {
        let sent = value_of(headers, "cookie")?;
        let is_set = |pair: &&str| {
            let name = pair.split('=').next().unwrap_or_default().trim();
            !name.is_empty() && !self.known.contains(&(site(host), name.to_owned()))
        };
        let left: Vec<&str> = sent.split(';').map(str::trim).filter(is_set).collect();
        (!left.is_empty() && !sent.contains(['\r', '\n', '\0'])).then(|| left.join("; "))
    }
}

/// The last two labels: a cookie of `a.example` is sent to its neighbours too.
fn site(host: &str) -> String {
    let labels: Vec<&str> = host.rsplit('.').take(2).collect();
    match host.parse::<std::net::IpAddr>() {
        Ok(_) => host.to_owned(),
        Err(_) => labels.join("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_of_answers_are_the_jars() {
        let mut cookies = Cookies::default();
        let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        cookies.learn(&header("Set-Cookie", "sid=1; Path=/\nlang=en"), "www.a.test");
        let left = |value: &str, host: &str| cookies.not_set_by_answers(&header("cookie", value), host);
        assert_eq!(left("sid=1; own=2; lang=en", "api.a.test").as_deref(), Some("own=2"));
        assert_eq!(left("sid=1", "a.test"), None);
        assert_eq!(left("sid=1", "b.test").as_deref(), Some("sid=1"));
    }

    #[test]
    fn headers_of_the_connection_stay_behind() {
        let headers =
            [("Host", "h:1"), (":path", "/"), ("Connection", "close"), ("X", "y"), ("Bad", "a\r\nb"), ("", "z")];
        let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(to_send(&headers, "http://h:1/x"), [("X".to_owned(), Template::text("y"))]);
        assert_eq!(to_send(&headers[..1], "http://other/").len(), 1, "a host of its own is kept");
    }
}
