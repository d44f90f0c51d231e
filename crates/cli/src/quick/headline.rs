//! The lines above the summary of a quick run, which somebody who comes from wrk looks for: requests a second, latency,
//! answers by status, failures by kind. A pure function of the results; numbers are the summary's.
//!
//! Latency is that of answered requests: a refused connection takes no time, and must not make a server look fast. With
//! a rate the time from the planned start is below, which is what somebody who came on schedule waited.

use metrics::results::{MetricResult, Results, TrendValue, Value};
use report::Errors;
use report::document::PercentileFigure;
use units::show;

/// What the headline tells.
pub struct Headline<'a> {
    results: &'a Results,
    errors: Errors,
    failures: Vec<(String, u64)>,
    scheduled: bool,
}

impl<'a> Headline<'a> {
    /// Of these results. `failures`: what went wrong and how often; `scheduled`: requests were started at a rate.
    pub fn new(results: &'a Results, failures: Vec<(String, u64)>, scheduled: bool) -> Self {
        Headline { results, errors: Errors::from(results), failures, scheduled }
    }

    /// The lines.
    pub fn text(&self) -> String {
        let lines = [vec![self.throughput()], self.latencies(), self.answers(), self.failed()].concat();
        lines.iter().map(|line| format!("    {line}\n")).collect()
    }

    fn throughput(&self) -> String {
        let seconds = self.results.duration.as_secs_f64();
        let per_second = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
        let requests = self.results.count("http_reqs");
        format!(
            "{} request{} in {}, {}/s, {}/s received",
            show::grouped(requests),
            if requests == 1 { "" } else { "s" },
            show::time((seconds * 1e3).round()),
            show::rounded(per_second(requests as f64)),
            show::bytes(per_second(self.results.count("data_received") as f64)),
        )
    }

    fn latencies(&self) -> Vec<String> {
        let some_failed = self.errors.without_answer() > 0;
        let answered = self.trend("http_req_duration", some_failed.then_some("expected_response:true"));
        let what = if some_failed { "latency of expected answers" } else { "latency" };
        let planned = self.trend("http_req_duration_from_plan", None).filter(|_| self.scheduled);
        let lines = [(what, answered), ("from the planned start", planned)];
        let told = lines.into_iter().filter_map(|(what, trend)| trend.map(|trend| (what, trend)));
        told.flat_map(|(what, trend)| [format!("{what}: {}", percentiles(trend)), sure(trend)]).collect()
    }

    fn answers(&self) -> Vec<String> {
        let statuses = self.statuses();
        let answered = statuses.iter().filter(|(status, _)| *status > 0);
        let shown: Vec<String> =
            answered.map(|(status, count)| format!("{status}: {}", show::grouped(*count))).collect();
        if shown.is_empty() { Vec::new() } else { vec![format!("by status: {}", shown.join(", "))] }
    }

    fn failed(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let unanswered = self.errors.without_answer();
        if unanswered > 0 {
            let share = show::share(unanswered, self.results.count("http_reqs"));
            lines.push(format!("no answer: {} ({share})", show::grouped(unanswered)));
            let kind = |(what, count): &(String, u64)| format!("  {} × {what}{}", show::grouped(*count), advice(what));
            lines.extend(self.failures.iter().map(kind));
        }
        let dropped = self.results.count("dropped_iterations");
        if dropped > 0 {
            lines.push(format!("not started because no user was free: {} (raise --vus)", show::grouped(dropped)));
        }
        lines
    }

    fn find(&self, name: &str, filter: Option<&str>) -> Option<&MetricResult> {
        let is = |metric: &&MetricResult| metric.name == name && metric.filter.as_deref() == filter;
        self.results.metrics.iter().find(is)
    }

    fn trend(&self, name: &str, filter: Option<&str>) -> Option<&TrendValue> {
        match self.find(name, filter).map(|metric| &metric.value) {
            Some(Value::Trend(trend)) if trend.count() > 0 => Some(trend),
            _ => None,
        }
    }

    /// Answers by status; 0 for none.
    fn statuses(&self) -> Vec<(u16, u64)> {
        let own = self.results.metrics.iter().filter(|metric| metric.name == "http_reqs");
        let status = |metric: &MetricResult| metric.filter.as_deref()?.strip_prefix("status:")?.parse().ok();
        own.filter_map(|metric| {
            let Value::Counter { count, .. } = metric.value else { return None };
            Some((status(metric)?, count as u64))
        })
        .collect()
    }
}

/// What to do about a failure, where it is known.
fn advice(what: &str) -> &'static str {
    match what {
        _ if what.contains("does not look like a TLS handshake") => " (the server does not speak TLS: try http://)",
        _ if what.contains("x509:") => " (-k accepts any certificate)",
        _ => "",
    }
}

/// The intervals that hold the true percentiles with 95 %.
fn sure(trend: &TrendValue) -> String {
    let figures = [50.0, 90.0, 99.0].into_iter().filter_map(|percent| PercentileFigure::of(trend, percent));
    let interval = |figure: PercentileFigure| format!("p{} {}", figure.percent, figure.interval(show::time));
    format!("  95 % sure: {}", figures.map(interval).collect::<Vec<_>>().join(", "))
}

fn percentiles(trend: &TrendValue) -> String {
    let few = |percent: f64| if trend.is_thin(percent) { " (too few samples)" } else { "" };
    let at = |percent: f64| format!("{}{}", show::time(trend.percentile(percent)), few(percent));
    let max = show::time(trend.max());
    let dropped = match trend.censored() {
        0 => String::new(),
        dropped => format!(" ({} that never started count as longer than all others)", show::grouped(dropped)),
    };
    format!("p50 {}, p90 {}, p99 {}, max {max}{dropped}", at(50.0), at(90.0), at(99.0))
}
