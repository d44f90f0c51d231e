//! The tree of groups and checks while it is put together.
//!
//! Each level finds its groups and checks by name through a map: a script that makes up names by the ten thousand costs
//! a look-up for each, not a walk along all that came before. Everything keeps the order in which it was first added.

use std::collections::HashMap;

use crate::naming::metric::Kind;
use crate::results::{CheckResult, GroupResult, MetricResult};
use crate::sink::Sink;

/// One group, or the root, with all that is inside.
#[derive(Default)]
pub(crate) struct Level {
    name: String,
    path: String,
    checks: Vec<CheckResult>,
    check_index: HashMap<String, usize>,
    groups: Vec<Level>,
    group_index: HashMap<String, usize>,
    /// Metrics of samples made directly in this group.
    pub(crate) metrics: Vec<MetricResult>,
}

impl Level {
    /// The level of a path that starts here, made where it does not exist. This one for no path.
    pub(crate) fn at(&mut self, path: Option<&str>) -> &mut Level {
        path.unwrap_or_default().split("::").skip(1).fold(self, |level, name| level.group(name))
    }

    fn group(&mut self, name: &str) -> &mut Level {
        let at = match self.group_index.get(name) {
            Some(at) => *at,
            None => {
                let path = format!("{}::{name}", self.path);
                self.groups.push(Level { name: name.to_owned(), path, ..Level::default() });
                self.group_index.insert(name.to_owned(), self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        &mut self.groups[at]
    }

    /// Adds a check that was made in the group of this path; to the one of its name, where there is one.
    pub(crate) fn add_check(&mut self, group_path: &str, name: &str, sink: &Sink) {
        let Sink::Rate { passes, total } = sink else {
            unreachable!("a check is counted as a {:?}; this is a bug", Kind::Rate)
        };
        debug_assert!(passes <= total, "{passes} of {total} entries of '{name}' held");
        let (passes, fails) = (*passes, total - passes);
        if let Some(at) = self.check_index.get(name) {
            let known = &mut self.checks[*at];
            (known.passes, known.fails) = (known.passes + passes, known.fails + fails);
            return;
        }
        self.check_index.insert(name.to_owned(), self.checks.len());
        self.checks.push(CheckResult { name: name.to_owned(), path: format!("{group_path}::{name}"), passes, fails });
    }

    /// The checks of this level alone.
    pub(crate) fn into_checks(self) -> Vec<CheckResult> {
        self.checks
    }

    /// The finished tree.
    pub(crate) fn finish(self) -> GroupResult {
        let Level { name, path, checks, metrics, groups, .. } = self;
        GroupResult { name, path, checks, metrics, groups: groups.into_iter().map(Level::finish).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_one_name_made_in_two_groups_is_one_with_both_counts() {
        let mut level = Level::default();
        level.add_check("::first", "is fine", &Sink::Rate { passes: 3, total: 8 });
        level.add_check("::second", "is fine", &Sink::Rate { passes: 4, total: 6 });
        let checks = level.into_checks();
        let shown: Vec<_> = checks.iter().map(|check| (check.path.as_str(), check.passes, check.fails)).collect();
        assert_eq!(shown, [("::first::is fine", 7, 7)]);
    }
}
