//! Numbers and moments as k6 prints them, into a buffer of bytes.

mod json;
mod moment;
mod number;

pub(crate) use json::push_json;
pub(crate) use moment::{Moment, MomentForm};
pub(crate) use number::{push_number, push_plain, push_six_decimals};
