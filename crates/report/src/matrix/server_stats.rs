//! What a server counts about itself: numbers read from it before and after a measured run.
//!
//! Read from JSON, whose objects and lists are flattened (`workers.0.requests_count`), or from lines of a name and a
//! value, as Prometheus' text format has them. Other lines and values are no statistics and are left out. Pure:
//! fetching the text is the binary's work.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::number;

/// A server's statistics around a measured run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStats {
    /// By name, before the measured load began.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, f64>,
    /// By name, after it had ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub after: BTreeMap<String, f64>,
    /// Names that the server calls gauges: their level counts and not their change.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub gauges: BTreeSet<String>,
    /// Why they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Whether both readings were the same in every number: servers that collect their statistics every few seconds
    /// then still show those from before the run, which are no change of 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
}

impl ServerStats {
    /// Of two readings, those whose names fit one of the expressions; all without expressions.
    pub fn of(before: Result<Reading, String>, after: Result<Reading, String>, names: &[String]) -> ServerStats {
        let mut stats = ServerStats::default();
        let expressions: Vec<Regex> = names.iter().filter_map(|name| Regex::new(name).ok()).collect();
        stats.is_stale = matches!((&before, &after), (Ok(before), Ok(after)) if before.values == after.values);
        let wanted = |name: &str| expressions.is_empty() || expressions.iter().any(|fits| fits.is_match(name));
        for (when, reading) in [("before", before), ("after", after)] {
            match reading {
                Ok(Reading { mut values, mut gauges }) => {
                    values.retain(|name, _| wanted(name));
                    gauges.retain(|name| values.contains_key(name));
                    stats.gauges.append(&mut gauges);
                    *(if when == "before" { &mut stats.before } else { &mut stats.after }) = values;
                }
                Err(problem) => {
                    stats.problem.get_or_insert(format!("{when} the run: {problem}"));
                }
            }
        }
        stats
    }

    /// Changes of what is counted, levels of gauges; none of statistics that are older than the run.
    pub fn figures(&self) -> impl Iterator<Item = (&str, f64)> {
        self.after.iter().filter(|_| !self.is_stale).filter_map(|(name, after)| {
            let is_gauge = self.gauges.contains(name);
            let before = if is_gauge { Some(0.0) } else { self.before.get(name).copied() };
            Some((name.as_str(), after - before?))
        })
    }

    /// `requests_count +1,000, backlog 3 → 0`: what has changed; at most this many, and how many more.
    pub fn text(&self, most: usize) -> String {
        if let Some(problem) = &self.problem {
            return format!("server statistics could not be read {problem}");
        }
        if self.is_stale {
            return String::from("server statistics are older than the run: both readings are the same");
        }
        let changed: Vec<String> = self
            .after
            .iter()
            .filter_map(|(name, after)| {
                let before = *self.before.get(name)?;
                let is_counted = !self.gauges.contains(name) && *after > before;
                (before != *after).then(|| match is_counted {
                    true => format!("{name} +{}", number::count(after - before)),
                    false => format!("{name} {} → {}", number::count(before), number::count(*after)),
                })
            })
            .collect();
        if changed.is_empty() {
            return format!("server statistics: none of {} changed", self.after.len());
        }
        let more = changed.len().saturating_sub(most);
        let shown = changed[..changed.len() - more].join(", ");
        if more > 0 { format!("{shown}, and {more} more") } else { shown }
    }
}

/// Numbers as a server told them once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// By name.
    pub values: BTreeMap<String, f64>,
    /// Names that are said to be gauges.
    pub gauges: BTreeSet<String>,
}

/// Reads what a server told.
pub fn read(text: &str) -> Result<Reading, String> {
    let mut reading = Reading::default();
    match serde_json::from_str::<Value>(text.trim()) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => flatten(String::new(), &value, &mut reading.values),
        _ => lines(text, &mut reading),
    }
    if reading.values.is_empty() {
        let start: String = text.trim().chars().take(60).collect();
        return Err(format!("found no number in '{start}', expected JSON or lines of a name and a value"));
    }
    Ok(reading)
}

/// Checks expressions for names.
pub fn check(names: &[String]) -> Result<(), String> {
    let bad =
        |name: &String| Regex::new(name).err().map(|error| format!("'{name}' is not a regular expression: {error}"));
    names.iter().find_map(bad).map_or(Ok(()), Err)
}

fn flatten(path: String, value: &Value, into: &mut BTreeMap<String, f64>) {
    let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| flatten(inside(key), value, into)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| flatten(inside(&at.to_string()), value, into));
        }
        Value::Number(number) => {
            number.as_f64().map(|number| into.insert(path, number));
        }
        _ => {}
    }
}

fn lines(text: &str, reading: &mut Reading) {
    let mut gauges = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix('#') {
            if let ["TYPE", name, "gauge"] = comment.split_whitespace().collect::<Vec<_>>()[..] {
                gauges.insert(name.to_owned());
            }
            continue;
        }
        let Some((name, value)) = name_and_value(line) else { continue };
        if gauges.contains(name.split('{').next().unwrap_or(name)) {
            reading.gauges.insert(name.to_owned());
        }
        reading.values.insert(name.to_owned(), value);
    }
}

/// `name 1`, `name: 1`, `name{label="a b"} 1 1700000000000`.
fn name_and_value(line: &str) -> Option<(&str, f64)> {
    let end = match line.find('{') {
        Some(_) => line.rfind('}')? + 1,
        None => line.find(char::is_whitespace)?,
    };
    let (name, rest) = line.split_at(end);
    let numbers: Option<Vec<f64>> = rest.split_whitespace().map(|text| text.parse().ok()).collect();
    let value = match numbers?[..] {
        [value] | [value, _] => value,
        _ => return None,
    };
    let name = name.trim_end_matches(':');
    (value.is_finite() && !name.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUMA: &str = r#"{"started_at":"2026-11-22T06:00:00Z","workers":2,"worker_status":[
        {"index":0,"booted":true,"last_status":{"backlog":0,"running":5,"requests_count":REQUESTS}}]}"#;

    fn puma(requests: u32) -> Result<Reading, String> {
        read(&PUMA.replace("REQUESTS", &requests.to_string()))
    }

    #[test]
    fn json_is_flattened_and_what_grew_is_shown() {
        let stats = ServerStats::of(puma(10), puma(1510), &[]);
        assert_eq!(stats.before.len(), 5);
        assert_eq!(stats.text(5), "worker_status.0.last_status.requests_count +1,500");
        assert!(stats.figures().any(|figure| figure == ("worker_status.0.last_status.requests_count", 1500.0)));
        let few = ServerStats::of(puma(10), puma(20), &[String::from("backlog$"), String::from("^workers$")]);
        assert_eq!(few.after.keys().collect::<Vec<_>>(), ["worker_status.0.last_status.backlog", "workers"]);
        assert_eq!(few.text(5), "server statistics: none of 2 changed");
    }

    #[test]
    fn statistics_that_are_older_than_the_run_are_no_change_of_0() {
        let stale = ServerStats::of(puma(10), puma(10), &[]);
        assert_eq!(stale.figures().count(), 0);
        assert_eq!(stale.text(5), "server statistics are older than the run: both readings are the same");
        let fresh = ServerStats::of(puma(10), puma(11), &[String::from("^workers$")]);
        assert_eq!(fresh.figures().collect::<Vec<_>>(), [("workers", 0.0)], "another number shows that it was updated");
    }

    #[test]
    fn lines_are_read_as_prometheus_writes_them() {
        let text = |requests: u32, open: u32| {
            format!(
                "# HELP requests_total So many.\n# TYPE requests_total counter\nrequests_total{{path=\"/a b\"}} \
                 {requests} 1700\n\
                 # TYPE open gauge\nopen {open}\nplain: 3.5e1\nup NaN\nno number here\n"
            )
        };
        let stats = ServerStats::of(read(&text(5, 9)), read(&text(7, 4)), &[]);
        assert_eq!(stats.text(9), "open 9 → 4, requests_total{path=\"/a b\"} +2");
        assert_eq!(stats.text(1), "open 9 → 4, and 1 more");
        let figures: Vec<_> = stats.figures().collect();
        assert_eq!(figures, [("open", 4.0), ("plain", 0.0), ("requests_total{path=\"/a b\"}", 2.0)]);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let expected = "found no number in '<html>', expected JSON or lines of a name and a value";
        assert_eq!(read("<html>\n"), Err(String::from(expected)));
        let stats = ServerStats::of(puma(1), read("[]"), &[]);
        assert_eq!(
            stats.text(5),
            "server statistics could not be read after the run: found no number in '[]', expected JSON or lines of a \
             name and a value"
        );
        assert!(
            check(&[String::from("(")]).is_err_and(|problem| problem.starts_with("'(' is not a regular expression: "))
        );
    }
}
