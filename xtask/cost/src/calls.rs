//! How many system calls an iteration makes, by strace: two runs of different length, subtracted.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::served::Served;
use crate::workload::{USERS, Workload};

const ITERATIONS: (u64, u64) = (2_000, 22_000);

/// System calls an iteration of a workload of the generator, in thousandths.
pub(crate) fn count(onrush: &Path, folder: &Path, workload: &Workload) -> Result<u64, String> {
    let few = of_run(onrush, folder, workload, ITERATIONS.0)?;
    let many = of_run(onrush, folder, workload, ITERATIONS.1)?;
    Ok(many.saturating_sub(few) * 1000 / (ITERATIONS.1 - ITERATIONS.0))
}

/// System calls of a whole run.
fn of_run(onrush: &Path, folder: &Path, workload: &Workload, iterations: u64) -> Result<u64, String> {
    let script = crate::write(folder, workload.name, workload.script)?;
    let table = folder.join("strace.txt");
    let served = Served::start(Command::new(onrush), None)?;
    let mut command = Command::new("strace");
    // What the threads wait by is left out: strace makes them wait longer, and more often.
    command.args(["-f", "-c", "-U", "name,calls", "-e", "trace=!futex,clock_nanosleep,sched_yield", "-o"]);
    command.arg(&table).arg(onrush).args(["run", "-q", "--workers", "1", "-u", &USERS.to_string()]);
    command
        .args(["-i", &iterations.to_string(), "-e", &format!("URL={}", served.url(workload.carrier.is_tls()))])
        .arg(&script);
    command.envs(workload.carrier.environment());
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run strace: {error}"))?;
    served.stop()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = std::fs::read_to_string(&table).map_err(|error| format!("{}: {error}", table.display()))?;
    total(&text).ok_or_else(|| format!("strace's table has no total: {text}"))
}

/// The line `total N` of strace's table.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().rev().find(|line| line.split_whitespace().any(|word| word == "total"))?;
    line.split_whitespace().find_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_total() {
        let table = "syscall    calls\n------ ---------\nsendto     20003\nrecvmsg    20003\n------ \
            ---------\ntotal      40006\n";
        assert_eq!(total(table), Some(40_006));
        assert_eq!(total("nothing"), None);
    }
}
