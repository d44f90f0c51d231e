//! Lengths of time in a plan: `5s`, `500ms`, `1m30s`.
//!
//! A number without a unit is refused: k6 would read milliseconds, a person seconds.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Longest name first where one is the end of another.
const UNITS: [(&str, f64); 5] = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// A length of time as a plan writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Time(pub Duration);

impl Time {
    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0.as_secs_f64()
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bad = || format!("found '{text}', expected a time with its unit, as 500ms, 5s or 1m30s");
        let mut rest = text.trim();
        let mut seconds = 0.0;
        if rest.is_empty() {
            return Err(bad());
        }
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
            let number: f64 = rest[..end].parse().map_err(|_| bad())?;
            rest = &rest[end..];
            let (unit, factor) = UNITS.iter().find(|(unit, _)| unit_is(rest, unit)).ok_or_else(bad)?;
            seconds += number * factor;
            rest = &rest[unit.len()..];
        }
        Duration::try_from_secs_f64(seconds).map(Time).map_err(|_| bad())
    }
}

/// Whether this unit stands here, and not another one that begins with it.
fn unit_is(rest: &str, unit: &str) -> bool {
    rest.strip_prefix(unit).is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphabetic()))
}

impl From<Time> for String {
    fn from(time: Time) -> String {
        time.to_string()
    }
}

impl fmt::Display for Time {
    /// `1.5s`, `250ms`: reads back as the same time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs_f64() {
            seconds if seconds > 0.0 && seconds < 1.0 => write!(f, "{}ms", (seconds * 1e6).round() / 1e3),
            seconds => write!(f, "{seconds}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Result<f64, String> {
        Time::try_from(text.to_owned()).map(Time::seconds)
    }

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("5s", 5.0), ("500ms", 0.5), ("1m30s", 90.0), ("1.5h", 5400.0), ("0s", 0.0)] {
            assert_eq!(time(text), Ok(seconds), "{text}");
        }
        for text in ["", "5", "s", "5 s", "5sec", "-5s", "1m30"] {
            let message = time(text).expect_err(text);
            assert_eq!(message, format!("found '{text}', expected a time with its unit, as 500ms, 5s or 1m30s"));
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["5s", "250ms", "1.5s", "0s", "90s", "0.25ms"] {
            let time = Time::try_from(text.to_owned()).unwrap();
            assert_eq!(time.to_string(), text);
        }
    }
}
