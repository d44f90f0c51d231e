//! The metrics of sockets.

use std::cell::OnceCell;

use host::js::{Ctx, Result};
use metrics::{Contains, Kind, MetricId, SystemTag};
use script::Vu;
use script::series::{SampleTags, SeriesCache};

use crate::dial::Place;
use crate::own_metrics;

/// What is measured, in the order of `METRICS`.
#[derive(Clone, Copy)]
pub enum TcpMetric {
    Connecting,
    Resolving,
    Duration,
    Sockets,
    Reads,
    Writes,
    Errors,
    Timeouts,
    PartialWrites,
}

const METRICS: [(&str, Kind); 9] = [
    ("tcp_socket_connecting", Kind::Trend),
    ("tcp_socket_resolving", Kind::Trend),
    ("tcp_socket_duration", Kind::Trend),
    ("tcp_sockets", Kind::Counter),
    ("tcp_reads", Kind::Counter),
    ("tcp_writes", Kind::Counter),
    ("tcp_errors", Kind::Counter),
    ("tcp_timeouts", Kind::Counter),
    ("tcp_partial_writes", Kind::Counter),
];

/// The metrics, as a user knows them.
#[derive(Default)]
struct TcpMetrics(OnceCell<Vec<MetricId>>);

/// Defines the metrics for the run.
pub fn define(ctx: &Ctx<'_>) -> Result<()> {
    let ids: Result<Vec<MetricId>> = METRICS
        .iter()
        .map(|(name, kind)| {
            let contains = if *kind == Kind::Trend { Contains::Time } else { Contains::Default };
            own_metrics::define(ctx, name, *kind, contains)
        })
        .collect();
    // A second import finds what the first one set.
    let _ = Vu::of(ctx).local::<TcpMetrics>().0.set(ids?);
    Ok(())
}

/// Adds a sample with these tags.
pub fn add(vu: &Vu, metric: TcpMetric, tags: &SampleTags, value: f64) {
    let ids = vu.local::<TcpMetrics>();
    let id = ids.0.get().expect("defined when the module was loaded")[metric as usize];
    let series = vu.worker_local::<SeriesCache>().resolve(vu, id, tags);
    vu.recorder().add(series, value, vu.now_ns());
}

/// Adds one.
pub fn count(vu: &Vu, metric: TcpMetric, tags: &SampleTags) {
    add(vu, metric, tags, 1.0);
}

/// Tags of which later ones replace earlier ones of the same name.
pub fn merged(tags: &SampleTags, more: &SampleTags) -> SampleTags {
    let kept = tags.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    kept.chain(more).cloned().collect()
}

/// The tags that each sample of a connection has beside those of its script.
pub fn tags_of(vu: &Vu, place: &Place) -> SampleTags {
    let mut tags =
        Vec::from([(String::from("host"), place.host.clone()), (String::from("port"), place.port.to_string())]);
    if vu.options().enabled_system_tags().has(SystemTag::Proto) {
        tags.push((SystemTag::Proto.name().to_owned(), String::from("TCP")));
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_tags_replace_earlier_ones() {
        let tags = |pairs: &[(&str, &str)]| -> SampleTags {
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        let both = merged(&tags(&[("a", "1"), ("b", "1")]), &tags(&[("b", "2"), ("c", "2")]));
        assert_eq!(both, tags(&[("a", "1"), ("b", "2"), ("c", "2")]));
    }

    #[test]
    fn each_metric_has_its_name() {
        assert_eq!(METRICS[TcpMetric::Connecting as usize].0, "tcp_socket_connecting");
        assert_eq!(METRICS[TcpMetric::Sockets as usize].0, "tcp_sockets");
        assert_eq!(METRICS[TcpMetric::PartialWrites as usize].0, "tcp_partial_writes");
    }
}
