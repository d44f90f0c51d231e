//! vegeta's reports, as text and as JSON (nanoseconds). Its rate is that of sending; `throughput` counts successes over
//! the whole time. Bytes are those of bodies.

use serde_json::Value;

use super::figure::{ClaimFigure, Claims};
use super::quantity::{count, number_at, plain, rate, time_ms, time_s};

pub(super) fn read_json(json: &Value) -> Option<Claims> {
    let requests = number_at(json, &["requests"])?;
    let latencies = json.get("latencies")?.as_object()?;
    let mut claims = Claims::of("vegeta");
    claims.exact(ClaimFigure::Requests, requests);
    let rate = number_at(json, &["rate"]);
    rate.into_iter().for_each(|rate| claims.exact(ClaimFigure::SendRate, rate));
    let attack_ns = number_at(json, &["duration"]).unwrap_or_default() + number_at(json, &["wait"]).unwrap_or_default();
    claims.exact(ClaimFigure::Duration, attack_ns / 1e9);
    for (name, value) in latencies {
        let figure = match name.as_str() {
            "mean" => ClaimFigure::LatencyMean,
            "max" => ClaimFigure::LatencyMax,
            "min" => ClaimFigure::LatencyMin,
            name => match name.strip_suffix("th").and_then(|percent| percent.parse().ok()) {
                Some(percent) => ClaimFigure::Latency(percent),
                None => continue,
            },
        };
        value.as_f64().into_iter().for_each(|ns| claims.latency(figure, ns / 1e6));
    }
    let bytes_in = number_at(json, &["bytes_in", "total"]);
    bytes_in.into_iter().for_each(|bytes| claims.exact(ClaimFigure::BodiesReceived, bytes));
    let bytes_out = number_at(json, &["bytes_out", "total"]);
    bytes_out.into_iter().for_each(|bytes| claims.exact(ClaimFigure::BodiesSent, bytes));
    for (status, count) in json.get("status_codes").and_then(Value::as_object).into_iter().flatten() {
        status_of(&mut claims, status, count.as_f64().unwrap_or_default());
    }
    Some(claims)
}

/// A status of 0 is a request without a response.
fn status_of(claims: &mut Claims, status: &str, count: f64) {
    match status.parse() {
        Ok(0) => claims.exact(ClaimFigure::Errors, count),
        Ok(status) => claims.exact(ClaimFigure::Statuses(status, status), count),
        Err(_) => {}
    }
}

pub(super) fn read_text(text: &str) -> Option<Claims> {
    let row = |label: &str| {
        let line = text.lines().find(|line| line.starts_with(label) && line.contains('['))?;
        let (_, values) = line.split_once(']')?;
        Some(values.split(", ").map(str::trim).collect::<Vec<_>>())
    };
    let (requests, durations) = (row("Requests ")?, row("Duration ")?);
    let mut claims = Claims::of("vegeta");
    if let [total, sent, ..] = requests[..] {
        claims.text(ClaimFigure::Requests, total, count);
        claims.text(ClaimFigure::SendRate, sent, rate);
    }
    durations.first().into_iter().for_each(|total| claims.text(ClaimFigure::Duration, total, time_s));
    let label = text.lines().find_map(|line| line.strip_prefix("Latencies")?.split_once('[')?.1.split_once(']'));
    if let Some((names, values)) = label {
        for (name, value) in names.split(", ").zip(values.split(", ")) {
            let figure = match name {
                "min" => ClaimFigure::LatencyMin,
                "mean" => ClaimFigure::LatencyMean,
                "max" => ClaimFigure::LatencyMax,
                name => match plain(name) {
                    Some((percent, _)) => ClaimFigure::Latency(percent),
                    None => continue,
                },
            };
            claims.text(figure, value, time_ms);
        }
    }
    for (label, figure) in [("Bytes In ", ClaimFigure::BodiesReceived), ("Bytes Out ", ClaimFigure::BodiesSent)] {
        row(label).iter().filter_map(|row| row.first()).for_each(|total| claims.text(figure, total, count));
    }
    for pair in row("Status Codes ").unwrap_or_default().iter().flat_map(|row| row.split_whitespace()) {
        if let Some((status, count)) = pair.split_once(':') {
            status_of(&mut claims, status, count.parse().unwrap_or_default());
        }
    }
    Some(claims)
}
