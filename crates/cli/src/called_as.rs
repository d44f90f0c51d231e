//! The name that the binary was called by. Behind a link with the name `k6`, as in images that stand in for k6's, it
//! speaks as k6 does where programs read along: what goes wrong is a line of the log, `level=error msg="…"`, and the
//! version is the one of k6 whose scripts run. A terminal has a person in front of it, who reads what `onrush` says.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::LazyLock;

/// The version of k6 whose scripts are run.
pub const K6_VERSION: &str = "2.2.0";

static IS_K6: LazyLock<bool> = LazyLock::new(|| std::env::args_os().next().is_some_and(|name| names_k6(&name)));

/// Whether this process is called k6.
pub fn is_k6() -> bool {
    *IS_K6
}

/// Whether failures are lines of a log, for a program that looks for them.
pub fn is_read_by_a_program() -> bool {
    is_k6() && !std::io::stderr().is_terminal()
}

fn names_k6(program: &OsStr) -> bool {
    Path::new(program).file_stem().is_some_and(|name| name == "k6")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_of_a_path_counts() {
        for (program, is_k6) in [("k6", true), ("/usr/bin/k6", true), ("./k6.exe", true), ("/k6/onrush", false)] {
            assert_eq!(names_k6(OsStr::new(program)), is_k6, "{program}");
        }
    }
}
