//! Basic, bearer and digest authentication (RFC 7617, 6750, 7616).
//!
//! Digest is checked without memory: any nonce is accepted, the response must fit it. `qop` is `auth` or `none` (RFC
//! 2069).

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use serde_json::json;
use sha2::{Sha256, Sha512_256};

use crate::outgoing::respond::{Reply, Response};
use crate::request::{Request, bad_request};

const REALM: &str = "onrush";

fn authorization(request: &Request<'_>, scheme: &str) -> Option<String> {
    let header = request.header("authorization")?;
    let (found, value) = header.split_once(' ')?;
    found.eq_ignore_ascii_case(scheme).then(|| value.trim().to_owned())
}

fn credentials(request: &Request<'_>) -> Option<(String, String)> {
    let decoded = base64_simd::STANDARD.decode_to_vec(authorization(request, "basic")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    text.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
}

fn verdict(status: u16, user: &str) -> Response {
    let ok = status == 200;
    Response::json(status, &json!({ "authenticated": ok, "user": user, "authorized": ok }))
}

fn basic_user(request: &Request<'_>) -> (bool, String) {
    let (user, password) = credentials(request).unwrap_or_default();
    (user == request.param(0) && password == request.param(1), user)
}

pub(crate) fn basic(request: &Request<'_>) -> Reply {
    match basic_user(request) {
        (true, user) => verdict(200, &user),
        (false, user) => verdict(401, &user).header("WWW-Authenticate", format!("Basic realm=\"{REALM}\"")),
    }
    .into()
}

pub(crate) fn hidden_basic(request: &Request<'_>) -> Reply {
    match basic_user(request) {
        (true, user) => verdict(200, &user),
        (false, _) => Response::error(404, "no such path"),
    }
    .into()
}

pub(crate) fn bearer(request: &Request<'_>) -> Reply {
    match authorization(request, "bearer") {
        Some(token) => Response::json(200, &json!({ "authenticated": true, "token": token })),
        None => Response::empty(401).header("WWW-Authenticate", "Bearer"),
    }
    .into()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512256,
}

impl Algorithm {
    const ALL: [(&str, Algorithm); 3] =
        [("MD5", Algorithm::Md5), ("SHA-256", Algorithm::Sha256), ("SHA-512-256", Algorithm::Sha512256)];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, a)| *a == self).map_or("MD5", |(name, _)| name)
    }

    fn hex(self, text: &str) -> String {
        match self {
            Algorithm::Md5 => HEXLOWER.encode(&Md5::digest(text)),
            Algorithm::Sha256 => HEXLOWER.encode(&Sha256::digest(text)),
            Algorithm::Sha512256 => HEXLOWER.encode(&Sha512_256::digest(text)),
        }
    }
}

pub(crate) fn digest_md5(request: &Request<'_>) -> Reply {
    check_digest(request, Algorithm::Md5)
}

pub(crate) fn digest(request: &Request<'_>) -> Reply {
    let name = request.param(3);
    match Algorithm::ALL.iter().find(|(n, _)| n.eq_ignore_ascii_case(&name)) {
        Some((_, algorithm)) => check_digest(request, *algorithm),
        None => *bad_request(&format!("the algorithm is {name:?}, expected MD5, SHA-256 or SHA-512-256")),
    }
}

fn check_digest(request: &Request<'_>, algorithm: Algorithm) -> Reply {
    let (qop, user, password) = (request.param(0), request.param(1), request.param(2));
    if qop != "auth" && qop != "none" {
        return *bad_request(&format!("qop is {qop:?}, expected auth or none"));
    }
    let given = authorization(request, "digest").map(|text| fields(&text)).unwrap_or_default();
    let field = |name: &str| given.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v.as_str());
    let right = DigestAnswer {
        algorithm,
        user: &user,
        password: &password,
        method: request.head.method,
        uri: request.head.target,
        nonce: field("nonce"),
        auth: (qop == "auth").then(|| (field("nc"), field("cnonce"))),
    };
    let complete = field("username") == user && field("uri") == request.head.target && field("realm") == REALM;
    if complete && (qop == "none" || field("qop") == "auth") && field("response") == right.response() {
        return verdict(200, &user).into();
    }
    let nonce = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let qop = if qop == "auth" { ", qop=\"auth\"" } else { "" };
    let name = algorithm.name();
    let opaque = Algorithm::Md5.hex(&nonce);
    let challenge = format!("Digest realm=\"{REALM}\"{qop}, algorithm={name}, nonce=\"{nonce}\", opaque=\"{opaque}\"");
    verdict(401, "").header("WWW-Authenticate", challenge).into()
}

/// What goes into the response field.
struct DigestAnswer<'a> {
    algorithm: Algorithm,
    user: &'a str,
    password: &'a str,
    method: &'a str,
    uri: &'a str,
    nonce: &'a str,
    /// Nonce count and client nonce, for `qop=auth`.
    auth: Option<(&'a str, &'a str)>,
}

impl DigestAnswer<'_> {
    fn response(&self) -> String {
        let hash = |text: String| self.algorithm.hex(&text);
        let secret = hash(format!("{}:{REALM}:{}", self.user, self.password));
        let what = hash(format!("{}:{}", self.method, self.uri));
        let nonce = self.nonce;
        match self.auth {
            Some((count, client)) => hash(format!("{secret}:{nonce}:{count}:{client}:auth:{what}")),
            None => hash(format!("{secret}:{nonce}:{what}")),
        }
    }
}

/// `a="b, c", d=e` in pieces.
fn fields(text: &str) -> Vec<(String, String)> {
    let (mut rest, mut fields) = (text, Vec::new());
    while let Some((name, value)) = rest.split_once('=') {
        let (value, after) = match value.strip_prefix('"').and_then(|v| v.split_once('"')) {
            Some(quoted) => quoted,
            None => value.split_at(value.find(',').unwrap_or(value.len())),
        };
        fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        rest = after.trim_start_matches([',', ' ']);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_fields() {
        let want = [("username", "a, b"), ("nc", "00000001"), ("qop", "auth")];
        let got = fields("username=\"a, b\", nc=00000001,qop=auth");
        assert!(got.iter().map(|(n, v)| (n.as_str(), v.as_str())).eq(want));
    }
}
