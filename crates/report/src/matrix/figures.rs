//! What another program's output says about its run: `rate`, `count`, `errors` and percentiles, by named groups of regular
//! expressions.
//!
//! Names tell units: `p99` may have its unit behind it (`1.20ms`, as wrk prints) and is milliseconds without one, `p99_s`,
//! `p99_ms` and `p99_us` say theirs. A rate that is not there, or not a number, makes the run a failure.

use std::collections::BTreeMap;

use regex_lite::{Captures, Regex};
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
    /// Milliseconds by percentile: `50`, `99.9`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub percentiles_ms: BTreeMap<String, f64>,
}

/// Checks the expressions: each must be one, and one must have a group `rate`.
pub fn check(expressions: &[String]) -> Result<(), String> {
    let mut has_rate = false;
    for expression in expressions {
        let regex = Regex::new(expression).map_err(|e| format!("'{expression}' is no regular expression: {e}"))?;
        for name in regex.capture_names().flatten() {
            has_rate |= name == "rate";
            if !matches!(name, "rate" | "count" | "errors") && percentile(name).is_none() {
                return Err(format!(
                    "'{expression}': unknown group '{name}', expected rate, count, errors, or a percentile as p50, p99, p99_9"
                ));
            }
        }
    }
    if has_rate { Ok(()) } else { Err(String::from("no expression has a group for the rate, as (?<rate>[0-9.]+)")) }
}

/// Reads the output.
pub fn read(output: &str, expressions: &[String]) -> Result<Figures, String> {
    let (mut rate, mut figures) = (None, Figures::default());
    for expression in expressions {
        let regex = Regex::new(expression).map_err(|e| format!("'{expression}' is no regular expression: {e}"))?;
        // The last one counts: several tools print figures as they go.
        let Some(found) = regex.captures_iter(output).last() else { continue };
        for name in regex.capture_names().flatten() {
            let Some(text) = found.name(name).map(|group| group.as_str()) else { continue };
            match name {
                "rate" => rate = Some(number(name, text)?),
                "count" => figures.count = Some(number(name, text)?),
                "errors" => figures.errors = Some(figures.errors.unwrap_or(0.0) + sum_of(&found, name)?),
                _ => {
                    let (key, unit) = percentile(name).ok_or_else(|| format!("unknown group '{name}'"))?;
                    figures.percentiles_ms.insert(key, milliseconds(name, text, unit)?);
                }
            }
        }
    }
    figures.rate = rate.filter(|rate| *rate > 0.0).ok_or_else(|| match rate {
        Some(_) => String::from("the output tells a rate of 0: no request was made"),
        None => format!("the output holds no rate: nothing in it fits {}", expressions.join(" or ")),
    })?;
    Ok(figures)
}

fn sum_of(found: &Captures<'_>, name: &str) -> Result<f64, String> {
    number(name, found.name(name).map_or("0", |group| group.as_str()))
}

/// The percentile that a group's name means, and the unit it says: `p99_9_ms` is 99.9 in ms.
fn percentile(name: &str) -> Option<(String, Option<f64>)> {
    let rest = name.strip_prefix('p')?;
    let (digits, unit) = [("_us", 1e-3), ("_ms", 1.0), ("_s", 1e3)]
        .iter()
        .find_map(|(suffix, factor)| Some((rest.strip_suffix(suffix)?, Some(*factor))))
        .unwrap_or((rest, None));
    let digits = digits.replace('_', ".");
    let value: f64 = digits.parse().ok()?;
    (value > 0.0 && value < 100.0).then_some((digits, unit))
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
    }

    #[test]
    fn expressions_and_outputs_that_do_not_fit_say_so() {
        let bad = |e: &[&str]| check(&texts(e)).expect_err("refused");
        assert_eq!(bad(&[]), "no expression has a group for the rate, as (?<rate>[0-9.]+)");
        assert!(
            bad(&["(?<rate>x)(?<foo>y)"])
                .contains("unknown group 'foo', expected rate, count, errors, or a percentile")
        );
        assert!(bad(&["(?<rate>["]).starts_with("'(?<rate>[' is no regular expression: "));
        let fail = |output: &str| read(output, &texts(&["rate=(?<rate>\\S+)"])).expect_err("refused");
        assert_eq!(fail("nothing"), "the output holds no rate: nothing in it fits rate=(?<rate>\\S+)");
        assert_eq!(fail("rate=0"), "the output tells a rate of 0: no request was made");
        assert_eq!(fail("rate=many"), "rate: found 'many', expected a number");
    }
}
