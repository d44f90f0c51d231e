//! Connections: listening, accepting, TLS, time limits, and what connections of one thread share.

pub(crate) mod certificate;
pub(crate) mod limits;
pub(crate) mod listen;
pub(crate) mod phase_timer;
pub(crate) mod stream;
