//! The only place that touches raw engine values.

pub mod bytes;
pub mod object;
