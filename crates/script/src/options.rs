//! The options of a test, composed from the parts that the engine, the metrics and the wire obey.

/// Consolidated options, after all layers have been applied.
#[derive(Clone, Debug, Default)]
pub struct Options {}
