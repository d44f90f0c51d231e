//! The metrics of questions: how many there were and how long their answers took, in milliseconds.

use std::time::Duration;

use metrics::{Contains, Kind, Series};
use script::Vu;

use crate::client::metric_table::{MetricRow, MetricTable};

/// What is measured, in the order of the table.
#[derive(Clone, Copy)]
pub enum DnsMetric {
    Resolutions,
    ResolutionDuration,
    Lookups,
    LookupDuration,
}

impl MetricTable for DnsMetric {
    const MODULE: &'static str = "k6/x/dns";
    const ROWS: &'static [MetricRow] = &[
        ("dns_resolutions", Kind::Counter, Contains::Default),
        ("dns_resolution_duration", Kind::Trend, Contains::Time),
        ("dns_lookups", Kind::Counter, Contains::Default),
        ("dns_lookup_duration", Kind::Trend, Contains::Time),
    ];

    fn row(self) -> usize {
        self as usize
    }
}

/// A kind of question.
#[derive(Clone, Copy)]
pub enum Measured {
    /// To a server of the script's choice.
    Resolution,
    /// To the system.
    Lookup,
}

/// Where the samples of one question go: the tags are those of when it was asked.
pub struct DnsSeries {
    count: Series,
    time: Series,
}

impl DnsSeries {
    /// Of a question that is asked now.
    pub fn of(vu: &Vu, measured: Measured) -> DnsSeries {
        let (count, time) = match measured {
            Measured::Resolution => (DnsMetric::Resolutions, DnsMetric::ResolutionDuration),
            Measured::Lookup => (DnsMetric::Lookups, DnsMetric::LookupDuration),
        };
        DnsSeries { count: count.series(vu, &[]), time: time.series(vu, &[]) }
    }

    /// It was answered, or failed, after this long.
    pub fn add(&self, vu: &Vu, took: Duration) {
        let now = vu.now_ns();
        vu.recorder().add(self.count, 1.0, now);
        vu.recorder().add(self.time, took.as_secs_f64() * 1000.0, now);
    }
}
