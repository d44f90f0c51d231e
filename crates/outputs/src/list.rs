//! The list of outputs, and names that are known but not offered, with what to use instead.

use units::suggest;

use crate::feed::Running;
use crate::influxdb::settings::Version;
use crate::setup::Setup;
use crate::{csv, influxdb, json, opentelemetry, prometheus, statsd};

/// The outputs that `--out` knows.
const NAMES: &[&str] =
    &["json", "csv", "experimental-prometheus-rw", "influxdb", "opentelemetry", "statsd", "xk6-influxdb"];

/// Outputs of k6 and of its extensions that are not offered, by all their names, and why.
const REFUSED: &[(&[&str], &str)] = &[
    (
        &["cloud"],
        "Grafana Cloud k6 is not offered; Grafana Cloud takes metrics from experimental-prometheus-rw and \
         opentelemetry",
    ),
    (&["web-dashboard"], "the page is shown by the process that was started: use --web there"),
    (&["datadog"], "use statsd with K6_STATSD_ENABLE_TAGS=true, or opentelemetry"),
    (
        &["kafka", "xk6-kafka", "output-kafka", "xk6-output-kafka"],
        "not offered; use opentelemetry and a collector that writes to Kafka, or write json and send the lines on",
    ),
    (
        &["timescaledb", "xk6-timescaledb", "output-timescaledb", "xk6-output-timescaledb"],
        "not offered; use influxdb or opentelemetry, or write csv and load the file into the database (COPY)",
    ),
    (
        &["elasticsearch", "xk6-elasticsearch", "output-elasticsearch", "xk6-output-elasticsearch"],
        "not offered; use opentelemetry, which Elastic takes, or write json and send the lines on",
    ),
];

/// Opens an output and starts its thread.
pub(crate) fn open(name: &str, argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    match name {
        "json" => json::open(argument, setup),
        "csv" => csv::open(argument, setup),
        "experimental-prometheus-rw" => prometheus::open(argument, setup),
        "influxdb" => influxdb::open(Version::One, argument, setup),
        "xk6-influxdb" => influxdb::open(Version::Two, argument, setup),
        "opentelemetry" | "experimental-opentelemetry" => opentelemetry::open(argument, setup),
        "statsd" => statsd::open(argument, setup),
        _ => Err(match REFUSED.iter().find(|(refused, _)| refused.contains(&name)) {
            Some((_, why)) => (*why).to_owned(),
            None => {
                let hint = suggest::hint(name, NAMES.iter().copied());
                format!("unknown output '{name}'{hint} (expected one of {})", NAMES.join(", "))
            }
        }),
    }
}
