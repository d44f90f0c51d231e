//! A signal to a matrix: the first ends it after the processes under way were ended, the second at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Whether a signal has come.
pub fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}

/// From now on signals are heard.
pub fn listen() -> Result<(), Failure> {
    crate::process::signals::listen(|_| {
        if IS_ASKED.swap(true, Ordering::Relaxed) {
            output::finish_at_once();
            std::process::exit(ExitCode::Signal as i32);
        }
        true
    })
}
