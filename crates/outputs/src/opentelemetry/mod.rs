//! `--out opentelemetry`: the state of each series by OTLP, over gRPC or HTTP.
//!
//! Counters are sums, rates two sums with the attribute `condition`, gauges gauges, trends histograms with the borders
//! of OpenTelemetry's SDKs; times in ms, data in bytes. All of them count from the beginning of the test.

mod grpc;
pub(crate) mod settings;
pub(crate) mod spans;
pub(crate) mod trace_settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use metrics::batches::SeriesTags;
use metrics::{Contains, Kind, Trend};

use crate::catalog::Take;
use crate::feed::Running;
use crate::post::{Address, Poster};
use crate::proto::Message;
use crate::push::{self, Courier, Form, Parcel, Schedule};
use crate::setup::Setup;
use crate::tally::{Row, State, Tally};

use grpc::Exporter;
use settings::{OtelSettings, Protocol};

/// The upper borders of a histogram's buckets; one more bucket has what is above.
const BORDERS: [f64; 15] = [0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1e3, 2.5e3, 5e3, 7.5e3, 1e4];

/// Starts it. There is no argument: variables say all.
pub(crate) fn open(argument: &str, setup: &Setup<'_>) -> Result<Running, String> {
    if !argument.is_empty() {
        return Err(String::from("no argument expected: the variables K6_OTEL_… say where to"));
    }
    let settings = OtelSettings::read(setup.env)?;
    if let Some(value) = setup.env.get("K6_OTEL_FLUSH_INTERVAL").filter(|value| !value.is_empty()) {
        setup.note_unused("opentelemetry", "K6_OTEL_FLUSH_INTERVAL", value, "samples are taken in as they come");
    }
    let schedule = Schedule { name: "opentelemetry", unit: "points", every: settings.every };
    let (address, protocol) = (settings.address.clone(), settings.protocol);
    let form = Report { tally: Tally::new(setup.registry.clone()), settings, is_sent: false };
    push::start(schedule, setup.tell.clone(), form, move || Way::new(protocol, address, grpc::EXPORT))
}

enum Way {
    Http(Box<Poster>),
    Grpc(Box<Exporter>),
}

impl Way {
    /// To a collector, whose method by gRPC is `method`.
    fn new(protocol: Protocol, address: Address, method: &str) -> Result<Way, String> {
        Ok(match protocol {
            Protocol::Http => Way::Http(Box::new(Poster::new(address)?)),
            Protocol::Grpc => Way::Grpc(Box::new(Exporter::new(address, method)?)),
        })
    }
}

impl Courier for Way {
    async fn send(&self, body: Vec<u8>) -> Result<(), String> {
        match self {
            Way::Http(poster) => poster.post(body).await,
            Way::Grpc(exporter) => exporter.export(body).await,
        }
    }
}

struct Report {
    tally: Tally,
    settings: OtelSettings,
    /// The last report.
    is_sent: bool,
}

impl Take for Report {
    fn meet(&mut self, series: &SeriesTags) {
        self.tally.meet(series);
    }

    fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
        self.tally.sample(series, at_ns, value);
    }
}

impl Form for Report {
    fn parcel(&mut self, is_last: bool) -> Option<Parcel> {
        if std::mem::replace(&mut self.is_sent, is_last) {
            return None;
        }
        let mut by_metric: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
        let mut now_ns = 0;
        // A series may be known before its first sample, and never get one.
        for (_, row) in self.tally.rows().filter(|(_, row)| row.last_ns > 0) {
            now_ns = now_ns.max(row.last_ns);
            let row: &Row = row;
            by_metric.entry(row.metric.id.0).or_default().push(row);
        }
        let mut count = 0;
        let mut request = Message::default();
        request.message(1, |of_resource| {
            of_resource.message(1, |resource| {
                let OtelSettings { service, version, .. } = &self.settings;
                let ours = [("telemetry.sdk.language", "rust"), ("telemetry.sdk.name", "onrush")];
                for (key, value) in
                    [("service.name", service.as_str()), ("service.version", version)].iter().chain(&ours)
                {
                    resource.message(1, |attribute| write_attribute(attribute, key, value));
                }
            });
            of_resource.message(2, |of_scope| {
                of_scope.message(1, |scope| scope.bytes(1, b"k6"));
                for rows in by_metric.values() {
                    of_scope.message(2, |metric| count += write_metric(metric, rows, &self.settings.prefix, now_ns));
                }
            });
        });
        (count > 0).then_some(Parcel { body: request.0, count })
    }
}

/// Writes the series of one metric; how many points that were.
fn write_metric(metric: &mut Message, rows: &[&Row], prefix: &str, now_ns: u64) -> u64 {
    let definition = &rows[0].metric;
    let suffix = if definition.kind == Kind::Rate { ".total" } else { "" };
    metric.bytes(1, format!("{prefix}{}{suffix}", definition.name).as_bytes());
    match definition.contains {
        Contains::Time => metric.bytes(3, b"ms"),
        Contains::Data => metric.bytes(3, b"By"),
        Contains::Default => {}
    }
    let mut count = 0;
    let field = match definition.kind {
        Kind::Gauge => 5,
        Kind::Counter | Kind::Rate => 7,
        Kind::Trend => 9,
    };
    metric.message(field, |data| {
        for row in rows {
            count += write_points(data, row, now_ns);
        }
        if definition.kind != Kind::Gauge {
            // Cumulative.
            data.uint(2, 2);
        }
        if field == 7 {
            // Monotonic.
            data.uint(3, 1);
        }
    });
    count
}

fn write_points(data: &mut Message, row: &Row, now_ns: u64) -> u64 {
    let moments = |point: &mut Message| {
        point.fixed(2, row.first_ns);
        point.fixed(3, now_ns);
    };
    let number = |data: &mut Message, condition: Option<&str>, write: &dyn Fn(&mut Message)| {
        data.message(1, |point| {
            moments(point);
            write_attributes(point, 7, &row.tags, condition);
            write(point);
        });
    };
    match &row.state {
        State::Counter(value) | State::Gauge(value) => {
            number(data, None, &|point| point.double(4, *value));
            1
        }
        State::Rate { passes, total } => {
            let all = [("nonzero", *passes), ("zero", total - passes)];
            let counted = all.iter().filter(|(_, count)| *count > 0);
            counted.map(|(condition, count)| number(data, Some(condition), &|point| point.fixed(6, *count))).count()
                as u64
        }
        State::Trend(trend) => {
            data.message(1, |point| {
                moments(point);
                write_histogram(point, trend);
                write_attributes(point, 9, &row.tags, None);
            });
            1
        }
    }
}

fn write_histogram(point: &mut Message, trend: &Trend) {
    let mut counts = [0; BORDERS.len() + 1];
    for (mean, count) in trend.buckets() {
        counts[BORDERS.partition_point(|border| *border < mean)] += count;
    }
    point.fixed(4, trend.count());
    point.double(5, trend.sum());
    point.packed_fixed(6, counts);
    point.packed_fixed(7, BORDERS.map(f64::to_bits));
    point.double(11, trend.min());
    point.double(12, trend.max());
}

fn write_attributes(point: &mut Message, field: u32, tags: &[(Arc<str>, Arc<str>)], condition: Option<&str>) {
    for (key, value) in tags {
        point.message(field, |attribute| write_attribute(attribute, key, value));
    }
    if let Some(condition) = condition {
        point.message(field, |attribute| write_attribute(attribute, "condition", condition));
    }
}

fn write_attribute(attribute: &mut Message, key: &str, value: &str) {
    attribute.bytes(1, key.as_bytes());
    attribute.message(2, |any| any.bytes(1, value.as_bytes()));
}
