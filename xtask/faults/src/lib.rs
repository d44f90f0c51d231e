//! Nothing is lost when anything fails: one allocation of a run is refused, or one system call fails or does less than
//! it was asked, and what comes of the run is held to what Onrush promises (`promises.rs`). Again and again, at other
//! places.
//!
//! An allocation is refused by the program itself, built with the feature `faults`. A system call fails by `tracer.c`,
//! which knows places by the addresses they return to. What breaks a promise is written to
//! `target/faults/broken.txt`, with the words that do it again.

mod allocations;
mod calls;
mod options;
mod promises;
mod target;
mod trial;
mod workload;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use options::Options;
use promises::Broken;
use target::Target;
use trial::Bench;

/// The C file of system calls, from the repository's root.
const TRACER: &str = "xtask/faults/tracer.c";

/// The arguments are those of `cargo xtask faults`; the error says how many promises were broken.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let options = Options::read(arguments)?;
    let folder = root.join("target/faults");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let onrush = match std::env::var_os("ONRUSH") {
        Some(path) => PathBuf::from(path),
        None => build(root, &folder)?,
    };
    let target = Target::start()?;
    let bench = Bench::new(root, &folder, &onrush, &target)?;
    let mut broken = Vec::new();
    if options.wants("allocations") {
        broken.extend(allocations::run(&bench, &options)?);
    }
    if options.wants("calls") {
        broken.extend(calls::run(&bench, &options)?);
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(tell(&folder, &broken)?),
    }
}

/// The program with the feature, quickly compiled.
fn build(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    println!("building onrush with the feature 'faults' in {}", folder.display());
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).args(["build", "--profile", "quick", "--package", "onrush-cli"]);
    cargo.args(["--features", "full,faults", "--target-dir"]).arg(folder);
    let status = cargo.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    match status.success() {
        true => Ok(folder.join("quick/onrush")),
        false => Err(String::from("the build failed")),
    }
}

/// Shows what was broken, and writes it down whole.
fn tell(folder: &Path, broken: &[Broken]) -> Result<String, String> {
    let list = folder.join("broken.txt");
    let lines: Vec<String> = broken.iter().map(Broken::to_string).collect();
    std::fs::write(&list, lines.join("\n")).map_err(|error| format!("{}: {error}", list.display()))?;
    for line in lines.iter().take(20) {
        println!("{line}\n");
    }
    Ok(format!("{} runs broke a promise; all of them: {}", broken.len(), list.display()))
}

/// Does the work of each item on some threads and says how far it is; the results in the order of their ends.
fn each<T: Sync, R: Send>(name: &str, items: &[T], jobs: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(item);
                    let mut results = results.lock().expect("no thread panics with the lock");
                    results.push(result);
                    if results.len().is_multiple_of(500) {
                        println!("{name}: {} of {}", results.len(), items.len());
                    }
                }
            });
        }
    });
    results.into_inner().expect("no thread panics with the lock")
}
