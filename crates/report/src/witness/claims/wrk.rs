//! wrk and wrk2. wrk2 has the same form; its latencies begin when a request was planned, unless `-U` adds others.

use super::figure::{ClaimFigure, Claims, LatencyStart};
use super::quantity::{behind, bytes, count, percentile, rate, time_ms, time_s};

pub(super) fn read(text: &str) -> Option<Claims> {
    let is_it = text.lines().any(|line| line.starts_with("Running ") && line.contains(" test @ "));
    if !is_it {
        return None;
    }
    let is_planned = text.contains("HdrHistogram - Recorded Latency");
    let mut claims = Claims::of(if is_planned { "wrk2" } else { "wrk" });
    if is_planned {
        claims.start = LatencyStart::Planned;
    }
    if let Some(row) = behind(text, "Latency  ") {
        let words: Vec<&str> = row.split_whitespace().collect();
        if let [mean, _, max, ..] = words[..] {
            claims.text(ClaimFigure::LatencyMean, mean, time_ms);
            claims.text(ClaimFigure::LatencyMax, max, time_ms);
        }
    }
    let mut lines = text.lines().skip_while(|line| !line.contains("Latency Distribution")).skip(1);
    for line in lines.by_ref().map_while(percentile) {
        claims.text(ClaimFigure::Latency(line.0), line.1, time_ms);
    }
    let total = text.lines().find_map(|line| line.trim().split_once(" requests in "));
    if let Some((requests, rest)) = total {
        claims.text(ClaimFigure::Requests, requests, count);
        let (duration, read) = rest.split_once(", ").unwrap_or((rest, ""));
        claims.text(ClaimFigure::Duration, duration, time_s);
        claims.text(ClaimFigure::Received, read.trim_end_matches(" read"), bytes);
    }
    if let Some(errors) = behind(text, "Socket errors:") {
        let counts = errors.split(',').filter_map(|part| part.split_whitespace().last()?.parse::<f64>().ok());
        claims.exact(ClaimFigure::Errors, counts.sum());
    }
    if let Some(others) = behind(text, "Non-2xx or 3xx responses:") {
        claims.text(ClaimFigure::Statuses(400, 999), others, count);
    }
    if let Some(found) = behind(text, "Requests/sec:") {
        claims.text(ClaimFigure::Rate, found, rate);
    }
    Some(claims)
}
