//! `cargo xtask fuzz`: spoiled inputs for everything that reads what others wrote, until the time is up.
//!
//! Not part of `cargo test`: it finds something only when it may take its time. Each subject runs in a process of its
//! own, which writes every input down before it reads it; so a panic, an overflowing stack, a hang and a broken promise
//! all leave behind the input that did it. Inputs begin as examples, as the files in `corpus`, and as what was kept in
//! target/fuzz/corpus. `--guided` has libFuzzer choose them by the code that they reach. The driver is tested by two
//! planted subjects, one that panics and one that hangs. `parsers.rs` holds the list of readers against the source.

mod canaries;
mod child;
mod conversions;
mod corpus;
mod documents;
mod extension_readers;
mod guided;
mod mutate;
mod network;
#[cfg(test)]
mod parsers;
mod program_readers;
mod readers;
mod script_readers;
mod scripts;
mod subjects;
mod wire_readers;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use canaries::CANARIES;
use child::{SPOILED, WHOLE};
use subjects::Subject;

pub use child::run_child;
pub use guided::check_of;
pub use subjects::Check;

/// After so many finds of one subject the next one has its turn.
const FINDS: usize = 5;

/// Every subject that a run without names takes.
fn all() -> impl Iterator<Item = &'static Subject> {
    let lists = [
        subjects::ALL,
        readers::ALL,
        wire_readers::ALL,
        script_readers::ALL,
        extension_readers::ALL,
        documents::ALL,
        program_readers::ALL,
    ];
    lists.into_iter().flatten()
}

fn named(name: &str) -> Option<&'static Subject> {
    all().chain(CANARIES).find(|subject| subject.name == name)
}

/// What the command line asks for.
struct Plan {
    seconds: u64,
    seed: u64,
    /// Seconds that one case may take.
    patience: u64,
    /// Whether libFuzzer chooses the inputs.
    is_guided: bool,
    subjects: Vec<&'static Subject>,
}

/// Runs `fuzz [--guided] [--seconds N] [--seed N] [--patience N] [SUBJECT…]`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let plan = Plan::read(arguments)?;
    let folder = corpus::folder();
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let each = Duration::from_secs(plan.seconds) / plan.subjects.len() as u32;
    let mut found = Vec::new();
    if plan.is_guided {
        let program = guided::build(&folder)?;
        for subject in &plan.subjects {
            found.extend(guided::fuzz(&program, subject, each, plan.patience)?);
        }
    } else {
        for subject in &plan.subjects {
            found.extend(fuzz(subject, &plan, each, &folder)?);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(format!("{} inputs to look at:\n{}", found.len(), found.join("\n"))) }
}

impl Plan {
    fn read(arguments: &[String]) -> Result<Plan, String> {
        let (mut seconds, mut seed, mut patience, mut is_guided) = (60, fastrand::u64(..), 10, false);
        let mut names = Vec::new();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let number = |value: Option<&String>| {
                value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("{argument} wants a whole number"))
            };
            match argument.as_str() {
                "--guided" => is_guided = true,
                "--seconds" => seconds = number(arguments.next())?,
                "--seed" => seed = number(arguments.next())?,
                "--patience" => patience = number(arguments.next())?,
                name => names.push(name.to_owned()),
            }
        }
        let mut chosen: Vec<&Subject> = Vec::new();
        for name in &names {
            chosen.push(named(name).ok_or_else(|| {
                let known: Vec<_> = all().map(|subject| subject.name).collect();
                format!("unknown subject '{name}', expected one of {}", known.join(", "))
            })?);
        }
        if chosen.is_empty() {
            chosen = all().collect();
        }
        Ok(Plan { seconds, seed, patience, is_guided, subjects: chosen })
    }
}

/// Fuzzes one subject in child processes until its time is up or it has shown enough. Returns what was found.
fn fuzz(subject: &Subject, plan: &Plan, time: Duration, folder: &Path) -> Result<Vec<String>, String> {
    let end = Instant::now() + time;
    let (mut found, mut cases, mut round) = (Vec::new(), 0, 0);
    while found.len() < FINDS {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() && round > 0 {
            break;
        }
        let current = folder.join(format!("{}.current", subject.name));
        let seed = plan.seed.wrapping_add(round);
        let begins = if round == 0 { WHOLE } else { SPOILED };
        let child = Child { name: subject.name, seed, left, patience: plan.patience, begins, current: &current };
        let (status, said) = child.run()?;
        round += 1;
        cases += said.lines().find_map(|line| line.strip_prefix("cases ")?.parse::<u64>().ok()).unwrap_or(0);
        if !status.success() {
            found.push(keep(subject, &current, status, &said)?);
        }
    }
    println!("{:<18} {cases:>9} cases, {} found (seed {})", subject.name, found.len(), plan.seed);
    Ok(found)
}

/// Puts the input that did it aside, and says what it did.
fn keep(subject: &Subject, current: &Path, status: ExitStatus, said: &str) -> Result<String, String> {
    let written = fs::read(current).map_err(|error| format!("cannot read {}: {error}", current.display()))?;
    let length = written.first_chunk().map_or(0, |length| u64::from_le_bytes(*length) as usize);
    let input = written.get(8..8 + length).unwrap_or_default();
    let path = corpus::keep(subject, input)?;
    let why = said.lines().rfind(|line| !line.starts_with("cases ")).unwrap_or("it died without a word");
    Ok(format!("{}: {why} ({status})\n  {}\n  {}", subject.name, path.display(), corpus::shown(input)))
}

/// A process that reads inputs.
struct Child<'a> {
    name: &'a str,
    seed: u64,
    left: Duration,
    patience: u64,
    /// One of `WHOLE` and `SPOILED`.
    begins: &'a str,
    current: &'a Path,
}

impl Child<'_> {
    fn run(&self) -> Result<(ExitStatus, String), String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let mut child = Command::new(program)
            .arg("fuzz-child")
            .arg(self.name)
            .args([self.seed.to_string(), self.left.as_millis().to_string(), self.patience.to_string()])
            .arg(self.begins)
            .arg(self.current)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start a child: {error}"))?;
        let mut said = String::new();
        let mut out = child.stdout.take().ok_or("the child has no output")?;
        let heard = out.read_to_string(&mut said);
        heard.map_err(|error| format!("cannot hear the child: {error}"))?;
        let status = child.wait().map_err(|error| format!("cannot wait for the child: {error}"))?;
        Ok((status, said))
    }
}
