//! `URL` and `URLSearchParams`: the parts of an address, after the URL Standard for the schemes a server meets.
//!
//! http, https, ws, wss, ftp and file have hosts and paths; other schemes keep what follows the colon as their path. Host names beyond
//! ASCII are refused rather than written in a wrong way. IPv4 addresses in octal or as one number stay as they are.

use host::bytes as script_bytes;
use host::js::{Array, Ctx, Exception, Result, Value};
use host::plain::Args;

use crate::values::{argument, flat, string};

/// Schemes with hosts, and their default ports.
const SPECIAL: [(&str, &str); 6] =
    [("http", "80"), ("https", "443"), ("ws", "80"), ("wss", "443"), ("ftp", "21"), ("file", "")];

/// The parts of an address, as `URL` names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Parts {
    scheme: String,
    username: String,
    password: String,
    host: String,
    port: String,
    path: String,
    query: String,
    fragment: String,
}

/// `parseUrl(text, base)`.
pub(super) fn parse_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let text = script_bytes::to_text(ctx, &argument(ctx, args, 0))?;
    let refuse = |what: String| Exception::throw_type(ctx, &what);
    let base = match args.get(1).filter(|base| !base.is_undefined()) {
        Some(base) => Some(parse(&script_bytes::to_text(ctx, &base)?, None).map_err(refuse)?),
        None => None,
    };
    let parts = parse(&text, base.as_ref()).map_err(refuse)?;
    let array = Array::new(ctx.clone())?;
    let all = [
        &parts.scheme,
        &parts.username,
        &parts.password,
        &parts.host,
        &parts.port,
        &parts.path,
        &parts.query,
        &parts.fragment,
    ];
    for (index, part) in all.into_iter().enumerate() {
        array.set(index, part.as_str())?;
    }
    Ok(array.into_value())
}

/// `parseQuery(text)`.
pub(super) fn parse_query_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let text = script_bytes::to_text(ctx, &argument(ctx, args, 0))?;
    let pairs = pairs(text.strip_prefix('?').unwrap_or(&text));
    flat(ctx, pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// `writeQuery([name, value, …])`.
pub(super) fn write_query_native<'js>(ctx: &Ctx<'js>, args: Args<'_, 'js>) -> Result<Value<'js>> {
    let list: Array<'js> = argument(ctx, args, 0).get()?;
    let mut out = String::new();
    for (index, item) in list.iter::<Value<'js>>().enumerate() {
        if index > 0 {
            out.push(if index % 2 == 0 { '&' } else { '=' });
        }
        form_encode(&script_bytes::to_text(ctx, &item?)?, &mut out);
    }
    string(ctx, &out)
}

/// The pairs of a query or of an urlencoded form.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(n, v)| (form_decode(n), form_decode(v)))
        .collect()
}

fn form_decode(text: &str) -> String {
    if !text.contains(['%', '+']) {
        return text.to_string();
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let escaped = (*byte == b'%').then(|| tail.first_chunk::<2>()).flatten().and_then(hex_pair);
        out.push(escaped.unwrap_or(if *byte == b'+' { b' ' } else { *byte }));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex_pair(pair: &[u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    Some(digit(pair[0])? << 4 | digit(pair[1])?)
}

fn form_encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => escape(byte, out),
        }
    }
}

fn escape(byte: u8, out: &mut String) {
    let digit = |number: u8| char::from(b"0123456789ABCDEF"[usize::from(number)]);
    out.push('%');
    out.push(digit(byte >> 4));
    out.push(digit(byte & 15));
}

/// Percent-encodes controls, what is not ASCII, and these characters.
fn encode(text: &str, set: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte <= b' ' || byte >= 0x7f || set.contains(&byte) {
            escape(byte, &mut out)
        } else {
            out.push(char::from(byte))
        }
    }
    out
}

fn parse(text: &str, base: Option<&Parts>) -> std::result::Result<Parts, String> {
    let invalid = |what: &str| format!("invalid URL '{text}': {what}");
    let cleaned: String =
        text.trim_matches(|c: char| c <= ' ').chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let (before, fragment) = cleaned.split_once('#').unwrap_or((&cleaned, ""));
    let (before, query) = before.split_once('?').unwrap_or((before, ""));
    let has_query = cleaned.split('#').next().unwrap_or_default().contains('?');
    let mut parts = Parts { query: encode(query, b"\"<>'"), fragment: encode(fragment, b"\"<>`"), ..Parts::default() };
    let scheme = before.split_once(':').filter(|(scheme, _)| is_scheme(scheme));
    let Some((scheme, rest)) = scheme else {
        let base = base.ok_or_else(|| invalid("it is relative, and there is no base"))?;
        return relative(before, has_query, parts, base).map_err(|what| invalid(&what));
    };
    parts.scheme = scheme.to_ascii_lowercase();
    let Some((_, default_port)) = SPECIAL.iter().find(|(known, _)| *known == parts.scheme) else {
        parts.path = encode(rest, b"");
        return Ok(parts);
    };
    let rest = rest.replace('\\', "/");
    if parts.scheme == "file" {
        parts.path = normalize(rest.strip_prefix("//").unwrap_or(&rest));
        return Ok(parts);
    }
    authority(rest.trim_start_matches('/'), default_port, &mut parts).map_err(|what| invalid(&what))?;
    Ok(parts)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn relative(text: &str, has_query: bool, parts: Parts, base: &Parts) -> std::result::Result<Parts, String> {
    if !SPECIAL.iter().any(|(known, _)| *known == base.scheme) {
        return Err(format!("its base has the scheme '{}', whose addresses have no relatives", base.scheme));
    }
    let text = text.replace('\\', "/");
    let mut joined = Parts { query: parts.query, fragment: parts.fragment, ..base.clone() };
    if let Some(rest) = text.strip_prefix("//") {
        let port = SPECIAL.iter().find(|(known, _)| *known == base.scheme).map_or("", |(_, port)| port);
        joined = Parts { username: String::new(), password: String::new(), ..joined };
        authority(rest, port, &mut joined)?;
    } else if text.is_empty() {
        if !has_query {
            joined.query = base.query.clone();
        }
    } else if text.starts_with('/') {
        joined.path = normalize(&text);
    } else {
        let folder = base.path.rfind('/').map_or("/", |at| &base.path[..=at]);
        joined.path = normalize(&format!("{folder}{text}"));
    }
    Ok(joined)
}

/// `user:password@host:port/path`.
fn authority(text: &str, default_port: &str, parts: &mut Parts) -> std::result::Result<(), String> {
    let (authority, path) = text.split_at(text.find('/').unwrap_or(text.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    parts.username = encode(name, b"\"#<>?`{}/:;=@[]^|'");
    parts.password = encode(password, b"\"#<>?`{}/:;=@[]^|'");
    let colon = host.rfind(':').filter(|at| !host[*at..].contains(']'));
    let (host, port) = colon.map_or((host, ""), |at| (&host[..at], &host[at + 1..]));
    if host.is_empty() {
        return Err(String::from("it has no host"));
    }
    let is_fine = |c: char| c.is_ascii() && c > ' ' && !"#/<>?@\\^|%".contains(c);
    if !host.chars().all(is_fine) {
        return Err(format!("its host '{host}' has characters that are not for host names"));
    }
    parts.host = host.to_ascii_lowercase();
    parts.port = match port.parse::<u16>() {
        _ if port.is_empty() => String::new(),
        Ok(number) => number.to_string(),
        Err(_) => return Err(format!("its port '{port}' is not a number from 0 to 65535")),
    };
    if parts.port == default_port {
        parts.port.clear();
    }
    parts.path = normalize(path);
    Ok(())
}

/// A path that begins with a slash, without `.` and `..`.
fn normalize(path: &str) -> String {
    let path = path.strip_prefix('/').unwrap_or(path);
    if !path.contains('.') {
        return format!("/{}", encode(path, b"\"#<>?`{}^"));
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let dots = segment.replace("%2e", ".").replace("%2E", ".");
        match dots.as_str() {
            "." | ".." => {
                if dots == ".." {
                    kept.pop();
                }
                if segments.peek().is_none() {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", encode(&kept.join("/"), b"\"#<>?`{}^"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(parts: &Parts) -> String {
        let host = if parts.host.is_empty() { String::new() } else { format!("//{}", parts.host) };
        let port = if parts.port.is_empty() { String::new() } else { format!(":{}", parts.port) };
        format!("{}:{host}{port}{} ?{} #{}", parts.scheme, parts.path, parts.query, parts.fragment)
    }

    #[test]
    fn addresses_have_parts() {
        for (source, expected) in [
            ("http://h", "http://h/ ? #"),
            ("HTTP://User:Pw@H.Example:80/A/./b/../c?x=1#y", "http://h.example/A/c ?x=1 #y"),
            ("https://h:8443/?a b'", "https://h:8443/ ?a%20b%27 #"),
            ("http://[::1]:81/\u{e9}", "http://[::1]:81/%C3%A9 ? #"),
            ("  ws:\\\\h\\x\n", "ws://h/x ? #"),
            ("file:///a/../b", "file:/b ? #"),
            ("mailto:a@b", "mailto:a@b ? #"),
            ("http://h/..", "http://h/ ? #"),
        ] {
            assert_eq!(text(&parse(source, None).unwrap()), expected, "{source}");
        }
    }

    #[test]
    fn relative_addresses_start_at_their_base() {
        let base = parse("http://u@h:81/a/b?q#f", None).unwrap();
        for (source, expected) in [
            ("c", "http://h:81/a/c ? #"),
            ("../c?x", "http://h:81/c ?x #"),
            ("/c", "http://h:81/c ? #"),
            ("//k/c", "http://k/c ? #"),
            ("", "http://h:81/a/b ?q #"),
            ("?x", "http://h:81/a/b ?x #"),
            ("#x", "http://h:81/a/b ?q #x"),
            ("https://k/", "https://k/ ? #"),
        ] {
            assert_eq!(text(&parse(source, Some(&base)).unwrap()), expected, "{source}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_by_name() {
        for (source, expected) in [
            ("/a", "it is relative, and there is no base"),
            ("http://", "it has no host"),
            ("http://h:99999/", "its port '99999' is not a number from 0 to 65535"),
            ("http://a b/", "its host 'a b' has characters that are not for host names"),
        ] {
            assert_eq!(parse(source, None).unwrap_err(), format!("invalid URL '{source}': {expected}"));
        }
    }

    #[test]
    fn queries_are_pairs() {
        let found = pairs("a=1&b=x+y%21&&c&d=%zz");
        let expected = [("a", "1"), ("b", "x y!"), ("c", ""), ("d", "%zz")];
        assert_eq!(found, expected.map(|(n, v)| (n.to_string(), v.to_string())));
        let mut out = String::new();
        form_encode("a b&\u{e9}*~", &mut out);
        assert_eq!(out, "a+b%26%C3%A9*%7E");
    }
}
