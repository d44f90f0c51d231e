//! What pages of the design name as a cover: tests and files, in backticks. What is named must exist.
//!
//! `docs/design/faults.md` has a row for each fault that was found from outside: its whole kind, and what covers that.

use std::collections::BTreeSet;

use crate::finding::{Finding, Rule};
use crate::workspace::Workspace;

/// The page of faults, from the root of the repository.
const FAULTS: &str = "docs/design/faults.md";

/// What a page may name.
pub struct Known<'w> {
    workspace: &'w Workspace,
    tests: BTreeSet<&'w str>,
}

impl<'w> Known<'w> {
    /// All tests and files of the workspace.
    pub fn of(workspace: &'w Workspace) -> Known<'w> {
        Known { workspace, tests: workspace.sources().flat_map(|source| functions(&source.text)).collect() }
    }

    /// What is wrong with a cell that says what covers something.
    pub fn problems(&self, covered_by: &str) -> Vec<String> {
        let names: Vec<&str> = covered_by.split('`').skip(1).step_by(2).collect();
        let exists = |name: &str| self.tests.contains(name) || self.workspace.files.keys().any(|path| path == name);
        let unknown = names.iter().filter(|name| !exists(name));
        let unknown = unknown.map(|name| format!("{name:?} covers it by the page, and is neither a test nor a file"));
        let nothing = names.is_empty().then(|| String::from("the page names nothing that covers it"));
        nothing.into_iter().chain(unknown).collect()
    }
}

/// Each row of the page of faults names what covers it.
pub fn findings(workspace: &Workspace) -> Vec<Finding> {
    let page = std::fs::read_to_string(workspace.root.join(FAULTS)).unwrap_or_default();
    let known = Known::of(workspace);
    let rows = page.lines().enumerate().filter_map(|(at, line)| Some((at + 1, covered_by(line)?)));
    let problems = rows.flat_map(|(line, cell)| known.problems(cell).into_iter().map(move |text| (line, text)));
    let finding = |(line, what)| Finding {
        rule: Rule::FaultCover,
        subject: FAULTS.to_owned(),
        place: format!("{FAULTS}:{line}"),
        found: 1,
        allowed: 0,
        what,
        help: "name the test or the suite that covers the kind of the fault".to_owned(),
    };
    problems.map(finding).collect()
}

/// The last cell of `| number | fault | kind | covered by |`; none for any other line.
fn covered_by(line: &str) -> Option<&str> {
    let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [number, _, _, covered_by, ..] = cells[..] else { return None };
    number.parse::<u32>().ok().map(|_| covered_by)
}

/// Names of functions without parameters, which tests are.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim_start().strip_prefix("fn ")?.split_once("()").map(|(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_page_have_a_number() {
        assert_eq!(covered_by("| 7 | a fault | its kind | `a_test`, `b.rs` |"), Some("`a_test`, `b.rs`"));
        assert_eq!([covered_by("| # | fault | kind | covered by |"), covered_by("text")], [None, None]);
    }

    #[test]
    fn tests_are_functions_without_parameters() {
        let text = "#[test]\n    fn a_test() {}\nfn helper(a: u8) {}\n";
        assert_eq!(functions(text).collect::<Vec<_>>(), ["a_test"]);
    }
}
