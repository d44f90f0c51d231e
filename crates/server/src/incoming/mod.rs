//! Requests as they arrive, and where their bodies are kept.

pub(crate) mod body;
pub(crate) mod pool;
