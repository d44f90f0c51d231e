//! What one run of a script came to, as facts that must be equal in k6 and Onrush.
//!
//! A fact is a name and a text. Left out is what no two runs share (times, rates per second, byte counts, gauges of
//! virtual users, which k6 samples once a second), the metrics that only Onrush has, and what it says of errors.

use std::collections::BTreeMap;

use serde_json::Value;

use super::directives::Directives;
use super::{archive, lines, log};

/// Metrics that are not compared at all.
pub const NOT_COMPARED: [&str; 9] = [
    "vus",
    "vus_max",
    "iteration_lag",
    "iteration_duration_from_plan",
    "iterations_threw",
    "grpc_streams_msg_delay",
    "http_req_duration_from_plan",
    "http_reqs_interrupted",
    "interrupted_iterations",
];

/// Facts by name.
pub struct Observation {
    /// Sorted, so that differences come in a stable order.
    pub facts: BTreeMap<String, String>,
}

/// What one run left behind.
#[derive(Default)]
pub struct Ran {
    pub code: Option<i32>,
    pub summary: Option<String>,
    pub json: Option<String>,
    pub csv: Option<String>,
    pub archive: Option<Vec<u8>>,
    pub stdout: String,
    /// Standard error: a log in JSON lines.
    pub log: String,
}

impl Observation {
    /// All facts that the script asks for.
    pub fn new(ran: &Ran, directives: &Directives) -> Result<Self, String> {
        let mut observation = Observation { facts: BTreeMap::new() };
        observation.fact("exit code", ran.code.map_or("none".to_owned(), |code| code.to_string()));
        if let Some(text) = &ran.summary {
            let data: Value = serde_json::from_str(text).map_err(|error| format!("summary is no JSON: {error}"))?;
            observation.summary(&data);
        }
        let json = ran.json.as_deref().unwrap_or_default();
        let csv = ran.csv.as_deref().map(|csv| lines::of_csv(csv, json)).unwrap_or_default();
        for (line, count) in lines::of_json(json)?.into_iter().chain(csv) {
            observation.fact(line, count.to_string());
        }
        for error in log::errors(&ran.log, directives.log) {
            observation.fact(error, "logged");
        }
        if directives.console {
            observation.facts.extend(log::console(&ran.log));
        }
        if directives.stdout {
            observation.stdout(&ran.stdout);
        }
        observation.facts.extend(ran.archive.as_deref().map(archive::facts).unwrap_or_default());
        Ok(observation)
    }

    fn stdout(&mut self, text: &str) {
        for (index, line) in text.lines().enumerate() {
            self.fact(format!("standard output {:03}", index + 1), line);
        }
    }

    /// The same without what counts iterations or takes their values: names, kinds, keys and verdicts stay.
    pub fn without_counts(mut self) -> Self {
        let counted = [": count", ": passes", ": fails", ": value", ": min", ": max"];
        self.facts.retain(|name, _| !counted.iter().any(|end| name.ends_with(end)));
        for (_, count) in
            self.facts.iter_mut().filter(|(name, _)| name.starts_with("json ") || name.starts_with("csv "))
        {
            "some".clone_into(count);
        }
        self.facts.iter_mut().filter(|(name, _)| name.starts_with("check '") && !name.ends_with(": id")).for_each(
            |(_, outcome)| *outcome = if outcome.ends_with(" 0 failed") { "held" } else { "failed" }.to_owned(),
        );
        self
    }

    fn fact(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.facts.insert(name.into(), value.into());
    }

    fn summary(&mut self, data: &Value) {
        self.fact("summary keys", keys(data));
        self.fact("options keys", keys(&data["options"]));
        self.fact("state keys", keys(&data["state"]));
        if let Some(setup) = data.get("setup_data") {
            self.fact("setup data", sorted(setup).to_string());
        }
        for (name, metric) in data["metrics"].as_object().into_iter().flatten() {
            let base = name.split('{').next().unwrap_or(name);
            if !NOT_COMPARED.contains(&base) {
                self.metric(name, base, metric);
            }
        }
        self.group(&data["root_group"]);
    }

    fn metric(&mut self, name: &str, base: &str, metric: &Value) {
        self.fact(format!("metric {name}: kind"), format!("{} of {}", metric["type"], metric["contains"]));
        self.fact(format!("metric {name}: keys"), keys(&metric["values"]));
        for (source, threshold) in metric["thresholds"].as_object().into_iter().flatten() {
            self.fact(format!("metric {name}: threshold {source}"), threshold["ok"].to_string());
        }
        let comparable: &[&str] = match (metric["type"].as_str(), metric["contains"].as_str()) {
            (Some("counter"), Some("default")) => &["count"],
            (Some("rate"), _) => &["passes", "fails"],
            (Some("gauge"), _) => &["value", "min", "max"],
            // Times differ from run to run; what a script adds to a plain Trend does not.
            (Some("trend"), Some("default")) if base != "iteration_duration" => &["min", "max"],
            _ => &[],
        };
        for key in comparable {
            self.fact(format!("metric {name}: {key}"), number(&metric["values"][*key]));
        }
    }

    fn group(&mut self, group: &Value) {
        let path = group["path"].as_str().unwrap_or_default().to_owned();
        self.fact(format!("group '{path}': keys"), keys(group));
        self.fact(format!("group '{path}': id"), group["id"].to_string());
        for (list, label) in [("groups", "groups"), ("checks", "checks")] {
            let names: Vec<String> =
                group[list].as_array().into_iter().flatten().map(|entry| entry["name"].to_string()).collect();
            self.fact(format!("group '{path}': {label}"), names.join(", "));
        }
        for check in group["checks"].as_array().into_iter().flatten() {
            let name = check["path"].as_str().unwrap_or_default();
            self.fact(format!("check '{name}'"), format!("{} passed, {} failed", check["passes"], check["fails"]));
            self.fact(format!("check '{name}': id"), check["id"].to_string());
        }
        for inner in group["groups"].as_array().into_iter().flatten() {
            self.group(inner);
        }
    }
}

/// The names in an object, sorted, without what k6 does not have.
fn keys(value: &Value) -> String {
    let all = value.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let mut keys: Vec<&str> = all.filter(|key| !["errors", "judgement"].contains(key)).collect();
    keys.sort_unstable();
    keys.join(", ")
}

/// `1` and `1.0` are one number in JavaScript.
fn number(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string())
}

/// The value with all objects in order of their keys: k6 does not keep the order of setup data.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(entries) => {
            let ordered: BTreeMap<&String, Value> = entries.iter().map(|(key, value)| (key, sorted(value))).collect();
            ordered.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(summary: &str, log: &str) -> BTreeMap<String, String> {
        let ran = Ran { summary: Some(summary.to_owned()), log: log.to_owned(), ..Ran::default() };
        Observation::new(&ran, &Directives { console: true, ..Directives::default() }).unwrap().facts
    }

    #[test]
    fn a_summary_becomes_facts() {
        let found = facts(
            r#"{"metrics": {
                "mine": {"type": "counter", "contains": "default", "values": {"rate": 3.3, "count": 5.0},
                         "thresholds": {"count>4": {"ok": true}}},
                "vus": {"type": "gauge", "contains": "default", "values": {"value": 1}},
                "http_req_duration{a:b}": {"type": "trend", "contains": "time", "values": {"avg": 1.5}}},
              "root_group": {"name": "", "path": "", "id": "x", "groups": [], "checks": [
                {"name": "c", "path": "::c", "id": "y", "passes": 2, "fails": 1}]}}"#,
            "noise\n{\"level\":\"info\",\"msg\":\"hello\",\"source\":\"console\"}\n\
             {\"level\":\"info\",\"msg\":\"other\"}\n",
        );
        assert_eq!(found["metric mine: count"], "5");
        assert_eq!(found["metric mine: keys"], "count, rate");
        assert_eq!(found["metric mine: threshold count>4"], "true");
        assert_eq!(found["metric http_req_duration{a:b}: kind"], "\"trend\" of \"time\"");
        assert!(!found.contains_key("metric http_req_duration{a:b}: avg"));
        assert!(!found.keys().any(|name| name.contains("vus")));
        assert_eq!(found["check '::c'"], "2 passed, 1 failed");
        assert_eq!(found["console line 000"], "\"info\" \"hello\"");
        assert!(!found.contains_key("console line 001"));
    }

    #[test]
    fn counts_can_be_left_out() {
        let summary = r#"{"metrics": {"mine": {"type": "counter", "contains": "default", "values": {"count": 5}}},
            "root_group": {"path": "", "checks": [{"path": "::a", "passes": 2, "fails": 0},
            {"path": "::b", "fails": 1}]}}"#;
        let ran = Ran { summary: Some(summary.to_owned()), ..Ran::default() };
        let found = Observation::new(&ran, &Directives::default()).unwrap().without_counts().facts;
        assert!(!found.contains_key("metric mine: count") && found.contains_key("metric mine: keys"));
        assert_eq!((found["check '::a'"].as_str(), found["check '::b'"].as_str()), ("held", "failed"));
    }

    #[test]
    fn setup_data_does_not_depend_on_the_order_of_keys() {
        let one = facts(r#"{"setup_data": {"b": [{"d": 1, "c": 2}], "a": 1}}"#, "");
        let other = facts(r#"{"setup_data": {"a": 1, "b": [{"c": 2, "d": 1}]}}"#, "");
        assert_eq!(one, other);
    }
}
