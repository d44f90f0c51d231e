//! The option `http2`: whether requests use HTTP/2, and how many connections and streams users share.
//!
//! The engine carries the field of a scenario as it was given, because it knows no network; it is read here once.

use serde_json::Value;
use wire::settings::Http2Limits;

use super::read;
use super::written::Written;

/// How the users of a scenario use HTTP/2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Http2Choice {
    /// As k6: a connection of its own for each user and host, where the server offers HTTP/2.
    #[default]
    Own,
    /// HTTP/1.1 alone.
    Never,
    /// A connection of its own for each user and host, with so many streams at once.
    Streams(usize),
    /// So many connections to a host for all users of the scenario together.
    Shared(Http2Limits),
}

impl Http2Choice {
    /// Connections that the scenario's users share, if they do.
    pub fn connections(&self) -> Option<usize> {
        match self {
            Http2Choice::Shared(limits) => Some(limits.connections),
            _ => None,
        }
    }
}

/// The option.
pub(super) fn http2(value: &Value) -> Result<Written<Http2Choice>, String> {
    choice(value).map(|choice| Written::new(choice, value.clone()))
}

/// `true`, `false`, or an object with limits.
pub(super) fn choice(value: &Value) -> Result<Http2Choice, String> {
    let fields = match value {
        Value::Bool(true) => return Ok(Http2Choice::Own),
        Value::Bool(false) => return Ok(Http2Choice::Never),
        Value::Object(fields) => fields,
        other => return read::expected(other, "true, false or an object with some of connections, streams"),
    };
    let (mut connections, mut streams) = (None, None);
    for (name, value) in fields {
        let place = match name.as_str() {
            "connections" => &mut connections,
            "streams" => &mut streams,
            _ => return Err(format!("found a field {name:?}, expected some of connections, streams")),
        };
        *place = Some(count(value).map_err(|problem| format!("{name}: {problem}"))?);
    }
    Ok(match (connections, streams) {
        (Some(connections), streams) => Http2Choice::Shared(Http2Limits { connections, streams }),
        (None, Some(streams)) => Http2Choice::Streams(streams),
        (None, None) => Http2Choice::Own,
    })
}

fn count(value: &Value) -> Result<usize, String> {
    match read::whole(value) {
        Ok(count @ 1..) => Ok(count as usize),
        _ => read::expected(value, "a whole number from 1 on"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_are_written_in_several_ways() {
        let shared = |connections, streams| Http2Choice::Shared(Http2Limits { connections, streams });
        for (value, expected) in [
            (json!(true), Http2Choice::Own),
            (json!({}), Http2Choice::Own),
            (json!(false), Http2Choice::Never),
            (json!({ "streams": 4 }), Http2Choice::Streams(4)),
            (json!({ "connections": 2 }), shared(2, None)),
            (json!({ "connections": "2", "streams": 100 }), shared(2, Some(100))),
        ] {
            assert_eq!(choice(&value), Ok(expected), "{value}");
        }
    }

    #[test]
    fn what_cannot_be_says_what_could() {
        for (value, problem) in [
            (json!(2), "found 2, expected true, false or an object with some of connections, streams"),
            (json!("h2c"), "found \"h2c\", expected true, false or an object with some of connections, streams"),
            (json!({ "connections": 0 }), "connections: found 0, expected a whole number from 1 on"),
            (json!({ "streams": 1.5 }), "streams: found 1.5, expected a whole number from 1 on"),
            (json!({ "stream": 1 }), "found a field \"stream\", expected some of connections, streams"),
        ] {
            assert_eq!(choice(&value), Err(String::from(problem)), "{value}");
        }
    }
}
