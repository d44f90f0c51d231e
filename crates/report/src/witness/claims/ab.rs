//! ApacheBench. Its latencies are whole milliseconds and have the time to connect.

use super::figure::{ClaimFigure, Claims};
use super::quantity::{behind, count, percentile, plain, rate, time_s};

pub(super) fn read(text: &str) -> Option<Claims> {
    if !text.contains("This is ApacheBench") && behind(text, "Complete requests:").is_none() {
        return None;
    }
    let mut claims = Claims::of("ab");
    let mut take = |label: &str, figure: ClaimFigure, read: fn(&str) -> Option<(f64, f64)>| {
        if let Some(found) = behind(text, label) {
            claims.text(figure, found, read);
        }
    };
    take("Complete requests:", ClaimFigure::Requests, count);
    take("Time taken for tests:", ClaimFigure::Duration, time_s);
    take("Requests per second:", ClaimFigure::Rate, rate);
    take("Failed requests:", ClaimFigure::Failures, count);
    take("Non-2xx responses:", ClaimFigure::Statuses(300, 999), count);
    take("Total transferred:", ClaimFigure::Received, count);
    take("HTML transferred:", ClaimFigure::BodiesReceived, count);
    take("Total body sent:", ClaimFigure::Sent, count);
    // min, mean, deviation, median, max.
    let row: Vec<&str> = behind(text, "Total:").unwrap_or_default().split_whitespace().collect();
    if let [min, mean, _, _, max] = row[..] {
        claims.text(ClaimFigure::LatencyMin, min, plain);
        claims.text(ClaimFigure::LatencyMean, mean, plain);
        claims.text(ClaimFigure::LatencyMax, max, plain);
    }
    let lines = text.lines().skip_while(|line| !line.starts_with("Percentage of the requests served")).skip(1);
    for (percent, value) in lines.map_while(percentile) {
        claims.text(ClaimFigure::Latency(percent), value.split_whitespace().next().unwrap_or_default(), plain);
    }
    Some(claims)
}
