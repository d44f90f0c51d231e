//! The Connect protocol: what it has where gRPC has trailers. Errors and the ends of streams are JSON, codes have
//! names, and a call with one message each way is an ordinary request of HTTP.
//!
//! Source: the protocol's specification, connectrpc.com/docs/protocol.

use std::time::Duration;

use prost::Message;
use prost_types::Any;
use serde_json::{Map, Value, json};

use crate::frame::PREFIX;
use crate::metadata::{decode_binary, encode_binary};
use crate::reflection::{status_details, with_details};
use crate::status::{self, Status};

/// The flag of the message that ends a stream of answers.
pub const END: u8 = 2;

/// What a URL of a type begins with in `google.protobuf.Any`.
const TYPE_URL: &str = "type.googleapis.com/";

/// How messages are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codec {
    /// As the wire bytes of Protocol Buffers.
    #[default]
    Proto,
    /// As JSON.
    Json,
}

impl Codec {
    /// The content type of a call: of one with one message each way, or of a stream.
    pub fn content_type(self, is_stream: bool) -> &'static str {
        match (self, is_stream) {
            (Codec::Proto, false) => "application/proto",
            (Codec::Json, false) => "application/json",
            (Codec::Proto, true) => "application/connect+proto",
            (Codec::Json, true) => "application/connect+json",
        }
    }

    /// The codec of a content type, and whether it is a stream's. Parameters do not count.
    pub fn of_content_type(content_type: &str) -> Option<(Codec, bool)> {
        let name = content_type.split(';').next().unwrap_or_default().trim_ascii();
        let all = [Codec::Proto, Codec::Json].into_iter().flat_map(|codec| [(codec, false), (codec, true)]);
        all.into_iter().find(|(codec, is_stream)| name.eq_ignore_ascii_case(codec.content_type(*is_stream)))
    }
}

/// The names of the codes but OK, in order, and the status of an answer that says them.
const CODES: [(&str, u16); 16] = [
    ("canceled", 499),
    ("unknown", 500),
    ("invalid_argument", 400),
    ("deadline_exceeded", 504),
    ("not_found", 404),
    ("already_exists", 409),
    ("permission_denied", 403),
    ("resource_exhausted", 429),
    ("failed_precondition", 400),
    ("aborted", 409),
    ("out_of_range", 400),
    ("unimplemented", 501),
    ("internal", 500),
    ("unavailable", 503),
    ("data_loss", 500),
    ("unauthenticated", 401),
];

/// A code's name and status; one that has no name is `unknown`.
fn named(code: u32) -> (&'static str, u16) {
    CODES.get((code as usize).wrapping_sub(1)).copied().unwrap_or(CODES[status::UNKNOWN as usize - 1])
}

/// The status of HTTP that an answer with this code has.
pub fn http_status(code: u32) -> u16 {
    named(code).1
}

/// The code of a name.
fn code_of(name: &str) -> Option<u32> {
    CODES.iter().position(|(known, _)| *known == name).map(|at| at as u32 + 1)
}

/// How a call ended, with what gRPC has in its trailers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// OK or not.
    pub status: Status,
    /// A message `google.rpc.Status`, where the error has details.
    pub details: Option<Vec<u8>>,
    /// Metadata behind the messages, in lower case.
    pub metadata: Vec<(String, String)>,
}

/// An error as JSON; `details` is a message `google.rpc.Status`.
pub fn error(status: &Status, details: Option<&[u8]>) -> Value {
    let mut error = Map::new();
    error.insert("code".into(), named(status.code).0.into());
    if !status.message.is_empty() {
        error.insert("message".into(), status.message.clone().into());
    }
    let details = status_details(details.unwrap_or_default());
    let shown = details.iter().filter_map(|any| Any::decode(&**any).ok()).map(|any| {
        let name = any.type_url.rsplit('/').next().unwrap_or_default();
        json!({ "type": name, "value": encode_binary(&any.value) })
    });
    let shown: Vec<Value> = shown.collect();
    if !shown.is_empty() {
        error.insert("details".into(), shown.into());
    }
    error.into()
}

/// The message that ends a stream, without its prefix.
pub fn end(outcome: &Outcome) -> Vec<u8> {
    let mut end = Map::new();
    if outcome.status.code != status::OK {
        end.insert("error".into(), error(&outcome.status, outcome.details.as_deref()));
    }
    let mut metadata: Map<String, Value> = Map::new();
    for (name, value) in &outcome.metadata {
        let values = metadata.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new()));
        values.as_array_mut().expect("it was made as a list").push(value.clone().into());
    }
    if !metadata.is_empty() {
        end.insert("metadata".into(), metadata.into());
    }
    Value::from(end).to_string().into_bytes()
}

/// The time that a value of `connect-timeout-ms` leaves; `None` when it is none.
pub fn parse_timeout(value: &[u8]) -> Option<Duration> {
    let is_number = (1..=10).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let millis = value.iter().take(10).fold(0, |millis, digit| millis * 10 + u64::from(digit.wrapping_sub(b'0')));
    is_number.then_some(Duration::from_millis(millis))
}

/// A message of a stream with its prefix.
pub fn enveloped(flags: u8, message: &[u8]) -> Vec<u8> {
    debug_assert!(u32::try_from(message.len()).is_ok(), "a prefix has no room for {} bytes", message.len());
    let mut out = Vec::with_capacity(PREFIX + message.len());
    out.push(flags);
    out.extend_from_slice(&(message.len() as u32).to_be_bytes());
    out.extend_from_slice(message);
    out
}

/// Reads an error; `None` when the bytes are none. `otherwise` is the code of one that names none that is known.
pub fn read_error(json: &[u8], otherwise: u32) -> Option<Outcome> {
    error_of(&serde_json::from_slice(json).ok()?, otherwise)
}

fn error_of(error: &Value, otherwise: u32) -> Option<Outcome> {
    let error = error.as_object()?;
    let code = error.get("code").and_then(Value::as_str).and_then(code_of).unwrap_or(otherwise);
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let status = Status::new(code, message);
    let listed = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let details: Vec<Vec<u8>> = listed
        .filter_map(|detail| {
            let type_url = format!("{TYPE_URL}{}", detail.get("type")?.as_str()?);
            let value = decode_binary(detail.get("value")?.as_str()?.as_bytes());
            Some(Any { type_url, value }.encode_to_vec())
        })
        .collect();
    let details = (!details.is_empty()).then(|| with_details(&status, details));
    Some(Outcome { status, details, metadata: Vec::new() })
}

/// Reads the message that ends a stream; the error says what is wrong with it.
pub fn read_end(json: &[u8]) -> Result<Outcome, String> {
    let end: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let end = end.as_object().ok_or_else(|| format!("found {end}, expected an object"))?;
    let error = end.get("error").filter(|error| !error.is_null());
    let mut outcome = match error {
        None => Outcome::default(),
        Some(error) => {
            error_of(error, status::UNKNOWN).ok_or_else(|| format!("found {error} as error, expected an object"))?
        }
    };
    let entries = end.get("metadata").and_then(Value::as_object).into_iter().flatten();
    for (name, values) in entries {
        let values = values.as_array().into_iter().flatten().filter_map(Value::as_str);
        outcome.metadata.extend(values.map(|value| (name.to_ascii_lowercase(), value.to_owned())));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_and_statuses() {
        for (code, name, http) in [(1, "canceled", 499), (5, "not_found", 404), (16, "unauthenticated", 401)] {
            assert_eq!((error(&Status::new(code, ""), None)["code"].as_str(), http_status(code)), (Some(name), http));
            assert_eq!(code_of(name), Some(code));
        }
        for code in [17, u32::MAX] {
            assert_eq!(
                (error(&Status::new(code, ""), None)["code"].as_str(), http_status(code)),
                (Some("unknown"), 500)
            );
        }
        assert_eq!(code_of("Canceled"), None);
    }

    #[test]
    fn content_types_say_codec_and_kind() {
        assert_eq!(Codec::of_content_type("application/json; charset=utf-8"), Some((Codec::Json, false)));
        assert_eq!(Codec::of_content_type("Application/Connect+Proto"), Some((Codec::Proto, true)));
        assert_eq!(Codec::of_content_type("application/grpc"), None);
        assert_eq!(parse_timeout(b"1500"), Some(Duration::from_millis(1500)));
        for bad in ["", "1s", "-1", "12345678901"] {
            assert_eq!(parse_timeout(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn ends_come_back() {
        let status = Status::new(5, "gone");
        let any = Any { type_url: format!("{TYPE_URL}p.M"), value: vec![1, 2] }.encode_to_vec();
        let details = Some(with_details(&status, vec![any]));
        let metadata = vec![("x-a".into(), "1".into()), ("x-a".into(), "2".into())];
        let outcome = Outcome { status, details, metadata };
        assert_eq!(read_end(&end(&outcome)), Ok(outcome.clone()));
        assert_eq!(
            String::from_utf8(end(&outcome)).unwrap(),
            [
                r#"{"error":{"code":"not_found","message":"gone","details":[{"type":"p.M","value":"AQI"}]},"#,
                r#""metadata":{"x-a":["1","2"]}}"#
            ]
            .concat()
        );
        assert_eq!(read_end(b"{}"), Ok(Outcome::default()));
        assert_eq!(read_end(b"[]"), Err(String::from("found [], expected an object")));
        assert!(read_end(b"{\"error\":7}").unwrap_err().starts_with("found 7 as error"));
    }

    #[test]
    fn errors_are_read_whatever_they_say() {
        assert_eq!(read_error(b"{\"code\":\"aborted\"}", 2).unwrap().status, Status::new(10, ""));
        assert_eq!(read_error(b"{\"code\":\"odd\",\"message\":\"m\"}", 14).unwrap().status, Status::new(14, "m"));
        assert_eq!(read_error(b"<html>", 2), None);
        assert_eq!(enveloped(END, b"{}"), b"\x02\0\0\0\x02{}");
    }
}
