//! The heads of the upgrade (RFC 6455 4): what a client sends and must see, what a server must see and answers.
//!
//! Refuses upgrades of another version with the version it knows, and answers whose accept value is not the one to the
//! key: what answered is then not a WebSocket server.

use base64_simd::STANDARD;
use sha1::{Digest, Sha1};

use super::extension::{self, DeflateOffer, DeflateParams};
use crate::h1::encode;
use crate::syntax::field::is_token;

/// RFC 6455 1.3.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A new value of `Sec-WebSocket-Key`.
pub fn new_key() -> String {
    STANDARD.encode_to_string(fastrand::u128(..).to_le_bytes())
}

/// The `Sec-WebSocket-Accept` that answers a key.
pub fn accept_value(key: &str) -> String {
    STANDARD.encode_to_string(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

/// A header as the parsers of heads give it.
type Field<'a> = (&'a str, &'a [u8]);

fn values<'a>(headers: &[Field<'a>], name: &str) -> impl Iterator<Item = &'a str> {
    headers.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).filter_map(|(_, v)| std::str::from_utf8(v).ok())
}

fn has_token(headers: &[Field<'_>], name: &str, token: &str) -> bool {
    values(headers, name).any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(token)))
}

/// What a client and a server agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The subprotocol, where one was chosen.
    pub protocol: Option<String>,
    /// The parameters of permessage-deflate, where it is on.
    pub deflate: Option<DeflateParams>,
}

/// Checks the head of a 101 against what was asked for: the key, the subprotocols, the offer. The error is in words.
pub fn check_answer(
    headers: &[(&str, &[u8])],
    key: &str,
    protocols: &[&str],
    offer: Option<DeflateOffer>,
) -> Result<Agreement, String> {
    if !has_token(headers, "upgrade", "websocket") || !has_token(headers, "connection", "upgrade") {
        return Err("the response does not upgrade to websocket".into());
    }
    if values(headers, "sec-websocket-accept").next() != Some(&accept_value(key)) {
        return Err("the sec-websocket-accept header is not the answer to the key that was sent".into());
    }
    let protocol = values(headers, "sec-websocket-protocol").next().map(str::trim).filter(|p| !p.is_empty());
    if let Some(chosen) = protocol.filter(|chosen| !protocols.contains(chosen)) {
        return Err(format!("the server chose the subprotocol {chosen:?}, which was not asked for"));
    }
    let extensions = values(headers, "sec-websocket-extensions");
    let deflate = match offer {
        Some(offer) => offer.accept(extensions)?,
        None => match extensions.map(str::trim).find(|value| !value.is_empty()) {
            Some(chosen) => return Err(format!("the server chose the extension {chosen:?}, which was not offered")),
            None => None,
        },
    };
    Ok(Agreement { protocol: protocol.map(String::from), deflate })
}

/// An upgrade request that can be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    accept: String,
    /// The subprotocols the client would speak, in its order.
    pub protocols: Vec<String>,
    deflate: Option<(DeflateParams, String)>,
}

/// An upgrade request that cannot be met: the status of the answer and the reason in its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// 400, 405 or 426 (with `Sec-WebSocket-Version: 13`).
    pub status: u16,
    /// For a person.
    pub why: &'static str,
}

/// Whether a request asks for this upgrade at all.
pub fn is_upgrade(headers: &[(&str, &[u8])]) -> bool {
    has_token(headers, "upgrade", "websocket")
}

impl Upgrade {
    /// Checks a request (RFC 6455 4.2.1); `minor` is the minor version of HTTP/1.
    pub fn check(method: &str, minor: u8, headers: &[(&str, &[u8])]) -> Result<Upgrade, Refusal> {
        let refuse = |status, why| Err(Refusal { status, why });
        if !is_upgrade(headers) || !has_token(headers, "connection", "upgrade") {
            return refuse(426, "this path speaks websocket: connection and upgrade headers are expected");
        }
        if method != "GET" || minor < 1 {
            return refuse(405, "a websocket is opened by a GET of HTTP/1.1");
        }
        if values(headers, "sec-websocket-version").next().map(str::trim) != Some("13") {
            return refuse(426, "the only version of websocket known is 13");
        }
        let key = values(headers, "sec-websocket-key").next().map(str::trim).unwrap_or_default();
        if !STANDARD.decode_to_vec(key).is_ok_and(|bytes| bytes.len() == 16) {
            return refuse(400, "the sec-websocket-key header is not 16 bytes of base64");
        }
        let protocols = values(headers, "sec-websocket-protocol").flat_map(|value| value.split(','));
        let protocols = protocols.map(str::trim).filter(|p| is_token(p)).map(String::from).collect();
        let deflate = extension::choose(values(headers, "sec-websocket-extensions"));
        Ok(Upgrade { accept: accept_value(key), protocols, deflate })
    }

    /// Appends the 101 with the chosen subprotocol and `extra` headers (clean ones); what is agreed on with it.
    pub fn answer<'a>(
        &'a self,
        protocol: Option<&'a str>,
        extra: impl Iterator<Item = (&'a str, &'a str)>,
        out: &mut Vec<u8>,
    ) -> Agreement {
        let mut fields =
            vec![("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", self.accept.as_str())];
        fields.extend(protocol.map(|protocol| ("Sec-WebSocket-Protocol", protocol)));
        fields.extend(self.deflate.iter().map(|(_, answer)| ("Sec-WebSocket-Extensions", answer.as_str())));
        let lines = fields.iter().copied().chain(extra).map(|(name, value)| (name, value.as_bytes()));
        encode::interim(out, 101, lines);
        Agreement { protocol: protocol.map(String::from), deflate: self.deflate.as_ref().map(|(params, _)| *params) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    fn fields<'a>(lines: &'a [(&'a str, &'a str)]) -> Vec<Field<'a>> {
        lines.iter().map(|(n, v)| (*n, v.as_bytes())).collect()
    }

    const REQUEST: [(&str, &str); 6] = [
        ("upgrade", "WebSocket"),
        ("Connection", "keep-alive, Upgrade"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", KEY),
        ("Sec-WebSocket-Protocol", "chat, superchat"),
        ("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"),
    ];

    #[test]
    fn the_example_of_the_rfc() {
        assert_eq!(accept_value(KEY), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(STANDARD.decode_to_vec(new_key()).unwrap().len(), 16);
        assert_ne!(new_key(), new_key());
    }

    #[test]
    fn what_a_server_answers_a_client_takes() {
        let upgrade = Upgrade::check("GET", 1, &fields(&REQUEST)).unwrap();
        assert_eq!(upgrade.protocols, ["chat", "superchat"]);
        let mut out = Vec::new();
        let agreed = upgrade.answer(Some("superchat"), [("X-A", "b")].into_iter(), &mut out);
        let mut room = [httparse::EMPTY_HEADER; 16];
        let mut response = httparse::Response::new(&mut room);
        assert!(response.parse(&out).unwrap().is_complete());
        assert_eq!(response.code, Some(101));
        let headers: Vec<_> = response.headers.iter().map(|h| (h.name, h.value)).collect();
        let offer = Some(DeflateOffer::Any);
        assert_eq!(check_answer(&headers, KEY, &["chat", "superchat"], offer), Ok(agreed.clone()));
        assert_eq!(agreed.deflate, Some(DeflateParams::default()));
        assert!(headers.contains(&("X-A", b"b")));
        let refused = |key, protocols: &[&str], offer| check_answer(&headers, key, protocols, offer).unwrap_err();
        let accept = "the sec-websocket-accept header is not the answer to the key that was sent";
        assert_eq!(refused("other", &["superchat"], offer), accept);
        let protocol = "the server chose the subprotocol \"superchat\", which was not asked for";
        assert_eq!(refused(KEY, &["chat"], offer), protocol);
        let extension = "the server chose the extension \"permessage-deflate\", which was not offered";
        assert_eq!(refused(KEY, &["superchat"], None), extension);
    }

    #[test]
    fn answers_that_a_client_refuses() {
        const ANSWER: [(&str, &str); 3] = [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        ];
        let check = |headers: &[Field<'_>]| check_answer(headers, KEY, &["chat"], None);
        assert_eq!(check(&fields(&ANSWER)), Ok(Agreement::default()));
        for (missing, why) in [
            ("Upgrade", "the response does not upgrade to websocket"),
            ("Connection", "the response does not upgrade to websocket"),
            ("Sec-WebSocket-Accept", "the sec-websocket-accept header is not the answer to the key that was sent"),
        ] {
            let headers: Vec<_> = fields(&ANSWER).into_iter().filter(|(name, _)| *name != missing).collect();
            assert_eq!(check(&headers), Err(why.to_owned()), "without {missing}");
        }
        // Empty values choose nothing.
        let empty = [("Sec-WebSocket-Protocol", &b" "[..]), ("Sec-WebSocket-Extensions", b"")];
        assert_eq!(check(&[&fields(&ANSWER)[..], &empty].concat()), Ok(Agreement::default()));
        let chosen = [("Sec-WebSocket-Protocol", &b" chat "[..])];
        let agreed = Agreement { protocol: Some(String::from("chat")), deflate: None };
        assert_eq!(check(&[&fields(&ANSWER)[..], &chosen].concat()), Ok(agreed));
    }

    #[test]
    fn requests_that_are_refused() {
        let without = |name: &str| fields(&REQUEST).into_iter().filter(|(n, _)| *n != name).collect::<Vec<_>>();
        let status =
            |method, minor, headers: &[Field<'_>]| Upgrade::check(method, minor, headers).map_err(|r| r.status);
        assert_eq!(status("POST", 1, &fields(&REQUEST)), Err(405));
        assert_eq!(status("GET", 0, &fields(&REQUEST)), Err(405));
        assert!(is_upgrade(&fields(&REQUEST)) && !is_upgrade(&without("upgrade")));
        for key in ["", "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZSE=", "not base64 of sixteen=="] {
            let headers = [without("Sec-WebSocket-Key"), vec![("sec-websocket-key", key.as_bytes())]].concat();
            assert_eq!(status("GET", 1, &headers), Err(400), "{key:?}");
        }
        for (name, expected) in
            [("upgrade", 426), ("Connection", 426), ("Sec-WebSocket-Version", 426), ("Sec-WebSocket-Key", 400)]
        {
            assert_eq!(status("GET", 1, &without(name)), Err(expected), "{name}");
        }
        assert!(status("GET", 1, &without("Sec-WebSocket-Protocol")).is_ok());
    }
}
