//! The watchdog: a thread that notices when a worker has been inside of one virtual user for too long, and has it
//! suspended.
//!
//! Plain JavaScript gives way by itself (`Switch::tick`), so what is noticed here runs in native code. It looks at one
//! number a worker every few milliseconds; nothing is sent to a worker whose users behave. Started with the first
//! coroutine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use crate::coroutine::carrier::Watched;
use crate::coroutine::engine_code::EngineCode;
use crate::coroutine::preemption;

/// Between two looks. A resume that was running at both is too long.
const PERIOD: Duration = Duration::from_millis(5);

/// Between two tries to suspend a user that is in code where it cannot be suspended.
const RETRY: Duration = Duration::from_millis(1);

/// A carrier and the number that was seen last.
static CARRIERS: Mutex<Vec<(Arc<Watched>, u64)>> = Mutex::new(Vec::new());
static STARTED: Once = Once::new();
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// From now on no thread begins to be watched: native code is not interrupted. For tools that follow each instruction
/// of a program and break off where a signal handler suspends a coroutine (callgrind 3.19).
pub fn turn_off() {
    IS_OFF.store(true, Ordering::Relaxed);
}

/// Watches a thread from now on.
pub(crate) fn watch(carrier: &Arc<Watched>) {
    if !preemption::IS_SUPPORTED || IS_OFF.load(Ordering::Relaxed) {
        return;
    }
    CARRIERS.lock().unwrap_or_else(PoisonError::into_inner).push((carrier.clone(), 0));
    STARTED.call_once(|| {
        // Without the thread, native code is not interrupted: what runs is right, and it may hold others up.
        _ = std::thread::Builder::new().name(String::from("watchdog")).spawn(run);
    });
}

/// The thread is ending.
pub(crate) fn forget(carrier: &Arc<Watched>) {
    CARRIERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| !Arc::ptr_eq(known, carrier));
}

fn run() {
    let mut period = PERIOD;
    loop {
        std::thread::sleep(period);
        period = if look() { RETRY } else { PERIOD };
    }
}

/// Has those suspended who were running at the last look too; whether there were any.
fn look() -> bool {
    let mut found = false;
    for (carrier, seen) in &mut *CARRIERS.lock().unwrap_or_else(PoisonError::into_inner) {
        let now = carrier.resumes.load(Ordering::Relaxed);
        if !now.is_multiple_of(2) && now == *seen {
            // Read on this thread, before the first signal asks for it.
            if EngineCode::load().is_none() {
                continue;
            }
            preemption::install();
            carrier.wanted.store(now, Ordering::Relaxed);
            preemption::interrupt(carrier.thread);
            found = true;
        }
        *seen = now;
    }
    found
}
