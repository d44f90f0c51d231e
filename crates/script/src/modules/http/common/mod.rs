//! What all of a request share: its address, error codes, refusals, words of Go.

pub mod error_code;
pub(crate) mod go_format;
pub mod k6_error;
pub(crate) mod refusal;
pub(crate) mod status;
pub(crate) mod url;
