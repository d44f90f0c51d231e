//! What is known of a run beside its samples: how its generator and its target fared.

pub mod generator;
pub mod samples;
pub mod target_cpu;
