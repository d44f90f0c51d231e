//! What samples are called: metrics, tags, and the sets of tags that a run makes.

pub mod builtin;
pub mod cardinality;
pub mod metric;
pub(crate) mod sub_metrics;
pub mod system_tags;
pub mod tags;
