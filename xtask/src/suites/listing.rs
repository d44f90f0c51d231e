//! `cargo xtask suites`: the table for people, for CONTRIBUTING.md, and for the nightly script.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::{NightlyJob, Runner, SUITES, SuiteRow};
use crate::parity;

const PAGE: &str = "CONTRIBUTING.md";
/// The generated part of the page is between these two lines.
const BEGIN: &str = "<!-- suites: written by `cargo xtask suites --write` -->";
const END: &str = "<!-- /suites -->";

/// Shows the table, or writes a part of it.
pub(super) fn run(arguments: &[String]) -> Result<(), String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *words {
        [] => print!("{}", told()),
        ["--nightly"] => print!("{}", nightly()),
        ["--write"] => {
            let path = page()?;
            fs::write(&path, renewed(&text(&path)?)?).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        _ => return Err(format!("found {arguments:?}, expected --write, --nightly or nothing")),
    }
    Ok(())
}

fn page() -> Result<PathBuf, String> {
    Ok(parity::workspace()?.join(PAGE))
}

fn text(path: &PathBuf) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A line a suite: its name, who runs it, and by which line.
fn told() -> String {
    let line = |row: &SuiteRow| match row.runner {
        Runner::Ci(line) => format!("{:<15} {}: {line}\n", row.name, row.runner.told()),
        Runner::Nightly(_) | Runner::Nobody(_) => format!("{:<15} {}\n", row.name, row.runner.told()),
    };
    SUITES.iter().map(line).collect()
}

/// A line a job, with tabs between: minutes, what it needs with commas between or `-`, the words behind `cargo xtask`.
fn nightly() -> String {
    let lines = |row: &SuiteRow| {
        let line = |job: &NightlyJob| {
            let needs = if job.needs.is_empty() { String::from("-") } else { job.needs.join(",") };
            format!("{}\t{needs}\t{}\n", job.minutes, format!("{} {}", row.name, job.arguments).trim_end())
        };
        row.runner.jobs().iter().map(line).collect::<String>()
    };
    SUITES.iter().map(lines).collect()
}

/// The rows of the page's table.
fn rows() -> String {
    let mut text = String::from("| command | what it does | run it when | who else runs it |\n|---|---|---|---|\n");
    for row in SUITES {
        let _ = writeln!(text, "| `cargo xtask {}` | {} | {} | {} |", row.name, row.does, row.when, row.runner.told());
    }
    text
}

/// The page with today's table.
fn renewed(page: &str) -> Result<String, String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("{PAGE} has no lines {BEGIN} and {END}"))?;
    Ok(format!("{before}{BEGIN}\n{}{END}{after}", rows()))
}

impl Runner {
    fn jobs(&self) -> &'static [NightlyJob] {
        match self {
            Runner::Nightly(jobs) => jobs,
            Runner::Ci(_) | Runner::Nobody(_) => &[],
        }
    }

    fn told(&self) -> String {
        match self {
            Runner::Ci(_) => String::from("`.ci/run`"),
            Runner::Nightly(jobs) => {
                let minutes: u32 = jobs.iter().map(|job| job.minutes).sum();
                format!("`.ci/nightly`, at most {minutes} min")
            }
            Runner::Nobody(why) => format!("nobody: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script of .ci without its comments.
    fn script(name: &str) -> String {
        let path = parity::workspace().expect("the root").join(".ci").join(name);
        let all = text(&path).expect("the script");
        all.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_page_has_todays_table() {
        let old = text(&page().expect("the root")).expect("the page");
        assert!(renewed(&old).expect("markers") == old, "{PAGE} is stale: run cargo xtask suites --write");
    }

    #[test]
    fn the_script_of_every_change_has_its_suites() {
        let script = script("run");
        for row in SUITES {
            if let Runner::Ci(line) = row.runner {
                assert!(script.contains(line), "{} is said to be run by .ci/run, which has no `{line}`", row.name);
            }
        }
    }

    #[test]
    fn the_nightly_script_asks_for_the_list() {
        assert!(script("nightly").contains("suites --nightly"), ".ci/nightly does not ask for its jobs");
        let list = nightly();
        for row in SUITES {
            match &row.runner {
                Runner::Nightly(jobs) => assert!(!jobs.is_empty(), "{} is nightly and has no job", row.name),
                Runner::Ci(_) => {}
                Runner::Nobody(why) => assert!(why.contains(' '), "{}: why does nobody run it?", row.name),
            }
        }
        assert!(list.lines().all(|line| line.split('\t').count() == 3), "{list}");
        assert!(list.contains("\n15\t$ENGINES/bin/nats-server\tfleet nats\n"), "{list}");
        assert!(
            list.lines().all(|line| line.split('\t').next().is_some_and(|n| n.parse::<u32>().is_ok_and(|n| n > 0)))
        );
    }

    #[test]
    fn a_stale_table_is_replaced_and_nothing_else() {
        let page = renewed(&format!("a\n{BEGIN}\nthe rows of yesterday\n{END}\nb\n")).expect("markers");
        assert!(page.starts_with("a\n<!--") && page.ends_with("-->\nb\n") && !page.contains("yesterday"), "{page}");
        assert!(page.contains("| `cargo xtask truth` | holds"), "{page}");
        assert!(renewed("no markers").is_err());
    }
}
