//! Secrets in the text of URLs, hidden where a URL becomes a tag, a line or a message.
//!
//! Hidden are name and password before a host (`****:****@`, as k6 does) and the values of query parameters whose names
//! credentials go by. Such a name is one of a list of words or ends in one: `token` stands for `access_token`,
//! `accessToken` and `X-Amz-Security-Token`. Parameters in fragments count too. What is sent is never touched: requests
//! are made of the URL itself.

use std::borrow::Cow;

use crate::syntax::percent::percent_decode;

/// What replaces a secret.
const HIDDEN: &str = "****";

/// Names of parameters that credentials go by, unless the options name others.
pub const WORDS: [&str; 22] = [
    "access-key",
    "api-key",
    "apikey",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "jwt",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "private-key",
    "pwd",
    "secret",
    "secret-key",
    "session-id",
    "sessionid",
    "sid",
    "sig",
    "signature",
    "token",
];

/// Which parameters are hidden.
#[derive(Clone, Debug)]
pub struct Mask {
    /// Lower case, joined by hyphens.
    words: Vec<String>,
}

impl Mask {
    /// Hides the parameters of `WORDS`.
    pub fn standard() -> Mask {
        Mask::of(WORDS)
    }

    /// Hides parameters of these names and of names that end in one; without any, names and passwords before hosts
    /// alone.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Mask {
        Mask { words: names.into_iter().map(hyphenated).filter(|word| !word.is_empty()).collect() }
    }

    /// Whether a parameter, a variable or a field of this name holds a secret.
    pub fn hides(&self, name: &str) -> bool {
        let name = hyphenated(&percent_decode(name));
        let ends =
            |word: &String| name.strip_suffix(word.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('-'));
        self.words.iter().any(ends)
    }

    /// A URL without its secrets.
    pub fn url<'a>(&self, url: &'a str) -> Cow<'a, str> {
        self.masked(url, |c| matches!(c, '&' | '#'))
    }

    /// A message without the secrets of the URLs in it; there a value ends at a quote or a space as well.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.masked(text, |c| matches!(c, '&' | '#' | '"' | '\'' | '`' | '<' | '>') || c.is_whitespace())
    }

    fn masked<'a>(&self, text: &'a str, ends: impl Fn(char) -> bool) -> Cow<'a, str> {
        let mut shown = without_userinfo(text);
        if let Some(masked) = self.without_values(&shown, &ends) {
            shown = Cow::Owned(masked);
        }
        match self.without_encoded(&shown, &ends) {
            Some(masked) => Cow::Owned(masked),
            None => shown,
        }
    }

    /// The same of a URL that is the value of a parameter, `?next=%2Fhome%3Ftoken%3Dabc`. `None` when there is nothing
    /// to hide.
    fn without_encoded(&self, text: &str, ends: impl Fn(char) -> bool) -> Option<String> {
        let (mut out, mut copied) = (String::new(), 0);
        // Where the name of a parameter begins, until its value does.
        let mut name_at = None;
        for (at, _) in text.match_indices('%').filter(|(at, _)| text.is_char_boundary((at + 3).min(text.len()))) {
            let behind = (at + 3).min(text.len());
            let sign = &text[at..behind];
            if ["%3f", "%26", "%23"].iter().any(|mark| sign.eq_ignore_ascii_case(mark)) {
                name_at = Some(behind);
            } else if sign.eq_ignore_ascii_case("%3d")
                && let Some(name_at) = name_at.take().filter(|name_at| *name_at >= copied)
                && self.hides(&text[name_at..at])
            {
                let rest = &text[behind..];
                let next = ["%26", "%23"].iter().filter_map(|mark| rest.find(mark));
                let length = rest.find(&ends).into_iter().chain(next).min().unwrap_or(rest.len());
                if length > 0 {
                    out.extend([&text[copied..behind], HIDDEN]);
                    copied = behind + length;
                }
            }
        }
        if copied == 0 {
            return None;
        }
        out.push_str(&text[copied..]);
        Some(out)
    }

    /// `None` when there is nothing to hide.
    fn without_values(&self, text: &str, ends: impl Fn(char) -> bool) -> Option<String> {
        let (mut out, mut copied) = (String::new(), 0);
        for (at, mark) in text.match_indices(['?', '&', '#']) {
            let name_at = at + mark.len();
            if name_at < copied {
                continue;
            }
            let rest = &text[name_at..];
            let Some(equals) = rest.find(|c| c == '=' || c == '?' || ends(c)).filter(|i| rest[*i..].starts_with('='))
            else {
                continue;
            };
            if !self.hides(&rest[..equals]) {
                continue;
            }
            let value_at = name_at + equals + 1;
            let length = text[value_at..].find(&ends).unwrap_or(text.len() - value_at);
            if length > 0 {
                out.extend([&text[copied..value_at], HIDDEN]);
                copied = value_at + length;
            }
        }
        if copied == 0 {
            return None;
        }
        out.push_str(&text[copied..]);
        Some(out)
    }
}

/// With `****:****` in place of names and passwords. What Go shows of them, `name:***`, stays.
fn without_userinfo(text: &str) -> Cow<'_, str> {
    let (mut out, mut copied) = (String::new(), 0);
    for (at, mark) in text.match_indices("://") {
        let start = at + mark.len();
        let rest = &text[start..];
        let authority =
            &rest[..rest.find(|c: char| matches!(c, '/' | '?' | '#' | '"') || c.is_whitespace()).unwrap_or(rest.len())];
        let Some(end) = authority.rfind('@').filter(|end| !authority[..*end].ends_with(":***")) else { continue };
        let hidden = if authority[..end].contains(':') { "****:****" } else { HIDDEN };
        out.extend([&text[copied..start], hidden]);
        copied = start + end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The words of a name in lower case, with hyphens between them: `accessToken`, `access_token` and `Access-Token` are
/// the same.
fn hyphenated(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut last_is_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            last_is_small = false;
            if !out.is_empty() && !out.ends_with('-') {
                out.push('-');
            }
            continue;
        }
        if c.is_uppercase() && last_is_small {
            out.push('-');
        }
        last_is_small = !c.is_uppercase();
        out.extend(c.to_lowercase());
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_parameters_have_secrets_too() {
        let mask = Mask::standard();
        for (url, shown) in [
            ("http://h/?next=%2Fa%3Fsig%3Ds3cr3t", "http://h/?next=%2Fa%3Fsig%3D****"),
            ("http://h/?u=%3fa%3d1%26token%3dx%26b%3d2&c=3", "http://h/?u=%3fa%3d1%26token%3d****%26b%3d2&c=3"),
            ("http://h/?u=%3Fpage%3D1&token=x", "http://h/?u=%3Fpage%3D1&token=****"),
            ("http://h/?a=b%3Dtoken", "http://h/?a=b%3Dtoken"),
        ] {
            assert_eq!(mask.url(url), shown);
        }
    }

    /// Whole texts were gone over again for each of the parameters that hide nothing.
    #[test]
    fn long_texts_are_gone_over_once() {
        let mask = Mask::standard();
        let long = 1 << 20;
        for part in ["?d=eb;c", "%3d", "%3fa%3db", "?", "://", "%3f"] {
            let text = part.repeat(long / part.len());
            assert_eq!(mask.text(&text), text);
        }
        assert_eq!(mask.url(&format!("{}?token=x", "?d=e".repeat(9))), format!("{}?token=****", "?d=e".repeat(9)));
    }

    #[test]
    fn names_that_credentials_go_by() {
        let standard = Mask::standard();
        for name in [
            "token",
            "TOKEN",
            "access_token",
            "accessToken",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
            "api_key",
            "apiKey",
            "APIKey",
            "client_secret",
            "user[password]",
            "api%5Fkey",
            "DB_PASSWORD",
            "sig",
            "JWT",
        ] {
            assert!(standard.hides(name), "{name}");
        }
        for name in ["", "tokens", "token_type", "key", "page", "author", "design", "inside", "pin", "monkey"] {
            assert!(!standard.hides(name), "{name}");
        }
        let own = Mask::of(["pin", "visitorKey"]);
        assert_eq!(["PIN", "the-pin", "visitor_key", "token"].map(|name| own.hides(name)), [true, true, true, false]);
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn urls_keep_all_but_their_secrets() {
        let standard = Mask::standard();
        for (url, shown) in [
            ("http://h/?token=abc", "http://h/?token=****"),
            ("http://h/?a=1&api_key=s%26x\"y z&b=2#f", "http://h/?a=1&api_key=****&b=2#f"),
            ("http://u:p@h/?token=a&token=b", "http://****:****@h/?token=****&token=****"),
            ("http://u@h/#access_token=x&state=y", "http://****@h/#access_token=****&state=y"),
            ("http://h/?next=/login?token=abc", "http://h/?next=/login?token=****"),
            ("ws://u:p%40q@h:1/x", "ws://****:****@h:1/x"),
            ("http://****:****@h/?token=****", "http://****:****@h/?token=****"),
        ] {
            assert_eq!(standard.url(url), shown, "{url}");
        }
        for plain in ["http://h/", "http://h/a@b?c=d", "http://h/?token=", "http://h/?token", "http://h/token=abc", ""]
        {
            assert!(matches!(standard.url(plain), Cow::Borrowed(same) if same == plain), "{plain}");
        }
        assert_eq!(Mask::of([]).url("http://u:p@h/?token=abc"), "http://****:****@h/?token=abc");
    }

    #[test]
    fn messages_go_on_behind_a_url() {
        let shown = Mask::standard()
            .text("Get \"http://u:***@h/?token=abc\": failed, see 'https://a:b@x/?sig=1&n=2' and ?pwd=x y");
        assert_eq!(
            shown,
            "Get \"http://u:***@h/?token=****\": failed, see 'https://****:****@x/?sig=****&n=2' and ?pwd=**** y"
        );
    }

    #[test]
    fn random_texts_never_panic_and_keep_no_secret() {
        let pieces = [
            "http://", "u", ":", "@", "/", "?", "&", "#", "=", "token", "é", "\"", " ", "****", "_", "a=b", "token=S3",
            "://", "%5f",
        ];
        let (mut rng, standard) = (fastrand::Rng::with_seed(17), Mask::standard());
        let mut hidden = 0;
        for _ in 0..40_000 {
            let text: String = (0..rng.usize(0..12)).map(|_| pieces[rng.usize(0..pieces.len())]).collect();
            for shown in [standard.url(&text), standard.text(&text)] {
                hidden += usize::from(shown != text);
                assert!(
                    !["?token=S3", "&token=S3", "#token=S3"].iter().any(|s| shown.contains(s)),
                    "{text:?} {shown:?}"
                );
            }
            let once = standard.url(&text).into_owned();
            assert_eq!(standard.url(&once), once, "{text:?}");
        }
        assert!(hidden > 1000, "only {hidden} texts had a secret: the generator tests nothing");
    }
}
