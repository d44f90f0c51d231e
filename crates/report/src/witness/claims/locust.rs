//! Locust's `…_stats.csv`: the row `Aggregated`. Its percentiles have two digits from 100 ms on.

use super::figure::{ClaimFigure, Claims};
use super::quantity::{count, plain, rate};

pub(super) fn read(text: &str) -> Option<Claims> {
    let mut lines = text.lines();
    let head = lines.next()?;
    if !head.trim_start_matches('\u{feff}').starts_with("Type,Name,Request Count,") {
        return None;
    }
    let mut claims = Claims::of("Locust");
    let names = fields(head);
    let Some(row) = lines.map(fields).rfind(|row| row.get(1).map(String::as_str) == Some("Aggregated")) else {
        return Some(claims);
    };
    for (name, value) in names.iter().zip(&row) {
        match name.as_str() {
            "Request Count" => claims.text(ClaimFigure::Requests, value, count),
            "Failure Count" => claims.text(ClaimFigure::Failures, value, count),
            "Requests/s" => claims.text(ClaimFigure::Rate, value, rate),
            "Average Response Time" => claims.text(ClaimFigure::LatencyMean, value, plain),
            "Min Response Time" => claims.text(ClaimFigure::LatencyMin, value, plain),
            "Max Response Time" => claims.text(ClaimFigure::LatencyMax, value, plain),
            name => {
                if let Some(percent) = name.strip_suffix('%').and_then(|percent| percent.parse().ok()) {
                    claims.text(ClaimFigure::Latency(percent), value, rounded);
                }
            }
        }
    }
    Some(claims)
}

/// A time as Locust keeps it for percentiles: whole, of two digits from 100 on, of three from 1,000.
fn rounded(text: &str) -> Option<(f64, f64)> {
    let (value, _) = plain(text)?;
    let step = match value {
        ..100.0 => 1.0,
        100.0..1_000.0 => 10.0,
        1_000.0..10_000.0 => 100.0,
        _ => 1_000.0,
    };
    Some((value, step / 2.0))
}

/// The fields of a line; quotes are taken off.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    for c in line.trim_end_matches('\r').chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().expect("one at least").push(c),
        }
    }
    fields
}
