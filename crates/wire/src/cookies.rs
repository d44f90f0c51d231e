//! A cookie jar with k6's shape. Interior mutability: one jar is used by several requests of a batch.

use crate::url::Url;

/// Cookies by domain and path, RFC 6265.
#[derive(Debug, Default)]
pub struct CookieJar {}

/// One cookie, as `Set-Cookie` gives it and as k6 shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cookie {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Domain attribute, without leading dot; empty when absent.
    pub domain: String,
    /// Path attribute; empty when absent.
    pub path: String,
    /// HttpOnly.
    pub http_only: bool,
    /// Secure.
    pub secure: bool,
    /// Max-Age in seconds; 0 when absent.
    pub max_age: i64,
    /// Expires as ms since the epoch; `None` when absent.
    pub expires_ms: Option<i64>,
}

impl Cookie {
    /// Parses one Set-Cookie value; `None` when it has no usable name.
    pub fn parse(_set_cookie: &[u8]) -> Option<Cookie> {
        todo!()
    }
}

impl CookieJar {
    /// Stores a cookie as if this URL had set it. Rejected ones (foreign domain) are dropped silently, as browsers do.
    pub fn set(&self, _url: &Url, _cookie: Cookie) {
        todo!()
    }

    /// Name and value of the cookies that go to this URL, longest path first, then oldest.
    pub fn for_url(&self, _url: &Url) -> Vec<(String, String)> {
        todo!()
    }

    /// Removes all cookies that would go to this URL.
    pub fn clear(&self, _url: &Url) {
        todo!()
    }

    /// Removes one cookie that would go to this URL.
    pub fn delete(&self, _url: &Url, _name: &str) {
        todo!()
    }

    /// Empties the jar (start of an iteration).
    pub fn clear_all(&self) {
        todo!()
    }

    /// Whether there is nothing in it; asked on the hot path.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
}
