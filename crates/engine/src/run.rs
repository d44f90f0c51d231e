//! Counts of a running test that the script and the progress line may read.

/// Shared by all workers; each worker writes its own cache line only.
pub struct RunState {}
