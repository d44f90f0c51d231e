//! What is kept of an exchange: its samples, the lines of `--http-debug`, the account of a referee.

pub(crate) mod debug;
pub(crate) mod referee;
pub(crate) mod sampler;
