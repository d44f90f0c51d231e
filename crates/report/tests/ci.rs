//! What a CI is told of a run, format by format, against stored files; run with `ONRUSH_BLESS=1` to store what is made
//! now, and read the difference before committing it.

#![allow(clippy::disallowed_methods, reason = "told by the environment to write the expected files anew")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use metrics::Trend;
use metrics::results::TrendValue;
use onrush_report::ci::{CiReport, CiScript, Digest, digest, of_run};
use onrush_report::document::{
    Check, Contains, Document, Environment, Exit, Finding, Generator, Group, Histogram, Judgement, KIND, Metric,
    Requests, SCHEMA, Seconds, Severity, Threshold, Trust, Value,
};
use onrush_report::errors::{Counted, ErrorStatus, Errors, Seen};

const SCRIPT: &str = "import http from 'k6/http'
export const options = {
  thresholds: {
    http_req_duration: ['p(95)<50', 'p(99)<150'],
    checks: ['rate>0.5'],
  },
}
export default function () {
  check(http.get('http://shop/'), { 'is <200> & \"fine\"': (r) => r.ok })
}
";

fn threshold(source: &str, ok: bool, left: f64, inside: bool) -> Threshold {
    Threshold { source: source.into(), ok, left, percentile: None, inside, without_samples: false }
}

fn metric(name: &str, contains: Contains, value: Value, thresholds: Vec<Threshold>) -> Metric {
    Metric { name: name.into(), filter: None, contains, thresholds, percentiles: Vec::new(), value }
}

fn judgement(verdict: Trust) -> Judgement {
    let severity = if verdict == Trust::Invalid { Severity::Invalid } else { Severity::Suspect };
    let finding = Finding {
        cause: "cpu_limit".into(),
        title: "CPU limit".into(),
        severity,
        figure: "12 times".into(),
        text: "the control group held the generator up".into(),
        advice: "raise the limit".into(),
    };
    let causes = if verdict == Trust::Trusted { Vec::new() } else { vec![finding] };
    Judgement {
        verdict,
        causes,
        basis: "busiest worker 34 %".into(),
        iterations: Default::default(),
        limit: None,
        timing_error: None,
        one_sided: Vec::new(),
    }
}

fn failed_run(verdict: Trust) -> Document {
    let mut trend = Trend::default();
    (1..=1000).for_each(|value| trend.add(f64::from(value) / 10.0));
    let duration = Value::Trend(Histogram::from(&TrendValue::from(trend)));
    let limits = vec![threshold("p(95)<50", false, 95.0, false), threshold("p(99)<150", true, 99.0, true)];
    Document {
        kind: KIND.into(),
        schema: SCHEMA,
        onrush: "0.1.0".into(),
        started_at: "2026-11-21T18:00:00.000Z".into(),
        duration_s: 10.0,
        load_s: Some(10.0),
        script: "tests/shop.js".into(),
        labels: BTreeMap::new(),
        options: serde_json::Value::Null,
        environment: Environment::default(),
        generator: Generator {
            judgement: Some(judgement(verdict)),
            notes: vec!["a note with <markup>".into()],
            ..Generator::default()
        },
        exit: Exit { code: 99, reason: Some("thresholds have been crossed".into()) },
        errors: Errors {
            exceptions: vec![Counted {
                what: "Error: a`b\u{1b} @all (/repo/tests/lib.js:7:28)".into(),
                count: 3,
                seen: Seen::default(),
            }],
            answers: vec![ErrorStatus { status: 500, expected: false, count: 12, seen: Seen::default() }],
            unanswered: Vec::new(),
        },
        requests: Requests::default(),
        metrics: vec![
            metric(
                "checks",
                Contains::Default,
                Value::Rate { passes: 9, total: 10 },
                vec![threshold("rate>0.5", true, 0.9, false)],
            ),
            metric("http_req_duration", Contains::Time, duration, limits),
            metric("http_reqs", Contains::Default, Value::Counter { count: 1000.0, rate: 100.0 }, Vec::new()),
        ],
        checks: vec![
            Check { name: "is <200> & \"fine\"".into(), path: "::is <200> & \"fine\"".into(), passes: 8, fails: 2 },
            Check { name: "in".into(), path: "::buy::in".into(), passes: 8, fails: 0 },
            Check { name: "odd \u{0}\u{8}\u{FFFE} name".into(), path: "::odd".into(), passes: 1, fails: 0 },
        ],
        groups: Group::default(),
        scenarios: Vec::new(),
        seconds: Seconds::default(),
        load_changes: Vec::new(),
        generator_seconds: None,
        steadiness: None,
        messages: None,
    }
}

fn told(document: &Document) -> CiReport {
    of_run(document, &CiScript { path: "tests/shop.js".into(), text: SCRIPT.into(), root: "/repo".into() })
}

fn golden(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(&path, found).expect("a golden file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

#[test]
fn every_format_of_a_run_that_failed() {
    let report = told(&failed_run(Trust::Suspect));
    golden("ci.junit.xml", &report.junit());
    golden("ci.comment.md", &report.comment());
    golden("ci.annotations.txt", &report.github_annotations());
    golden("ci.metrics.txt", &report.gitlab_metrics());
    golden("ci.code-quality.json", &report.code_quality("tests/shop.js"));
}

#[test]
fn an_invalid_run_is_an_error_unless_somebody_accepted_it() {
    let mut document = failed_run(Trust::Invalid);
    document.generator.saturated = true;
    let told_first = told(&document);
    assert!(
        told_first.junit().contains("<error message=\"INVALID: CPU limit (12 times)\"/>"),
        "{}",
        told_first.junit()
    );
    assert!(told_first.comment().contains("**INVALID, failed: 1 of 3 thresholds did not hold**"));
    assert!(told_first.github_annotations().starts_with("::error file=tests/shop.js,line=1,title=onrush%3A verdict::"));
    assert!(told_first.code_quality("x").contains("\"severity\": \"critical\""));
    document.generator.accept();
    let accepted = told(&document);
    assert!(accepted.junit().contains("errors=\"0\""), "{}", accepted.junit());
    assert!(accepted.comment().contains("> ⚠ INVALID, accepted (--accept-late): CPU limit"), "{}", accepted.comment());
}

#[test]
fn a_run_that_broke_off_fails_by_its_exit_code() {
    let mut document = failed_run(Trust::Trusted);
    document.metrics.iter_mut().flat_map(|metric| &mut metric.thresholds).for_each(|threshold| threshold.ok = true);
    document.exit = Exit { code: 107, reason: Some("the script threw an exception outside of an iteration".into()) };
    let report = told(&document);
    let expected = "<failure message=\"exit code 107: the script threw an exception outside of an iteration\"/>";
    assert!(report.junit().contains(expected), "{}", report.junit());
    assert!(report.comment().contains("**failed: the script threw an exception outside of an iteration, 3 thresholds"));
    document.exit = Exit { code: 99, reason: Some("errors: 2 %, more than 1 %".into()) };
    assert!(told(&document).junit().contains("<failure message=\"exit code 99: errors: 2 %, more than 1 %\"/>"));
    document.exit = Exit::default();
    let fine = told(&document);
    assert!(fine.comment().contains("**passed: 3 thresholds held**"), "{}", fine.comment());
    assert!(!fine.github_annotations().contains("::error"), "a check and a doubt are warnings");
}

#[test]
fn the_schema_of_a_digest_is_the_documented_one() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/digest-1.json");
    let found = serde_json::to_string_pretty(&schemars::schema_for!(Digest).to_value()).expect("JSON") + "\n";
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(&path, &found).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "the types differ from {}; ONRUSH_BLESS=1 stores the new schema", path.display());
    let found = digest(&failed_run(Trust::Suspect));
    assert_eq!(found.figures["http_reqs_per_second"], 100.0);
    assert_eq!(found.thresholds.iter().map(|threshold| threshold.ok).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(found.judgement.map(|judgement| judgement.verdict), Some(Trust::Suspect));
}
