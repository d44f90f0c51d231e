//! What the runner said: how many tests there were, and which failed.

use std::collections::BTreeMap;

/// A test in one of its two modes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TestRun {
    file: String,
    is_strict: bool,
}

#[derive(Debug)]
pub(super) struct SuiteOutcome {
    /// `38/42520 errors, 89 excluded, 7000 skipped`.
    pub(super) counts: String,
    /// What failed, with the message.
    failures: BTreeMap<TestRun, String>,
}

impl SuiteOutcome {
    /// From the runner's last words and its file of errors.
    pub(super) fn parse(told: &str, errors: &str) -> Result<SuiteOutcome, String> {
        let counts = told.lines().rev().find_map(|line| line.strip_prefix("Result: "));
        let counts = counts.ok_or_else(|| format!("the runner gave no result, but: {}", last_lines(told)))?;
        Ok(SuiteOutcome { counts: counts.to_owned(), failures: errors.lines().filter_map(failure).collect() })
    }

    /// A line for each test that fails in one alone, and one when they ran different numbers of tests. Messages may
    /// differ: the patches give errors other places and names.
    pub(super) fn differences(&self, with: &SuiteOutcome) -> Vec<String> {
        let line = |run: &TestRun, message: &str, how: &str| {
            let mode = if run.is_strict { " (strict)" } else { "" };
            format!("{}{mode} {how}: {message}", run.file)
        };
        let lost = with.failures.iter().filter(|(run, _)| !self.failures.contains_key(run));
        let won = self.failures.iter().filter(|(run, _)| !with.failures.contains_key(run));
        let mut lines: Vec<String> = lost.map(|(run, message)| line(run, message, "fails with the patches")).collect();
        lines.extend(won.map(|(run, message)| line(run, message, "fails without them")));
        let behind_errors = |counts: &str| counts.split_once('/').map(|(_, rest)| rest.to_owned());
        if behind_errors(&self.counts) != behind_errors(&with.counts) {
            lines.push(format!("other tests were run: {} without, {} with", self.counts, with.counts));
        }
        lines
    }
}

/// `test262/test/a.js:44: strict mode: Error: …`.
fn failure(line: &str) -> Option<(TestRun, String)> {
    let (file, rest) = line.split_once(".js:")?;
    let message = rest.split_once(": ")?.1;
    let plain = message.strip_prefix("strict mode: ");
    let run = TestRun { file: format!("{file}.js"), is_strict: plain.is_some() };
    Some((run, plain.unwrap_or(message).to_owned()))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: &str = "test262/test/a.js:44: Error: bad\ntest262/test/a.js:44: strict mode: Error: bad\n\
                          test262/test/b.js:1: SyntaxError: x\n";

    fn outcome(counts: &str, errors: &str) -> SuiteOutcome {
        SuiteOutcome::parse(&format!("a (1 ms)\nResult: {counts}\n"), errors).expect("a result")
    }

    #[test]
    fn the_same_failures_with_other_messages_are_no_difference() {
        let (without, with) = (outcome("3/9 errors", ERRORS), outcome("3/9 errors", &ERRORS.replace("44", "45")));
        assert_eq!(without.differences(&with), [""; 0]);
        assert_eq!(with.failures.len(), 3);
    }

    #[test]
    fn what_fails_in_one_alone_is_told_by_its_mode() {
        let without = outcome("3/9 errors", ERRORS);
        let with = outcome("2/9 errors", "test262/test/a.js:44: Error: bad\ntest262/test/c.js:2: Error: new");
        assert_eq!(
            without.differences(&with),
            [
                "test262/test/c.js fails with the patches: Error: new",
                "test262/test/a.js (strict) fails without them: Error: bad",
                "test262/test/b.js fails without them: SyntaxError: x",
            ]
        );
        let fewer = outcome("3/8 errors, 1 skipped", ERRORS);
        assert_eq!(
            without.differences(&fewer),
            ["other tests were run: 3/9 errors without, 3/8 errors, 1 skipped with"]
        );
    }

    #[test]
    fn a_runner_that_broke_off_has_no_result() {
        let error = SuiteOutcome::parse("one\ntwo", "").expect_err("no result");
        assert_eq!(error, "the runner gave no result, but: one\ntwo");
    }
}
