//! A comparison for programs: everything the text says, and the values of every pair.
//!
//! `docs/schema/comparison-1.json` is made from these types. Fields may be added within a schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::words;
use crate::compare::{ComparedCell, ComparedMetric, Comparison, Conclusion, JudgedCondition, Scale};
use crate::document::Contains;
use crate::stats::{CONFIDENCE, Estimate, Verdict};

/// Which of two sides is better, and how sure that is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparisonAnswer {
    /// `onrush-comparison`.
    pub kind: &'static str,
    /// Number of this schema: 1.
    pub schema: u32,
    /// `same or better`, `worse` or `cannot tell`: what the exit code says.
    pub conclusion: &'static str,
    /// The same in a sentence.
    pub headline: String,
    /// What is compared with.
    pub a: SideAnswer,
    /// What may have changed.
    pub b: SideAnswer,
    /// Of the intervals: 0.95.
    pub confidence: f64,
    /// Changes within this share count as the same.
    pub margin: f64,
    /// Over all cells.
    #[serde(flatten)]
    pub all: SectionAnswer,
    /// Each cell of matrices, where there are several.
    pub cells: Vec<CellAnswer>,
    /// What `--fail-on` asked for.
    pub conditions: Vec<ConditionAnswer>,
    /// Of `--run`, where pairs are looked at after each one; null for runs that were there.
    pub looks: Option<LooksAnswer>,
    /// Runs that do not count.
    pub left_out: Vec<LeftOutAnswer>,
    /// What may explain a difference.
    pub warnings: Vec<String>,
    /// How it was judged.
    pub notes: Vec<String>,
}

/// How far a comparison went that stops when it knows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LooksAnswer {
    /// Whether every metric, or every condition, has its answer.
    pub decided: bool,
    /// There would have been at most so many pairs.
    pub most_pairs: usize,
    /// What ended it before it was decided; null where it was.
    pub ended_by: Option<String>,
}

/// One side.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SideAnswer {
    /// As given on the command line.
    pub name: String,
    /// Its runs that count.
    pub runs: usize,
}

/// A verdict and what it rests on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SectionAnswer {
    /// `better`, `worse`, `same` or `cannot tell`.
    pub verdict: &'static str,
    /// `pairs` of runs, or `seconds` of a few runs, which is weaker.
    pub evidence: &'static str,
    /// Pairs that were compared.
    pub pairs: usize,
    /// Seconds of each run that were compared; null where pairs are the evidence.
    pub seconds: Option<usize>,
    /// Seconds at the beginning of each run that were left out.
    pub warm_up_s: Option<usize>,
    /// The fewest pairs with which this many metrics can be judged at all.
    pub pairs_needed: usize,
    /// Those that were judged, then those that are only shown.
    pub metrics: Vec<MetricAnswer>,
}

/// A cell of a matrix.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CellAnswer {
    /// Axes and their values.
    pub cell: BTreeMap<String, String>,
    /// Of this cell alone.
    #[serde(flatten)]
    pub section: SectionAnswer,
}

/// A metric of both sides. `change` is the median of pairs or, of a few runs, of blocks of seconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MetricAnswer {
    /// `http_req_duration p(95)`.
    pub metric: String,
    /// What its values are.
    pub contains: Contains,
    /// `better`, `worse`, `same` or `cannot tell`; null for what is only shown.
    pub verdict: Option<&'static str>,
    /// Of `change` and `interval`: a `ratio` (0.05 for +5 %), a `share` (of 1), or a `difference` in the metric's unit.
    pub scale: &'static str,
    /// A's median; null over different cells.
    pub a: Option<f64>,
    /// B's median.
    pub b: Option<f64>,
    /// From A to B.
    pub change: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// Of the exact signed-rank test.
    pub p: Option<f64>,
    /// The same after Holm's correction for the number of metrics.
    pub p_holm: Option<f64>,
    /// About how many pairs it takes to tell.
    pub pairs_to_tell: Option<usize>,
    /// A's and B's value of each pair, or of each block of seconds.
    pub values: Vec<(f64, f64)>,
}

/// A change that must not happen.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConditionAnswer {
    /// As given: `p(95) +5%`.
    pub condition: String,
    /// `holds`, `fails` or `cannot tell`.
    pub outcome: &'static str,
    /// As that of a metric.
    pub scale: &'static str,
    /// From A to B.
    pub change: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The p-value after Holm's correction.
    pub p_holm: f64,
}

/// A run that does not count.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftOutAnswer {
    /// Its path.
    pub run: String,
    /// Why not.
    pub why: String,
    /// What to do about it; empty when there is nothing.
    pub advice: String,
    /// The run that is left out with it, though it would count.
    pub partner: Option<String>,
}

/// The comparison as a JSON value.
pub fn json(comparison: &Comparison) -> Value {
    serde_json::to_value(answer(comparison)).expect("plain data")
}

fn answer(comparison: &Comparison) -> ComparisonAnswer {
    let side = |(name, runs): &(String, usize)| SideAnswer { name: name.clone(), runs: *runs };
    ComparisonAnswer {
        kind: "onrush-comparison",
        schema: 1,
        conclusion: match comparison.conclusion() {
            Conclusion::SameOrBetter => "same or better",
            Conclusion::Worse => "worse",
            Conclusion::CannotTell => "cannot tell",
        },
        headline: words::headline(comparison),
        a: side(&comparison.a),
        b: side(&comparison.b),
        confidence: CONFIDENCE,
        margin: comparison.margin,
        all: section(&comparison.all),
        cells: comparison
            .cells
            .iter()
            .map(|cell| CellAnswer { cell: cell.cell.clone(), section: section(cell) })
            .collect(),
        conditions: comparison.conditions.iter().map(condition).collect(),
        looks: comparison.looks.as_ref().map(|looks| LooksAnswer {
            decided: comparison.is_decided(),
            most_pairs: looks.most_pairs,
            ended_by: looks.ended_by.clone(),
        }),
        left_out: left_out(comparison),
        warnings: comparison.warnings.clone(),
        notes: words::notes(comparison),
    }
}

fn left_out(comparison: &Comparison) -> Vec<LeftOutAnswer> {
    let runs = comparison.left_out.iter().map(|run| LeftOutAnswer {
        run: run.run.clone(),
        why: run.why.clone(),
        advice: run.advice.clone(),
        partner: run.partner.clone(),
    });
    runs.collect()
}

fn section(section: &ComparedCell) -> SectionAnswer {
    SectionAnswer {
        verdict: section.verdict.name(),
        evidence: if section.seconds.is_some() { "seconds" } else { "pairs" },
        pairs: section.pairs,
        seconds: section.seconds.map(|used| used.seconds),
        warm_up_s: section.seconds.map(|used| used.warm_up),
        pairs_needed: section.pairs_needed,
        metrics: section.judged.iter().chain(&section.shown).map(row).collect(),
    }
}

fn row(row: &ComparedMetric) -> MetricAnswer {
    MetricAnswer {
        metric: row.measure.to_string(),
        contains: row.contains,
        verdict: row.verdict.map(Verdict::name),
        scale: scale(row.scale),
        a: row.medians.map(|medians| medians.0),
        b: row.medians.map(|medians| medians.1),
        change: finite(row.scale.shown(row.estimate.center)),
        interval: interval(&row.estimate, row.scale),
        p: finite(row.estimate.p),
        p_holm: row.adjusted_p,
        pairs_to_tell: row.pairs_to_tell,
        values: row.values.clone(),
    }
}

fn condition(judged: &JudgedCondition) -> ConditionAnswer {
    ConditionAnswer {
        condition: judged.condition.text.clone(),
        outcome: judged.outcome.name(),
        scale: scale(judged.scale),
        change: finite(judged.scale.shown(judged.estimate.center)),
        interval: interval(&judged.estimate, judged.scale),
        p_holm: judged.adjusted_p,
    }
}

/// JSON has no other numbers.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Ratio => "ratio",
        Scale::Points => "share",
        Scale::Plain => "difference",
    }
}

fn interval(estimate: &Estimate, scale: Scale) -> Option<[f64; 2]> {
    estimate.interval.map(|(low, high)| [scale.shown(low), scale.shown(high)])
}
