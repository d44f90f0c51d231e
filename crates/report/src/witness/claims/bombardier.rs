//! bombardier, as text and as JSON, whose latencies are microseconds. Its rate is the mean of many short times.

use serde_json::Value;

use super::figure::{ClaimFigure, Claims};
use super::quantity::{behind, number_at, percentile, rate, time_ms};

/// `2xx - 61234, …` by class.
const CLASSES: [(&str, u16); 5] = [("1xx", 100), ("2xx", 200), ("3xx", 300), ("4xx", 400), ("5xx", 500)];

pub(super) fn read_json(json: &Value) -> Option<Claims> {
    let result = json.get("result")?;
    let duration_s = number_at(result, &["timeTakenSeconds"])?;
    let mut claims = Claims::of("bombardier");
    let of = |name: &str| number_at(result, &[name]).unwrap_or_default();
    let counts: Vec<f64> = CLASSES.iter().map(|(class, _)| of(&format!("req{class}"))).collect();
    claims.exact(ClaimFigure::Requests, counts.iter().sum::<f64>() + of("others"));
    claims.exact(ClaimFigure::Duration, duration_s);
    number_at(result, &["rps", "mean"]).into_iter().for_each(|mean| claims.exact(ClaimFigure::Rate, mean));
    for (field, figure) in [("bytesRead", ClaimFigure::Received), ("bytesWritten", ClaimFigure::Sent)] {
        number_at(result, &[field]).into_iter().for_each(|bytes| claims.exact(figure, bytes));
    }
    let latency = |path: &[&str]| number_at(result, path).map(|us| us / 1e3);
    latency(&["latency", "mean"]).into_iter().for_each(|ms| claims.latency(ClaimFigure::LatencyMean, ms));
    latency(&["latency", "max"]).into_iter().for_each(|ms| claims.latency(ClaimFigure::LatencyMax, ms));
    let percentiles = result.get("latency").and_then(|latency| latency.get("percentiles")?.as_object());
    for (percent, us) in percentiles.into_iter().flatten() {
        if let (Ok(percent), Some(us)) = (percent.parse(), us.as_f64()) {
            claims.latency(ClaimFigure::Latency(percent), us / 1e3);
        }
    }
    for ((_, from), count) in CLASSES.iter().zip(&counts) {
        claims.exact(ClaimFigure::Statuses(*from, from + 99), *count);
    }
    claims.exact(ClaimFigure::Errors, of("others"));
    Some(claims)
}

pub(super) fn read_text(text: &str) -> Option<Claims> {
    let codes = text.lines().skip_while(|line| line.trim() != "HTTP codes:").nth(1)?;
    let mut claims = Claims::of("bombardier");
    let count = |name: &str, text: &str| {
        let (_, rest) = text.split_once(name)?;
        rest.trim_start().strip_prefix('-')?.split([',', '\n']).next()?.trim().parse::<f64>().ok()
    };
    let counts: Vec<f64> = CLASSES.iter().map(|(class, _)| count(class, codes).unwrap_or_default()).collect();
    let others = count("others", text).unwrap_or_default();
    claims.exact(ClaimFigure::Requests, counts.iter().sum::<f64>() + others);
    if let Some(mean) = behind(text, "Reqs/sec").and_then(|row| row.split_whitespace().next()) {
        claims.text(ClaimFigure::Rate, mean, rate);
    }
    let row: Vec<&str> = behind(text, "Latency  ").unwrap_or_default().split_whitespace().collect();
    if let [mean, _, max] = row[..] {
        claims.text(ClaimFigure::LatencyMean, mean, time_ms);
        claims.text(ClaimFigure::LatencyMax, max, time_ms);
    }
    let lines = text.lines().skip_while(|line| !line.contains("Latency Distribution")).skip(1);
    for (percent, value) in lines.map_while(percentile) {
        claims.text(ClaimFigure::Latency(percent), value, time_ms);
    }
    for ((_, from), count) in CLASSES.iter().zip(&counts) {
        claims.exact(ClaimFigure::Statuses(*from, from + 99), *count);
    }
    claims.exact(ClaimFigure::Errors, others);
    Some(claims)
}
