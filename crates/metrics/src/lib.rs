//! What a sample is, and what becomes of it: metrics, tags, recorders, histograms, thresholds.
//!
//! No IO and no clock: time arrives inside the sample. A `Recorder` belongs to one worker and is never shared; what it
//! gathered leaves as a `Snapshot`, which an `Aggregate` merges. Memory depends on the number of distinct series, not on
//! the number of samples.

pub mod builtin;
pub mod metric;
pub mod recorder;
pub mod registry;
pub mod results;
pub mod tags;

pub use metric::{Contains, Kind, MetricId};
pub use recorder::{Recorder, Series, Snapshot};
pub use registry::Registry;
pub use tags::TagSet;
