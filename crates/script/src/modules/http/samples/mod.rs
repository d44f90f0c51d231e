//! Where what an exchange was goes: its samples, lines of `--http-debug`, the account of a referee.

pub(crate) mod debug;
pub(crate) mod referee;
pub(crate) mod sampler;
