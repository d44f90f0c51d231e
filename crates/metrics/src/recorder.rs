//! A worker's own store of samples.
//!
//! `series` resolves a metric and a tag set once into a `Series`; `add` with it touches only the cells of that series:
//! no lock, no hashing, no allocation. `take` hands over what came in since the last `take`.

use std::sync::Arc;

use crate::metric::MetricId;
use crate::registry::Registry;
use crate::tags::TagSet;

/// A metric together with one tag set, resolved by the `Recorder` that made it and valid for that one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series(u32);

/// The samples of one worker. Not shared between threads; workers keep it in an `Rc`.
pub struct Recorder {}

/// What a recorder gathered between two calls of `take`. Goes to the `Aggregate` on another thread.
pub struct Snapshot {}

impl Recorder {
    /// An empty recorder for the metrics of this registry.
    pub fn new(_registry: Arc<Registry>) -> Self {
        todo!()
    }

    /// The series of a metric with these tags. The `checks` metric's `group` and `check` tags also feed the tree of checks.
    pub fn series(&self, _metric: MetricId, _tags: &TagSet) -> Series {
        todo!()
    }

    /// Adds one sample. `at_ns`: nanoseconds since the Unix epoch. Rates take 0 or 1; Trends with `Contains::Time` take ms.
    pub fn add(&self, _series: Series, _value: f64, _at_ns: u64) {
        todo!()
    }

    /// Hands over everything added since the last call; the recorder goes on with empty cells and the same series.
    pub fn take(&self) -> Snapshot {
        todo!()
    }
}
