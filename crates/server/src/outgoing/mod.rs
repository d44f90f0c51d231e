//! Responses on their way out.

pub(crate) mod date;
pub(crate) mod http2_out;
pub(crate) mod output;
pub mod respond;
pub(crate) mod sending;
pub(crate) mod timed;
