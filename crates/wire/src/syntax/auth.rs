//! Basic and digest credentials.
//!
//! Digest (RFC 7616, and RFC 2069 for servers without qop): MD5, SHA-256, SHA-512-256 and their `-sess` forms; qop
//! `auth`, `auth-int`, or none; userhash. Each answer uses the nonce once, with a client nonce of its own. NTLM is not
//! spoken.
//!
//! Invariant: nothing a server puts into a challenge can break out of the Authorization header. A user name that would
//! is refused when the head is written.

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use sha2::{Sha256, Sha512_256};

use crate::payload::Payload;

/// The value of an Authorization (or Proxy-Authorization) header for basic credentials.
pub(crate) fn basic((name, password): &(String, Option<String>)) -> String {
    let clear = format!("{name}:{}", password.as_deref().unwrap_or(""));
    format!("Basic {}", base64_simd::STANDARD.encode_to_string(clear))
}

/// A digest challenge that we can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    /// The name to repeat, without `-sess`; `None` when the server named none.
    algorithm_name: Option<&'static str>,
    session: bool,
    qop: Qop,
    userhash: bool,
    /// The nonce alone was too old: the same credentials may be tried with this one.
    pub(crate) stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512_256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Qop {
    /// RFC 2069.
    None,
    Auth,
    AuthInt,
}

/// What an answer is made for.
pub(crate) struct Subject<'a> {
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    pub(crate) body: Option<&'a Payload>,
}

impl Challenge {
    /// The first digest challenge we can answer among the values of WWW-Authenticate; the server's order is its
    /// preference.
    pub(crate) fn find<'a>(values: impl Iterator<Item = &'a str>) -> Option<Challenge> {
        values.flat_map(challenges).find_map(|(scheme, params)| {
            scheme.eq_ignore_ascii_case("digest").then(|| Challenge::from_params(&params)).flatten()
        })
    }

    fn from_params(params: &[(String, String)]) -> Option<Challenge> {
        let get = |name: &str| {
            let (_, value) = params.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?;
            Some(value.replace(char::is_control, ""))
        };
        let named = get("algorithm").map(|name| name.to_ascii_uppercase());
        let upper = named.as_deref().unwrap_or("MD5");
        let (base, session) = upper.strip_suffix("-SESS").map_or((upper, false), |base| (base, true));
        let (algorithm, name) = match base {
            "MD5" => (Algorithm::Md5, "MD5"),
            "SHA-256" => (Algorithm::Sha256, "SHA-256"),
            "SHA-512-256" => (Algorithm::Sha512_256, "SHA-512-256"),
            _ => return None,
        };
        let qop = match get("qop") {
            None => Qop::None,
            Some(list) => {
                let offers = |name: &str| list.split(',').any(|q| q.trim().eq_ignore_ascii_case(name));
                [("auth", Qop::Auth), ("auth-int", Qop::AuthInt)].into_iter().find(|(name, _)| offers(name))?.1
            }
        };
        let says_true = |name: &str| get(name).is_some_and(|v| v.eq_ignore_ascii_case("true"));
        Some(Challenge {
            realm: get("realm")?,
            nonce: get("nonce")?,
            opaque: get("opaque"),
            algorithm,
            algorithm_name: named.is_some().then_some(name),
            session,
            qop,
            userhash: says_true("userhash"),
            stale: says_true("stale"),
        })
    }

    /// The Authorization value that answers this challenge. `cnonce` must be fresh for each answer.
    pub(crate) fn answer(&self, (name, password): &(String, Option<String>), of: &Subject<'_>, cnonce: &str) -> String {
        const COUNT: &str = "00000001";
        let hash = |text: String| self.algorithm.hex(text.as_bytes());
        let mut secret = hash(format!("{name}:{}:{}", self.realm, password.as_deref().unwrap_or("")));
        if self.session {
            secret = hash(format!("{secret}:{}:{cnonce}", self.nonce));
        }
        let subject = match self.qop {
            Qop::AuthInt => hash(format!("{}:{}:{}", of.method, of.target, self.algorithm.hex_of_body(of.body))),
            Qop::Auth | Qop::None => hash(format!("{}:{}", of.method, of.target)),
        };
        let response = match self.qop.name() {
            Some(qop) => hash(format!("{secret}:{}:{COUNT}:{cnonce}:{qop}:{subject}", self.nonce)),
            None => hash(format!("{secret}:{}:{subject}", self.nonce)),
        };
        let user = if self.userhash { hash(format!("{name}:{}", self.realm)) } else { name.clone() };
        let mut out = String::from("Digest ");
        push_quoted(&mut out, "username", &user);
        for (key, value) in [("realm", self.realm.as_str()), ("nonce", &self.nonce), ("uri", of.target)] {
            out.push_str(", ");
            push_quoted(&mut out, key, value);
        }
        if let Some(algorithm) = self.algorithm_name {
            out.extend([", algorithm=", algorithm, if self.session { "-sess" } else { "" }]);
        }
        out.push_str(", ");
        push_quoted(&mut out, "response", &response);
        if let Some(opaque) = &self.opaque {
            out.push_str(", ");
            push_quoted(&mut out, "opaque", opaque);
        }
        if let Some(qop) = self.qop.name() {
            out.extend([", qop=", qop, ", nc=", COUNT]);
        }
        if self.qop != Qop::None || self.session {
            out.push_str(", ");
            push_quoted(&mut out, "cnonce", cnonce);
        }
        if self.userhash {
            out.push_str(", userhash=true");
        }
        out
    }
}

impl Qop {
    fn name(self) -> Option<&'static str> {
        match self {
            Qop::None => None,
            Qop::Auth => Some("auth"),
            Qop::AuthInt => Some("auth-int"),
        }
    }
}

impl Algorithm {
    fn hex(self, text: &[u8]) -> String {
        self.hex_of(|take| take(text))
    }

    /// The digest of a body. One that cannot be read to its end gives the digest of what could be: sending it fails
    /// with the reason.
    fn hex_of_body(self, body: Option<&Payload>) -> String {
        self.hex_of(|take| drop(body.map(|body| body.read(take))))
    }

    fn hex_of(self, feed: impl FnOnce(&mut dyn FnMut(&[u8]))) -> String {
        match self {
            Algorithm::Md5 => hex_by::<Md5>(feed),
            Algorithm::Sha256 => hex_by::<Sha256>(feed),
            Algorithm::Sha512_256 => hex_by::<Sha512_256>(feed),
        }
    }
}

fn hex_by<D: Digest>(feed: impl FnOnce(&mut dyn FnMut(&[u8]))) -> String {
    let mut hasher = D::new();
    feed(&mut |piece| hasher.update(piece));
    HEXLOWER.encode(&hasher.finalize())
}

/// A client nonce: it makes answers differ, its secrecy protects nothing, so no cryptographic source is needed.
pub(crate) fn fresh_cnonce() -> String {
    format!("{:032x}", fastrand::u128(..))
}

fn push_quoted(out: &mut String, key: &str, value: &str) {
    out.extend([key, "=\""]);
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// Cuts one WWW-Authenticate value into its challenges: scheme and parameters.
fn challenges(value: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut found: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for item in split_outside_quotes(value) {
        let equals = item.find('=').unwrap_or(item.len());
        // `Digest realm="r"` opens a challenge; `nonce="n"` continues it; `Negotiate` stands alone.
        let (scheme, param) = match item[..equals].trim_end().split_once(char::is_whitespace) {
            Some((scheme, _)) => (Some(scheme), item[scheme.len()..].trim_start()),
            None if equals == item.len() => (Some(item), ""),
            None => (None, item),
        };
        if let Some(scheme) = scheme {
            found.push((scheme.to_owned(), Vec::new()));
        }
        if let (Some((key, value)), Some((_, params))) = (param.split_once('='), found.last_mut()) {
            params.push((key.trim().to_owned(), unquote(value.trim())));
        }
    }
    found
}

fn split_outside_quotes(value: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (i, byte) in value.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                parts.push(&value[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&value[start..]);
    parts.into_iter().map(str::trim).filter(|p| !p.is_empty()).collect()
}

fn unquote(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut escaped = false;
    let plain = |c: &char| {
        escaped = *c == '\\' && !escaped;
        !escaped
    };
    inner.chars().filter(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mufasa() -> (String, Option<String>) {
        (String::from("Mufasa"), Some(String::from("Circle of Life")))
    }

    fn answer(challenge: &str, cnonce: &str) -> String {
        let subject = Subject { method: "GET", target: "/dir/index.html", body: None };
        Challenge::find([challenge].into_iter()).unwrap().answer(&mufasa(), &subject, cnonce)
    }

    fn part(answer: &str, key: &str) -> String {
        let all = challenges(answer);
        all[0].1.iter().find(|(k, _)| k == key).unwrap_or_else(|| panic!("no {key} in {answer}")).1.clone()
    }

    #[test]
    fn basic_is_base64() {
        assert_eq!(basic(&("user".into(), Some("p@ss".into()))), "Basic dXNlcjpwQHNz");
        assert_eq!(basic(&("us er".into(), None)), "Basic dXMgZXI6");
        assert_eq!(basic(&(String::new(), Some("pw".into()))), "Basic OnB3");
    }

    #[test]
    fn rfc_7616_section_3_9_1() {
        let rest = "realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
            nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                    opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        let md5 = answer(&format!("Digest {rest}, algorithm=MD5"), cnonce);
        assert_eq!(part(&md5, "response"), "8ca523f5e9506fed4657c9700eebdbec");
        let sha = answer(&format!("Digest {rest}, algorithm=SHA-256"), cnonce);
        assert_eq!(part(&sha, "response"), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
        assert_eq!(part(&sha, "algorithm"), "SHA-256");
        assert_eq!((part(&sha, "nc"), part(&sha, "qop")), ("00000001".into(), "auth".into()));
        assert_eq!((part(&sha, "cnonce"), part(&sha, "uri")), (cnonce.into(), "/dir/index.html".into()));
        assert_eq!(part(&sha, "opaque"), "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS");
    }

    #[test]
    fn without_qop_the_answer_is_that_of_rfc_2069() {
        // Inputs and subject hash of RFC 2617, section 3.5, joined as RFC 2069 says.
        let text = answer("Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"", "x");
        let md5 = |t: &str| Algorithm::Md5.hex(t.as_bytes());
        let (a1, a2) = (md5("Mufasa:testrealm@host.com:Circle of Life"), md5("GET:/dir/index.html"));
        assert_eq!(a2, "39aff3a2bab6126f332b942af96d3366");
        assert_eq!(part(&text, "response"), md5(&format!("{a1}:dcd98b7102dd2f0e8b11d0f600bfb0c093:{a2}")));
        assert!(!text.contains("qop") && !text.contains("cnonce") && !text.contains("algorithm"), "{text}");
    }

    #[test]
    fn sessions_bodies_and_user_hashes_change_the_answer() {
        let plain = answer("Digest realm=\"r\", nonce=\"n\", qop=auth", "c");
        let session = answer("Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=MD5-sess", "c");
        assert_ne!(part(&plain, "response"), part(&session, "response"));
        let old_session = answer("Digest realm=\"r\", nonce=\"n\", algorithm=MD5-sess", "c");
        assert_eq!(part(&old_session, "cnonce"), "c");
        let hashed = answer("Digest realm=\"r\", nonce=\"n\", qop=auth, userhash=true", "c");
        assert_eq!(part(&hashed, "username"), Algorithm::Md5.hex(b"Mufasa:r"));
        let integrity = Challenge::find(["Digest realm=r, nonce=n, qop=auth-int"].into_iter()).unwrap();
        let body = Payload::from_bytes("hello");
        let [with, without] = [Some(&body), None]
            .map(|body| integrity.answer(&mufasa(), &Subject { method: "POST", target: "/", body }, "c"));
        assert_ne!(part(&with, "response"), part(&without, "response"));
        assert_eq!(part(&with, "qop"), "auth-int");
    }

    #[test]
    fn challenges_are_found_among_others() {
        let mixed = "Negotiate, Basic realm=\"x, Digest nonce=1\", digest realm=\"a \\\"b\\\"\", nonce=n, stale=TRUE";
        let found = Challenge::find([mixed].into_iter()).unwrap();
        assert_eq!((found.realm.as_str(), found.nonce.as_str(), found.stale), ("a \"b\"", "n", true));
        let second = Challenge::find(["Basic realm=x", "Digest realm=r, nonce=n"].into_iter());
        assert!(second.is_some());
        let preferred = "Digest realm=r, nonce=1, algorithm=SHA-1, Digest realm=r, nonce=2, algorithm=SHA-256";
        assert_eq!(Challenge::find([preferred].into_iter()).unwrap().nonce, "2");
        for none in
            ["", "Basic realm=x", "Digest", "Digest realm=r", "Digest nonce=n", "Digest realm=r, nonce=n, qop=other"]
        {
            assert_eq!(Challenge::find([none].into_iter()), None, "{none}");
        }
    }

    #[test]
    fn random_challenges_never_panic_and_never_break_the_header() {
        let pieces = [
            "Digest ",
            "realm=",
            "nonce=",
            "qop=auth",
            "\"",
            "\\",
            ",",
            " ",
            "é",
            "\r\n",
            "x",
            "=",
            "algorithm=MD5",
            "opaque=",
        ];
        let mut rng = fastrand::Rng::with_seed(13);
        let mut answered = 0;
        for _ in 0..20_000 {
            let mut text = String::from("Digest realm=r,nonce=n,");
            (0..rng.usize(0..10)).for_each(|_| text.push_str(pieces[rng.usize(0..pieces.len())]));
            let tail = text.split_off(if rng.bool() { 7 } else { 0 });
            if let Some(found) = Challenge::find([text.as_str(), &tail].into_iter()) {
                answered += 1;
                let out = found.answer(&mufasa(), &Subject { method: "GET", target: "/", body: None }, "c");
                assert!(!out.contains(['\r', '\n']), "{text:?}{tail:?} gave {out:?}");
            }
        }
        assert!(answered > 1000, "only {answered} challenges answered: the generator tests nothing");
    }
}
