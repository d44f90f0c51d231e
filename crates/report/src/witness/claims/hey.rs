//! hey. Times have four decimals of a second; bytes are those that responses declare for their bodies; latencies leave
//! out what got no response.

use super::figure::{ClaimFigure, Claims};
use super::quantity::{behind, bytes, percentile, rate, time_ms, time_s};

pub(super) fn read(text: &str) -> Option<Claims> {
    let labels = ["Summary:", "Slowest:", "Fastest:", "Requests/sec:", "Size/request:"];
    // oha prints the first four as well.
    let is_it = labels[..4].iter().all(|label| behind(text, label).is_some()) && !text.contains("Success rate:");
    if !is_it {
        return None;
    }
    let mut claims = Claims::of("hey");
    let of_section = |heading: &'static str| {
        let lines = text.lines().skip_while(move |line| !line.starts_with(heading)).skip(1);
        lines.take_while(|line| !line.trim().is_empty()).map(str::trim)
    };
    let bracketed = |line: &str| {
        let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
        Some((name.to_owned(), rest.trim().to_owned()))
    };
    let statuses: Vec<(u16, f64)> = of_section("Status code distribution:")
        .filter_map(bracketed)
        .filter_map(|(status, rest)| Some((status.parse().ok()?, rest.split_whitespace().next()?.parse().ok()?)))
        .collect();
    let errors: f64 =
        of_section("Error distribution:").filter_map(bracketed).filter_map(|(n, _)| n.parse::<f64>().ok()).sum();
    let requests = statuses.iter().map(|(_, count)| count).sum::<f64>() + errors;
    if requests > 0.0 {
        claims.exact(ClaimFigure::Requests, requests);
    }
    let mut take = |label: &str, figure: ClaimFigure, read: fn(&str) -> Option<(f64, f64)>| {
        if let Some(found) = behind(text, label) {
            claims.text(figure, found, read);
        }
    };
    take("Total:", ClaimFigure::Duration, time_s);
    take("Requests/sec:", ClaimFigure::Rate, rate);
    take("Total data:", ClaimFigure::BodiesReceived, bytes);
    take("Slowest:", ClaimFigure::LatencyMax, time_ms);
    take("Fastest:", ClaimFigure::LatencyMin, time_ms);
    take("Average:", ClaimFigure::LatencyMean, time_ms);
    for (percent, value) in of_section("Latency distribution:").filter_map(percentile) {
        claims.text(ClaimFigure::Latency(percent), value, time_ms);
    }
    statuses.iter().for_each(|(status, count)| claims.exact(ClaimFigure::Statuses(*status, *status), *count));
    claims.exact(ClaimFigure::Errors, errors);
    Some(claims)
}
