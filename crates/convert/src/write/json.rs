//! JSON texts as object literals, where `JSON.stringify` of the literal gives the same bytes again.
//!
//! Refuses what JavaScript would write in another way: numbers in another form, keys that are whole numbers (which come
//! first in an object of JavaScript), repeated keys, white space that is neither none nor an even indent.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::source;

/// Beyond this an integer is no number of JavaScript.
const EXACT: u64 = 1 << 53;

/// `JSON.stringify(…)`, or nothing when the bytes would differ.
pub fn expression(text: &str, indent: usize) -> Option<String> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let json: Value = serde_json::from_str(text).ok()?;
    if !is_the_same_in_javascript(&json) {
        return None;
    }
    let literal = || source::value(&json, indent);
    if serde_json::to_string(&json).is_ok_and(|compact| compact == text) {
        return Some(format!("JSON.stringify({})", literal()));
    }
    let even = [("  ", "2"), ("    ", "4"), ("\t", "'\\t'")].into_iter().find(|(step, _)| pretty(&json, step) == text);
    even.map(|(_, shown)| format!("JSON.stringify({}, null, {shown})", literal()))
}

fn pretty(json: &Value, step: &str) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(step.as_bytes()));
    let written = json.serialize(&mut serializer);
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn is_the_same_in_javascript(json: &Value) -> bool {
    match json {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.unsigned_abs() < EXACT,
            (None, Some(float)) => {
                let size = float.abs();
                float.fract() != 0.0 && (1e-4..1e15).contains(&size)
            }
            (None, None) => false,
        },
        Value::Array(items) => items.iter().all(is_the_same_in_javascript),
        Value::Object(fields) => {
            let is_number = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
            fields.iter().all(|(key, value)| !is_number(key) && is_the_same_in_javascript(value))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_back_to_the_byte_becomes_an_object() {
        for (text, expected) in [
            (r#"{"a":1,"b":[true,null,-0.5]}"#, Some("JSON.stringify({ a: 1, b: [true, null, -0.5] })")),
            ("{\n  \"a\": 1\n}", Some("JSON.stringify({ a: 1 }, null, 2)")),
            ("[\n\t1\n]", Some("JSON.stringify([1], null, '\\t')")),
            (r#"{"__proto__":1}"#, Some("JSON.stringify({ ['__proto__']: 1 })")),
            (r#"{"a": 1}"#, None),
            (r#"{"a":1.0}"#, None),
            (r#"{"a":1e5}"#, None),
            (r#"{"a":9007199254740993}"#, None),
            (r#"{"2":1,"1":2}"#, None),
            (r#"{"a":1,"a":2}"#, None),
            (r#"{"a":"\u0041"}"#, None),
            ("3", None),
            ("{", None),
        ] {
            assert_eq!(expression(text, 0).as_deref(), expected, "{text}");
        }
    }
}
