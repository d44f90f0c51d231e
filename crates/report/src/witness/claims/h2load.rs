//! h2load of nghttp2, over HTTP/1.1 or HTTP/2. Its traffic is what passed the socket, before encryption.

use super::figure::{ClaimFigure, Claims};
use super::quantity::{behind, count, rate, time_ms, time_s};

pub(super) fn read(text: &str) -> Option<Claims> {
    let (finished, traffic) = (behind(text, "finished in "), behind(text, "traffic:"));
    let (finished, traffic) = (finished?, traffic?);
    let mut claims = Claims::of("h2load");
    let parts: Vec<&str> = finished.split(", ").collect();
    if let [duration, per_second, ..] = parts[..] {
        claims.text(ClaimFigure::Duration, duration, time_s);
        claims.text(ClaimFigure::Rate, per_second, rate);
    }
    // `requests: 100 total, 100 started, 100 done, 100 succeeded, 0 failed, 0 errored, 0 timeout`.
    let counts: Vec<&str> = behind(text, "requests:").unwrap_or_default().split(", ").collect();
    let named = |name: &str| counts.iter().find(|part| part.trim_end().ends_with(name)).copied();
    if let Some(done) = named(" done") {
        claims.text(ClaimFigure::Requests, done, count);
    }
    if let Some(failed) = named(" failed") {
        claims.text(ClaimFigure::Failures, failed, count);
    }
    for part in behind(text, "status codes:").unwrap_or_default().split(", ") {
        let class = part.split_whitespace().last().and_then(|class| class.strip_suffix("xx")?.parse::<u16>().ok());
        if let Some(class) = class.filter(|class| (1..=9).contains(class)) {
            claims.text(ClaimFigure::Statuses(class * 100, class * 100 + 99), part, count);
        }
    }
    let bracketed = traffic.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    if let Some((total, rest)) = bracketed {
        claims.text(ClaimFigure::Received, total, count);
        let data = rest.rsplit_once('(').and_then(|(_, data)| data.split_once(") data"));
        if let Some((data, _)) = data {
            claims.text(ClaimFigure::BodiesReceived, data, count);
        }
    }
    let row: Vec<&str> = behind(text, "time for request:").unwrap_or_default().split_whitespace().collect();
    if let [min, max, mean, ..] = row[..] {
        claims.text(ClaimFigure::LatencyMin, min, time_ms);
        claims.text(ClaimFigure::LatencyMax, max, time_ms);
        claims.text(ClaimFigure::LatencyMean, mean, time_ms);
    }
    Some(claims)
}
