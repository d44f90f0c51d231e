//! What another program's output says about its run: `rate`, `count`, `errors`, `bytes`, percentiles and `max`, by
//! named groups of regular expressions.
//!
//! Names tell units: `p99` may have its unit behind it (`1.20ms`, as wrk prints) and is milliseconds without one,
//! `p99_s`, `p99_ms` and `p99_us` say theirs. `errors_timeout` are errors of the kind `timeout`. Bytes may have `KB`,
//! `MiB` and the like behind them, binary multiples. A missing or invalid rate makes the run a failure.

use std::collections::BTreeMap;

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figures of a run that another program made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Requests per second.
    pub rate: f64,
    /// Requests in all, when told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<f64>,
    /// Requests that failed, when told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<f64>,
    /// Those that failed by reported kind; they are in `errors` too.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors_by_kind: BTreeMap<String, f64>,
    /// Bytes received in all, when told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// Milliseconds by percentile: `50`, `99.9`; `100` is the maximum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub percentiles_ms: BTreeMap<String, f64>,
}

/// Checks the expressions: each must be one, and one must have a group `rate`.
pub fn check(expressions: &[String]) -> Result<(), String> {
    let mut has_rate = false;
    for expression in expressions {
        let regex = Regex::new(expression).map_err(|e| format!("'{expression}' is not a regular expression: {e}"))?;
        for name in regex.capture_names().flatten() {
            has_rate |= name == "rate";
            if FigureName::of(name).is_none() {
                return Err(format!("'{expression}': unknown group '{name}', expected {GROUPS}"));
            }
        }
    }
    if has_rate { Ok(()) } else { Err(String::from("no expression has a group for the rate, as (?<rate>[0-9.]+)")) }
}

/// Reads the output.
pub fn read(output: &str, expressions: &[String]) -> Result<Figures, String> {
    let (mut rate, mut figures) = (None, Figures::default());
    for expression in expressions {
        let regex = Regex::new(expression).map_err(|e| format!("'{expression}' is not a regular expression: {e}"))?;
        // The last one counts: several tools print figures as they go.
        let Some(found) = regex.captures_iter(output).last() else { continue };
        for name in regex.capture_names().flatten() {
            let Some(text) = found.name(name).map(|group| group.as_str()) else { continue };
            match FigureName::of(name).ok_or_else(|| format!("unknown group '{name}'"))? {
                FigureName::Rate => rate = Some(number(name, text)?),
                FigureName::Count => figures.count = Some(number(name, text)?),
                FigureName::Bytes => figures.bytes = Some(bytes(name, text)?),
                FigureName::Errors(kind) => {
                    let errors = number(name, text)?;
                    *figures.errors.get_or_insert(0.0) += errors;
                    if let Some(kind) = kind.filter(|_| errors > 0.0) {
                        *figures.errors_by_kind.entry(kind).or_insert(0.0) += errors;
                    }
                }
                FigureName::Percentile(percent, unit) => {
                    figures.percentiles_ms.insert(percent, milliseconds(name, text, unit)?);
                }
            }
        }
    }
    figures.rate = rate.filter(|rate| *rate > 0.0).ok_or_else(|| match rate {
        Some(_) => String::from("the output has a rate of 0: no request was made"),
        None => format!("the output has no rate: nothing in it matches {}", expressions.join(" or ")),
    })?;
    Ok(figures)
}

/// What a group of an expression can be called.
const GROUPS: &str = "rate, count, bytes, errors, errors_KIND, max, or a percentile as p50, p99, p99_9";

/// What a group's name means.
#[derive(Clone, Debug, PartialEq)]
enum FigureName {
    Rate,
    Count,
    Bytes,
    /// Of a kind, if the name tells one.
    Errors(Option<String>),
    /// Which one, and milliseconds of the unit that the name says.
    Percentile(String, Option<f64>),
}

impl FigureName {
    fn of(name: &str) -> Option<FigureName> {
        Some(match name {
            "rate" => FigureName::Rate,
            "count" => FigureName::Count,
            "bytes" => FigureName::Bytes,
            "errors" => FigureName::Errors(None),
            name => match name.strip_prefix("errors_") {
                Some(kind) => FigureName::Errors(Some(kind.replace('_', " "))),
                None => return FigureName::percentile(name),
            },
        })
    }

    /// `p99_9_ms` is 99.9 in ms, `max` is 100.
    fn percentile(name: &str) -> Option<FigureName> {
        let (name, unit) = [("_us", 1e-3), ("_ms", 1.0), ("_s", 1e3)]
            .iter()
            .find_map(|(suffix, factor)| Some((name.strip_suffix(suffix)?, Some(*factor))))
            .unwrap_or((name, None));
        if name == "max" {
            return Some(FigureName::Percentile(String::from("100"), unit));
        }
        let digits = name.strip_prefix('p')?.replace('_', ".");
        let value: f64 = digits.parse().ok()?;
        (value > 0.0 && value <= 100.0).then_some(FigureName::Percentile(digits, unit))
    }
}

/// `123.45MB`, `1.2 KiB`, `17`.
fn bytes(name: &str, text: &str) -> Result<f64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(text.len());
    let unit = text[end..].trim();
    let bytes = units::size::unit_bytes(unit)
        .ok_or_else(|| format!("{name}: found the unit '{}', expected B, KB, MB or GB", unit.to_ascii_lowercase()))?;
    Ok(number(name, &text[..end])? * bytes as f64)
}

/// A number, thousands separated or not.
fn number(name: &str, text: &str) -> Result<f64, String> {
    let plain: String = text.trim().chars().filter(|c| *c != ',').collect();
    plain
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite())
        .ok_or_else(|| format!("{name}: found '{text}', expected a number"))
}

fn milliseconds(name: &str, text: &str, unit: Option<f64>) -> Result<f64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(text.len());
    let written = match text[end..].trim() {
        "" => None,
        "ns" => Some(1e-6),
        "us" | "µs" | "μs" => Some(1e-3),
        "ms" => Some(1.0),
        "s" | "secs" => Some(1e3),
        "m" => Some(6e4),
        other => return Err(format!("{name}: found the unit '{other}', expected ns, us, ms, s or m")),
    };
    Ok(number(name, &text[..end])? * written.or(unit).unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(expressions: &[&str]) -> Vec<String> {
        expressions.iter().map(|e| e.to_string()).collect()
    }

    #[test]
    fn wrk_is_understood() {
        let expressions = texts(&[r"Requests/sec:\s+(?<rate>[\d.]+)", r"50%\s+(?<p50>\S+)", r"99%\s+(?<p99>\S+)"]);
        assert_eq!(check(&expressions), Ok(()));
        let output = "  Latency Distribution\n     50%  412.00us\n     99%    1.20ms\nRequests/sec:  98765.43\n";
        let figures = read(output, &expressions).unwrap();
        assert_eq!(figures.rate, 98765.43);
        assert!((figures.percentiles_ms["50"] - 0.412).abs() < 1e-9);
        assert_eq!(figures.percentiles_ms["99"], 1.2);
    }

    #[test]
    fn names_tell_units_and_commas_are_read() {
        let figures = read("r 1,234.5 t 0.002", &texts(&[r"r (?<rate>[\d.,]+) t (?<p99_9_s>[\d.]+)"])).unwrap();
        assert_eq!((figures.rate, figures.percentiles_ms["99.9"]), (1234.5, 2.0));
        let figures = read("r 1 max 3 s 2.00 KB", &texts(&[r"r (?<rate>1) max (?<max_s>\d) s (?<bytes>.*)"])).unwrap();
        assert_eq!((figures.percentiles_ms["100"], figures.bytes), (3000.0, Some(2048.0)));
    }

    #[test]
    fn errors_have_kinds() {
        let expressions = texts(&[
            r"(?<rate>\d+)/s",
            r"Socket errors: connect (?<errors_connect>\d+), read (?<errors_read>\d+)",
            r"Socket errors: .*, timeout (?<errors_timeout>\d+)",
            r"Non-2xx or 3xx responses: (?<errors_not_2xx_or_3xx>\d+)",
        ]);
        assert_eq!(check(&expressions), Ok(()));
        let output = "7/s\nSocket errors: connect 0, read 3, write 0, timeout 2\nNon-2xx or 3xx responses: 11\n";
        let figures = read(output, &expressions).unwrap();
        assert_eq!(figures.errors, Some(16.0));
        let kinds: Vec<_> = figures.errors_by_kind.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        assert_eq!(kinds, [("not 2xx or 3xx", 11.0), ("read", 3.0), ("timeout", 2.0)]);
    }

    #[test]
    fn expressions_and_outputs_that_do_not_fit_say_so() {
        let bad = |e: &[&str]| check(&texts(e)).expect_err("refused");
        assert_eq!(bad(&[]), "no expression has a group for the rate, as (?<rate>[0-9.]+)");
        assert!(
            bad(&["(?<rate>x)(?<foo>y)"]).contains(
                "unknown group 'foo', expected rate, count, bytes, errors, errors_KIND, max, or a percentile"
            )
        );
        assert!(bad(&["(?<rate>["]).starts_with("'(?<rate>[' is not a regular expression: "));
        let fail = |output: &str| read(output, &texts(&["rate=(?<rate>\\S+)"])).expect_err("refused");
        assert_eq!(fail("nothing"), "the output has no rate: nothing in it matches rate=(?<rate>\\S+)");
        assert_eq!(fail("rate=0"), "the output has a rate of 0: no request was made");
        assert_eq!(fail("rate=many"), "rate: found 'many', expected a number");
    }
}
