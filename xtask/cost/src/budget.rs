//! What each workload may cost: `xtask/cost/budgets.txt`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Where the budgets are.
pub(crate) const FILE: &str = "xtask/cost/budgets.txt";

/// A figure may be above its budget by so much: two machines count the same build up to 3 % apart.
pub(crate) const SLACK: f64 = 0.04;

/// Budgets by the names of workloads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Budgets(BTreeMap<String, u64>);

impl Budgets {
    pub(crate) fn read(root: &Path) -> Result<Budgets, String> {
        let text = std::fs::read_to_string(root.join(FILE)).map_err(|error| format!("cannot read {FILE}: {error}"))?;
        Budgets::parse(&text)
    }

    fn parse(text: &str) -> Result<Budgets, String> {
        let mut budgets = BTreeMap::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let number = |word: &str| word.replace('_', "").parse::<u64>().ok();
            let entry = line.split_once(' ').and_then(|(name, rest)| Some((name, number(rest.trim())?)));
            let (name, value) = entry
                .ok_or_else(|| format!("{FILE}:{}: found {line:?}, expected a name and a whole number", at + 1))?;
            if budgets.insert(name.to_owned(), value).is_some() {
                return Err(format!("{FILE}:{}: {name} is there twice", at + 1));
            }
        }
        Ok(Budgets(budgets))
    }

    /// The budget of a workload.
    pub(crate) fn of(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    pub(crate) fn set(&mut self, name: &str, value: u64) {
        self.0.insert(name.to_owned(), value);
    }

    /// Writes the file, its comment included.
    pub(crate) fn write(&self, root: &Path) -> Result<(), String> {
        let mut text = String::from(
            "# What a workload may cost: user instructions an iteration, thousandths of a system call an iteration \
             (calls-…), lines\n\
             # that a cache of 32 KiB of code (code-misses-…) or 1 MiB of data (lines-…) did not have, \
             an iteration, bytes of a user\n\
             # that waits (waiting…). `cargo xtask cost` fails 4 % above; `cargo xtask cost --write NAME` \
             writes the highest of five counts.\n\
             # Machines differ by up to 3 %: keep the higher figure where another machine counted it.\n",
        );
        for (name, value) in &self.0 {
            let _ = writeln!(text, "{name} {value}");
        }
        std::fs::write(root.join(FILE), text).map_err(|error| format!("cannot write {FILE}: {error}"))
    }
}

/// Whether a figure is beyond a budget.
pub(crate) fn is_beyond(found: u64, budget: u64) -> bool {
    found as f64 > budget as f64 * (1.0 + SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_name_and_a_number() {
        let budgets = Budgets::parse("# why\n\nget 10_300\nws 7000\n").unwrap();
        assert_eq!((budgets.of("get"), budgets.of("ws"), budgets.of("post")), (Some(10_300), Some(7_000), None));
        let wrong = Budgets::parse("get 10\nget 11").unwrap_err();
        assert_eq!(wrong, "xtask/cost/budgets.txt:2: get is there twice");
        let wrong = Budgets::parse("\nget fast").unwrap_err();
        assert_eq!(wrong, "xtask/cost/budgets.txt:2: found \"get fast\", expected a name and a whole number");
    }

    #[test]
    fn four_percent_more_are_allowed() {
        assert!(!is_beyond(10_400, 10_000));
        assert!(is_beyond(10_401, 10_000));
    }
}
