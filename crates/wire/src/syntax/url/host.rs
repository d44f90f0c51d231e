//! The host of a URL and its port: IPv6 literals, IDNA names, escapes of non-ASCII bytes, with Go's error texts.
//!
//! Refuses what no host name can hold; what merely does not exist is for the lookup to say.
//! Invariant: `name` and `header` are ASCII without spaces and controls.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use super::{UrlError, bad_escape, invalid};
use crate::failure::FailureKind;
use crate::syntax::percent::{NOT_ASCII, hex_byte, percent_decode, percent_encode, quote};

/// The host in its four forms.
pub(super) struct Host {
    /// IDNA-encoded, lower case, without brackets.
    pub(super) name: String,
    pub(super) port: u16,
    /// For the Host header.
    pub(super) header: String,
    /// For people: as written, non-ASCII percent-encoded as Go shows it.
    pub(super) shown: String,
}

impl Host {
    pub(super) fn parse(whole: &str, text: &str, tls: bool) -> Result<Host, UrlError> {
        let (host, port_text) = split_port(whole, text)?;
        let port = parse_port(port_text, tls)?;
        let suffix = port_text.map_or("", |p| if p.is_empty() { "" } else { &text[text.len() - p.len() - 1..] });
        if let Some(literal) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
            let address = literal.split("%25").next().unwrap_or(literal);
            if address.parse::<Ipv6Addr>().is_err() {
                return Err(invalid(whole, &format!("invalid host: not an IPv6 address: {}", quote(literal))));
            }
            let header = format!("[{address}]{suffix}");
            return Ok(Host { name: address.to_ascii_lowercase(), port, header, shown: text.to_owned() });
        }
        let decoded = decode_host(whole, host)?;
        let ascii = if decoded.is_ascii() { decoded } else { Cow::Owned(to_ascii(whole, &decoded)?) };
        let mut shown = String::with_capacity(text.len());
        shown.push_str(&percent_encode(text, NOT_ASCII));
        Ok(Host { name: ascii.to_ascii_lowercase(), port, header: format!("{ascii}{suffix}"), shown })
    }
}

fn split_port<'a>(whole: &str, text: &'a str) -> Result<(&'a str, Option<&'a str>), UrlError> {
    let colon = if text.starts_with('[') {
        let Some(end) = text.rfind(']') else {
            return Err(invalid(whole, "missing ']' in host"));
        };
        let after = &text[end + 1..];
        if !after.is_empty() && !after.starts_with(':') {
            return Err(invalid(whole, &format!("invalid port {} after host", quote(after))));
        }
        (!after.is_empty()).then_some(end + 1)
    } else {
        text.rfind(':')
    };
    let Some(colon) = colon else { return Ok((text, None)) };
    let port = &text[colon + 1..];
    if !port.bytes().all(|b| b.is_ascii_digit()) {
        return Err(invalid(whole, &format!("invalid port {} after host", quote(&text[colon..]))));
    }
    Ok((&text[..colon], Some(port)))
}

fn parse_port(text: Option<&str>, tls: bool) -> Result<u16, UrlError> {
    match text {
        None | Some("") => Ok(if tls { 443 } else { 80 }),
        Some(digits) => digits.parse().map_err(|_| UrlError {
            message: format!("dial tcp: address {digits}: invalid port"),
            kind: FailureKind::Dial,
        }),
    }
}

/// Decodes escapes of non-ASCII bytes, the only ones a host may carry, and refuses what no host name holds.
fn decode_host<'a>(whole: &str, host: &'a str) -> Result<Cow<'a, str>, UrlError> {
    for (i, c) in host.char_indices() {
        let fine = !c.is_ascii() || c.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]<>\"%".contains(&(c as u8));
        if !fine {
            return Err(invalid(whole, &format!("invalid character {} in host name", quote(&c.to_string()))));
        }
        if c == '%' && host.get(i + 1..i + 3).and_then(hex_byte).is_none_or(|byte| byte < 0x80) {
            return Err(bad_escape(whole, &host[i..]));
        }
    }
    Ok(percent_decode(host))
}

fn to_ascii(whole: &str, host: &str) -> Result<String, UrlError> {
    let failed = |_| invalid(whole, &format!("host name {} is no valid IDNA name", quote(host)));
    let ascii = idna::domain_to_ascii(host).map_err(failed)?;
    if ascii.bytes().any(|b| b <= b' ' || b == 0x7f) {
        // Some characters stand for a space (U+202F, U+203E and its accent): nothing that a request head may hold.
        return Err(UrlError { message: String::from("lookup: no such host"), kind: FailureKind::NoSuchHost });
    }
    Ok(ascii)
}
