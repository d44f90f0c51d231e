//! GitLab's reports: metrics, which a merge request shows beside those of its target branch, and code quality.
//!
//! The names of metrics and the fingerprints of issues hold nothing that differs from run to run, because GitLab
//! matches by them: a figure that changed is a change, not another metric.

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};
use serde_json::{Value, json};

use super::{CiFigure, Notice, NoticeLevel};

/// OpenMetrics, a gauge each.
pub(super) fn metrics(figures: &[CiFigure]) -> String {
    let mut out = String::new();
    let mut before = "";
    for figure in figures {
        if figure.name != before {
            out.push_str(&format!("# TYPE {} gauge\n", figure.name));
        }
        before = &figure.name;
        let labels: Vec<String> =
            figure.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", label(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        out.push_str(&format!("{}{labels} {}\n", figure.name, rounded(figure.value)));
    }
    out.push_str("# EOF\n");
    out
}

/// A figure with six significant digits: more would be noise, and GitLab shows them all.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(5 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], "\\n")
}

/// A JSON list of issues.
pub(super) fn code_quality(notices: &[Notice], script: &str) -> String {
    let issues: Vec<Value> = notices.iter().map(|notice| issue(notice, script)).collect();
    format!("{}\n", crate::pretty(&Value::Array(issues)))
}

fn issue(notice: &Notice, script: &str) -> Value {
    let (path, line) = notice.place.as_ref().map_or((script, 1), |place| (place.file.as_str(), place.line));
    let severity = match notice.level {
        NoticeLevel::Invalid => "critical",
        NoticeLevel::Failed => "major",
        NoticeLevel::Doubtful => "minor",
    };
    json!({
        "description": notice.message,
        "check_name": format!("onrush/{}", notice.check),
        "fingerprint": fingerprint(&[notice.check, &notice.subject, path]),
        "severity": severity,
        "location": { "path": path, "lines": { "begin": line } },
    })
}

fn fingerprint(parts: &[&str]) -> String {
    HEXLOWER.encode(&Md5::digest(parts.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_lines_of_openmetrics() {
        let figure = |name: &str, labels, value| CiFigure { name: name.to_owned(), labels, value };
        let found = metrics(&[
            figure("http_reqs_per_second", Vec::new(), 1_234.567_89),
            figure("change", vec![("metric", String::from("a \"b\"\n\\"))], -0.001_234_567_8),
            figure("change", vec![("metric", String::from("c"))], 0.0),
        ]);
        let expected = "# TYPE http_reqs_per_second gauge\nhttp_reqs_per_second 1234.57\n# TYPE change gauge\n\
                        change{metric=\"a \\\"b\\\"\\n\\\\\"} -0.00123457\nchange{metric=\"c\"} 0\n# EOF\n";
        assert_eq!(found, expected);
    }

    #[test]
    fn a_fingerprint_does_not_depend_on_what_was_measured() {
        let issue = |message: &str, subject: &str| {
            let notice = Notice {
                level: NoticeLevel::Failed,
                check: "threshold",
                subject: subject.to_owned(),
                message: message.to_owned(),
                place: None,
            };
            super::issue(&notice, "a.js")
        };
        assert_eq!(issue("5 ms", "p(95)<1")["fingerprint"], issue("6 ms", "p(95)<1")["fingerprint"]);
        assert_ne!(issue("5 ms", "p(95)<1")["fingerprint"], issue("5 ms", "p(95)<2")["fingerprint"]);
        assert_eq!(issue("5 ms", "x")["location"], json!({ "path": "a.js", "lines": { "begin": 1 } }));
    }
}
