//! How a method ended: well, with a status for its client, or without anybody to tell.
//!
//! Below calls and their messages, because both end methods.

use grpc::status::Status;

/// How a method went.
pub(crate) type Outcome = Result<(), Ended>;

/// Why a call ended before its method did.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With this status.
    Status(Status),
    /// Nobody waits for it.
    Gone,
}

impl From<Status> for Ended {
    fn from(status: Status) -> Self {
        Ended::Status(status)
    }
}
