//! valgrind's callgrind: how many instructions the busiest thread of a program has executed, or how often its simulated
//! caches missed.
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

/// What is counted of the busiest thread. Its own code alone: the kernel's use of caches is not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Instructions.
    Instructions,
    /// Lines of code that a first level of 32 KiB did not have.
    CodeMisses,
    /// Lines of data that a cache of 1 MiB did not have.
    DataMisses,
}

/// Sizes in bytes, ways, and bytes of a line, as most servers have them for code and data; the last is small enough to
/// show what the data of some hundred users needs.
const CACHES: [&str; 4] = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,8,64"];

impl Event {
    /// Callgrind's names, which are added up.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Event::Instructions => &["Ir"],
            Event::CodeMisses => &["I1mr"],
            Event::DataMisses => &["DLmr", "DLmw"],
        }
    }

    /// The flags that have it counted.
    fn flags(self) -> &'static [&'static str] {
        if self == Event::Instructions { &[] } else { &CACHES }
    }
}

/// A command under callgrind, and where it will have written.
pub(crate) struct Counting {
    folder: PathBuf,
    prefix: String,
    event: Event,
}

impl Counting {
    /// The command that runs `program` under callgrind. Files of this name from earlier runs go.
    pub(crate) fn of(program: &Path, folder: &Path, name: &str, event: Event) -> Result<(Command, Counting), String> {
        let counting = Counting { folder: folder.to_owned(), prefix: format!("callgrind.{name}"), event };
        for old in counting.files()? {
            fs::remove_file(&old).map_err(|error| format!("cannot remove {}: {error}", old.display()))?;
        }
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind", "--separate-threads=yes"]).args(event.flags());
        command.arg(format!("--callgrind-out-file={}", folder.join(&counting.prefix).display()));
        command.arg(program).env("ONRUSH_PREEMPTION", "off");
        Ok((command, counting))
    }

    /// What the busiest thread, that of the most instructions, comes to, once the command has ended.
    pub(crate) fn total(&self) -> Result<u64, String> {
        let mut busiest = None;
        for file in self.files()? {
            let bytes = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            let text = String::from_utf8_lossy(&bytes);
            busiest = busiest.max(total(&text, Event::Instructions).zip(total(&text, self.event)));
        }
        let found = busiest.map(|(_, found)| found);
        found.ok_or_else(|| format!("callgrind left no count in {}", self.folder.join(&self.prefix).display()))
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

/// A sum of the line `totals: N …` of a file that callgrind wrote, whose columns the line `events: Ir …` names.
fn total(text: &str, event: Event) -> Option<u64> {
    let names: Vec<&str> = text.lines().find_map(|line| line.strip_prefix("events:"))?.split_whitespace().collect();
    let totals = text.lines().rev().find_map(|line| line.strip_prefix("totals:"))?;
    let totals: Vec<u64> = totals.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let of = |column: &&str| totals.get(names.iter().position(|name| name == column)?).copied();
    event.columns().iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stands_in_the_last_lines() {
        let text = "version: 1\nthread: 5\nevents: Ir\nfn=(1) main\n1 7\n\ntotals: 292348264\n";
        assert_eq!(total(text, Event::Instructions), Some(292_348_264));
        assert_eq!(total(text, Event::CodeMisses), None);
        assert_eq!(total("events: Ir\nsummary: 12\n", Event::Instructions), None);
    }

    #[test]
    fn columns_have_names() {
        let text = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\ntotals: 900 80 70 6 5 4 3 20 1\n";
        let events = [Event::Instructions, Event::CodeMisses, Event::DataMisses];
        assert_eq!(events.map(|event| total(text, event)), [Some(900), Some(6), Some(21)]);
    }

    #[test]
    fn files_of_one_name_are_told_from_those_of_another() {
        let folder = std::env::temp_dir().join(format!("onrush-cost-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let threads = [("callgrind.get-01", "5 9"), ("callgrind.get-02", "70 1"), ("callgrind.getting-01", "900 9")];
        for (name, totals) in threads {
            fs::write(folder.join(name), format!("events: Ir I1mr\ntotals: {totals}\n")).unwrap();
        }
        let counting = |event| Counting { folder: folder.clone(), prefix: "callgrind.get".to_owned(), event };
        assert_eq!(counting(Event::Instructions).total(), Ok(70));
        assert_eq!(counting(Event::CodeMisses).total(), Ok(1), "of the busiest thread");
        let (command, counting) = Counting::of(Path::new("/bin/true"), &folder, "get", Event::DataMisses).unwrap();
        assert!(command.get_args().any(|flag| flag == "--LL=1048576,8,64"), "{command:?}");
        assert_eq!(counting.files(), Ok(Vec::new()));
        assert!(folder.join("callgrind.getting-01").exists());
        fs::remove_dir_all(folder).unwrap();
    }
}
