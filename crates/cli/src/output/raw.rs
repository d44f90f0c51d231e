//! How the terminal hands over what is typed: key by key and without an echo while a screen is there, as before
//! otherwise.
//!
//! Ctrl-C stays a signal, so that it ends a test even if nobody reads keys. Ctrl-Z and Ctrl-\\ do nothing meanwhile:
//! they would leave the screen on a terminal that is somebody else's then.

use std::io;
use std::sync::{Mutex, PoisonError};

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr};

/// As it was before.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Whether somebody types into this process: a terminal that is not another job's.
pub fn is_typed_into() -> bool {
    let stdin = io::stdin();
    // Of a terminal that controls no session there are no jobs.
    rustix::termios::isatty(&stdin) && tcgetpgrp(&stdin).map_or(true, |group| group == getpgrp())
}

/// Keys come one by one from now on; whether that could be done.
pub fn begin() -> bool {
    let stdin = io::stdin();
    let Ok(before) = tcgetattr(&stdin) else { return false };
    let mut keys = before.clone();
    keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    keys.special_codes[SpecialCodeIndex::VSUSP] = 0;
    keys.special_codes[SpecialCodeIndex::VQUIT] = 0;
    keys.special_codes[SpecialCodeIndex::VMIN] = 1;
    keys.special_codes[SpecialCodeIndex::VTIME] = 0;
    let mut kept = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.is_none() && tcsetattr(&stdin, OptionalActions::Now, &keys).is_ok() {
        *kept = Some(before);
    }
    kept.is_some()
}

/// As before; nothing where nothing was changed.
pub fn end() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // A terminal that has gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}
