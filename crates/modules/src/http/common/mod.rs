//! What every part of a request uses: addresses, error codes, refusals, and how Go prints values.

pub mod error_code;
pub(crate) mod go_format;
pub mod k6_error;
pub(crate) mod refusal;
pub(crate) mod status;
pub(crate) mod url;
