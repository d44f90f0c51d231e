//! oha's JSON: seconds, and bytes of bodies.

use serde_json::Value;

use super::figure::{ClaimFigure, Claims};
use super::quantity::number_at;

pub(super) fn read(json: &Value) -> Option<Claims> {
    let summary = json.get("summary")?;
    let rate = number_at(summary, &["requestsPerSec"])?;
    let mut claims = Claims::of("oha");
    let counts = |field: &str| -> Vec<(String, f64)> {
        let fields = json.get(field).and_then(Value::as_object).into_iter().flatten();
        fields.filter_map(|(name, count)| Some((name.clone(), count.as_f64()?))).collect()
    };
    let (statuses, errors) = (counts("statusCodeDistribution"), counts("errorDistribution"));
    let sum = |counts: &[(String, f64)]| counts.iter().map(|(_, count)| count).sum::<f64>();
    claims.exact(ClaimFigure::Requests, sum(&statuses) + sum(&errors));
    number_at(summary, &["total"]).into_iter().for_each(|s| claims.exact(ClaimFigure::Duration, s));
    claims.exact(ClaimFigure::Rate, rate);
    number_at(summary, &["totalData"]).into_iter().for_each(|bytes| claims.exact(ClaimFigure::BodiesReceived, bytes));
    let latencies = [
        ("fastest", ClaimFigure::LatencyMin),
        ("average", ClaimFigure::LatencyMean),
        ("slowest", ClaimFigure::LatencyMax),
    ];
    for (field, figure) in latencies {
        number_at(summary, &[field]).into_iter().for_each(|s| claims.latency(figure, s * 1e3));
    }
    for (name, value) in json.get("latencyPercentiles").and_then(Value::as_object).into_iter().flatten() {
        if let (Some(Ok(percent)), Some(s)) = (name.strip_prefix('p').map(str::parse), value.as_f64()) {
            claims.latency(ClaimFigure::Latency(percent), s * 1e3);
        }
    }
    for (status, count) in &statuses {
        if let Ok(status) = status.parse() {
            claims.exact(ClaimFigure::Statuses(status, status), *count);
        }
    }
    claims.exact(ClaimFigure::Errors, sum(&errors));
    Some(claims)
}
