//! A request on its way, and what is recorded of it.

pub(crate) mod batch;
pub(crate) mod perform;
pub(crate) mod record;
