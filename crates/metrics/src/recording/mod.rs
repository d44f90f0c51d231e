//! The samples of one worker: added on its thread, handed over once a second.

pub mod batches;
pub(crate) mod cell;
pub(crate) mod keyed;
pub(crate) mod lookup;
pub mod recorder;
pub(crate) mod sharded;
pub(crate) mod snapshot;
pub(crate) mod store;
