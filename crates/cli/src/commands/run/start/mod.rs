//! Before the test: the flags of `run`, the script and its options, the plan, the outputs.

pub mod flag_source;
pub mod flags;
pub mod fleet_flags;
pub mod limits;
pub mod load;
pub mod output_flags;
pub mod outputs;
pub mod plan;
mod selection_flags;
pub mod web_flags;
