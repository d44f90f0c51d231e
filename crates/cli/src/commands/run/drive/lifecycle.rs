//! How far a test is in k6's life cycle: the users are made, `setup()` has run or failed, `teardown()` is due.
//!
//! A test that goes on where another process was killed begins with what that process had come to.

use std::time::{Duration, Instant};

use script::ScriptError;

/// How far a test is. Nothing of it changes while scenarios run.
pub struct Lifecycle {
    /// When the run's clock started.
    pub origin: Instant,
    /// When the users were made: rates count from there, as in k6.
    pub made: Option<Instant>,
    /// The same by the wall clock, RFC 3339.
    pub started_at: String,
    /// What `setup()` returned before, in a test that goes on.
    pub setup_before: Option<Option<String>>,
    /// Why setup failed.
    pub setup_error: Option<ScriptError>,
    /// Whether `teardown()` had returned in a process that was killed.
    pub is_torn_down: bool,
}

impl Lifecycle {
    /// Of a test whose users are not made yet.
    pub fn new(setup_before: Option<Option<String>>) -> Lifecycle {
        Lifecycle {
            origin: Instant::now(),
            made: None,
            started_at: crate::log::rfc3339_ms_now(),
            setup_before,
            setup_error: None,
            is_torn_down: false,
        }
    }

    /// The users are made now.
    pub fn begin(&mut self) -> Instant {
        let made = Instant::now();
        debug_assert!(self.made.is_none() && made >= self.origin, "users are made once, after the beginning");
        self.made = Some(made);
        self.started_at = crate::log::rfc3339_ms_now();
        made
    }

    /// How long after the start of the run's clock the users were made.
    pub fn began(&self) -> Duration {
        self.made.map_or(Duration::ZERO, |made| made - self.origin)
    }

    /// Whether setup was begun and has not failed, and teardown has not run.
    pub fn is_teardown_due(&self) -> bool {
        self.made.is_some() && self.setup_error.is_none() && !self.is_torn_down
    }
}
