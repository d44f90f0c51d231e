//! What workers tell the thread that called the run.

use std::time::Duration;

use metrics::Snapshot;

use crate::clock::ThreadTimer;
use crate::health::WorkerHealth;
use crate::vu::CreateError;

/// One message of a worker.
pub(crate) enum Report {
    /// One planned user is made.
    Made,
    /// All planned users of a worker are made, or it gave up.
    Ready,
    /// A planned user could not be made.
    Failed(CreateError),
    /// An unplanned user could not be made.
    NotMade(CreateError),
    /// A user is stuck for good; what to log.
    Lost(String),
    /// The scenarios have started on a worker; how to see what its thread does while it reports nothing.
    Started { worker: usize, timer: ThreadTimer },
    /// A second's samples, when they were cut off, and how the worker fared lately.
    Tick { worker: usize, number: u32, at: Duration, snapshot: Snapshot, lately: WorkerHealth },
    /// An arrival rate found no user free and may make no more users.
    Insufficient { scenario: usize, vus: u64 },
    /// A worker's last samples, and until when it had load.
    Ended { worker: usize, at: Duration, loaded_until: Duration, snapshot: Snapshot, health: WorkerHealth },
    /// A worker could not start.
    Refused { worker: usize, error: std::io::Error },
    /// A bug: the panic continues in the caller.
    Panicked(Box<dyn std::any::Any + Send>),
}
