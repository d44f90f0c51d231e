//! Lengths of time in a plan: `5s`, `500ms`, `1m30s`.
//!
//! A number without a unit is refused: k6 would read milliseconds, a person seconds.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::Span;

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
        let time = Span::parse_with_unit(text.trim()).and_then(Span::to_duration);
        time.map(Time)
            .ok_or_else(|| format!("found '{text}', expected a time with its unit, such as 500ms, 5s or 1m30s"))
    }
}

impl From<Time> for String {
    fn from(time: Time) -> String {
        time.to_string()
    }
}

impl fmt::Display for Time {
    /// `90s`, `250ms`: one unit, because `{duration}` of a command goes to programs that read one, as wrk does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds() {
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
            assert_eq!(message, format!("found '{text}', expected a time with its unit, such as 500ms, 5s or 1m30s"));
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
