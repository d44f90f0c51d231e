//! valgrind's callgrind: how many instructions the busiest thread of a program has executed.
//!
//! The busiest thread is the worker, because a workload has one. What the others do is left out: they merge snapshots
//! by the clock, so that a slower machine would count more of it.
//!
//! The program interrupts nobody meanwhile (`ONRUSH_PREEMPTION=off`): callgrind breaks off at a signal handler that
//! suspends a coroutine (3.19: an assertion in `vgCallgrind_post_signal`), and what is slow under valgrind looks to the
//! watchdog like a user that computes. It is counted without its symbols, which valgrind would read for seconds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of the program without symbols, to be counted.
pub(crate) fn stripped(program: &Path, folder: &Path) -> Result<PathBuf, String> {
    let copy = folder.join("onrush");
    let status = Command::new("strip").arg("-o").arg(&copy).arg(program).status();
    let status = status.map_err(|error| format!("cannot run strip, a program of binutils: {error}"))?;
    if status.success() { Ok(copy) } else { Err(format!("strip of {} failed: {status}", program.display())) }
}

/// A command under callgrind, and where it will have written.
pub(crate) struct Counting {
    folder: PathBuf,
    prefix: String,
}

impl Counting {
    /// The command that runs `program` under callgrind. Files of this name from earlier runs go.
    pub(crate) fn of(program: &Path, folder: &Path, name: &str) -> Result<(Command, Counting), String> {
        let counting = Counting { folder: folder.to_owned(), prefix: format!("callgrind.{name}") };
        for old in counting.files()? {
            fs::remove_file(&old).map_err(|error| format!("cannot remove {}: {error}", old.display()))?;
        }
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind", "--separate-threads=yes"]);
        command.arg(format!("--callgrind-out-file={}", folder.join(&counting.prefix).display()));
        command.arg(program).env("ONRUSH_PREEMPTION", "off");
        Ok((command, counting))
    }

    /// Instructions of the busiest thread, once the command has ended.
    pub(crate) fn instructions(&self) -> Result<u64, String> {
        let mut most = None;
        for file in self.files()? {
            let bytes = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            most = most.max(total(&String::from_utf8_lossy(&bytes)));
        }
        most.ok_or_else(|| format!("callgrind left no count in {}", self.folder.join(&self.prefix).display()))
    }

    fn files(&self) -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_mine = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.strip_prefix(&self.prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        Ok(paths.filter(is_mine).collect())
    }
}

/// The line `totals: N` of a file that callgrind wrote.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stands_in_the_last_lines() {
        assert_eq!(total("version: 1\nthread: 5\nfn=(1) main\n1 7\n\ntotals: 292348264\n"), Some(292_348_264));
        assert_eq!(total("summary: 12\n"), None);
    }

    #[test]
    fn files_of_one_name_are_told_from_those_of_another() {
        let folder = std::env::temp_dir().join(format!("onrush-cost-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (name, total) in [("callgrind.get-01", 5), ("callgrind.get-02", 70), ("callgrind.getting-01", 900)] {
            fs::write(folder.join(name), format!("totals: {total}\n")).unwrap();
        }
        let counting = Counting { folder: folder.clone(), prefix: "callgrind.get".to_owned() };
        assert_eq!(counting.instructions(), Ok(70));
        let (_, counting) = Counting::of(Path::new("/bin/true"), &folder, "get").unwrap();
        assert_eq!(counting.files(), Ok(Vec::new()));
        assert!(folder.join("callgrind.getting-01").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
