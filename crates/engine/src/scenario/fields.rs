//! Reads the fields of one JSON object by name and says exactly what is wrong with them.
//!
//! Every problem of an object is gathered before giving up, as the person who wrote it wants to mend them all at once.
//! A field nobody asked for is an error with a suggestion. `null` is the same as absent, and case makes no difference.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};
use units::Span;

/// Everything that is wrong with the scenarios, one line each. k6's exit code for it is 104.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Ready to print, lowercase, each naming scenario and field.
    pub problems: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl From<String> for ConfigError {
    fn from(problem: String) -> Self {
        ConfigError { problems: vec![problem] }
    }
}

/// The fields of one object, taken one by one.
pub(super) struct Fields<'a> {
    place: String,
    values: &'a Map<String, Value>,
    known: Vec<&'static str>,
    problems: Vec<String>,
}

impl<'a> Fields<'a> {
    /// `place` names the object in messages: `scenario 'login'`.
    pub(super) fn new(place: String, values: &'a Map<String, Value>) -> Self {
        Fields { place, values, known: Vec::new(), problems: Vec::new() }
    }

    /// Notes a problem of this object.
    pub(super) fn problem(&mut self, text: impl fmt::Display) {
        self.problems.push(format!("{}: {text}", self.place));
    }

    /// Takes over the problems found inside a field.
    pub(super) fn extend(&mut self, inner: Vec<String>) {
        self.problems.extend(inner);
    }

    /// The value of a field, when it is there and not null.
    pub(super) fn value(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        units::field::find(self.values, name)
    }

    /// A whole number of at least `least`, else the default; k6 takes texts of digits too. After a problem the result
    /// is only there to go on with.
    pub(super) fn count(&mut self, name: &'static str, least: i64, default: Option<u64>) -> u64 {
        let Some(value) = self.value(name) else {
            if default.is_none() {
                self.problem(format_args!("{name} is missing, expected a whole number"));
            }
            return default.unwrap_or_default();
        };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        match number {
            Some(number) if number >= least => return number.unsigned_abs(),
            None => self.problem(format_args!("{name} is {value}, expected a whole number")),
            Some(number) if least == 0 => self.problem(format_args!("{name} is {number}, expected 0 or more")),
            Some(number) => self.problem(format_args!("{name} is {number}, expected at least {least}")),
        }
        least.unsigned_abs()
    }

    /// A duration of at least `least`, else the default.
    pub(super) fn duration(&mut self, name: &'static str, least: Duration, default: Option<Duration>) -> Duration {
        let Some(value) = self.value(name) else {
            if default.is_none() {
                self.problem(format_args!("{name} is missing, expected a duration like 30s"));
            }
            return default.unwrap_or(least);
        };
        match Span::from_json(value) {
            Err(error) => self.problem(format_args!("{name}: {error}")),
            Ok(span) => match span.to_duration().filter(|time| *time >= least) {
                Some(time) => return time,
                None if least.is_zero() => self.problem(format_args!("{name} is {span}, expected 0s or more")),
                None => self.problem(format_args!("{name} is {span}, expected at least {}", Span::from(least))),
            },
        }
        least
    }

    /// A text.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        let value = self.value(name)?;
        if let Value::String(text) = value {
            return Some(text.clone());
        }
        self.problem(format_args!("{name} is {value}, expected a text"));
        None
    }

    /// An object of texts; numbers and booleans are taken as their text.
    pub(super) fn texts(&mut self, name: &'static str) -> BTreeMap<String, String> {
        let Some(value) = self.value(name) else { return BTreeMap::new() };
        let Value::Object(entries) = value else {
            self.problem(format_args!("{name} is {value}, expected an object of texts"));
            return BTreeMap::new();
        };
        let mut texts = BTreeMap::new();
        for (key, value) in entries {
            match value {
                Value::String(text) => drop(texts.insert(key.clone(), text.clone())),
                Value::Number(_) | Value::Bool(_) => drop(texts.insert(key.clone(), value.to_string())),
                other => self.problem(format_args!("{name}.{key} is {other}, expected a text")),
            }
        }
        texts
    }

    /// Ends the reading: fields that nobody asked for are problems too.
    pub(super) fn finish(mut self) -> Vec<String> {
        for name in self.values.keys().filter(|name| !self.known.iter().any(|known| units::field::is(name, known))) {
            let hint = units::suggest::hint(name, self.known.iter().copied());
            let known = self.known.join(", ");
            self.problems.push(format!("{}: unknown field '{name}'{hint} (expected any of {known})", self.place));
        }
        self.problems
    }
}

fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e18).then_some(number as i64)
}
