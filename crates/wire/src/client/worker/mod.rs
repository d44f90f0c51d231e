//! What all clients of one worker share below the client: buffers, clock, limits.

pub(crate) mod cancelled;
pub(crate) mod context;
pub(crate) mod keeper;
