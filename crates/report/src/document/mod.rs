//! The result document: the whole outcome of a run, in one JSON file that other commands and other programs read.
//!
//! `onrush run --save DIR` writes `DIR/result.json`; reports, comparisons and matrices are made from it alone. Whole
//! histograms are in it, so any percentile can be asked for later, and results of several runs can be merged. Units
//! last in a name (`duration_s`, `lag_p99_ms`); values of metrics are ms, bytes or plain numbers, as `contains` says.
//!
//! Fields may be added within a schema; a reader ignores those it does not know. What is there keeps its name and
//! meaning, else the number changes. `docs/schema/result-2.json` is made from these types, and a test compares the two.
//! Schema 1, whose histograms were means of buckets and whose series were columns of plain numbers, is read as well and
//! becomes schema 2 on reading.

mod agent_load;
mod column;
pub(crate) mod file;
mod generator_seconds;
mod histogram;
mod judgement;
mod limit;
mod load_change;
mod metric;
mod metric_list;
mod one_sided;
mod packed_seconds;
mod percentile;
mod requests;
mod run;
mod seconds;
mod steadiness;
mod timing_error;
pub(crate) mod vlq;

use std::collections::BTreeMap;

use crate::errors::Errors;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agent_load::{AgentLoad, AgentTrend};
pub use file::{FILE_NAME, ReadError, path_of, read};
pub use generator_seconds::{GeneratorSeconds, TargetSeconds};
pub use histogram::Histogram;
pub use judgement::{Finding, Iterations, Judgement, Severity, Trust};
pub use limit::{LimitName, RunLimit};
pub use load_change::{LoadChange, change_lines};
pub use metric::{Check, Contains, Group, Metric, Scenario, Threshold, Value};
pub use one_sided::{KnownSide, OneSided};
pub use percentile::PercentileFigure;
pub use requests::{Protocol, RequestBlocks, RequestRow, Requests, SampledTrace, since};
pub use run::{
    AgentFigures, Cause, Environment, Exit, Generator, MessageLogs, NOTABLE_STEAL, Pressure, Referee, WorkerFigures,
    accepted, machine_id,
};
pub use seconds::{Column, Counts, Points, Seconds, Series};
pub use steadiness::{Drift, Steadiness, Stretch, StretchFigures};
pub use timing_error::TimingError;

/// What `kind` says in a result document.
pub const KIND: &str = "onrush-result";
/// The number of the schema these types are.
pub const SCHEMA: u32 = 2;
/// The oldest schema that is read.
const OLDEST: u32 = 1;

/// Whether documents of a schema can be read; otherwise what was found, what was expected, and what to do.
pub(crate) fn check_schema(found: Option<u64>) -> Result<(), String> {
    if found.is_some_and(|found| (u64::from(OLDEST)..=u64::from(SCHEMA)).contains(&found)) {
        return Ok(());
    }
    let found = found.map_or(String::from("none"), |number| number.to_string());
    Err(format!(
        "found schema {found}, this version reads schemas {OLDEST} and {SCHEMA}; read it with the version of onrush \
         that wrote it"
    ))
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// `onrush-result`, so that a file can be told from others.
    pub kind: String,
    /// Number of this schema: 2.
    pub schema: u32,
    /// Version of Onrush that ran the test.
    pub onrush: String,
    /// When the virtual users were made and the run's clock started: RFC 3339 in UTC with milliseconds.
    pub started_at: String,
    /// The run's clock, from before setup to the end of the last worker.
    pub duration_s: f64,
    /// The time of the load, from the start of the first scenario to the end of the last iteration: rates divide by it.
    /// Null for an older result, whose rates divide by `duration_s`.
    #[serde(default)]
    pub load_s: Option<f64>,
    /// Path of the script as it was given, `-` for standard input, or the address that was tested without one.
    pub script: String,
    /// What the user named the run by (`--label name=value`): variant, round, anything.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The options that were in effect, with every scenario spelled out.
    pub options: serde_json::Value,
    /// The machine, and what else went on there.
    pub environment: Environment,
    /// How the generator fared: whether the figures below can be trusted.
    pub generator: Generator,
    /// How the run ended.
    pub exit: Exit,
    /// What went wrong, by kind.
    #[serde(default)]
    pub errors: Errors,
    /// Requests by what was asked for and how it was answered; absent without any, and of an older result.
    #[serde(default, skip_serializing_if = "Requests::is_empty")]
    pub requests: Requests,
    /// Metrics that have samples or thresholds, by name; a sub-metric follows its parent.
    #[serde(with = "metric_list")]
    #[schemars(with = "Vec<metric_list::MetricEntry<'static>>")]
    pub metrics: Vec<Metric>,
    /// All checks in the order they were first seen, those of one name from different groups added up.
    pub checks: Vec<Check>,
    /// Checks and groups as a tree; the root has an empty name.
    pub groups: Group,
    /// Metrics and checks of each scenario alone; only of a run with `--summary-mode full`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Scenario>,
    /// The same metrics second by second.
    pub seconds: Seconds,
    /// How the generator fared over the same intervals; absent of a fleet, of a rebuilt run, and of an older result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_seconds: Option<GeneratorSeconds>,
    /// Whether the run was steady; absent where nobody can say: under ten seconds of the same planned load, or without
    /// samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
    /// What clients changed of the load while the test ran, in order; absent where it followed its plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub load_changes: Vec<LoadChange>,
    /// Logs of received messages; absent when none were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageLogs>,
}

impl Document {
    /// The metric of this name that covers all samples.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name && metric.filter.is_none())
    }

    /// The sub-metric of this name whose filter has exactly these tags, in any order.
    pub fn sub_metric(&self, name: &str, tags: &[(&str, &str)]) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name && metric.has_tags(tags))
    }

    /// The per-second series of a metric or sub-metric.
    pub fn series_of(&self, metric: &Metric) -> Option<&Series> {
        self.seconds.series.iter().find(|series| series.name == metric.name && series.filter == metric.filter)
    }

    /// What rates divide by, in seconds.
    pub fn rate_time_s(&self) -> f64 {
        self.load_s.unwrap_or(self.duration_s)
    }

    /// Whether every threshold held.
    pub fn passed(&self) -> bool {
        self.metrics.iter().flat_map(|metric| &metric.thresholds).all(|threshold| threshold.ok)
    }
}
