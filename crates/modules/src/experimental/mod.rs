//! `k6/experimental/*`: what k6 offers on trial, in k6's own spelling.

pub mod csv;
pub mod fs;
pub mod named_error;
pub mod streams;
