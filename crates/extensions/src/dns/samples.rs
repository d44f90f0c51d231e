//! The metrics of questions: how many there were and how long their answers took.

use std::cell::OnceCell;
use std::time::Duration;

use host::js::{Ctx, Result};
use metrics::{Contains, Kind, MetricId, Series};
use script::Vu;
use script::series::SeriesCache;

use crate::own_metrics;

/// What is measured, and the names of its count and its time.
#[derive(Clone, Copy)]
pub enum Measured {
    /// A question to a server of the script's choice.
    Resolution,
    /// One to the system.
    Lookup,
}

const NAMES: [[&str; 2]; 2] = [["dns_resolutions", "dns_resolution_duration"], ["dns_lookups", "dns_lookup_duration"]];

/// The metrics, as this user knows them.
#[derive(Default)]
pub struct DnsMetrics(OnceCell<[[MetricId; 2]; 2]>);

impl DnsMetrics {
    /// Defines them for the run.
    pub fn define(ctx: &Ctx<'_>) -> Result<()> {
        let both = |[count, time]: [&str; 2]| -> Result<[MetricId; 2]> {
            let count = own_metrics::define(ctx, count, Kind::Counter, Contains::Default)?;
            Ok([count, own_metrics::define(ctx, time, Kind::Trend, Contains::Time)?])
        };
        let ids = [both(NAMES[0])?, both(NAMES[1])?];
        // A second import finds what the first one set.
        let _ = Vu::of(ctx).local::<DnsMetrics>().0.set(ids);
        Ok(())
    }

    /// Where the samples of a question go that is asked now.
    pub fn series(&self, vu: &Vu, measured: Measured) -> DnsSeries {
        let ids = self.0.get().expect("defined when the module was loaded")[measured as usize];
        let cache = vu.worker_local::<SeriesCache>();
        let [count, time] = ids.map(|id| cache.resolve(vu, id, &[]));
        DnsSeries { count, time }
    }
}

/// The series of one question.
pub struct DnsSeries {
    count: Series,
    time: Series,
}

impl DnsSeries {
    /// It was answered, or failed, after this long.
    pub fn add(&self, vu: &Vu, took: Duration) {
        let now = vu.now_ns();
        vu.recorder().add(self.count, 1.0, now);
        vu.recorder().add(self.time, took.as_secs_f64() * 1000.0, now);
    }
}
