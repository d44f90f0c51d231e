//! Basic and digest credentials from the URL's userinfo.

use md5::{Digest, Md5};
use onrush_wire::request::Auth;
use onrush_wire::{Request, Settings};

use crate::server::{Scripted, Seen, get, headers, outcome, post, response, send};

fn with_user(server: &Scripted, path: &str) -> String {
    server.url(path).replace("http://", "http://us%20er:pa%3Ass@")
}

#[test]
fn basic_is_sent_at_once_unless_the_script_says_otherwise() {
    let server = Scripted::start(|_| response("401 No", &["WWW-Authenticate: Basic realm=x"], b""));
    let all = send(Settings::default(), &get(&with_user(&server, "/")), None);
    assert_eq!((all.len(), outcome(&all[0])), (1, "401".into()));
    assert_eq!(server.last().header("authorization"), "Basic dXMgZXI6cGE6c3M=");
    let own = Request { headers: headers(&[("authorization", "Mine")]), ..get(&with_user(&server, "/")) };
    send(Settings::default(), &own, None);
    assert_eq!(server.last().header("authorization"), "Mine");
}

fn md5(text: &str) -> String {
    Md5::digest(text).iter().map(|b| format!("{b:02x}")).collect()
}

fn field(authorization: &str, name: &str) -> String {
    let at = authorization.find(&format!("{name}=")).unwrap_or_else(|| panic!("no {name} in {authorization}"));
    let value = &authorization[at + name.len() + 1..];
    value.split(',').next().unwrap().trim_matches('"').to_owned()
}

/// What a server computes for `us er` / `pa:ss`, realm `r`, qop auth.
fn expected(seen: &Seen, authorization: &str) -> String {
    let [nonce, nc, cnonce] = ["nonce", "nc", "cnonce"].map(|n| field(authorization, n));
    let (a1, a2) = (md5("us er:r:pa:ss"), md5(&format!("{}:{}", seen.method, seen.target)));
    md5(&format!("{a1}:{nonce}:{nc}:{cnonce}:auth:{a2}"))
}

/// Nonce `old` is stale; `fresh` is good.
fn guarded(first_nonce: &'static str) -> Scripted {
    Scripted::start(move |seen| {
        let challenge = |nonce: &str, more: &str| {
            response(
                "401 No",
                &[&format!("WWW-Authenticate: Digest realm=\"r\", qop=\"auth\", nonce=\"{nonce}\"{more}")],
                b"who?",
            )
        };
        let authorization = seen.header("authorization");
        if !authorization.starts_with("Digest ") {
            return challenge(first_nonce, "");
        }
        if field(&authorization, "response") != expected(seen, &authorization) {
            return challenge("fresh", "");
        }
        match field(&authorization, "nonce").as_str() {
            "fresh" => response("200 OK", &[], b"in"),
            _ => challenge("fresh", ", stale=true"),
        }
    })
}

#[test]
fn digest_answers_the_challenge() {
    let server = guarded("fresh");
    let request = Request { auth: Auth::Digest, ..post(&with_user(&server, "/dir?x=1"), "hello") };
    let all = send(Settings::default(), &request, None);
    assert_eq!(all.iter().map(outcome).collect::<Vec<_>>(), ["401", "200"]);
    assert_eq!(server.lines(), ["POST /dir?x=1", "POST /dir?x=1"]);
    assert_eq!(server.seen()[0].header("authorization"), "-", "credentials went out before they were asked for");
    assert_eq!(server.last().body, b"hello");
}

#[test]
fn a_stale_nonce_is_answered_once_more_and_wrong_credentials_are_not() {
    let server = guarded("old");
    let all = send(Settings::default(), &Request { auth: Auth::Digest, ..get(&with_user(&server, "/")) }, None);
    assert_eq!(all.iter().map(outcome).collect::<Vec<_>>(), ["401", "401", "200"]);

    let wrong = guarded("fresh");
    let url = wrong.url("/").replace("http://", "http://us%20er:wrong@");
    let all = send(Settings::default(), &Request { auth: Auth::Digest, ..get(&url) }, None);
    assert_eq!(all.iter().map(outcome).collect::<Vec<_>>(), ["401", "401"]);
}

#[test]
fn digest_without_userinfo_or_challenge_is_one_exchange() {
    let server = guarded("fresh");
    let all = send(Settings::default(), &Request { auth: Auth::Digest, ..get(&server.url("/")) }, None);
    assert_eq!(all.iter().map(outcome).collect::<Vec<_>>(), ["401"]);
    let basic = Scripted::start(|_| response("401 No", &["WWW-Authenticate: Basic realm=x"], b""));
    let all = send(Settings::default(), &Request { auth: Auth::Digest, ..get(&with_user(&basic, "/")) }, None);
    assert_eq!(all.iter().map(outcome).collect::<Vec<_>>(), ["401"]);
}
