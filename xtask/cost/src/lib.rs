//! What does an iteration cost? Instructions and cache lines by callgrind, system calls by strace, bytes of a user that
//! waits.
//!
//! Counts do not depend on how busy the machine is, so that a change of one percent is seen anywhere. Two runs of
//! different length are subtracted: start and end of a run drop out. What varies still, by up to 3 % between machines,
//! is how many answers arrive together, which buckets their times fall into, and the C library's way of copying. So a
//! budget is the highest of several counts, and a figure beyond its budget is counted again: the lowest stands.

mod budget;
mod callgrind;
mod calls;
mod memory;
mod served;
mod workload;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use budget::{Budgets, is_beyond};
use callgrind::{Counting, Event};
use memory::WAITING;
use served::Served;
use workload::{APP, Counted, WORKLOADS, Workload};

/// Counts of a figure, at most, until it is within its budget; and counts that a budget is written from.
const TRIALS: usize = 5;

/// Figures of system calls: the name in the budgets and the workload.
const CALLS: [(&str, &str); 2] = [("calls-get", "get"), ("calls-get-tls", "get-tls")];

/// What the command line says.
struct Options<'a> {
    writes: bool,
    names: Vec<&'a str>,
}

impl Options<'_> {
    fn read(arguments: &[String]) -> Result<Options<'_>, String> {
        let (flags, names): (Vec<&str>, Vec<&str>) =
            arguments.iter().map(String::as_str).partition(|argument| argument.starts_with("--"));
        if let Some(flag) = flags.iter().find(|flag| **flag != "--write") {
            return Err(format!("unknown flag {flag}, expected --write or names of figures"));
        }
        let known = all_names();
        if let Some(name) = names.iter().find(|name| !known.contains(name)) {
            return Err(format!("there is no figure {name}, expected any of {}", known.join(", ")));
        }
        Ok(Options { writes: !flags.is_empty(), names })
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.contains(&name)
    }
}

fn all_names() -> Vec<&'static str> {
    let counted = WORKLOADS.iter().map(|workload| workload.name);
    counted.chain(CALLS.map(|(name, _)| name)).chain(WAITING.iter().map(|waiting| waiting.name)).collect()
}

/// Counts with this binary, a release build. `[--write] [NAME…]`; the error says which figures are beyond their
/// budgets. A figure without a budget is shown and fails nothing.
pub fn run(root: &Path, onrush: &Path, arguments: &[String]) -> Result<(), String> {
    let options = Options::read(arguments)?;
    let mut budgets = Budgets::read(root)?;
    let folder = root.join("target/cost");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    if !has("valgrind") {
        return Err("instructions are counted by valgrind, which is not installed".to_owned());
    }
    let onrush = &callgrind::stripped(onrush, &folder)?;
    let counts_calls = has("strace");
    let (mut beyond, mut without) = (Vec::new(), Vec::new());
    println!("{:<18} {:>10} {:>10}", "figure", "counted", "budget");
    for figure in figures().filter(|figure| options.wants(figure.name())) {
        if matches!(figure, Figure::Calls(..)) && !counts_calls {
            println!("{:<18} not counted: strace is not installed", figure.name());
            continue;
        }
        let budget = budgets.of(figure.name()).filter(|_| !options.writes);
        let found = match budget {
            Some(budget) => lowest(&figure, onrush, &folder, budget)?,
            None if options.writes => highest(&figure, onrush, &folder)?,
            None => figure.count(onrush, &folder)?,
        };
        let told = budget.map_or("none".to_owned(), |budget| budget.to_string());
        println!("{:<18} {found:>10} {told:>10}  {}", figure.name(), figure.unit());
        match budget {
            Some(budget) if is_beyond(found, budget) => beyond.push(figure.name()),
            None if !options.writes => without.push(figure.name()),
            _ => {}
        }
        budgets.set(figure.name(), found);
    }
    if options.writes {
        budgets.write(root)?;
    }
    if !without.is_empty() {
        let names = without.join(" ");
        println!("without a budget in {}: {names}; write them with --write {names}", budget::FILE);
    }
    verdict(&beyond)
}

fn verdict(beyond: &[&str]) -> Result<(), String> {
    if beyond.is_empty() {
        return Ok(());
    }
    Err(format!("beyond the budgets of {}: {}", budget::FILE, beyond.join(", ")))
}

/// Counts until the figure is within its budget.
fn lowest(figure: &Figure, onrush: &Path, folder: &Path, budget: u64) -> Result<u64, String> {
    let mut lowest = u64::MAX;
    for _ in 0..TRIALS {
        lowest = lowest.min(figure.count(onrush, folder)?);
        if !is_beyond(lowest, budget) {
            break;
        }
    }
    Ok(lowest)
}

fn highest(figure: &Figure, onrush: &Path, folder: &Path) -> Result<u64, String> {
    (0..TRIALS).try_fold(0, |highest, _| Ok(figure.count(onrush, folder)?.max(highest)))
}

/// Something that is counted.
enum Figure {
    Counted(&'static Workload),
    Calls(&'static str, &'static Workload),
    Bytes(&'static memory::Waiting),
}

fn figures() -> impl Iterator<Item = Figure> {
    let calls = CALLS.iter().filter_map(|(name, of)| {
        let workload = WORKLOADS.iter().find(|workload| workload.name == *of)?;
        Some(Figure::Calls(name, workload))
    });
    WORKLOADS.iter().map(Figure::Counted).chain(calls).chain(WAITING.iter().map(Figure::Bytes))
}

impl Figure {
    fn name(&self) -> &'static str {
        match self {
            Figure::Counted(workload) => workload.name,
            Figure::Calls(name, _) => name,
            Figure::Bytes(waiting) => waiting.name,
        }
    }

    fn unit(&self) -> String {
        match self {
            Figure::Counted(workload) => {
                let what = match workload.event {
                    Event::Instructions => "instructions",
                    Event::CodeMisses => "lines of code beyond 32 KiB",
                    Event::DataMisses => "lines of data beyond 1 MiB",
                };
                format!("{what} a{} {}", article(workload.unit), workload.unit)
            }
            Figure::Calls(..) => "thousandths of a system call an iteration".to_owned(),
            Figure::Bytes(_) => "bytes a further user that waits".to_owned(),
        }
    }

    fn count(&self, onrush: &Path, folder: &Path) -> Result<u64, String> {
        match self {
            Figure::Counted(workload) => counted(onrush, folder, workload),
            Figure::Calls(_, workload) => calls::count(onrush, folder, workload),
            Figure::Bytes(waiting) => waiting.count(onrush, folder),
        }
    }
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "n" } else { "" }
}

fn counted(onrush: &Path, folder: &Path, workload: &Workload) -> Result<u64, String> {
    let (low, high) = workload.counts;
    let few = total(onrush, folder, workload, low)?;
    let many = total(onrush, folder, workload, high)?;
    Ok(many.saturating_sub(few) / workload.difference())
}

/// Instructions, or misses, of a whole run.
fn total(onrush: &Path, folder: &Path, workload: &Workload, count: u32) -> Result<u64, String> {
    let script = write(folder, workload.name, workload.script)?;
    let (counted, counting) = Counting::of(onrush, folder, workload.name, workload.event)?;
    let (server, mut generator, app) = match workload.counted {
        Counted::Generator => (Command::new(onrush), counted, None),
        Counted::Routes => (counted, Command::new(onrush), None),
        Counted::App => (counted, Command::new(onrush), Some(write(folder, "app", APP)?)),
    };
    let served = Served::start(server, app.as_deref())?;
    generator.args(["run", "-q", "--workers", "1"]).args(workload.flags(count));
    generator.args(["-e", &format!("URL={}", served.url(workload.carrier.is_tls()))]);
    generator.args(["-e", &format!("FILE={}", mebibyte(folder)?.display())]).arg(&script).stdin(Stdio::null());
    generator.envs(workload.carrier.environment());
    let output = generator.output().map_err(|error| format!("cannot run {generator:?}: {error}"))?;
    served.stop()?;
    if !output.status.success() {
        return Err(format!("{generator:?} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    counting.total()
}

/// Writes a script where its program can read it.
fn write(folder: &Path, name: &str, script: &str) -> Result<PathBuf, String> {
    let path = folder.join(format!("{name}.js"));
    fs::write(&path, script).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// A file of 1 MiB.
fn mebibyte(folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("1m.bin");
    fs::write(&path, vec![7; 1 << 20]).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_figures_and_wrong_ones_are_refused() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let arguments = words(&["lines-250-get", "--write"]);
        let options = Options::read(&arguments).unwrap();
        assert!(options.writes && options.wants("lines-250-get") && !options.wants("get"));
        let wrong = Options::read(&words(&["lines"])).err().unwrap();
        assert!(wrong.starts_with("there is no figure lines, expected any of get, check, "), "{wrong}");
        assert!(wrong.contains(", json, batch, groups, "), "{wrong}");
    }

    #[test]
    fn only_what_is_beyond_its_budget_fails() {
        assert_eq!(verdict(&[]), Ok(()));
        let wrong = verdict(&["get", "json"]).unwrap_err();
        assert_eq!(wrong, "beyond the budgets of xtask/cost/budgets.txt: get, json");
    }
}
