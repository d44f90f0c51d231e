//! Limits given on the command line: `--threshold` in k6's words, `--fail-on` for errors of every kind.
//!
//! A threshold joins those of the script. A k6 threshold cannot see an iteration that threw before its first request,
//! so `--fail-on errors>1%` judges both shares after the run: failed requests among all, and iterations that threw
//! among all.

use metrics::ThresholdSpecs;
use metrics::results::{Results, Value};
use metrics::threshold::ThresholdSpec;
use units::show;

/// Joins `METRIC: CONDITION` texts to the thresholds of the other layers.
pub fn add_thresholds(specs: &mut Option<ThresholdSpecs>, texts: &[String]) -> Result<(), String> {
    for text in texts {
        let (metric, threshold) = split_threshold(text).ok_or_else(|| {
            format!("--threshold: found '{text}', expected METRIC: CONDITION, as in 'http_req_duration: p(95)<200'")
        })?;
        let spec = ThresholdSpec { threshold: threshold.to_owned(), abort_on_fail: false, delay_abort_eval: None };
        specs.get_or_insert_default().entry(metric.to_owned()).or_default().push(spec);
    }
    Ok(())
}

/// At the first colon outside of the braces of a sub-metric.
fn split_threshold(text: &str) -> Option<(&str, &str)> {
    let colon = text.find('}').unwrap_or(0) + text[text.find('}').unwrap_or(0)..].find(':')?;
    let (metric, condition) = (text[..colon].trim(), text[colon + 1..].trim());
    (!metric.is_empty() && !condition.is_empty()).then_some((metric, condition))
}

/// `--fail-on 'errors>1%'`.
#[derive(Clone, Debug, PartialEq)]
pub struct FailOn {
    /// As written.
    text: String,
    /// Whether failed requests count, and not only iterations that threw.
    with_requests: bool,
    /// Whether the limit itself is too much.
    or_equal: bool,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// 0 to 1.
    Share(f64),
    Count(f64),
}

impl FailOn {
    /// Reads `errors>1%`, `errors>0`, `exceptions>=10`.
    pub fn parse(text: &str) -> Result<FailOn, String> {
        let at = text.find(['>', '<', '=', '!']).unwrap_or(text.len());
        let (subject, rest) = (text[..at].trim(), &text[at..]);
        let with_requests = match subject {
            "errors" => true,
            "exceptions" => false,
            _ => return Err(other_subject(text, subject)),
        };
        let refuse =
            || format!("--fail-on: found '{text}', expected {subject}>SHARE% or {subject}>COUNT, as in '{subject}>1%'");
        let rest = rest.strip_prefix('>').ok_or_else(refuse)?;
        let (or_equal, number) = rest.strip_prefix('=').map_or((false, rest), |number| (true, number));
        let (number, is_share) = number.trim().strip_suffix('%').map_or((number, false), |number| (number, true));
        let limit: f64 =
            number.trim().parse().ok().filter(|limit: &f64| *limit >= 0.0 && limit.is_finite()).ok_or_else(refuse)?;
        let limit = if is_share { Limit::Share(limit / 100.0) } else { Limit::Count(limit) };
        Ok(FailOn { text: text.trim().to_owned(), with_requests, or_equal, limit })
    }

    /// What was too much, ready to print; nothing when the run kept to the limit.
    pub fn judge(&self, results: &Results) -> Option<String> {
        let threw = Part {
            what: "iterations threw",
            count: results.count("iterations_threw"),
            of: results.count("iterations"),
        };
        let failed = match results.metric("http_req_failed").map(|metric| &metric.value) {
            Some(Value::Rate { passes, total }) => Part { what: "requests failed", count: *passes, of: *total },
            _ => Part { what: "requests failed", count: 0, of: 0 },
        };
        let parts = if self.with_requests { vec![threw, failed] } else { vec![threw] };
        let is_over = match self.limit {
            Limit::Share(limit) => parts.iter().any(|part| part.of > 0 && self.exceeds(part.share(), limit)),
            Limit::Count(limit) => self.exceeds(parts.iter().map(|part| part.count as f64).sum(), limit),
        };
        let named: Vec<String> =
            parts.iter().filter(|part| part.count > 0 || !self.with_requests).map(Part::told).collect();
        is_over.then(|| format!("--fail-on '{}': {}", self.text, named.join(", ")))
    }

    fn exceeds(&self, found: f64, limit: f64) -> bool {
        if self.or_equal { found >= limit } else { found > limit }
    }
}

/// Some among all.
struct Part {
    what: &'static str,
    count: u64,
    of: u64,
}

impl Part {
    fn share(&self) -> f64 {
        self.count as f64 / self.of.max(1) as f64
    }

    fn told(&self) -> String {
        format!("{} of {} {} ({})", self.count, self.of, self.what, show::share(self.count, self.of))
    }
}

/// Metrics have thresholds: says how the same is written there, where that is known.
fn other_subject(text: &str, subject: &str) -> String {
    let opposite = [(">=", "<"), ("<=", ">"), (">", "<="), ("<", ">=")];
    let rest = &text[text.find(subject).unwrap_or(0) + subject.len()..];
    let turned = opposite.iter().find_map(|(found, not)| Some((not, rest.trim().strip_prefix(found)?.trim())));
    let instead =
        turned.filter(|(_, limit)| !subject.is_empty() && limit.parse::<f64>().is_ok()).map(|(not, limit)| {
            let is_stat = subject.starts_with("p(") || ["avg", "min", "med", "max"].contains(&subject);
            let (metric, stat) = match subject.rsplit_once(':').filter(|(_, stat)| !stat.ends_with('}')) {
                _ if is_stat => ("http_req_duration", subject),
                Some((metric, stat)) => (metric, stat),
                None => (subject, "rate"),
            };
            format!("; for a metric write --threshold '{metric}: {stat}{not}{limit}'")
        });
    let hint = instead.unwrap_or_else(|| units::suggest::hint(subject, ["errors", "exceptions"]));
    format!("--fail-on: found '{text}', expected errors or exceptions, as in 'errors>1%'{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_split_behind_the_filter() {
        let read = |text: &str| split_threshold(text).map(|(metric, condition)| format!("{metric} | {condition}"));
        assert_eq!(read("http_req_duration: p(95)<200").as_deref(), Some("http_req_duration | p(95)<200"));
        assert_eq!(read("http_reqs{status:200}:count>5").as_deref(), Some("http_reqs{status:200} | count>5"));
        for bad in ["p(95)<200", "http_reqs:", ":count>5", "http_reqs{status:200}", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn limits_are_read() {
        let read = |text: &str| FailOn::parse(text).map(|f| (f.with_requests, f.or_equal, f.limit));
        assert_eq!(read("errors>1%"), Ok((true, false, Limit::Share(0.01))));
        assert_eq!(read("errors > 0"), Ok((true, false, Limit::Count(0.0))));
        assert_eq!(read("exceptions>=10"), Ok((false, true, Limit::Count(10.0))));
    }

    #[test]
    fn what_is_no_limit_is_told_what_is_one() {
        let message = |text: &str| FailOn::parse(text).expect_err(text);
        for bad in ["errors", "errors<5", "errors>x", "errors>-1", "errors>%"] {
            let expected =
                format!("--fail-on: found '{bad}', expected errors>SHARE% or errors>COUNT, as in 'errors>1%'");
            assert_eq!(message(bad), expected);
        }
        let start = |text: &str| format!("--fail-on: found '{text}', expected errors or exceptions, as in 'errors>1%'");
        for (text, hint) in [
            ("error>1%", "; did you mean 'errors'?"),
            ("p(95)>200", "; for a metric write --threshold 'http_req_duration: p(95)<=200'"),
            ("http_reqs:count<5", "; for a metric write --threshold 'http_reqs: count>=5'"),
            ("checks<0.95", "; for a metric write --threshold 'checks: rate>=0.95'"),
            ("", ""),
        ] {
            assert_eq!(message(text), format!("{}{hint}", start(text)));
        }
    }
}
