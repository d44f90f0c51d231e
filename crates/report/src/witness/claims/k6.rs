//! k6's summary as JSON, and Onrush's: `--summary-export`, or the data that `handleSummary` gets. Latencies are
//! `http_req_duration`, in milliseconds, without the time to connect.

use serde_json::Value;

use super::figure::{ClaimFigure, Claims};
use super::quantity::number_at;

pub(super) fn read(json: &Value) -> Option<Claims> {
    let metrics = json.get("metrics")?;
    let values = |name: &str| {
        let metric = metrics.get(name)?;
        Some(metric.get("values").unwrap_or(metric))
    };
    let requests = values("http_reqs")?;
    let mut claims = Claims::of("k6");
    number_at(requests, &["count"]).into_iter().for_each(|count| claims.exact(ClaimFigure::Requests, count));
    number_at(requests, &["rate"]).into_iter().for_each(|rate| claims.exact(ClaimFigure::Rate, rate));
    let duration_ms = number_at(json, &["state", "testRunDurationMs"]);
    duration_ms.into_iter().for_each(|ms| claims.exact(ClaimFigure::Duration, ms / 1e3));
    for (name, figure) in [("data_received", ClaimFigure::Received), ("data_sent", ClaimFigure::Sent)] {
        let count = values(name).and_then(|values| number_at(values, &["count"]));
        count.into_iter().for_each(|bytes| claims.exact(figure, bytes));
    }
    // A Rate of failures: its passes are the requests that failed.
    if let Some(failed) = values("http_req_failed").and_then(|values| number_at(values, &["passes"])) {
        claims.exact(ClaimFigure::Failures, failed);
    }
    for (name, value) in values("http_req_duration").and_then(Value::as_object).into_iter().flatten() {
        let figure = match name.as_str() {
            "avg" => ClaimFigure::LatencyMean,
            "min" => ClaimFigure::LatencyMin,
            "max" => ClaimFigure::LatencyMax,
            "med" => ClaimFigure::Latency(50.0),
            name => match name.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')')?.parse().ok()) {
                Some(percent) => ClaimFigure::Latency(percent),
                None => continue,
            },
        };
        value.as_f64().into_iter().for_each(|ms| claims.latency(figure, ms));
    }
    Some(claims)
}
