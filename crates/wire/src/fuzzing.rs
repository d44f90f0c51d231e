//! Readers of foreign text and bytes that have no other way out of this crate, for `cargo xtask fuzz`.
//!
//! Each function reads one input and says which promise was broken. Nothing is read here that the crate does not read
//! itself: the functions call its readers and compare what they give.

use std::collections::BTreeMap;

use crate::addresses::{parse_block, parse_local_ips};
use crate::client::route::proxy::ProxyRules;
use crate::h1::response_head;
use crate::h2::fuzzing as http2;
use crate::hosts::{FixedHosts, HostPatterns};
use crate::mask::Mask;
use crate::own_tls::ClientIdentity;
use crate::settings::{Proxies, Settings};
use crate::syntax::auth::{self, Challenge};
use crate::syntax::field;
use crate::tls::{missing_issuers, private_key};
use crate::url::Url;
use crate::ws::{self, handshake};

pub use crate::syntax::http_date::parse_date;

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// Lines of `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`: what is made of them fits into a head, and errors keep
/// passwords to themselves.
pub fn proxy(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let mut lines = text.lines().map(str::to_owned);
    let proxies = Proxies { http: lines.next(), https: lines.next(), no_proxy: lines.next(), even_local: false };
    let settings = Settings { proxies, ..Settings::default() };
    let rules = match ProxyRules::new(&settings) {
        Ok(rules) => rules,
        Err(why) if why.contains(":hunter2") => {
            return Err(format!("repeats a password: {why}"));
        }
        Err(_) => return Ok(()),
    };
    for url in ["http://a.test/", "https://b.a.test:444/", "http://10.1.2.3/", "http://[fd00::1]:8080/", "http://x./"] {
        let url = Url::parse(url).map_err(|error| error.message)?;
        if let Some(proxy) = rules.find(&url)
            && let Some(value) = &proxy.authorization
            && !field::is_value(value)
        {
            return Err(format!("would break a request head: {value:?}"));
        }
    }
    Ok(())
}

/// Values of `WWW-Authenticate`, a line each: the answer fits into a head, and reads as the challenge that it answers.
pub fn challenge(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let Some(challenge) = Challenge::find(text.lines()) else { return Ok(()) };
    let login = (String::from("us\"er\\"), Some(String::from("word")));
    let subject = auth::Subject { method: "GET", target: "/a?b=\"c\"", body: None };
    let answer = challenge.answer(&login, &subject, "cnonce");
    if !field::is_value(&answer) {
        return Err(format!("would break a request head: {answer:?}"));
    }
    // An answer has no word for whether the nonce was too old.
    let again = Challenge::find(std::iter::once(answer.as_str()));
    let again = again.map(|mut again| {
        again.stale = challenge.stale;
        again
    });
    if again.as_ref() == Some(&challenge) {
        return Ok(());
    }
    Err(format!("{challenge:?} is answered by {answer}, which reads as {again:?}"))
}

/// A certificate and a key in PEM, in one text: an error has a text and does not repeat the key.
pub fn identity(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let refused = |why: &String| why.is_empty() || why.contains("BEGIN RSA PRIVATE KEY-----M");
    for password in [None, Some(""), Some("password")] {
        let key = private_key::read(&text, password);
        let identity = ClientIdentity::read(Vec::new(), &text, &text, password);
        if key.as_ref().err().is_some_and(refused) || identity.as_ref().err().is_some_and(refused) {
            return Err(format!("{key:?} {identity:?}"));
        }
    }
    Ok(())
}

/// What an authority's server sent: not more certificates than are taken, each readable, with http URLs alone.
pub fn issuers(input: &[u8]) -> Result<(), String> {
    let found = missing_issuers::read(input);
    let urls: Vec<String> = found.iter().flat_map(missing_issuers::urls_of).collect();
    let is_http = |url: &String| url.to_ascii_lowercase().starts_with("http://");
    if found.len() > missing_issuers::MOST_CERTIFICATES || !urls.iter().all(is_http) {
        return Err(format!("{} certificates, which name {urls:?}", found.len()));
    }
    if found.iter().any(|certificate| missing_issuers::read(certificate) != std::slice::from_ref(certificate)) {
        return Err(String::from("a certificate does not read as itself"));
    }
    Ok(())
}

/// Blocks of HPACK, and Huffman's code both ways.
pub fn hpack(input: &[u8]) -> Result<(), String> {
    http2::huffman(input)?;
    http2::fields(input)
}

/// Lines `pattern=place`, and each line as a block and as a list of local addresses.
pub fn hosts(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let pairs: BTreeMap<String, String> = pairs.map(|(name, place)| (name.to_owned(), place.to_owned())).collect();
    if let Ok(hosts) = FixedHosts::read(&pairs) {
        for name in pairs.keys().filter(|name| !name.starts_with('*') && !name.contains(':')) {
            if hosts.find(&name.to_ascii_lowercase(), 80).is_none() {
                return Err(format!("{name:?} is fixed and not found"));
            }
        }
    }
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Ok(patterns) = HostPatterns::read(&lines) {
        patterns.find("a.test");
    }
    for line in &lines {
        if let Ok(block) = parse_block(line)
            && parse_block(&block.to_string()).as_ref() != Ok(&block)
        {
            return Err(format!("{line:?} is {block}, which reads as another block"));
        }
        // A pool of a million addresses is allowed, and takes its time.
        if !line.contains('/') && !line.contains('-') {
            let _ = parse_local_ips(line);
        }
    }
    Ok(())
}

/// A text with URLs: what was hidden stays hidden, and hiding it again changes nothing.
pub fn mask(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let mask = Mask::standard();
    let (of_url, of_text) = (mask.url(&text).into_owned(), mask.text(&text).into_owned());
    let (url_again, text_again) = (mask.url(&of_url), mask.text(&of_text));
    if url_again != of_url || text_again != of_text {
        return Err(format!(
            "{text:?} is shown as {of_url:?} and {of_text:?}, then as {url_again:?} and {text_again:?}"
        ));
    }
    Ok(())
}

/// A head of a response: whole or cut anywhere, it says the same or is not complete; its lines are its own.
pub fn response_head(input: &[u8]) -> Result<(), String> {
    let Ok(Some(whole)) = response_head::parse_head(input) else { return Ok(()) };
    let length = whole.head_len;
    if length > input.len() {
        return Err(format!("a head of {length} bytes in {}", input.len()));
    }
    let alone = response_head::parse_head(&input[..length]);
    if !matches!(&alone, Ok(Some(alone)) if alone.head_len == length) {
        return Err(format!("{length} bytes are a head of {whole:?}, alone of {alone:?}"));
    }
    // Each of the bytes of a short head; of a long one some, because each is parsed anew.
    let mut cuts = (0..length).step_by(length / 512 + 1);
    match cuts.find(|cut| matches!(response_head::parse_head(&input[..*cut]), Ok(Some(_)))) {
        Some(cut) => Err(format!("{cut} of its {length} bytes are a head already")),
        None => Ok(()),
    }
}

/// Fields of an upgrade to WebSocket, a line each: what this crate's server answers, its client accepts.
pub fn upgrade(input: &[u8]) -> Result<(), String> {
    let text = text(input);
    let fields: Vec<(&str, &[u8])> = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name, value.trim().as_bytes()))
        .collect();
    let values = |name: &str| {
        let of_name = fields.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
        of_name.filter_map(|(_, value)| std::str::from_utf8(value).ok().map(str::to_owned)).collect::<Vec<_>>()
    };
    for offer in [None, Some(ws::DeflateOffer::Any), Some(ws::DeflateOffer::WithoutContext)] {
        let _ = handshake::check_answer(&fields, "dGhlIHNhbXBsZSBub25jZQ==", &["a"], offer);
    }
    let Ok(upgrade) = handshake::Upgrade::check("GET", 1, &fields) else { return Ok(()) };
    let mut answer = Vec::new();
    let agreed = upgrade.answer(upgrade.protocols.first().map(String::as_str), std::iter::empty(), &mut answer);
    let answer = String::from_utf8(answer).map_err(|error| error.to_string())?;
    let lines: Vec<(&str, &[u8])> = answer
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name, value.trim().as_bytes()))
        .collect();
    let key = values("sec-websocket-key").into_iter().next().unwrap_or_default();
    let protocols: Vec<&str> = upgrade.protocols.iter().map(String::as_str).collect();
    // An offer with a parameter of its own is answered with it: the widest offer of the client is the one to hold.
    let offer = agreed.deflate.map(|_| ws::DeflateOffer::Any);
    match handshake::check_answer(&lines, key.trim(), &protocols, offer) {
        Ok(seen) if seen == agreed => Ok(()),
        other => Err(format!("{agreed:?} is answered by {answer:?}, which the client reads as {other:?}")),
    }
}
