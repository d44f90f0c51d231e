//! `cargo xtask truth`: is what a run says true? Runs against a referee that shares no line with Onrush, a server in C
//! (`xtask/truth/referee.c`) that notes when the kernel received each request and when its own answer was written.
//!
//! Not part of `cargo test`: it takes some minutes, needs a C compiler and OpenSSL, and a busy machine widens its
//! figures. Freezes of server and generator must be in the percentiles from plan, known delays come out as they were
//! asked for, starts are as punctual as those of a bare loop in C, every request and byte that the server had is
//! counted, and what spoils a run is in its verdict. The table says what was found and what is wanted; a row that
//! misses its limit fails the suite. `--full` takes larger samples and more cases, with the same limits.

mod cases;
mod trial;

use std::path::Path;
use std::time::Instant;

use trial::bench::{Bench, Case};
use trial::{claim, referee};

/// Runs the cases whose name contains one of these words, all without words.
pub fn run(onrush: &Path, root: &Path, words: &[String]) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("onrush-truth-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let (flags, words): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with("--"));
    let outcome = match flags.iter().find(|flag| **flag != "--full") {
        Some(flag) => Err(format!("unknown flag {flag}, expected --full")),
        None => {
            let is_full = !flags.is_empty();
            let programs = referee::build(root, &folder)?;
            run_in(&Bench { onrush, programs, folder: folder.clone(), is_full }, &words)
        }
    };
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

fn run_in(bench: &Bench<'_>, words: &[&String]) -> Result<(), String> {
    let all = cases::all(bench.is_full);
    let is_chosen = |case: &&Case| words.is_empty() || words.iter().any(|word| case.name.contains(word.as_str()));
    let chosen: Vec<&Case> = all.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        let words: Vec<&str> = words.iter().map(|word| word.as_str()).collect();
        return Err(format!("no case is named like {}: there are {}", words.join(", "), cases::names(&all)));
    }
    println!("{}", claim::head());
    let (began, mut missed, mut made) = (Instant::now(), 0, 0);
    for (at, case) in chosen.iter().enumerate() {
        eprintln!("{:4} s: case {} of {}: {}", began.elapsed().as_secs(), at + 1, chosen.len(), case.name);
        match (case.run)(bench) {
            Ok(rows) => {
                rows.iter().for_each(|row| println!("{}", row.line(&case.name)));
                made += rows.len();
                missed += rows.iter().filter(|row| !row.holds()).count();
            }
            Err(problem) => {
                println!("{:<34} could not be run: {problem}  MISSED", case.name);
                (made, missed) = (made + 1, missed + 1);
            }
        }
    }
    println!("{made} rows in {} s, {missed} missed", began.elapsed().as_secs());
    match missed {
        0 => Ok(()),
        _ => Err(format!("{missed} of {made} rows miss their limit; on a busy machine run it again")),
    }
}
