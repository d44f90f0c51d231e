//! The metrics of sockets, and the tags of their samples.
//!
//! Times are in milliseconds.

use metrics::{Contains, Kind, SystemTag};
use script::Vu;
use script::series::SampleTags;

use crate::client::dial::Place;
use crate::client::metric_table::{MetricRow, MetricTable};

/// What is measured, in the order of the table.
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

impl MetricTable for TcpMetric {
    const MODULE: &'static str = "k6/x/tcp";
    const ROWS: &'static [MetricRow] = &[
        ("tcp_socket_connecting", Kind::Trend, Contains::Time),
        ("tcp_socket_resolving", Kind::Trend, Contains::Time),
        ("tcp_socket_duration", Kind::Trend, Contains::Time),
        ("tcp_sockets", Kind::Counter, Contains::Default),
        ("tcp_reads", Kind::Counter, Contains::Default),
        ("tcp_writes", Kind::Counter, Contains::Default),
        ("tcp_errors", Kind::Counter, Contains::Default),
        ("tcp_timeouts", Kind::Counter, Contains::Default),
        ("tcp_partial_writes", Kind::Counter, Contains::Default),
    ];

    fn row(self) -> usize {
        self as usize
    }
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
        let name = |metric: TcpMetric| TcpMetric::ROWS[metric.row()].0;
        assert_eq!(name(TcpMetric::Connecting), "tcp_socket_connecting");
        assert_eq!(name(TcpMetric::Sockets), "tcp_sockets");
        assert_eq!(name(TcpMetric::PartialWrites), "tcp_partial_writes");
        assert_eq!(TcpMetric::PartialWrites.row() + 1, TcpMetric::ROWS.len());
    }
}
