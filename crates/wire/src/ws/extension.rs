//! Agreeing on permessage-deflate (RFC 7692 7.1, syntax of RFC 6455 9.1).
//!
//! The server takes the first offer it can meet and answers nothing without one; the client fails the connection when
//! the answer is not one to its offer. Extensions other than this one are not known: declined by the server, refused by
//! the client.

const NAME: &str = "permessage-deflate";

use crate::syntax::field::is_token;

/// What both sides agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeflateParams {
    /// The server compresses each message by itself.
    pub server_no_context_takeover: bool,
    /// The client does.
    pub client_no_context_takeover: bool,
    /// Base-2 logarithm of the server's window, 8 to 15.
    pub server_max_window_bits: u8,
    /// The same of the client's.
    pub client_max_window_bits: u8,
}

impl Default for DeflateParams {
    /// What no parameters mean: context both ways, the full window.
    fn default() -> Self {
        DeflateParams {
            server_no_context_takeover: false,
            client_no_context_takeover: false,
            server_max_window_bits: 15,
            client_max_window_bits: 15,
        }
    }
}

/// What a client offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeflateOffer {
    /// Each message by itself, both ways: what k6 offers, and what costs no memory between messages.
    WithoutContext,
    /// Anything, the client's window being the server's choice: what browsers offer.
    Any,
}

impl DeflateOffer {
    /// The value of `Sec-WebSocket-Extensions` in the request.
    pub fn header(self) -> &'static str {
        match self {
            DeflateOffer::WithoutContext => {
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
            }
            DeflateOffer::Any => "permessage-deflate; client_max_window_bits",
        }
    }

    /// Reads the answer, the values of the response's headers of that name; `None`: the server declined.
    /// The error is in words, and a reason to fail the connection.
    pub fn accept<'a>(self, values: impl Iterator<Item = &'a str>) -> Result<Option<DeflateParams>, String> {
        let mut agreed = None;
        for value in values {
            for extension in list(value).ok_or_else(|| format!("the extensions {value:?} are malformed"))? {
                if extension.name != NAME || agreed.is_some() {
                    return Err(format!("the server chose the extension {:?}, which was not offered", extension.name));
                }
                let params = Params::read(&extension, false);
                let params = params.ok_or_else(|| format!("the parameters in {value:?} are not those of RFC 7692"))?;
                if params.client_bits.is_some() && self == DeflateOffer::WithoutContext {
                    return Err("the server chose client_max_window_bits, which was not offered".into());
                }
                agreed = Some(DeflateParams {
                    server_no_context_takeover: params.server_alone,
                    // What was offered without being asked for is promised all the same.
                    client_no_context_takeover: params.client_alone || self == DeflateOffer::WithoutContext,
                    server_max_window_bits: params.server_bits.unwrap_or(15),
                    client_max_window_bits: params.client_bits.flatten().unwrap_or(15),
                });
            }
        }
        Ok(agreed)
    }
}

/// The server's side: reads the offers, the values of the request's headers; what was agreed on and the header to
/// answer with.
pub(super) fn choose<'a>(values: impl Iterator<Item = &'a str>) -> Option<(DeflateParams, String)> {
    let offers = values.filter_map(list).flatten().filter(|e| e.name == NAME);
    let params = offers.filter_map(|offer| Params::read(&offer, true)).next()?;
    let agreed = DeflateParams {
        server_no_context_takeover: params.server_alone,
        client_no_context_takeover: params.client_alone,
        server_max_window_bits: params.server_bits.unwrap_or(15),
        client_max_window_bits: 15,
    };
    let mut answer = String::from(NAME);
    if agreed.server_no_context_takeover {
        answer.push_str("; server_no_context_takeover");
    }
    if agreed.client_no_context_takeover {
        answer.push_str("; client_no_context_takeover");
    }
    if let Some(bits) = params.server_bits {
        answer.push_str(&format!("; server_max_window_bits={bits}"));
    }
    Some((agreed, answer))
}

/// The parameters of one offer or answer.
#[derive(Default)]
struct Params {
    server_alone: bool,
    client_alone: bool,
    server_bits: Option<u8>,
    /// Inside: the value, which an offer may leave out.
    client_bits: Option<Option<u8>>,
}

impl Params {
    /// `None` where a parameter is unknown, given twice, or has a value it must not have.
    fn read(extension: &Extension<'_>, is_offer: bool) -> Option<Params> {
        let mut params = Params::default();
        for (name, value) in &extension.params {
            match (*name, value) {
                ("server_no_context_takeover", None) if !params.server_alone => params.server_alone = true,
                ("client_no_context_takeover", None) if !params.client_alone => params.client_alone = true,
                ("server_max_window_bits", Some(value)) if params.server_bits.is_none() => {
                    params.server_bits = Some(window_bits(value)?);
                }
                ("client_max_window_bits", Some(value)) if params.client_bits.is_none() => {
                    params.client_bits = Some(Some(window_bits(value)?));
                }
                ("client_max_window_bits", None) if params.client_bits.is_none() && is_offer => {
                    params.client_bits = Some(None);
                }
                _ => return None,
            }
        }
        Some(params)
    }
}

/// 8 to 15, without leading zeros.
fn window_bits(value: &str) -> Option<u8> {
    value.parse().ok().filter(|bits| (8..=15).contains(bits) && !value.starts_with(['0', '+']))
}

struct Extension<'a> {
    name: &'a str,
    params: Vec<(&'a str, Option<&'a str>)>,
}

/// `a; b; c=1, d; e="2"`; `None` when it is malformed. Quoted values are tokens in quotes (RFC 6455 9.1), so no
/// separator hides inside of them.
fn list(value: &str) -> Option<Vec<Extension<'_>>> {
    let mut extensions = Vec::new();
    for item in value.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().filter(|name| is_token(name))?;
        let params = parts.map(|part| match part.split_once('=') {
            None => is_token(part).then_some((part, None)),
            Some((name, value)) => {
                let (name, value) = (name.trim_end(), value.trim_start());
                let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
                (is_token(name) && is_token(value)).then_some((name, Some(value)))
            }
        });
        extensions.push(Extension { name, params: params.collect::<Option<_>>()? });
    }
    Some(extensions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_takes_the_first_offer_it_can_meet() {
        let table = [
            ("permessage-deflate", Some("permessage-deflate")),
            ("permessage-deflate; client_max_window_bits", Some("permessage-deflate")),
            ("permessage-deflate; client_max_window_bits=10", Some("permessage-deflate")),
            (
                "x-other, permessage-deflate; server_max_window_bits=\"9\"",
                Some("permessage-deflate; server_max_window_bits=9"),
            ),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
                Some("permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
            ),
            ("permessage-deflate; unknown, permessage-deflate", Some("permessage-deflate")),
            ("permessage-deflate; server_max_window_bits=8", Some("permessage-deflate; server_max_window_bits=8")),
            ("permessage-deflate; server_max_window_bits", None),
            ("permessage-deflate; server_max_window_bits=16", None),
            ("permessage-deflate; server_max_window_bits=09", None),
            ("permessage-deflate; server_no_context_takeover=1", None),
            ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", None),
            ("permessage-bzip2", None),
            ("", None),
            (";;", None),
        ];
        for (offer, answer) in table {
            assert_eq!(choose([offer].into_iter()).map(|(_, a)| a).as_deref(), answer, "{offer}");
        }
    }

    #[test]
    fn offers_in_several_lines() {
        let (params, _) = choose(["a", "permessage-deflate; server_max_window_bits=12"].into_iter()).unwrap();
        assert_eq!(params, DeflateParams { server_max_window_bits: 12, ..DeflateParams::default() });
    }

    #[test]
    fn the_client_takes_answers_to_its_offer_only() {
        let accept = |offer: DeflateOffer, value| offer.accept([value].into_iter());
        let all = DeflateParams {
            server_no_context_takeover: true,
            client_no_context_takeover: true,
            server_max_window_bits: 10,
            client_max_window_bits: 11,
        };
        let value = "permessage-deflate; server_no_context_takeover; client_no_context_takeover; \
                     server_max_window_bits=10; client_max_window_bits=11";
        assert_eq!(accept(DeflateOffer::Any, value), Ok(Some(all)));
        assert!(accept(DeflateOffer::WithoutContext, value).is_err());
        assert_eq!(accept(DeflateOffer::Any, "permessage-deflate"), Ok(Some(DeflateParams::default())));
        let alone = DeflateParams { client_no_context_takeover: true, ..DeflateParams::default() };
        assert_eq!(accept(DeflateOffer::WithoutContext, "permessage-deflate"), Ok(Some(alone)));
        assert_eq!(DeflateOffer::Any.accept(std::iter::empty()), Ok(None));
        for bad in [
            "x-other",
            "permessage-deflate, permessage-deflate",
            "permessage-deflate; client_max_window_bits",
            "permessage-deflate; server_max_window_bits=7",
            "permessage-deflate; what=1",
            "permessage-deflate; =",
        ] {
            assert!(accept(DeflateOffer::Any, bad).is_err(), "{bad}");
        }
    }
}
