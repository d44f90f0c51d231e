//! Metrics that a module brings along, as a table: what is not in it is not measured.
//!
//! Defined for the run when a script imports the module. Each virtual user keeps the numbers that the metrics were
//! given, so that a sample costs no search by name.

use std::cell::OnceCell;
use std::marker::PhantomData;

use host::js::{Ctx, Result};
use metrics::{Contains, Kind, MetricId, Series};
use script::Vu;
use script::go_error;
use script::series::SeriesCache;

/// A name, how its samples are summed up, and what they are.
pub type MetricRow = (&'static str, Kind, Contains);

/// An enum with a variant for each row of its table, in its order.
pub trait MetricTable: Copy + 'static {
    /// The import path of the module, for errors.
    const MODULE: &'static str;
    /// The metrics.
    const ROWS: &'static [MetricRow];

    /// The row of this variant.
    fn row(self) -> usize;

    /// Adds a sample of now with these tags.
    fn add(self, vu: &Vu, value: f64, tags: &[(String, String)]) {
        vu.recorder().add(self.series(vu, tags), value, vu.now_ns());
    }

    /// Where samples with these tags go.
    fn series(self, vu: &Vu, tags: &[(String, String)]) -> Series {
        let known = vu.local::<Defined<Self>>();
        let metric = known.ids.get().expect("defined when the module was loaded")[self.row()];
        vu.worker_local::<SeriesCache>().resolve(vu, metric, tags)
    }
}

/// The numbers of a table's metrics in this run.
struct Defined<T> {
    ids: OnceCell<Vec<MetricId>>,
    table: PhantomData<T>,
}

impl<T> Default for Defined<T> {
    fn default() -> Self {
        Defined { ids: OnceCell::new(), table: PhantomData }
    }
}

/// Defines the metrics, or finds those that another user has defined. Throws when a script has one of such a name that
/// is something else.
pub fn define<T: MetricTable>(ctx: &Ctx<'_>) -> Result<()> {
    let vu = Vu::of(ctx);
    let ids: std::result::Result<Vec<MetricId>, _> =
        T::ROWS.iter().map(|(name, kind, contains)| vu.registry().define(name, *kind, *contains)).collect();
    let ids = ids.map_err(|error| go_error::throw(ctx, &format!("{}: {error}", T::MODULE)))?;
    // A second import finds what the first one set.
    let _ = vu.local::<Defined<T>>().ids.set(ids);
    Ok(())
}
