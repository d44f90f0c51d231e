//! Cores of their own for generator and server.

use std::process::{Command, Stdio};

/// The core of the generator where it should have one, and that of the server.
pub const CORES: (usize, usize) = (1, 0);

/// Words that give a program the generator's core, before all others where that is allowed.
pub fn own_core() -> Vec<String> {
    let first = words("chrt -r 1");
    let is_allowed = Command::new(&first[0]).args(&first[1..]).arg("true").stderr(Stdio::null()).status();
    let first = if is_allowed.is_ok_and(|status| status.success()) { first } else { Vec::new() };
    first.into_iter().chain(words(&format!("taskset -c {}", CORES.0))).collect()
}

/// The words of a line.
pub fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}
