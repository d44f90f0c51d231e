//! A page in the browser of whoever sits in front of this machine. What the browser says goes nowhere, and nobody waits
//! for it: it may stay open for longer than the run.

use std::io;
use std::process::{Command, Stdio};

/// Asks the desktop to show it.
pub fn open(url: &str) -> io::Result<()> {
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}
