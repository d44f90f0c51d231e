//! `cargo xtask parity`: k6 as a black box beside Onrush, script after script.
//!
//! Not part of `cargo test`, because it needs a k6 binary, which nobody must have to build Onrush, and because k6 alone
//! takes a quarter of a second a script to start. Each script runs unchanged, through a wrapper that hands out the
//! summary data. What cannot be equal (times, byte counts, Onrush's own metrics) is left out in `observation.rs` and
//! `lines.rs`; what is knowingly different is in `accepted.rs`, with one of a few reasons.

mod accepted;
mod archive;
mod difference;
mod directives;
mod lines;
mod log;
mod observation;
mod programs;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use accepted::Reason;
use tools::{Outcome, Tools};

pub(crate) use programs::{build_onrush, build_release, find_k6, start_target, workspace};

/// Scripts that run at the same time. None is judged by its times, so that two do not disturb each other.
const AT_A_TIME: usize = 2;

/// Differences shown of one script: each sample of a request is a line of JSON and one of CSV.
const MOST_LINES: usize = 40;

/// Runs the scripts whose path contains one of `names` (all without names).
pub fn run(names: &[String]) -> Result<(), String> {
    let root = workspace()?;
    let k6 = programs::find_k6()?;
    let onrush = build_onrush(&root)?;
    let scripts: Vec<PathBuf> = scripts(&root)?
        .into_iter()
        .filter(|script| names.is_empty() || names.iter().any(|name| script.to_string_lossy().contains(name.as_str())))
        .collect();
    if scripts.is_empty() {
        return Err(format!("no script matches {}", names.join(", ")));
    }
    let folder = std::env::temp_dir().join(format!("onrush-parity-{}", std::process::id()));
    let target = start_target()?;
    let (address, tls) = (target.addresses().tcp[0].to_string(), target.addresses().tls[0].to_string());
    let tally = Mutex::new(Outcomes::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for worker in 0..AT_A_TIME {
            let (address, tls) = (address.clone(), tls.clone());
            let folder = folder.join(worker.to_string());
            let tools = Tools { k6: k6.clone(), onrush: onrush.clone(), folder, address, tls };
            let (scripts, next, tally, root) = (&scripts, &next, &tally, &root);
            scope.spawn(move || {
                while let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = script.strip_prefix(root).unwrap_or(script).display().to_string();
                    let outcome = tools.compare(script, &name);
                    tally.lock().expect("no holder of this lock panics").take(name, outcome);
                }
            });
        }
    });
    fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    tally.into_inner().expect("no holder of this lock panics").verdict()
}

/// What came of the scripts.
#[derive(Default)]
struct Outcomes {
    same: usize,
    accepted: Vec<(String, Vec<Reason>)>,
    failed: Vec<String>,
}

impl Outcomes {
    fn take(&mut self, name: String, outcome: Result<Outcome, String>) {
        match outcome {
            Ok(Outcome::Skipped(why)) => println!("skipped    {name}: {why}"),
            Ok(Outcome::Compared { different, accepted }) if different.is_empty() && accepted.is_empty() => {
                println!("same       {name}");
                self.same += 1;
            }
            Ok(Outcome::Compared { different, accepted }) if different.is_empty() => {
                println!("accepted   {name}: {}", accepted.iter().map(|r| r.text()).collect::<Vec<_>>().join("; "));
                self.accepted.push((name, accepted));
            }
            Ok(Outcome::Compared { different, .. }) => {
                println!("DIFFERENT  {name}");
                different.iter().take(MOST_LINES).for_each(|line| println!("             {line}"));
                if different.len() > MOST_LINES {
                    println!("             and {} more", different.len() - MOST_LINES);
                }
                self.failed.push(name);
            }
            Err(error) => {
                println!("ERROR      {name}: {error}");
                self.failed.push(name);
            }
        }
    }

    fn verdict(&self) -> Result<(), String> {
        println!("{} scripts are equal, {} differ for a reason:", self.same, self.accepted.len());
        for reason in Reason::ALL {
            let count = self.accepted.iter().filter(|(_, reasons)| reasons.contains(reason)).count();
            println!("{count:5}  {}", reason.text());
        }
        match self.failed.is_empty() {
            true => Ok(()),
            false => Err(format!("{} different: {}", self.failed.len(), self.failed.join(", "))),
        }
    }
}

/// Every script, in order of its path.
fn scripts(root: &Path) -> Result<Vec<PathBuf>, String> {
    let list = |folder: PathBuf| -> Result<Vec<PathBuf>, String> {
        let entries = fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        Ok(entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
    };
    let is_script = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "js" || extension == "ts");
    let mut scripts: Vec<PathBuf> = list(root.join("tests/parity"))?.into_iter().filter(is_script).collect();
    scripts.extend(list(root.join("examples"))?.into_iter().filter(is_script));
    let mut modules = list(root.join("crates/modules/src"))?;
    modules.extend(list(root.join("crates/modules/src/experimental"))?);
    scripts.extend(modules.into_iter().map(|module| module.join("test.js")).filter(|test| test.is_file()));
    scripts.sort();
    Ok(scripts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_has_directives_that_the_kit_knows() {
        let root = workspace().unwrap();
        for script in scripts(&root).unwrap() {
            let text = fs::read_to_string(&script).unwrap();
            if let Err(error) = directives::Directives::of(&text) {
                panic!("{}: {error}", script.display());
            }
        }
    }
}
