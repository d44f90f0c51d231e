//! How far a run is: the runner names tests that took a millisecond, in the order of their names.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// From line to line.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// The files of the suite as the runner names them, sorted.
pub(super) fn files(suite: &Path, folders: &[String]) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    match folders {
        [] => collect(&suite.join("test"), suite, &mut found)?,
        some => some.iter().try_for_each(|name| collect(&suite.join("test").join(name), suite, &mut found))?,
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, suite: &Path, found: &mut Vec<String>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, suite, found)?;
        } else if let Ok(name) = path.strip_prefix(suite)
            && name.to_string_lossy().ends_with(".js")
        {
            found.push(format!("test262/{}", name.display()));
        }
    }
    Ok(())
}

/// Runs the command and says now and then how far it is. Returns what it wrote to its standard error.
pub(super) fn follow(mut command: Command, name: &str, files: &[String]) -> Result<String, String> {
    let places: HashMap<&str, usize> = files.iter().enumerate().map(|(at, file)| (file.as_str(), at)).collect();
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let output = child.stderr.take().ok_or("the runner has no output")?;
    let (began, mut told, mut all, mut furthest) = (Instant::now(), Instant::now(), String::new(), 0);
    for line in BufReader::new(output).split(b'\n') {
        let line = line.map_err(|error| format!("cannot read what the runner says: {error}"))?;
        let line = String::from_utf8_lossy(&line);
        let at = line.rsplit_once(" (").and_then(|(file, _)| places.get(file));
        furthest = furthest.max(at.copied().unwrap_or_default());
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            eprintln!("{name}: {} s, {} of {} files", began.elapsed().as_secs(), furthest + 1, files.len());
        }
        all.push_str(&line);
        all.push('\n');
    }
    let status = child.wait().map_err(|error| format!("cannot wait for the runner: {error}"))?;
    // 1: some tests failed.
    match status.code() {
        Some(0 | 1) => Ok(all),
        _ => Err(format!("{name}: the runner ended with {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_runner_wrote_is_no_result() {
        let shell = |line: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", line]);
            follow(command, "a try", &[])
        };
        assert_eq!(
            shell("echo 'test262/test/a.js (3 ms)' >&2; exit 1"),
            Ok(String::from("test262/test/a.js (3 ms)\n"))
        );
        assert_eq!(shell("exit 3"), Err(String::from("a try: the runner ended with exit status: 3")));
    }
}
