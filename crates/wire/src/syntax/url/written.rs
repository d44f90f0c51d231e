//! A URL as Go writes it, which is what k6's tags and messages have: the scheme in lower case, and what a path and a
//! fragment cannot hold as escapes. The query stays as it is.
//!
//! A path whose every character may stand there is kept, escapes and all. Else Go decodes it and escapes it anew.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::Url;

/// What may stand in a path as it is, besides letters and digits.
const KEPT: &[u8] = b"-_.~!$&'()*+,;=:@[]%/";
/// What a path has after it was escaped anew, besides letters and digits.
const IN_PATH: &[u8] = b"-_.~$&+,/:;=@";
/// The same of a fragment.
const IN_FRAGMENT: &[u8] = b"-_.~$&+,/:;=?@!()*";

impl Url {
    /// A text as Go would write the URL that it is.
    pub fn written(text: &str) -> Cow<'_, str> {
        written(text)
    }
}

fn written(text: &str) -> Cow<'_, str> {
    let (front, fragment) = text.split_once('#').map_or((text, None), |(front, fragment)| (front, Some(fragment)));
    let (front, query) = front.find('?').map_or((front, ""), |at| front.split_at(at));
    let (scheme, rest) = split_scheme(front);
    let authority_end = rest.strip_prefix("//").map_or(0, |rest| 2 + rest.find('/').unwrap_or(rest.len()));
    let (authority, path) = rest.split_at(authority_end);
    let is_opaque = !scheme.is_empty() && authority.is_empty() && !path.starts_with('/');
    let is_empty = authority == "//" && path.is_empty();
    let is_kept = scheme.bytes().all(|byte| !byte.is_ascii_uppercase())
        && (is_opaque || stands(path, KEPT))
        && fragment.is_none_or(|fragment| !fragment.is_empty() && stands(fragment, IN_FRAGMENT))
        && !is_empty;
    if is_kept {
        return Cow::Borrowed(text);
    }
    let mut out = scheme.to_ascii_lowercase();
    out.push_str(if is_empty { "" } else { authority });
    if is_opaque || stands(path, KEPT) {
        out.push_str(path);
    } else {
        push_escaped(&mut out, path, IN_PATH);
    }
    out.push_str(query);
    if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
        out.push('#');
        match stands(fragment, KEPT) {
            true => out.push_str(fragment),
            false => push_escaped(&mut out, fragment, IN_FRAGMENT),
        }
    }
    Cow::Owned(out)
}

/// The scheme with its colon; empty when there is none.
fn split_scheme(text: &str) -> (&str, &str) {
    match text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)) {
        Some(end) if end > 0 && text.as_bytes()[end] == b':' => text.split_at(end + 1),
        _ => ("", text),
    }
}

fn stands(text: &str, others: &[u8]) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}

fn push_escaped(out: &mut String, text: &str, kept: &[u8]) {
    for byte in percent_decode_str(text) {
        match byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_urls_as_go_writes_them() {
        for (text, expected) in [
            ("http://h/a b", "http://h/a%20b"),
            ("http://h/é", "http://h/%C3%A9"),
            ("http://h/a%2Fb'(c)*!", "http://h/a%2Fb'(c)*!"),
            ("http://h/a%2Fb c'", "http://h/a/b%20c%27"),
            ("http://h/x?a=b c|é", "http://h/x?a=b c|é"),
            ("http://h/x#a b", "http://h/x#a%20b"),
            ("http://h/x#", "http://h/x"),
            ("HTTP://H?x", "http://H?x"),
            ("not a url", "not%20a%20url"),
            ("http://", "http:"),
            ("http:///x", "http:///x"),
            ("mailto:a b", "mailto:a b"),
            ("http://[::1]:8080/a", "http://[::1]:8080/a"),
            ("", ""),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }
}
