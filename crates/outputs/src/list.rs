//! The list of outputs, and names that are known but not offered, with what to use instead.

use units::suggest;

use crate::feed::Running;
use crate::setup::Setup;
use crate::{csv, influxdb, json, opentelemetry, prometheus, statsd};

/// The outputs that `--out` knows.
const NAMES: &[&str] = &["json", "csv", "experimental-prometheus-rw", "influxdb", "opentelemetry", "statsd"];

/// Outputs of k6 that are not offered, and why.
const REFUSED: &[(&str, &str)] = &[
    (
        "cloud",
        "Grafana Cloud k6 is not offered; Grafana Cloud takes metrics from experimental-prometheus-rw and \
         opentelemetry",
    ),
    ("web-dashboard", "the live page is `--web`; `--save DIR` and `onrush report DIR` make one with charts at the end"),
    ("datadog", "use statsd with K6_STATSD_ENABLE_TAGS=true, or opentelemetry"),
    ("kafka", "not offered; write json and send the lines on"),
];

/// Opens an output and starts its thread.
pub(crate) fn open(name: &str, argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    match name {
        "json" => json::open(argument, setup),
        "csv" => csv::open(argument, setup),
        "experimental-prometheus-rw" => prometheus::open(argument, setup),
        "influxdb" => influxdb::open(argument, setup),
        "opentelemetry" | "experimental-opentelemetry" => opentelemetry::open(argument, setup),
        "statsd" => statsd::open(argument, setup),
        _ => Err(match REFUSED.iter().find(|(refused, _)| *refused == name) {
            Some((_, why)) => (*why).to_owned(),
            None => {
                let hint = suggest::hint(name, NAMES.iter().copied());
                format!("unknown output '{name}'{hint} (expected one of {})", NAMES.join(", "))
            }
        }),
    }
}
