//! Holds what a run wrote to what it measured: a journal after a kill or on a full disk, and the files of outputs.
//!
//! A journal gives the totals of its last whole interval, whatever was cut or damaged behind it. A file of samples has
//! each of them once; what a full disk did not take is told, and what is there is a beginning of it.

use std::collections::HashMap;
use std::path::Path;

use journal::{FILE_NAME, JournalReader, rebuild};
use metrics::Results;
use metrics::results::Value;

use super::figures::must;

/// A run as its journal has to give it.
pub(crate) struct Expected<'a> {
    /// After the last whole interval; none where there was none.
    pub(crate) totals: Option<&'a [String]>,
    /// Something follows that is not whole.
    pub(crate) is_damaged: bool,
}

/// All figures of a result, a line each.
pub(crate) fn digest(results: &Results) -> Vec<String> {
    let mut lines = Vec::new();
    for metric in &results.metrics {
        let value = match &metric.value {
            Value::Trend(trend) => {
                let numbers: Vec<(i32, u64)> = trend.numbers().collect();
                let ends = (trend.min(), trend.max(), trend.censored());
                format!("{} {} {ends:?} {} {numbers:?}", trend.count(), trend.sum(), trend.percentile(95.0))
            }
            other => format!("{other:?}"),
        };
        lines.push(format!("{} {:?} {value}", metric.name, metric.filter));
    }
    lines.extend(results.errors.iter().map(|error| format!("{error:?}")));
    lines
}

/// The journal of this folder.
pub(crate) fn check_journal(dir: &Path, expected: &Expected<'_>) -> Result<(), String> {
    let rebuilt = match JournalReader::open(dir) {
        Ok(Some((head, journal))) => rebuild(head, journal),
        Ok(None) => Err(String::from("there is no journal")),
        Err(problem) => Err(problem),
    };
    match (rebuilt, expected.totals) {
        (Err(_), None) => Ok(()),
        (Err(problem), Some(_)) => Err(format!("the journal cannot be read: {problem}")),
        (Ok(_), None) => Err(String::from("the journal gives a result, and no interval was whole")),
        (Ok((test, damage)), Some(totals)) => {
            must(damage.is_some() == expected.is_damaged, "damage of the journal", (&damage, expected.is_damaged))?;
            let found = digest(&test.results);
            let other = found.iter().zip(totals).find(|(found, expected)| found != expected);
            must(other.is_none(), "a figure of the journal", other)?;
            must(found.len() == totals.len(), "figures of the journal", (found.len(), totals.len()))
        }
    }
}

/// Cuts the journal at this byte, or damages it there.
pub(crate) fn spoil(dir: &Path, at: u64, is_cut: bool) -> Result<(), String> {
    let path = dir.join(FILE_NAME);
    let tell = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = std::fs::read(&path).map_err(tell)?;
    match bytes.get_mut(at as usize) {
        Some(byte) if !is_cut => *byte ^= 0x10,
        _ => bytes.truncate(at as usize),
    }
    std::fs::write(&path, bytes).map_err(tell)
}

/// A sample as files have it: its metric and its value.
pub(crate) type Point = (String, f64);

/// What an output has to have.
pub(crate) struct Samples<'a> {
    pub(crate) all: &'a [Point],
    /// So many are told to be lost.
    pub(crate) lost: u64,
}

impl Samples<'_> {
    /// Compares them with what a file has; values to this fraction.
    fn check(&self, name: &str, found: &[Point], digits: impl Fn(f64) -> String) -> Result<(), String> {
        let (all, has) = (self.all.len() as u64, found.len() as u64);
        must(has <= all, name, (has, all))?;
        must(has + self.lost >= all, &format!("{name}, with the lost ones"), (has + self.lost, all))?;
        must(self.lost > 0 || has == all, &format!("{name}, without a word"), (has, all))?;
        must(self.lost <= all, &format!("{name}: lost samples"), (self.lost, all))?;
        let mut left: HashMap<(&str, String), i64> = HashMap::new();
        self.all.iter().for_each(|(name, value)| *left.entry((name, digits(*value))).or_default() += 1);
        for (metric, value) in found {
            let count = left.entry((metric, digits(*value))).or_default();
            *count -= 1;
            must(*count >= 0, &format!("{name} has a sample too often"), (metric, value))?;
        }
        Ok(())
    }

    /// A file of JSON lines; the last line of a full disk may be cut.
    pub(crate) fn check_json(&self, text: &str) -> Result<(), String> {
        let mut found = Vec::new();
        for line in whole_lines(text) {
            let line: serde_json::Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            if line["type"] == "Point" {
                let name = line["metric"].as_str().unwrap_or_default().to_owned();
                found.push((name, line["data"]["value"].as_f64().unwrap_or(f64::NAN)));
            }
        }
        self.check("JSON", &found, |value| value.to_string())
    }

    /// A file of CSV lines.
    pub(crate) fn check_csv(&self, text: &str) -> Result<(), String> {
        let mut found = Vec::new();
        for line in whole_lines(text).skip(1) {
            let mut fields = line.split(',');
            let (name, _, value) = (fields.next(), fields.next(), fields.next());
            let value = value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("no sample: {line}"))?;
            found.push((name.unwrap_or_default().to_owned(), value));
        }
        self.check("CSV", &found, |value| format!("{value:.6}"))
    }
}

fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}
