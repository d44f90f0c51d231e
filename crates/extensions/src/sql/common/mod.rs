//! What all drivers share.

pub mod call;
pub mod socket;
pub mod time;
mod time_object;
pub mod value;
