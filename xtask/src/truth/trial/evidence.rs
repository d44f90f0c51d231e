//! What most cases claim of a run: its causes, its counts, its percentiles.

use super::claim::Claim;
use super::load::Trial;
use super::statistics::quantile;

/// Whether the verdict names a cause.
pub fn causes(ran: &Trial, wanted: &str) -> Claim {
    let said = format!("{} {}", ran.verdict(), ran.causes().join(" "));
    Claim::says(format!("verdict names {wanted}"), said, ran.causes().contains(&wanted))
}

/// Requests and bytes as the referee counted them, and every planned iteration in one of its ends.
pub fn counts(ran: &Trial) -> Vec<Claim> {
    let requests = ran.count("http_reqs") + ran.count("http_reqs_interrupted");
    let ends = ran.iterations("ended") + ran.iterations("dropped") + ran.iterations("interrupted");
    vec![
        Claim::same("requests", requests, ran.account.requests),
        Claim::same("bytes sent", ran.count("data_sent"), ran.account.bytes_in),
        Claim::same("bytes received", ran.count("data_received"), ran.account.bytes_out),
        Claim::same("planned iterations", ran.iterations("planned"), ends),
    ]
}

/// Percentiles of a metric beside the referee's, within the larger of 1 % and 2 ms.
pub fn quantile_claims(ran: &Trial, metric: &str, truth: &[f64]) -> Vec<Claim> {
    let row = |&(name, share): &(&str, f64)| {
        let true_value = quantile(truth, share);
        Claim::near(format!("{metric} {name}"), ran.figure(metric, name), true_value, (true_value * 0.01).max(2.0))
    };
    [("p(90)", 0.9), ("p(99)", 0.99), ("p(99.9)", 0.999)].iter().map(row).collect()
}
