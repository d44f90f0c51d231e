//! Durations as k6's options write them: `1h2m3s5ms`, `1.5h`, `1d12h`.
//!
//! k6 has one rule for options, `delayAbortEval` and the `timeout` of a request: a number without a unit is
//! milliseconds. Other places count otherwise, so there are three ways to read, and each names what a bare number is.
//! Read more freely than by k6: days with decimals (`0.5d`). Refused where k6 makes nonsense of it: `inf`, `NaN` and
//! what does not fit into 64 bits of nanoseconds. Reading keeps nanoseconds exactly; writing gives the form that k6
//! prints (`1h0m30s`, `1.5ms`).

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Nanoseconds of each unit, longest name first where one is the start of another.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 24 * 3_600_000_000_000;

/// A duration that reads and prints as k6's; may be negative, since options have to refuse negative ones by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    ns: i64,
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanError(String);

impl fmt::Display for SpanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a duration: expected a form like 10s, 1h30m, 1d or a number of milliseconds", self.0)
    }
}

impl std::error::Error for SpanError {}

impl Span {
    /// k6's rule: `1h2m3s5ms`, or a bare number of milliseconds.
    pub fn parse(text: &str) -> Result<Self, SpanError> {
        read(text, Some(MILLISECOND)).ok_or_else(|| SpanError(format!("'{text}'")))
    }

    /// The rule of curl and of the target's routes: `50ms`, or a bare number of seconds.
    pub fn parse_seconds(text: &str) -> Option<Self> {
        read(text, Some(SECOND))
    }

    /// Where k6 would read milliseconds and a person seconds: a bare number is refused.
    pub fn parse_with_unit(text: &str) -> Option<Self> {
        read(text, None)
    }

    /// Reads a JSON value: a text, or a number of milliseconds.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, SpanError> {
        match value {
            serde_json::Value::String(text) => Span::parse(text),
            serde_json::Value::Number(number) => {
                let ms = number.as_f64().unwrap_or(f64::NAN) * 1e6;
                let fits = ms.abs() < i64::MAX as f64;
                if fits { Ok(Span { ns: ms.round() as i64 }) } else { Err(SpanError(number.to_string())) }
            }
            other => Err(SpanError(other.to_string())),
        }
    }

    /// The time, unless it is negative.
    pub fn to_duration(self) -> Option<Duration> {
        u64::try_from(self.ns).ok().map(Duration::from_nanos)
    }

    /// The time; none at all when it is negative, as k6 takes the `timeout` of a request.
    pub fn or_zero(self) -> Duration {
        self.to_duration().unwrap_or_default()
    }

    /// Less than nothing.
    pub fn is_negative(self) -> bool {
        self.ns < 0
    }
}

impl From<Duration> for Span {
    fn from(time: Duration) -> Self {
        Span { ns: i64::try_from(time.as_nanos()).unwrap_or(i64::MAX) }
    }
}

impl serde::Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Span::from_json(&value).map_err(serde::de::Error::custom)
    }
}

/// What may have a sign; a number without a unit counts in `bare` nanoseconds.
fn read(text: &str, bare: Option<u64>) -> Option<Span> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let ns = if rest.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        without_unit(rest, bare?)
    } else {
        with_units(rest)
    };
    Some(Span { ns: sign * i64::try_from(ns?).ok()? })
}

/// `1500`, `1.5`, `1e3` or `1_000`.
fn without_unit(text: &str, unit: u64) -> Option<u64> {
    let ungrouped = without_underscores(text)?;
    let text = &*ungrouped;
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return scaled(text, unit);
    }
    let number: f64 = text.parse().ok()?;
    let ns = number * unit as f64;
    (text.starts_with(|c: char| c.is_ascii_digit() || c == '.') && ns < i64::MAX as f64).then_some(ns as u64)
}

/// Without the underscores that part the digits of a long number. Each has to stand alone between two digits.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let is_apart = |pair: &[&str]| {
        pair[0].ends_with(|c: char| c.is_ascii_digit()) && pair[1].starts_with(|c: char| c.is_ascii_digit())
    };
    let groups: Vec<&str> = text.split('_').collect();
    groups.windows(2).all(is_apart).then(|| Cow::Owned(groups.concat()))
}

/// `1d2h3.5s`: numbers with units, days only in front. k6 reads a plus behind the days too.
fn with_units(text: &str) -> Option<u64> {
    let (mut total, mut rest) = (0u64, text);
    if let Some((days, after)) = text.split_once('d') {
        total = scaled(days, DAY)?;
        if after.is_empty() {
            return Some(total);
        }
        rest = after.strip_prefix('+').unwrap_or(after);
    }
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let (unit, ns) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        total = total.checked_add(scaled(number, *ns)?)?;
        rest = &after[unit.len()..];
    }
    Some(total)
}

/// A decimal number times a unit, without passing through a float.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = u128::from(whole) * u128::from(unit);
    let mut place = u128::from(unit);
    for digit in fraction.bytes().take(18) {
        place /= 10;
        total += place * u128::from(digit - b'0');
    }
    u64::try_from(total).ok()
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.ns.unsigned_abs();
        if self.ns < 0 {
            f.write_str("-")?;
        }
        match ns {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{ns}ns"),
            1_000..1_000_000 => write!(f, "{}µs", decimal(ns, 1_000)),
            1_000_000..1_000_000_000 => write!(f, "{}ms", decimal(ns, 1_000_000)),
            _ => {
                let (minutes, seconds) = (ns / 60_000_000_000, decimal(ns % 60_000_000_000, 1_000_000_000));
                match (minutes / 60, minutes % 60) {
                    (0, 0) => write!(f, "{seconds}s"),
                    (0, minutes) => write!(f, "{minutes}m{seconds}s"),
                    (hours, minutes) => write!(f, "{hours}h{minutes}m{seconds}s"),
                }
            }
        }
    }
}

/// `ns / unit` with as many decimals as there are.
fn decimal(ns: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    debug_assert_eq!(10_u64.pow(unit.ilog10()), unit, "what is behind the point is counted in tenths");
    let text = format!("{}.{:0digits$}", ns / unit, ns % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> Option<i64> {
        Span::parse(text).ok().map(|span| span.ns)
    }

    #[test]
    fn reads_what_k6_reads() {
        assert_eq!(ns("1h2m3s5ms"), Some(3_723_005_000_000));
        assert_eq!(ns("1d2h"), Some(26 * 3_600_000_000_000));
        assert_eq!(ns("0.5d"), Some(12 * 3_600_000_000_000));
        assert_eq!(ns("1.5h"), Some(5_400_000_000_000));
        assert_eq!(ns("10"), Some(10_000_000));
        assert_eq!(ns("1.5"), Some(1_500_000));
        assert_eq!(ns("3us4µs5ns"), Some(7_005));
        assert_eq!(ns("-5s"), Some(-5_000_000_000));
        assert_eq!(ns("0"), Some(0));
        assert_eq!(ns("1e3"), Some(1_000_000_000));
        assert_eq!(ns("5e-1"), Some(500_000));
        assert_eq!(ns("1."), Some(1_000_000));
        assert_eq!(ns("+5"), Some(5_000_000));
        assert_eq!(ns("1_000"), Some(1_000_000_000));
        assert_eq!(ns("1_0.5"), Some(10_500_000));
        assert_eq!(ns("1d+2h"), Some(26 * 3_600_000_000_000));
        assert_eq!(ns("0.9ns"), Some(0));
        assert_eq!(ns("9223372036854775807ns"), Some(i64::MAX));
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "",
            "s",
            "10 s",
            "1x",
            "1s2",
            "1d2",
            "d",
            "1..5s",
            "--1s",
            "9999999d",
            "1h-2m",
            ".",
            "-",
            "2h1d",
            "inf",
            "NaN",
            "e5",
            "1e20",
            "0x10",
            " 10s",
            "9223372036854775808ns",
        ] {
            assert_eq!(ns(text), None, "{text}");
        }
        assert_eq!(
            Span::parse("10 s").unwrap_err().to_string(),
            "'10 s' is not a duration: expected a form like 10s, 1h30m, 1d or a number of milliseconds"
        );
    }

    /// What a number without a unit is differs; everything else is the same.
    #[test]
    fn bare_numbers_are_what_the_rule_says() {
        let both =
            |text| (Span::parse_seconds(text).map(|span| span.ns), Span::parse_with_unit(text).map(|span| span.ns));
        assert_eq!(both("1.5"), (Some(1_500_000_000), None));
        assert_eq!(both("1e3"), (Some(1_000_000_000_000), None));
        assert_eq!(both("0"), (Some(0), None));
        assert_eq!(both("50ms"), (Some(50_000_000), Some(50_000_000)));
        assert_eq!(both("1m30s"), (Some(90_000_000_000), Some(90_000_000_000)));
        assert_eq!(both("5 s"), (None, None));
    }

    #[test]
    fn prints_as_k6_does() {
        for (text, printed) in [
            ("90s", "1m30s"),
            ("26h30s", "26h0m30s"),
            ("1500us", "1.5ms"),
            ("0", "0s"),
            ("2500", "2.5s"),
            ("-1s", "-1s"),
            ("1ns", "1ns"),
        ] {
            assert_eq!(Span::parse(text).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn json_numbers_are_milliseconds() {
        let span: Span = serde_json::from_str("1500").unwrap();
        assert_eq!(span.to_duration(), Some(Duration::from_millis(1500)));
        assert_eq!(serde_json::to_string(&span).unwrap(), "\"1.5s\"");
        assert!(serde_json::from_str::<Span>("true").is_err());
    }
}
