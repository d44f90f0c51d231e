//! A history for programs.
//!
//! `docs/schema/history-1.json` is made from these types. Fields may be added within a schema.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{History, LevelChange, PastMeasure, PastRun};

/// The runs of a folder over time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryAnswer {
    /// `onrush-history`.
    pub kind: &'static str,
    /// Number of this schema: 1.
    pub schema: u32,
    /// As they were started.
    pub runs: Vec<RunAnswer>,
    /// What is looked at.
    pub measures: Vec<MeasureAnswer>,
    /// What may explain a change.
    pub warnings: Vec<String>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunAnswer {
    /// Its file or folder.
    pub name: String,
    /// When its clock started: RFC 3339 in UTC.
    pub started_at: String,
    /// Its exit code: 0 is passed.
    pub exit: u8,
    /// Why it counts for no change; null where it does.
    pub left_out: Option<String>,
}

/// A measure over the runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MeasureAnswer {
    /// `http_req_duration p(95)`.
    pub measure: String,
    /// A value of each run, in their order; null where a run has none.
    pub values: Vec<Option<f64>>,
    /// Where its level changed.
    pub changes: Vec<ChangeAnswer>,
}

/// A level that stays.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeAnswer {
    /// The first run of the new level: its place among the runs, from 0.
    pub run: usize,
    /// The level before.
    pub before: f64,
    /// The level from then on.
    pub after: f64,
    /// Null where nobody knows which direction is better.
    pub better: Option<bool>,
}

/// The history as a JSON value.
pub fn json(history: &History) -> Value {
    let run = |run: &PastRun| RunAnswer {
        name: run.name.clone(),
        started_at: run.started_at.clone(),
        exit: run.exit,
        left_out: run.left_out.clone(),
    };
    let answer = HistoryAnswer {
        kind: "onrush-history",
        schema: 1,
        runs: history.runs.iter().map(run).collect(),
        measures: history.measures.iter().map(measure).collect(),
        warnings: history.warnings.clone(),
    };
    serde_json::to_value(answer).expect("plain data")
}

fn measure(measure: &PastMeasure) -> MeasureAnswer {
    let change = |change: &LevelChange| {
        let LevelChange { run, before, after, is_better } = *change;
        ChangeAnswer { run, before, after, better: is_better }
    };
    MeasureAnswer {
        measure: measure.measure.to_string(),
        values: measure.values.clone(),
        changes: measure.changes.iter().map(change).collect(),
    }
}
