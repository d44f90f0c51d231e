//! What is known of a run beside its samples: how its generator, its target and its agents fared.

pub mod agents_report;
pub mod generator;
pub mod samples;
pub mod target_cpu;
