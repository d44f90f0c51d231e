//! The shapes of k6's answers, made of the data that `handleSummary` would get.
//!
//! Pure but for the board, which is locked while an answer is made of it. Names and nesting are k6's; what is ours (a
//! change of the load) is beside them, in `meta`.

use engine::LoadChange;
use serde_json::{Map, Value, json};

use super::board::{Board, Stage};

/// `/v1/status`.
pub fn status(board: &Board) -> Value {
    let stopped = board.is_stopped();
    let seen = board.seen();
    let vus = seen.state.as_ref().map_or(0, |state| state.counts().active);
    let made = seen.state.as_ref().map_or(0, |state| state.vus_initialised());
    let tainted = fields(&seen.summary["metrics"]).any(|(_, metric)| is_tainted(metric) == json!(true));
    let attributes = json!({
        "status": seen.stage as u8,
        "paused": seen.is_paused,
        "vus": vus,
        "vus-max": made.max(seen.max_vus),
        "stopped": stopped,
        "running": (Stage::Setup..=Stage::Teardown).contains(&seen.stage),
        "tainted": tainted,
    });
    json!({ "type": "status", "id": "default", "attributes": attributes })
}

/// A change of the load, beside the status (ours).
pub fn change(change: &LoadChange) -> Value {
    json!({
        "at_s": change.at.as_secs_f64(),
        "scenario": change.scenario,
        "quantity": change.quantity.name(),
        "from": change.from,
        "to": change.to,
        "text": change.to_string(),
    })
}

/// `/v1/metrics`.
pub fn metrics(board: &Board) -> Vec<Value> {
    let seen = board.seen();
    let shown = fields(&seen.summary["metrics"]).map(|(name, metric)| {
        let kind = metric["type"].as_str().unwrap_or_default();
        let only: Option<&str> = match kind {
            "rate" => Some("rate"),
            "gauge" => Some("value"),
            _ => None,
        };
        let values = fields(&metric["values"]).filter(|(name, _)| only.is_none_or(|only| only == *name));
        let sample: Map<String, Value> = values.map(|(name, value)| (name.clone(), value.clone())).collect();
        let attributes = json!({
            "type": kind,
            "contains": metric["contains"],
            "tainted": is_tainted(metric),
            "sample": sample,
        });
        json!({ "type": "metrics", "id": name, "attributes": attributes })
    });
    shown.collect()
}

/// Whether a threshold does not hold; null without one.
fn is_tainted(metric: &Value) -> Value {
    match metric["thresholds"].as_object() {
        Some(thresholds) => json!(thresholds.values().any(|threshold| threshold["ok"] == false)),
        None => Value::Null,
    }
}

/// `/v1/groups`: all groups in one list, the root first.
pub fn groups(board: &Board) -> Vec<Value> {
    let seen = board.seen();
    let mut all = Vec::new();
    if seen.summary["root_group"].is_object() {
        add(&seen.summary["root_group"], &Value::Null, &mut all);
    }
    all
}

fn add(group: &Value, parent: &Value, all: &mut Vec<Value>) {
    let inner = group["groups"].as_array().into_iter().flatten();
    let link = |id: &Value| json!({ "type": "groups", "id": id });
    let links: Vec<Value> = inner.clone().map(|group| link(&group["id"])).collect();
    let checks = group["checks"].as_array().filter(|checks| !checks.is_empty());
    let parent = if parent.is_null() { Value::Null } else { link(parent) };
    all.push(json!({
        "type": "groups",
        "id": group["id"],
        "attributes": { "path": group["path"], "name": group["name"], "checks": checks },
        "relationships": { "groups": { "data": links }, "parent": { "data": parent } },
    }));
    inner.for_each(|inner| add(inner, &group["id"], all));
}

/// `/v1/setup`: without `data` when `setup()` returned nothing, or has not run.
pub fn setup(board: &Board) -> Value {
    let data = board.seen().setup.clone().map(|data| (String::from("data"), data));
    json!({ "type": "setupData", "id": "default", "attributes": Map::from_iter(data) })
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
