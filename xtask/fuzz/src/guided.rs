//! `cargo xtask fuzz --guided`: libFuzzer chooses the inputs by the code that they reach.
//!
//! The program `fuzz-guided` is this crate with libFuzzer. Our crates alone count what they run (LLVM's coverage for
//! sanitizers, which stable Rust passes on): dependencies are not what is looked at, and stay as they are compiled.
//! Keeps what reached new code in target/fuzz/corpus, where plain runs find it, too. Needs a C++ compiler.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::subjects::{Check, Subject};
use super::{corpus, named};

/// Counts for each branch, in a table that libFuzzer reads.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Builds the program; gives its path.
pub fn build(folder: &Path) -> Result<PathBuf, String> {
    let wrapper = folder.join("rustc-with-counters");
    // Build scripts run while building, without libFuzzer.
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in\n*\" --crate-name build_script_build \"*) exec \"$@\" ;;\nesac\n\
         exec \"$@\" {FLAGS}\n"
    );
    let made =
        fs::write(&wrapper, script).and_then(|()| fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)));
    made.map_err(|error| format!("cannot write {}: {error}", wrapper.display()))?;
    let built = Command::new("cargo")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args(["build", "--package", "fuzz", "--bin", "fuzz-guided", "--features", "guided"])
        .args(["--message-format", "json-render-diagnostics"])
        .env("RUSTC_WORKSPACE_WRAPPER", &wrapper)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let messages = String::from_utf8_lossy(&built.stdout);
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["executable"].as_str()?))
    });
    let last = executables.next_back().filter(|_| built.status.success());
    last.ok_or_else(|| String::from("the guided program does not build"))
}

/// Runs one subject for so long; gives what was found.
pub fn fuzz(program: &Path, subject: &Subject, time: Duration, patience: u64) -> Result<Vec<String>, String> {
    let (kept, finds) = (corpus::kept_of(subject), corpus::folder().join("found"));
    let words = corpus::folder().join(format!("{}.dict", subject.name));
    let made = [&kept, &finds].into_iter().try_for_each(fs::create_dir_all);
    made.and_then(|()| fs::write(&words, dictionary(subject)))
        .and_then(|()| write_examples(subject, &kept))
        .map_err(|error| format!("cannot write the words and examples of {}: {error}", subject.name))?;
    let prefix = finds.join(format!("{}-", subject.name));
    let mut command = Command::new(program);
    command.arg(&kept).args(Some(corpus::seeds_of(subject)).filter(|seeds| seeds.exists()));
    command.arg(format!("-dict={}", words.display())).arg(format!("-artifact_prefix={}", prefix.display()));
    command.arg(format!("-max_total_time={}", time.as_secs().max(1))).arg(format!("-timeout={patience}"));
    command.args(["-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1", "-ignore_remaining_args=1"]);
    let ended = command.arg(subject.name).output().map_err(|error| format!("cannot start libFuzzer: {error}"))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let number =
        |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0);
    let reached = said.lines().rev().find_map(|line| line.split_once("cov: ")?.1.split(' ').next());
    println!(
        "{:<18} {:>9} cases, {} edges, {} found",
        subject.name,
        number("stat::number_of_executed_units:"),
        reached.unwrap_or("0"),
        u8::from(!ended.status.success())
    );
    if ended.status.success() {
        return Ok(Vec::new());
    }
    let path = said.lines().rev().find_map(|line| Some(line.split_once("Test unit written to ")?.1.trim()));
    let input = path.and_then(|path| fs::read(path).ok()).unwrap_or_default();
    let is_why = |line: &&str| line.contains("panicked at") || line.contains("ERROR: libFuzzer");
    let why: Vec<&str> = said.lines().skip_while(|line| !is_why(line)).take(2).collect();
    let place = path.unwrap_or("libFuzzer wrote no input down");
    Ok(vec![format!("{}: {}\n  {place}\n  {}", subject.name, why.join(" "), corpus::shown(&input))])
}

/// The words of a subject as libFuzzer reads them.
fn dictionary(subject: &Subject) -> String {
    let escaped = |byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    let lines =
        subject.words.iter().map(|word| format!("\"{}\"\n", word.as_bytes().iter().map(escaped).collect::<String>()));
    lines.collect()
}

fn write_examples(subject: &Subject, into: &Path) -> std::io::Result<()> {
    let mut examples = subject.examples.iter().enumerate();
    examples.try_for_each(|(at, example)| fs::write(into.join(format!("example-{at}")), example))
}

/// The check of a subject, for the program that libFuzzer drives: a broken promise is a panic there.
pub fn check_of(name: &str) -> Result<Check, String> {
    (named(name).ok_or_else(|| format!("unknown subject '{name}'"))?.start)()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_as_libfuzzer_reads_them() {
        let subject = Subject { name: "x", examples: &[], words: &["a\"\\ ~", "\0é\n"], start: || Err(String::new()) };
        assert_eq!(dictionary(&subject), "\"a\\\"\\\\ ~\"\n\"\\x00\\xC3\\xA9\\x0A\"\n");
    }
}
