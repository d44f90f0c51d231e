//! What a sample is, and what becomes of it: metrics, tags, recorders, histograms, thresholds.
//!
//! No IO and no clock: time arrives inside the sample. A `Recorder` belongs to one worker and is never shared; what it
//! gathered leaves as a `Snapshot`, which an `Aggregate` merges. Memory depends on the number of distinct series, not
//! on the number of samples.

pub mod aggregate;
pub mod batches;
pub mod blocks;
pub mod bucket;
pub mod builtin;
pub mod cardinality;
mod cell;
mod counter_sum;
pub mod errors;
mod exact_sum;
mod lookup;
pub mod metric;
mod places;
pub mod recorder;
pub mod registry;
pub mod request_blocks;
pub mod requests;
pub mod results;
pub mod seconds;
pub mod shard;
mod sharded;
mod sink;
mod snapshot;
mod store;
mod sub_metrics;
pub mod system_tags;
pub mod tags;
pub mod threshold;
mod tree;
pub mod trend;
mod varint;

pub use aggregate::Aggregate;
pub use blocks::Blocks;
pub use errors::{ErrorCount, ErrorKind};
pub use metric::{Contains, Kind, MetricId};
pub use recorder::{Recorder, Sample};
pub use registry::Registry;
pub use request_blocks::RequestBlocks;
pub use requests::{Protocol, RequestKind};
pub use results::Results;
pub use seconds::Seconds;
pub use shard::{AgentUsers, ReadShard, SecondOfAgents, Shard, ShardReader, ShardWriter};
pub use sharded::Sharded;
pub use snapshot::Snapshot;
pub use store::{Bundle, Member, Series, ms, ns};
pub use system_tags::{SystemTag, SystemTags};
pub use tags::TagSet;
pub use threshold::{ThresholdSpecs, Thresholds};
pub use trend::Trend;
