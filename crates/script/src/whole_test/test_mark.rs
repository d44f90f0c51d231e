//! What a script says of the whole test: `exec.test.fail()` marks it as failed, and it continues.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the script has called `exec.test.fail`. One per process.
#[derive(Default)]
pub struct TestMark {
    failed: AtomicBool,
}

impl TestMark {
    /// Marks the test as failed.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether the test was marked as failed.
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}
