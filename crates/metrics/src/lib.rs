//! What a sample is, and what becomes of it: metrics, tags, recorders, histograms, thresholds.
//!
//! No IO and no clock: time arrives inside the sample. A `Recorder` belongs to one worker and is never shared; what it
//! gathered leaves as a `Snapshot`, which an `Aggregate` merges. Memory depends on the number of distinct series, not
//! on the number of samples.

mod aggregation;
pub mod bucket;
mod counter_sum;
pub mod errors;
mod exact_sum;
mod naming;
mod places;
mod recording;
pub mod registry;
pub mod requests;
pub mod results;
pub mod shard;
mod sink;
pub mod span;
pub mod trend;
mod varint;

pub use aggregation::{aggregate, blocks, request_blocks, seconds, threshold};
pub use naming::{builtin, cardinality, metric, system_tags, tags};
pub use recording::{batches, recorder};

pub use aggregation::aggregate::Aggregate;
pub use aggregation::blocks::Blocks;
pub use aggregation::request_blocks::RequestBlocks;
pub use aggregation::seconds::Seconds;
pub use aggregation::threshold::{ThresholdSpecs, Thresholds};
pub use errors::{ErrorCount, ErrorKind};
pub use naming::metric::{Contains, Kind, MetricId};
pub use naming::system_tags::{SystemTag, SystemTags};
pub use naming::tags::TagSet;
pub use recording::keyed::Keyed;
pub use recording::recorder::{Recorder, Sample};
pub use recording::sharded::Sharded;
pub use recording::snapshot::Snapshot;
pub use recording::store::{Bundle, Member, Series, ms, ns};
pub use registry::Registry;
pub use requests::{Protocol, RequestKind};
pub use results::Results;
pub use shard::{AgentUsers, ReadShard, SecondOfAgents, Shard, ShardReader, ShardWriter};
pub use trend::Trend;
