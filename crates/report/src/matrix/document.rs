//! The result of a matrix: one JSON file with the plan, the order as it was, and every run's result document without
//! its per-second series.
//!
//! It is written again after every run, so that whatever happens the runs made are kept; a run that failed stays in it
//! with the reason. Of a run's Trends those are kept that tables and comparisons read. Schema 1 is read as well and
//! becomes schema 2.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::figures::Figures;
use super::plan::{Pin, Plan};
use super::server_stats::ServerStats;
use crate::document::{Cause, Document, Environment, Metric, Value as Measured, check_schema};
use crate::stats::MOST_PAIRS;

/// The number of the schema these types are: that of the results in them.
pub use crate::document::SCHEMA;

/// The share of its cores at which a process is taken to have no more to give.
const FULL: f64 = 0.95;

/// What `kind` says in a matrix's result.
pub const KIND: &str = "onrush-matrix";

/// The result of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixDocument {
    /// `onrush-matrix`.
    pub kind: String,
    /// Number of this schema: 2.
    pub schema: u32,
    /// Version of Onrush that ran it.
    pub onrush: String,
    /// RFC 3339 in UTC.
    pub started_at: String,
    /// Decided the order.
    pub seed: u64,
    /// The plan, with what the command line changed.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// Where the time went.
    pub timing: Timing,
    /// In the order they were made.
    pub runs: Vec<RunRecord>,
}

/// Where the time went, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Under measured load, by the runs' own clocks.
    pub measured_s: f64,
    /// Under load that was not measured, and pauses: what the plan asks for.
    pub warm_up_s: f64,
    /// In the plan's commands: setup, teardown, before and after cells.
    pub commands_s: f64,
    /// Waiting for servers to be ready and to end.
    pub servers_s: f64,
    /// Loads beyond the time that was asked of them: their programs' start, their connecting, their end.
    #[serde(default)]
    pub loads_s: f64,
    /// Everything else, between the runs: telling what was used, reading results, writing this file.
    pub own_s: f64,
}

impl Timing {
    /// All of it.
    pub fn total_s(&self) -> f64 {
        self.measured_s + self.warm_up_s + self.commands_s + self.servers_s + self.loads_s + self.own_s
    }

    /// Some of it as a share of all.
    pub fn share(&self, seconds: f64) -> f64 {
        let total = self.total_s();
        if total > 0.0 { seconds / total } else { 0.0 }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Value names by axis.
    pub axes: BTreeMap<String, String>,
    /// Name of the variant.
    pub variant: String,
    /// From 1.
    pub round: u32,
    /// Number of the run in the planned order, from 1.
    pub position: usize,
    /// When it began: RFC 3339 in UTC.
    pub at: String,
    /// How it went.
    pub outcome: Outcome,
    /// How long it was measured: the run's clock, or the duration given to a program.
    #[serde(default)]
    pub measured_s: f64,
    /// Why it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The last lines that the server or the load printed, when it is not ok.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<String>,
    /// What was measured, also of a run that is not valid because of it; its per-second series are empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Document>,
    /// What another program's output told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<Figures>,
    /// What the server counts about itself, when the plan asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_stats: Option<ServerStats>,
    /// What the server used meanwhile; absent when it was not started here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Usage>,
    /// What the load's processes used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Usage>,
    /// The machine meanwhile, when the load was another program; otherwise the result tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Environment>,
}

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Measured.
    Ok,
    /// The load failed, or too many of its requests.
    Failed,
    /// The server did not start, or died.
    Dead,
}

/// What processes used during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU time, user and system.
    pub cpu_s: f64,
    /// Most memory so far, resident, where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}

impl MatrixDocument {
    /// Each variant has one result in a cell and round, and no cell has more rounds than a test of pairs can judge.
    fn check_rounds(&self) -> Result<(), String> {
        let mut known = HashSet::new();
        for run in self.runs.iter().filter(|run| run.is_ok()) {
            if run.round as usize > MOST_PAIRS {
                return Err(format!("found round {}, expected at most {MOST_PAIRS}", run.round));
            }
            if !known.insert((&run.axes, &run.variant, run.round)) {
                return Err(format!("found two runs of variant '{}' in round {} of one cell", run.variant, run.round));
            }
        }
        Ok(())
    }

    /// Lets runs count whose generator was late or the limit by its own word; tables say so.
    pub fn accept_late(&mut self) {
        for result in self.runs.iter_mut().filter_map(|run| run.result.as_mut()) {
            result.generator.accept();
        }
    }
}

impl RunRecord {
    /// Whether it was measured.
    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }

    /// Why its rate is no evidence about servers: its generator was the limit or was held up. It may say so itself;
    /// another program does not, nor does a run that was too short to judge itself: they were the limit when they
    /// filled their cores and the server left some of its own idle.
    pub fn limit(&self, pin: &Pin) -> Option<Cause> {
        if let Some(result) = &self.result
            && (result.generator.saturated || result.generator.late_accepted)
        {
            return result.generator.limit();
        }
        let fills = |used: Option<f64>, cores: &[usize]| {
            used.is_some_and(|used| !cores.is_empty() && used >= FULL * cores.len() as f64)
        };
        let cores = |used: Option<Usage>| Some(used?.cpu_s / self.measured_s).filter(|cores| cores.is_finite());
        // What it used while starting is not in the figure of its own.
        let load = self.result.as_ref().map(|result| result.generator.process_cores).or(cores(self.load));
        (fills(load, &pin.load) && !fills(cores(self.server), &pin.server)).then_some(Cause::Busy)
    }

    /// The line about a verdict against its generator that somebody overruled.
    pub fn accepted(&self) -> Option<String> {
        self.result.as_ref()?.generator.accepted()
    }

    /// The line about a run that counts although some of its figures are in doubt.
    pub fn doubt(&self) -> Option<String> {
        self.result.as_ref()?.generator.doubt()
    }

    /// The machine meanwhile; unknown of a run that measured nothing.
    pub fn machine(&self) -> Option<&Environment> {
        self.result.as_ref().map(|result| &result.environment).or(self.machine.as_ref())
    }

    /// Per second, of this Counter.
    pub fn rate(&self, metric: &str) -> Option<f64> {
        if let Some(figures) = &self.figures {
            return Some(figures.rate);
        }
        match &self.result.as_ref()?.metric(metric)?.value {
            Measured::Counter { rate, .. } => Some(*rate),
            _ => None,
        }
    }

    /// Samples of this Counter in all; of a program that does not tell, by its rate.
    pub fn count(&self, metric: &str) -> Option<f64> {
        if let Some(figures) = &self.figures {
            return figures.count.or(Some(figures.rate * self.measured_s));
        }
        match &self.result.as_ref()?.metric(metric)?.value {
            Measured::Counter { count, .. } => Some(*count),
            _ => None,
        }
    }

    /// Bytes received for each request, headers included; none when nobody counted them.
    pub fn response_bytes(&self) -> Option<f64> {
        let (bytes, requests) = match (&self.figures, &self.result) {
            (Some(figures), _) => (figures.bytes?, figures.count?),
            (None, Some(_)) => (self.count("data_received")?, self.count("http_reqs")?),
            (None, None) => return None,
        };
        (requests > 0.0).then_some(bytes / requests)
    }

    /// Percentiles of this Trend, in its unit; 100 is its maximum. None for those that are not known.
    pub fn percentiles(&self, metric: &str, percents: &[f64]) -> Vec<Option<f64>> {
        if let Some(figures) = &self.figures {
            return percents.iter().map(|percent| figures.percentiles_ms.get(&percent.to_string()).copied()).collect();
        }
        let trend = self.result.as_ref().and_then(|result| Some(result.metric(metric)?.histogram()?.trend()));
        match trend.filter(|trend| trend.count() > 0) {
            Some(trend) => {
                let value = |percent: f64| if percent < 100.0 { trend.percentile(percent) } else { trend.max() };
                percents.iter().map(|percent| Some(value(*percent))).collect()
            }
            None => vec![None; percents.len()],
        }
    }
}

/// How long requests took, and how long messages: Trends that comparisons read besides the plan's own.
const REQUEST_TIME: &str = "http_req_duration";
const MESSAGE_TIME: &str = "message_delay";

/// A run's result as a matrix keeps it: no series, and of the Trends only those that are asked for later.
pub fn slim(mut result: Document, plan: &Plan) -> Document {
    // Every response expected, every iteration a request: those would be the same histogram again.
    let again = |metric: &Metric| metric.filter.as_deref() == Some("expected_response:true");
    let has_requests = result.metric(REQUEST_TIME).is_some();
    let kept = |metric: &Metric| {
        let wanted = metric.name == plan.measure.time
            || [REQUEST_TIME, MESSAGE_TIME].contains(&metric.name.as_str())
            || (metric.name == "iteration_duration" && !has_requests);
        metric.histogram().is_none() || (wanted && !again(metric))
    };
    result.metrics.retain(kept);
    result.seconds = Default::default();
    result.groups = Default::default();
    result
}

/// The text of a result, also of one that was packed with gzip afterwards, for keeping.
pub fn text(path: &Path) -> std::io::Result<String> {
    crate::input::text(path)
}

/// Reads a matrix's result; the error is ready to print.
pub fn read(path: &Path) -> Result<MatrixDocument, String> {
    let name = path.display();
    let text = text(path).map_err(|error| format!("cannot read the matrix's result {name}: {error}"))?;
    let bad = |error: serde_json::Error| {
        format!("{name}:{}:{}: not a matrix's result: {error}", error.line(), error.column())
    };
    let head: Value = serde_json::from_str(&text).map_err(bad)?;
    match head.get("kind").and_then(Value::as_str) {
        Some(KIND) => {}
        Some(other) => {
            return Err(format!("{name}: found kind '{other}', expected '{KIND}', as 'onrush matrix' writes it"));
        }
        None => return Err(format!("{name}: found no kind, expected '{KIND}', as 'onrush matrix' writes it")),
    }
    check_schema(head.get("schema").and_then(Value::as_u64))
        .map_err(|what| format!("{name}: {what}, or run the matrix again"))?;
    let mut document: MatrixDocument = serde_json::from_str(&text).map_err(bad)?;
    document.check_rounds().map_err(|what| format!("{name}: not a matrix's result: {what}"))?;
    document.schema = SCHEMA;
    document.runs.iter_mut().filter_map(|run| run.result.as_mut()).for_each(|result| result.schema = SCHEMA);
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_time_are_of_all_of_it() {
        let timing =
            Timing { measured_s: 32.0, warm_up_s: 16.0, commands_s: 8.0, servers_s: 4.0, loads_s: 3.0, own_s: 1.0 };
        assert_eq!((timing.total_s(), timing.share(timing.warm_up_s)), (64.0, 0.25));
        assert_eq!(Timing::default().share(0.0), 0.0, "of no time at all");
    }

    /// The metrics that are kept of a result with these, each a Trend but for `http_reqs`.
    fn kept(keys: &[&str], time: &str) -> Vec<String> {
        let metric = |key: &&str| {
            let (name, filter) = key.trim_end_matches('}').split_once('{').unzip();
            let value = match *key {
                "http_reqs" => serde_json::json!({ "kind": "counter", "value": { "count": 1, "rate": 1 } }),
                _ => serde_json::json!({
                    "kind": "trend",
                    "value": { "count": 1, "sum": 1.0, "min": 1.0, "max": 1.0, "buckets": [[1, 1]] },
                }),
            };
            let mut metric = serde_json::json!({ "name": name.unwrap_or(key), "filter": filter, "contains": "time" });
            metric.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
            metric
        };
        let document = serde_json::from_value(serde_json::json!({
            "kind": "onrush-result", "schema": 1, "onrush": "0.1.0", "started_at": "", "duration_s": 2.0, "script": "",
            "options": {}, "environment": Environment::default(), "generator": crate::document::Generator::default(),
            "exit": { "code": 0, "reason": null }, "metrics": keys.iter().map(metric).collect::<Vec<_>>(),
            "checks": [], "groups": { "name": "", "path": "", "checks": [], "groups": [] },
            "seconds": { "starts_s": [0.0], "lengths_s": [1.0], "series": [] },
        }));
        let mut plan = Plan::default();
        plan.measure.time = time.to_owned();
        let slim = slim(document.expect("a document"), &plan);
        assert!(slim.seconds.starts_s.is_empty(), "no series");
        slim.metrics.iter().map(Metric::key).collect()
    }

    #[test]
    fn of_trends_those_are_kept_that_are_asked_for_later() {
        let all = [
            "http_req_blocked",
            "http_req_duration",
            "http_req_duration{expected_response:true}",
            "http_req_duration{scenario:a}",
            "http_reqs",
            "iteration_duration",
            "message_delay",
            "mine",
        ];
        let usual = ["http_req_duration", "http_req_duration{scenario:a}", "http_reqs", "message_delay"];
        assert_eq!(kept(&all, "http_req_duration"), usual);
        assert_eq!(kept(&all, "mine"), [&usual[..], &["mine"]].concat(), "the plan's own");
        let no_requests = ["http_req_blocked", "iteration_duration", "message_delay", "mine"];
        assert_eq!(kept(&no_requests, "http_req_duration"), ["iteration_duration", "message_delay"]);
    }
}
