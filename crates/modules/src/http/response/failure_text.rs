//! What a failed request is called in logs and exceptions: k6's words, which are Go's.
//!
//! They say more than `res.error`: the method, the URL, and where the dialling went. Invariant: no password is shown,
//! nor another secret of a URL.

use std::borrow::Cow;

use wire::mask::Mask;
use wire::{Exchange, FailureKind, Method};

use crate::http::common::url::UrlCache;
use crate::http::request::call::Call;
use script::Vu;

/// The text for people when a request failed: the request, and what went wrong.
#[inline]
pub fn failure_text(vu: &Vu, call: &Call) -> Option<String> {
    if matches!(call.exchange(), Some(Exchange { outcome: Ok(_), .. })) { None } else { text_of_failure(vu, call) }
}

// Cold: most requests get an answer.
#[cold]
fn text_of_failure(vu: &Vu, call: &Call) -> Option<String> {
    let (sent, urls) = (&call.prepared.sent, UrlCache::of(vu));
    let mask = urls.mask();
    let (method, url, message) = match (call.exchange(), &call.prepared.unsendable) {
        (Some(Exchange { outcome: Err(failure), method, url, .. }), _) => {
            (method, hide_password(url, mask), described(failure, url))
        }
        (None, Some(why)) => (&sent.method, sent.target.name.to_string(), Cow::Borrowed(why.message.as_str())),
        _ => return None,
    };
    // k6 tells a broken body without the request's line.
    if message.starts_with("error decompressing") {
        return Some(message.into_owned());
    }
    let message = mask.text(&message);
    Some(format!("{} {url:?}: {message}", operation(method).escape_debug()))
}

/// The failure as k6 logs it, which says more than `res.error`.
pub fn described<'a>(failure: &'a wire::Failure, url: &wire::Url) -> Cow<'a, str> {
    let message = failure.message.as_str();
    if let Some(why) = message.strip_prefix("dial: ").filter(|_| failure.step == wire::Step::Connect) {
        // Which of a name's addresses refused is not known here; k6 shows the first one.
        let (host, port) = (&url.host, url.port);
        let host = if host.contains(':') { Cow::Owned(format!("[{host}]")) } else { Cow::Borrowed(host.as_str()) };
        let call =
            if matches!(failure.kind, FailureKind::DialRefused | FailureKind::DialErrno) { "connect: " } else { "" };
        return Cow::Owned(format!("dial tcp {host}:{port}: {call}{why}"));
    }
    match message.strip_prefix("lookup: ").filter(|_| failure.step == wire::Step::Lookup) {
        Some(why) => Cow::Owned(format!("lookup {}: {why}", url.host)),
        None => Cow::Borrowed(message),
    }
}

/// The method as Go's error texts write it: `Get`, but other tokens as they are.
fn operation(method: &Method) -> String {
    let token = method.as_str();
    let (first, rest) = token.split_at(token.len().min(1));
    format!("{first}{}", rest.to_ascii_lowercase())
}

/// The URL for log lines: the user's name, no password and no other secret.
fn hide_password(url: &wire::Url, mask: &Mask) -> String {
    let written = wire::Url::written(&url.text);
    let text = mask.url(&written);
    match &url.userinfo {
        None => text.into_owned(),
        Some((name, password)) => {
            let mask = if password.is_some() { ":***" } else { "" };
            text.replacen("****:****@", &format!("{name}{mask}@"), 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::Step;

    use super::*;
    use wire::Method;

    #[test]
    fn operations_read_like_go() {
        for (token, expected) in [("GET", "Get"), ("DELETE", "Delete"), ("weird", "weird"), ("X", "X")] {
            assert_eq!(operation(&Method::of(token)), expected);
        }
    }

    #[test]
    fn what_was_dialled_and_looked_up_is_named() {
        let url = wire::Url::parse("http://api.test:81/").expect("a good URL");
        for (step, kind, message, expected) in [
            (Step::Lookup, FailureKind::NoSuchHost, "lookup: no such host", "lookup api.test: no such host"),
            (Step::Connect, FailureKind::DialTimeout, "dial: i/o timeout", "dial tcp api.test:81: i/o timeout"),
            (Step::Receive, FailureKind::Other, "lookup: of the server", "lookup: of the server"),
        ] {
            let failure = wire::Failure { step, kind, message: message.to_owned() };
            assert_eq!(described(&failure, &url), expected);
        }
    }

    #[test]
    fn log_lines_show_no_password() {
        let shown = |text: &str| hide_password(&wire::Url::parse(text).expect("a good URL"), &Mask::standard());
        assert_eq!(shown("http://u:p@h/a?b"), "http://u:***@h/a?b");
        assert_eq!(shown("http://h/"), "http://h/");
        assert_eq!(shown("http://u:p@h/a?b=1&token=abc"), "http://u:***@h/a?b=1&token=****");
    }
}
