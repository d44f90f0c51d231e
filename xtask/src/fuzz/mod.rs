//! `cargo xtask fuzz`: spoiled inputs for everything that reads what others wrote, until the time is up.
//!
//! Not part of `cargo test`: it finds something only when it may take its time. Each subject runs in a process of its
//! own, which writes every input down before it reads it; so a panic, an overflowing stack, a hang and a broken promise
//! all leave behind the input that did it. Stable Rust alone: no coverage guides it, but it needs no toolchain either.
//! The driver is tested by two planted subjects, one that panics and one that hangs.

mod conversions;
mod mutate;
mod network;
mod readers;
mod scripts;
mod subjects;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use subjects::Subject;

/// After so many finds of one subject the next one has its turn.
const FINDS: usize = 5;
/// What a child ends with when it found something.
const FOUND: i32 = 3;

/// The planted subjects; run only when named.
const CANARIES: &[Subject] = &[
    Subject {
        name: "canary-panic",
        examples: &["sing"],
        words: &["cat"],
        start: || {
            Ok(Box::new(|input| {
                assert!(!input.windows(3).any(|part| part == b"cat"), "the canary is gone");
                Ok(())
            }))
        },
    },
    Subject {
        name: "canary-hang",
        examples: &["sing"],
        words: &["cat"],
        start: || {
            Ok(Box::new(|input| {
                while input.windows(3).any(|part| part == b"cat") {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok(())
            }))
        },
    },
];

fn all() -> impl Iterator<Item = &'static Subject> {
    subjects::ALL.iter().chain(readers::ALL)
}

/// What the command line asks for.
struct Plan {
    seconds: u64,
    seed: u64,
    /// Seconds that one case may take.
    patience: u64,
    subjects: Vec<&'static Subject>,
}

/// Runs `fuzz [--seconds N] [--seed N] [--patience N] [SUBJECT…]`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let plan = Plan::read(arguments)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let each = Duration::from_secs(plan.seconds) / plan.subjects.len() as u32;
    let mut found = Vec::new();
    for subject in &plan.subjects {
        found.extend(fuzz(subject, &plan, each, &folder)?);
    }
    if found.is_empty() { Ok(()) } else { Err(format!("{} inputs to look at:\n{}", found.len(), found.join("\n"))) }
}

impl Plan {
    fn read(arguments: &[String]) -> Result<Plan, String> {
        let (mut seconds, mut seed, mut patience, mut names) = (60, fastrand::u64(..), 10, Vec::new());
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let number = |value: Option<&String>| {
                value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("{argument} wants a whole number"))
            };
            match argument.as_str() {
                "--seconds" => seconds = number(arguments.next())?,
                "--seed" => seed = number(arguments.next())?,
                "--patience" => patience = number(arguments.next())?,
                name => names.push(name.to_owned()),
            }
        }
        let mut chosen: Vec<&Subject> = Vec::new();
        for name in &names {
            let known = all().chain(CANARIES).find(|subject| subject.name == name);
            chosen.push(known.ok_or_else(|| {
                let known: Vec<_> = all().map(|subject| subject.name).collect();
                format!("unknown subject '{name}', expected one of {}", known.join(", "))
            })?);
        }
        if chosen.is_empty() {
            chosen = all().collect();
        }
        Ok(Plan { seconds, seed, patience, subjects: chosen })
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
        let child = Child { name: subject.name, seed, left, patience: plan.patience, current: &current };
        let (status, said) = child.run()?;
        round += 1;
        cases += said.lines().find_map(|line| line.strip_prefix("cases ")?.parse::<u64>().ok()).unwrap_or(0);
        if !status.success() {
            found.push(keep(subject, &current, status, &said, folder)?);
        }
    }
    println!("{:<12} {cases:>9} cases, {} found (seed {})", subject.name, found.len(), plan.seed);
    Ok(found)
}

/// Puts the input that did it aside, and says what it did.
fn keep(subject: &Subject, current: &Path, status: ExitStatus, said: &str, folder: &Path) -> Result<String, String> {
    let written = fs::read(current).map_err(|error| format!("cannot read {}: {error}", current.display()))?;
    let length = written.first_chunk().map_or(0, |length| u64::from_le_bytes(*length) as usize);
    let input = written.get(8..8 + length).unwrap_or_default();
    let path: PathBuf = folder.join(format!("{}-{:016x}", subject.name, fastrand::u64(..)));
    fs::write(&path, input).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let why = said.lines().rfind(|line| !line.starts_with("cases ")).unwrap_or("it died without a word");
    let shown: String = input.escape_ascii().to_string().chars().take(300).collect();
    Ok(format!("{}: {why} ({status})\n  {}\n  {shown}", subject.name, path.display()))
}

/// A process that reads inputs.
struct Child<'a> {
    name: &'a str,
    seed: u64,
    left: Duration,
    patience: u64,
    current: &'a Path,
}

impl Child<'_> {
    fn run(&self) -> Result<(ExitStatus, String), String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let mut child = Command::new(program)
            .arg("fuzz-child")
            .arg(self.name)
            .args([self.seed.to_string(), self.left.as_millis().to_string(), self.patience.to_string()])
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

/// The child: `fuzz-child SUBJECT SEED MILLISECONDS PATIENCE FILE`.
pub fn run_child(arguments: &[String]) -> Result<(), String> {
    let [name, seed, left, patience, current] = arguments else {
        return Err(String::from("fuzz-child is started by fuzz"));
    };
    let subject = all().chain(CANARIES).find(|subject| subject.name == *name).ok_or("unknown subject")?;
    let seed: u64 = seed.parse().map_err(|_| "the seed is no number")?;
    let left = Duration::from_millis(left.parse().map_err(|_| "the time is no number")?);
    let patience = Duration::from_secs(patience.parse().map_err(|_| "the patience is no number")?);
    let current = File::create(current).map_err(|error| format!("cannot write {current}: {error}"))?;
    panic::set_hook(Box::new(|info| println!("{}", info.to_string().replace('\n', ": "))));
    let begun = Arc::new(AtomicU64::new(0));
    watch(Arc::clone(&begun), patience);
    let end = Instant::now() + left;
    let mut check = (subject.start)()?;
    let mut rng = Rng::with_seed(seed);
    let mut number = 0;
    loop {
        let input = mutate::input(&mut rng, subject.examples, subject.words);
        let record = [&(input.len() as u64).to_le_bytes(), input.as_slice()].concat();
        current.write_all_at(&record, 0).map_err(|error| format!("cannot write an input down: {error}"))?;
        number += 1;
        begun.store(number, Ordering::Relaxed);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| check(&input)));
        let is_found = !matches!(outcome, Ok(Ok(())));
        if let Ok(Err(broken)) = outcome {
            println!("{}", broken.replace('\n', " "));
        }
        if is_found || Instant::now() >= end {
            println!("cases {number}");
            std::process::exit(if is_found { FOUND } else { 0 });
        }
    }
}

/// Ends the process when one case takes too long.
fn watch(begun: Arc<AtomicU64>, patience: Duration) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(patience / 20);
            let now = begun.load(Ordering::Relaxed);
            if now != last || now == 0 {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > patience {
                println!("it hangs: more than {patience:?} for one input");
                println!("cases {now}");
                std::process::exit(FOUND);
            }
        }
    });
}
