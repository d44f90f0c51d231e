//! Absolute http(s) URLs, parsed as k6's users expect: nothing is normalised away that Go would send.

use std::rc::Rc;

/// A parsed absolute URL. Cheap to clone; parse once, send often.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Url(Rc<UrlParts>);

/// The parts of a `Url`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UrlParts {
    /// Without userinfo and fragment, as it goes into the `url` tag.
    pub text: String,
    /// `https`.
    pub tls: bool,
    /// Host without port, brackets or zone; IDNA-encoded, lower case.
    pub host: String,
    /// Port, also when it is the scheme's default.
    pub port: u16,
    /// Value of the Host header: host, and port unless it is the default one.
    pub authority: String,
    /// Path and query as they go on the request line, never empty.
    pub target: String,
    /// Name and password, percent-decoded.
    pub userinfo: Option<(String, Option<String>)>,
}

/// Why a text is not a URL that can be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlError {
    /// Text for people.
    pub message: String,
}

impl Url {
    /// Parses an absolute http or https URL.
    pub fn parse(_text: &str) -> Result<Url, UrlError> {
        todo!()
    }

    /// Resolves a reference (a Location header) against this URL, RFC 3986 section 5.
    pub fn join(&self, _reference: &str) -> Result<Url, UrlError> {
        todo!()
    }
}

impl std::ops::Deref for Url {
    type Target = UrlParts;
    fn deref(&self) -> &UrlParts {
        &self.0
    }
}
