//! A comparison for programs: everything the text says, and the values of every pair.
//!
//! `change` is the median of pairs or, of a few runs, of blocks of seconds (`evidence`). `change` and `interval` are
//! fractions where `scale` is `ratio` (0.05 for +5 %) or `share` (of 1), else in the metric's unit.

use serde_json::{Map, Value, json};

use super::words;
use crate::compare::{ComparedCell, ComparedMetric, Comparison, Conclusion, JudgedCondition, Scale};
use crate::stats::{CONFIDENCE, Estimate, Verdict};

/// The comparison as a JSON value.
pub fn json(comparison: &Comparison) -> Value {
    let side = |side: &(String, usize)| json!({ "name": side.0, "runs": side.1 });
    let left_out = comparison.left_out.iter();
    let mut value = json!({
        "kind": "onrush-comparison",
        "schema": 1,
        "conclusion": match comparison.conclusion() {
            Conclusion::SameOrBetter => "same or better",
            Conclusion::Worse => "worse",
            Conclusion::CannotTell => "cannot tell",
        },
        "headline": words::headline(comparison),
        "a": side(&comparison.a),
        "b": side(&comparison.b),
        "confidence": CONFIDENCE,
        "margin": comparison.margin,
    });
    let fields = value.as_object_mut().expect("made as an object");
    fields.extend(section(&comparison.all));
    fields.extend(object(json!({
        "cells": comparison.cells.iter().map(cell).collect::<Vec<_>>(),
        "conditions": comparison.conditions.iter().map(condition).collect::<Vec<_>>(),
        "left_out": left_out
            .map(|run| json!({ "run": run.run, "why": run.why, "advice": run.advice, "partner": run.partner }))
            .collect::<Vec<_>>(),
        "warnings": comparison.warnings,
        "notes": words::notes(comparison),
    })));
    value
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn section(section: &ComparedCell) -> Map<String, Value> {
    object(json!({
        "verdict": section.verdict.name(),
        "evidence": if section.seconds.is_some() { "seconds" } else { "pairs" },
        "pairs": section.pairs,
        "seconds": section.seconds.map(|used| used.seconds),
        "warm_up_s": section.seconds.map(|used| used.warm_up),
        "pairs_needed": section.pairs_needed,
        "metrics": section.judged.iter().chain(&section.shown).map(row).collect::<Vec<_>>(),
    }))
}

fn cell(cell: &ComparedCell) -> Value {
    let mut fields = object(json!({ "cell": cell.cell }));
    fields.extend(section(cell));
    Value::Object(fields)
}

fn row(row: &ComparedMetric) -> Value {
    json!({
        "metric": row.measure.to_string(),
        "contains": row.contains,
        "verdict": row.verdict.map(Verdict::name),
        "scale": scale(row.scale),
        "a": row.medians.map(|medians| medians.0),
        "b": row.medians.map(|medians| medians.1),
        "change": row.scale.shown(row.estimate.center),
        "interval": interval(&row.estimate, row.scale),
        "p": row.estimate.p,
        "p_holm": row.adjusted_p,
        "pairs_to_tell": row.pairs_to_tell,
        "values": row.values,
    })
}

fn condition(judged: &JudgedCondition) -> Value {
    json!({
        "condition": judged.condition.text,
        "outcome": judged.outcome.name(),
        "scale": scale(judged.scale),
        "change": judged.scale.shown(judged.estimate.center),
        "interval": interval(&judged.estimate, judged.scale),
        "p_holm": judged.adjusted_p,
    })
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
