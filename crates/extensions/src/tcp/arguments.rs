//! What scripts give to `connect` and `write`, as values; what is wrong with it, as sentences.

use host::bytes;
use host::js::{Ctx, Result, Value};
use host::kind::Kind;
use script::arguments::{member, present};
use script::base64::Variant;
use script::series::{self, SampleTags};

use crate::client::dial::Place;

/// Where to connect and how.
#[derive(Debug)]
pub struct ConnectArguments {
    pub place: Place,
    pub is_tls: bool,
    pub tags: SampleTags,
}

/// What was read, or a sentence on what is wrong.
pub type Understood<T> = std::result::Result<T, String>;

/// `connect(port, host)` or `connect({ port, host, tls, tags })`.
pub fn connect<'js>(ctx: &Ctx<'js>, args: &[Value<'js>]) -> Result<Understood<ConnectArguments>> {
    let mut given = (present(args.first().cloned()), present(args.get(1).cloned()));
    let (mut is_tls, mut tags) = (false, SampleTags::new());
    if let Some(options) = args.first().and_then(Value::as_object) {
        given = (member(options, "port")?, member(options, "host")?);
        is_tls = member(options, "tls")?.is_some_and(|tls| tls.as_bool() == Some(true));
        tags = series::own_tags(ctx, member(options, "tags")?)?;
    }
    let Some(port) = given.0 else { return Ok(Err(String::from("found no port, expected one from 1 to 65535"))) };
    let port = bytes::to_text(ctx, &port)?;
    let Some(port) = port.parse().ok().filter(|port| *port > 0) else {
        return Ok(Err(format!("found the port {port:?}, expected a whole number from 1 to 65535")));
    };
    let host = given.1.map_or_else(|| Ok(String::from("localhost")), |host| bytes::to_text(ctx, &host))?;
    if host.is_empty() {
        return Ok(Err(String::from("found an empty host, expected a name or an address")));
    }
    Ok(Ok(ConnectArguments { place: Place { host, port }, is_tls, tags }))
}

/// The bytes and the tags of `write(data, { encoding, tags })`.
pub fn write<'js>(ctx: &Ctx<'js>, args: &[Value<'js>]) -> Result<Understood<(Vec<u8>, SampleTags)>> {
    let (mut encoding, mut tags) = (None, SampleTags::new());
    if let Some(options) = args.get(1).and_then(Value::as_object) {
        encoding = member(options, "encoding")?.map(|encoding| bytes::to_text(ctx, &encoding)).transpose()?;
        tags = series::own_tags(ctx, member(options, "tags")?)?;
    }
    let data = args.first();
    let content = match data.map(Kind::of) {
        Some(Kind::Text(_) | Kind::Buffer(_)) => data.map(|data| bytes::read(ctx, data, <[u8]>::to_vec)),
        _ => None,
    };
    let Some(content) = content.transpose()?.flatten() else {
        let found = data.map_or("nothing", Value::type_name);
        return Ok(Err(format!("found {found} to write, expected a string, an ArrayBuffer or a view of one")));
    };
    let is_text = data.is_some_and(Value::is_string);
    let decoded = if is_text { decoded(content, encoding.as_deref().unwrap_or("utf8")) } else { Ok(content) };
    Ok(decoded.map(|content| (content, tags)))
}

/// The bytes that a text in UTF-8 stands for.
pub(crate) fn decoded(text: Vec<u8>, encoding: &str) -> Understood<Vec<u8>> {
    let base64 = |variant: Variant| {
        let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
        let decoded = variant.decode(&text[..end]);
        decoded.map_err(|wrong| format!("the text is not {encoding}: its byte {} cannot be read", wrong.0))
    };
    match encoding {
        "utf8" | "utf-8" | "ascii" => Ok(text),
        "base64" => base64(Variant::RawStd),
        "base64url" => base64(Variant::RawUrl),
        "hex" => hex(&text),
        _ => {
            Err(format!("found the encoding {encoding:?}, expected one of utf8, utf-8, ascii, base64, base64url, hex"))
        }
    }
}

fn hex(text: &[u8]) -> Understood<Vec<u8>> {
    let digit = |at: usize| match (text[at] as char).to_digit(16) {
        Some(digit) => Ok(digit as u8),
        None => Err(format!("the text is not hex: its byte {at} is no digit")),
    };
    if !text.len().is_multiple_of(2) {
        return Err(format!("the text is not hex: it has {} digits, expected pairs", text.len()));
    }
    (0..text.len()).step_by(2).map(|at| Ok(digit(at)? << 4 | digit(at + 1)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded() {
        let read = |text: &str, encoding: &str| decoded(text.as_bytes().to_vec(), encoding);
        assert_eq!(read("ü", "utf8").unwrap(), "ü".as_bytes());
        assert_eq!(read("ü", "utf-8").unwrap(), read("ü", "ascii").unwrap());
        for text in ["+/8=", "+/8"] {
            assert_eq!(read(text, "base64").unwrap(), [0xfb, 0xff], "{text}");
        }
        assert_eq!(read("-_8=", "base64url").unwrap(), read("-_8", "base64url").unwrap());
        assert_eq!(read("00fFa0", "hex").unwrap(), [0, 255, 160]);
        assert_eq!([read("", "hex").unwrap(), read("=", "base64").unwrap()], [b"", b""]);
        let wrong = |text: &str, encoding: &str| read(text, encoding).unwrap_err();
        assert_eq!(wrong("0", "hex"), "the text is not hex: it has 1 digits, expected pairs");
        assert_eq!(wrong("0g", "hex"), "the text is not hex: its byte 1 is no digit");
        assert_eq!(wrong("a!bc", "base64"), "the text is not base64: its byte 1 cannot be read");
        let known = "expected one of utf8, utf-8, ascii, base64, base64url, hex";
        assert_eq!(wrong("x", "latin1"), format!("found the encoding \"latin1\", {known}"));
    }
}
