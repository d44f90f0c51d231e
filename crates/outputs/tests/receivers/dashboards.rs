//! k6's own dashboards of Grafana: the series that their queries ask for are sent, with the labels that they are picked
//! and grouped by. The lists have every name of the dashboards for Prometheus (both) and for InfluxDB.

use std::collections::BTreeSet;

use metrics::{MetricId, builtin};

use crate::http::{Manner, Receiver};
use crate::prometheus::series_of;
use crate::run::Run;

const TRENDS: [&str; 7] = [
    "http_req_duration",
    "iteration_duration",
    "http_req_blocked",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
];
const OTHERS: [&str; 7] = [
    "k6_vus",
    "k6_http_reqs_total",
    "k6_http_req_failed_rate",
    "k6_data_sent_total",
    "k6_data_received_total",
    "k6_dropped_iterations_total",
    "k6_checks_rate",
];
/// `testid` is the user's own tag, `--tag testid=…`.
const TAGS: [(&str, &str); 6] = [
    ("testid", "a"),
    ("expected_response", "false"),
    ("name", "page"),
    ("method", "GET"),
    ("status", "500"),
    ("url", "http://h.test/"),
];

const METRICS: [MetricId; 15] = [
    builtin::HTTP_REQ_DURATION,
    builtin::ITERATION_DURATION,
    builtin::HTTP_REQ_BLOCKED,
    builtin::HTTP_REQ_CONNECTING,
    builtin::HTTP_REQ_TLS_HANDSHAKING,
    builtin::HTTP_REQ_SENDING,
    builtin::HTTP_REQ_WAITING,
    builtin::HTTP_REQ_RECEIVING,
    builtin::VUS,
    builtin::HTTP_REQS,
    builtin::HTTP_REQ_FAILED,
    builtin::DATA_SENT,
    builtin::DATA_RECEIVED,
    builtin::DROPPED_ITERATIONS,
    builtin::CHECKS,
];

/// A run with samples of all metrics that the dashboards show; what came of it.
fn sent(path: &str, output: &str, environment: &[(&str, &str)]) -> Vec<u8> {
    let receiver = Receiver::start(Manner::Answers(204));
    let run = Run::start(&format!("{output}=http://{}{path}", receiver.address), environment);
    for metric in METRICS {
        run.add(metric, &TAGS, &[1.0, 2.0]);
    }
    assert_eq!(run.finish(), (vec![], vec![]));
    // Influx's first request makes the database.
    receiver.got().into_iter().find(|(head, _)| !head.starts_with("POST /query")).expect("samples are sent").1
}

#[test]
fn those_for_prometheus_find_their_series() {
    let body = sent("/w", "experimental-prometheus-rw", &[("K6_PROMETHEUS_RW_TREND_STATS", "p(95),p(99),min,max")]);
    let found = series_of(&body);
    let statistics =
        TRENDS.iter().flat_map(|name| ["p95", "p99", "min", "max"].map(|stat| format!("k6_{name}_{stat}")));
    for name in statistics.chain(OTHERS.map(String::from)) {
        let labels = found.get(&name).unwrap_or_else(|| panic!("{name} is not sent: {:?}", found.keys()));
        let missing: Vec<_> = TAGS.iter().filter(|(tag, _)| !labels.contains(*tag)).collect();
        assert!(missing.is_empty(), "{name} lacks {missing:?}");
    }
}

#[test]
fn those_for_native_histograms_find_their_series() {
    let body = sent("/w", "experimental-prometheus-rw", &[("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")]);
    let found: BTreeSet<String> = series_of(&body).into_keys().collect();
    for name in TRENDS.map(|name| format!("k6_{name}_seconds")).into_iter().chain(OTHERS.map(String::from)) {
        assert!(found.contains(&name), "{name} is not sent: {found:?}");
    }
}

#[test]
fn that_for_influxdb_finds_its_measurements() {
    let body = sent("/db", "influxdb", &[]);
    let text = String::from_utf8(body).unwrap();
    for name in ["checks", "http_req_blocked", "http_req_connecting", "http_req_duration", "vus"] {
        let of_name = |line: &&str| line.starts_with(&format!("{name},")) && line.contains("value=");
        assert!(text.lines().any(|line| of_name(&line)), "{name} in {text}");
    }
}
