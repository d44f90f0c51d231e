//! One `Set-Cookie` value as a cookie (RFC 6265 5.2), with its attributes as k6 shows them.
//!
//! Refuses names that are no tokens, and values that no Cookie header can carry (quotes, backslash, controls,
//! non-ASCII), as Go refuses them. Attributes that it does not know or cannot read are passed over.

use crate::syntax::field::is_token;
use crate::syntax::http_date::parse_date;

/// One cookie, as `Set-Cookie` gives it and as k6 shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cookie {
    /// Name.
    pub name: String,
    /// Value, without the double quotes it may have been wrapped in.
    pub value: String,
    /// Domain attribute as written (k6 shows a leading dot too); empty when absent.
    pub domain: String,
    /// Path attribute; empty when absent.
    pub path: String,
    /// HttpOnly.
    pub http_only: bool,
    /// Secure.
    pub secure: bool,
    /// Max-Age in seconds; 0 when absent, -1 for "expired" (Max-Age of zero or less).
    pub max_age: i64,
    /// Expires as ms since the epoch; `None` when absent.
    pub expires_ms: Option<i64>,
}

impl Cookie {
    /// A cookie without attributes.
    pub fn new(name: String, value: String) -> Cookie {
        Cookie {
            name,
            value,
            domain: String::new(),
            path: String::new(),
            http_only: false,
            secure: false,
            max_age: 0,
            expires_ms: None,
        }
    }

    /// Parses one Set-Cookie value; `None` when it has no usable name or value.
    pub fn parse(set_cookie: &[u8]) -> Option<Cookie> {
        Cookie::read(set_cookie).map(|(cookie, _)| cookie)
    }

    /// The cookie, and whether its value came in double quotes.
    pub(super) fn read(set_cookie: &[u8]) -> Option<(Cookie, bool)> {
        let mut parts = set_cookie.split(|b| *b == b';');
        let (name, value) = split_pair(parts.next()?)?;
        let name = std::str::from_utf8(name).ok().filter(|n| is_token(n))?;
        let (value, quoted) = match value {
            [b'"', inner @ .., b'"'] => (inner, true),
            plain => (plain, false),
        };
        if !value.iter().all(|b| is_value_byte(*b)) {
            return None;
        }
        let mut cookie = Cookie::new(name.to_owned(), String::from_utf8_lossy(value).into_owned());
        for part in parts {
            let (key, value) = split_pair(part).unwrap_or((part.trim_ascii(), b""));
            if let (Ok(key), Ok(value)) = (std::str::from_utf8(key), std::str::from_utf8(value)) {
                apply_attribute(&mut cookie, key, value);
            }
        }
        Some((cookie, quoted))
    }
}

fn apply_attribute(cookie: &mut Cookie, key: &str, value: &str) {
    match key.to_ascii_lowercase().as_str() {
        "domain" => cookie.domain = value.to_owned(),
        "path" => cookie.path = value.to_owned(),
        "secure" => cookie.secure = true,
        "httponly" => cookie.http_only = true,
        "max-age" => {
            let digits = value.strip_prefix('-').unwrap_or(value);
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
                let seconds = if value.starts_with('-') { 0 } else { digits.parse().unwrap_or(i64::MAX) };
                cookie.max_age = if seconds == 0 { -1 } else { seconds };
            }
        }
        "expires" => cookie.expires_ms = parse_date(value),
        _ => {}
    }
}

fn split_pair(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = part.iter().position(|b| *b == b'=')?;
    Some((part[..at].trim_ascii(), part[at + 1..].trim_ascii()))
}

/// A byte that a value may have; one with a space or a comma goes out in double quotes.
pub(super) fn is_value_byte(b: u8) -> bool {
    (0x20..0x7f).contains(&b) && !b"\";\\".contains(&b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_k6_shows_them() {
        let c = Cookie::parse(
            b"a=\"x y\"; DOMAIN=.Foo.test; path=x; HttpOnly; Secure; Max-Age=10; Expires=Wed, 21 Oct 2099 07:28:00 GMT",
        )
        .unwrap();
        assert_eq!(
            (c.name.as_str(), c.value.as_str(), c.domain.as_str(), c.path.as_str()),
            ("a", "x y", ".Foo.test", "x")
        );
        assert_eq!((c.http_only, c.secure, c.max_age, c.expires_ms), (true, true, 10, Some(4_096_250_880_000)));
        for (text, age) in [("0", -1), ("-5", -1), ("x", 0), ("", 0), ("99999999999999999999", i64::MAX)] {
            assert_eq!(Cookie::parse(format!("a=1; Max-Age={text}").as_bytes()).unwrap().max_age, age, "{text}");
        }
    }

    #[test]
    fn unusable_cookies_are_refused() {
        for text in ["=noname", "nosep", "bad name=1", "sl=a\\b", "in=a\"b", "\u{e9}=1", "e=\u{e9}", "", ";", "a=\x01"]
        {
            assert_eq!(Cookie::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Cookie::parse(b"eq=a=b=c").unwrap().value, "a=b=c");
        assert_eq!(Cookie::parse(b"none=").unwrap().value, "");
    }
}
