//! Reading single option values out of JSON. An error says what was found and what was expected; the caller names the
//! option.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::scenario::Stage;
use engine::segment::{Segment, Sequence};
use metrics::{SystemTags, ThresholdSpecs};
use serde::Serialize;
use serde_json::{Value, json};
use units::{Span, field};
use wire::mask::Mask;

use super::written::Written;

pub(super) fn expected<T>(found: &Value, what: &str) -> Result<T, String> {
    Err(format!("found {found}, expected {what}"))
}

/// Whole numbers; also as text, since k6 takes them so in scripts.
pub(super) fn integer(value: &Value) -> Result<i64, String> {
    let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64);
    let number = match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.map_or_else(|| expected(value, "a whole number"), Ok)
}

/// A limit that k6 takes below 0 too: it is none then, as 0 is.
pub(super) fn limit(value: &Value) -> Result<u32, String> {
    let number = integer(value)?;
    if number < 0 { Ok(0) } else { whole(value) }
}

pub(super) fn whole(value: &Value) -> Result<u32, String> {
    u32::try_from(integer(value)?).or_else(|_| expected(value, "a whole number from 0 to 4294967295"))
}

/// Bytes: a number, or text with a unit.
pub(super) fn size(value: &Value) -> Result<u64, String> {
    let bytes = match value {
        Value::String(text) => units::size::parse(text),
        _ => integer(value).ok().and_then(|bytes| u64::try_from(bytes).ok()),
    };
    bytes.filter(|bytes| *bytes > 0).map_or_else(|| expected(value, "bytes, as 64m or 1g"), Ok)
}

pub(super) fn switch(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(on) => Ok(*on),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        _ => expected(value, "true or false"),
    }
}

pub(super) fn text(value: &Value) -> Result<String, String> {
    value.as_str().map_or_else(|| expected(value, "a text"), |text| Ok(text.to_owned()))
}

/// The unit of times in the summary; empty: each value has its own.
pub(super) fn time_unit(value: &Value) -> Result<String, String> {
    let unit = text(value)?;
    match unit.as_str() {
        "" | "s" | "ms" | "us" => Ok(unit),
        _ => Err(format!("unknown summary time unit '{unit}', expected one of s, ms, us")),
    }
}

/// A text that becomes a line of a request head.
pub(super) fn header_value(value: &Value) -> Result<String, String> {
    let text = text(value)?;
    match wire::field::problem_in(&text) {
        Some(problem) => Err(format!("{text:?}: {problem}")),
        None => Ok(text),
    }
}

pub(super) fn span(value: &Value) -> Result<Span, String> {
    let span = Span::from_json(value).map_err(|error| error.to_string())?;
    if span.is_negative() { expected(value, "a duration of at least 0") } else { Ok(span) }
}

/// A time that means nothing below 0, as in k6.
pub(super) fn time_or_none(value: &Value) -> Result<Written<Duration>, String> {
    let span = Span::from_json(value).map_err(|error| error.to_string())?;
    if span.is_negative() { Ok(Written::new(Duration::ZERO, span.to_string())) } else { time(value) }
}

/// A time limit that has to be above 0.
pub(super) fn time_above_zero(value: &Value) -> Result<Written<Duration>, String> {
    let span = Span::from_json(value).map_err(|error| error.to_string())?;
    if span.is_negative() { expected(value, "a duration above 0") } else { above_zero(time(value)?, value) }
}

fn above_zero(time: Written<Duration>, value: &Value) -> Result<Written<Duration>, String> {
    if time.is_zero() { expected(value, "a duration above 0") } else { Ok(time) }
}

pub(super) fn time(value: &Value) -> Result<Written<Duration>, String> {
    let span = span(value)?;
    match span.to_duration() {
        Some(time) => Ok(Written::new(time, span.to_string())),
        None => expected(value, "a duration of at least 0"),
    }
}

pub(super) fn list(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        // k6 takes one text with commas wherever it takes a list.
        Value::String(items) => {
            Ok(items.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect())
        }
        _ => expected(value, "a list of texts"),
    }
}

pub(super) fn text_map(value: &Value) -> Result<BTreeMap<String, String>, String> {
    let Value::Object(entries) = value else { return expected(value, "an object of texts") };
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        // As in Go, which leaves the text of a null empty.
        Value::Null => Ok((name.clone(), String::new())),
        other => Err(format!("'{name}': found {other}, expected a text")),
    };
    entries.iter().map(one).collect()
}

/// How much of requests and responses is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DebugDetail {
    /// Their heads.
    Headers,
    /// Their bodies too.
    Full,
}

pub(super) fn debug(value: &Value) -> Result<DebugDetail, String> {
    match value.as_str() {
        Some("headers" | "") => Ok(DebugDetail::Headers),
        Some("full") => Ok(DebugDetail::Full),
        _ => expected(value, "headers or full"),
    }
}

pub(super) fn system_tags(value: &Value) -> Result<Written<SystemTags>, String> {
    // k6 has no quarrel with names that it does not know: they select nothing. A flag with a typing error is told.
    let names: Vec<String> = list(value)?;
    let known: Vec<&String> = names.iter().filter(|name| SystemTags::parse([name]).is_ok()).collect();
    let tags = SystemTags::parse(known).map_err(|error| error.to_string())?;
    Ok(Written::new(tags, names))
}

pub(super) fn mask(value: &Value) -> Result<Written<Mask>, String> {
    let names = list(value)?;
    Ok(Written::new(Mask::of(names.iter().map(String::as_str)), names))
}

pub(super) fn segment(value: &Value) -> Result<Written<Segment>, String> {
    let text = text(value)?;
    let segment = Segment::parse(&text).map_err(|error| error.to_string())?;
    Ok(Written::new(segment, text))
}

/// One of so many equal parts of the test, and the borders of all of them.
pub(super) fn part(index: u64, of: u64) -> (Written<Segment>, Written<Sequence>) {
    let border = |at: u64| if at == 0 || at == of { (at / of).to_string() } else { format!("{at}/{of}") };
    let borders: Vec<String> = (0..=of).map(border).collect();
    let segment = segment(&Value::from(format!("{}:{}", border(index), border(index + 1))));
    let sequence = sequence(&Value::from(borders.join(",")));
    segment.and_then(|segment| Ok((segment, sequence?))).unwrap_or_else(|why| unreachable!("bug: equal parts: {why}"))
}

pub(super) fn sequence(value: &Value) -> Result<Written<Sequence>, String> {
    let text = text(value)?;
    let sequence = Sequence::parse(&text).map_err(|error| error.to_string())?;
    Ok(Written::new(sequence, text))
}

/// The fields of a threshold that is an object.
const THRESHOLD: &[&str] = &["threshold", "abortOnFail", "delayAbortEval"];

pub(super) fn thresholds(value: &Value) -> Result<ThresholdSpecs, String> {
    let Value::Object(entries) = value else { return expected(value, "an object of lists by metric") };
    let respelled = |list: &Value| match list {
        Value::Array(items) => items.iter().map(|item| field::respelled(item, THRESHOLD)).collect(),
        other => field::respelled(other, THRESHOLD),
    };
    let one = |(metric, list): (&String, &Value)| {
        let specs = serde_json::from_value(respelled(list)).map_err(|error| {
            let wanted = "a list of expressions like \"p(95)<500\" or of objects with a threshold";
            format!("'{metric}': found {list}, expected {wanted} ({error})")
        })?;
        Ok((metric.clone(), specs))
    };
    entries.iter().map(one).collect()
}

/// At least 1.
pub(super) fn positive(value: &Value) -> Result<u32, String> {
    let number = whole(value).ok().filter(|number| *number > 0);
    number.map_or_else(|| expected(value, "a whole number from 1 to 4294967295"), Ok)
}

/// Stages as they are read.
pub(super) fn stages_json(stages: Option<&[Stage]>) -> Value {
    let one = |stage: &Stage| json!({ "duration": Span::from(stage.duration), "target": stage.target });
    stages.map(|stages| stages.iter().map(one).collect::<Vec<Value>>()).into()
}

pub(super) fn anything(value: &Value) -> Result<Value, String> {
    Ok(value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(size(&serde_json::json!(512)), Ok(512));
        assert_eq!(size(&serde_json::json!("1k")), Ok(1024));
        assert_eq!(size(&serde_json::json!(0)), Err(String::from("found 0, expected bytes, as 64m or 1g")));
    }
}
