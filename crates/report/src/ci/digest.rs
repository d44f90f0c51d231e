//! A result for a program that asks how a run went: `onrush report --json` and `onrush mcp`. The result document has
//! everything, histograms and all; this has what decides, by name.
//!
//! `docs/schema/digest-1.json` is made from these types. Fields may be added within a schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::of_run::{CiThreshold, figures, remarks, thresholds};
use crate::document::{Check, Document, Exit, Judgement};
use crate::errors::Errors;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Digest {
    /// `onrush-digest`.
    pub kind: String,
    /// Number of this schema: 1.
    pub schema: u32,
    /// Version of Onrush that ran the test.
    pub onrush: String,
    /// Path of the script, or the address that was tested.
    pub script: String,
    /// When the run's clock started: RFC 3339 in UTC.
    pub started_at: String,
    /// How long it ran.
    pub duration_s: f64,
    /// The exit code and what it means.
    pub exit: Exit,
    /// What the figures are worth, why, and what helps; null where nobody judged.
    pub judgement: Option<Judgement>,
    /// Whether somebody overruled that with `--accept-late`.
    pub late_accepted: bool,
    /// In the order of their metrics.
    pub thresholds: Vec<DigestThreshold>,
    /// Checks with their counts.
    pub checks: Vec<Check>,
    /// Figures by name, with the unit last: `http_req_duration_p95_ms`.
    pub figures: BTreeMap<String, f64>,
    /// What went wrong, by kind.
    pub errors: Errors,
    /// What the summary notes of the generator, of dropped iterations and of how steady the run was.
    pub notes: Vec<String>,
}

/// A threshold and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DigestThreshold {
    /// `http_req_duration{name:login}`.
    pub metric: String,
    /// `p(95)<500`.
    pub source: String,
    /// Whether it held.
    pub ok: bool,
    /// The value of its left side.
    pub value: f64,
    /// Whether its limit lies inside of the 95 % interval of that value: more samples could turn it.
    pub inside: bool,
}

/// The digest of a result.
pub fn digest(document: &Document) -> Digest {
    let judged = thresholds(document);
    let figures = figures(document, &judged).into_iter().filter(|figure| figure.labels.is_empty());
    let figures = figures.map(|figure| (figure.name, figure.value)).collect();
    let threshold = |threshold: CiThreshold| DigestThreshold {
        metric: threshold.metric,
        source: threshold.source,
        ok: threshold.ok,
        value: threshold.left,
        inside: threshold.inside,
    };
    Digest {
        kind: String::from("onrush-digest"),
        schema: 1,
        onrush: document.onrush.clone(),
        script: document.script.clone(),
        started_at: document.started_at.clone(),
        duration_s: document.duration_s,
        exit: document.exit.clone(),
        judgement: document.generator.judgement.clone(),
        late_accepted: document.generator.late_accepted,
        figures,
        thresholds: judged.into_iter().map(threshold).collect(),
        checks: document.checks.clone(),
        errors: document.errors.clone(),
        notes: remarks(document),
    }
}
