//! The list of what is allowed although a rule forbids it: `rule subject amount  reason`, one a line.
//!
//! The list may only shrink: an entry that nothing needs any more is an error, and so is an amount above what is found.

use std::fmt::Write as _;

use super::finding::{Finding, RULES, Rule};

/// Where the list lies, from the root of the repository.
pub const PATH: &str = "xtask/tidy/allow.txt";

const HEAD: &str = "\
# What `cargo xtask tidy` allows although a rule forbids it: rule, subject, amount, reason. Take lines away, add none.
# `cargo xtask tidy --shrink` removes what is no longer needed.
";

/// One line of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    rule: Rule,
    subject: String,
    amount: usize,
    reason: String,
    line: usize,
}

/// The list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AllowList {
    entries: Vec<Entry>,
}

impl AllowList {
    /// Reads the list.
    ///
    /// # Errors
    /// When a line is not an entry, names no rule, or gives no reason.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut entries = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            if !text.starts_with('#') && !text.trim().is_empty() {
                entries.push(entry(text, line).map_err(|e| format!("{PATH}:{line}: {e}"))?);
            }
        }
        Ok(Self { entries })
    }

    /// What remains of `findings` when those that are allowed are taken away, and the entries that have become wrong.
    pub fn apply(&self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<String>) {
        let mut stale = Vec::new();
        for entry in &self.entries {
            let Entry { rule, subject, amount, line, .. } = entry;
            match findings.iter().find(|finding| entry.is_of(finding)) {
                None => stale.push(format!(
                    "{PATH}:{line}: nothing needs `{rule} {subject}` any more: take the line away, or run cargo xtask \
                     tidy --shrink"
                )),
                Some(finding) if finding.found < *amount => stale.push(format!(
                    "{PATH}:{line}: `{rule} {subject}` allows {amount}, found {}: write that, or run cargo xtask tidy \
                     --shrink",
                    finding.found
                )),
                Some(_) => {}
            }
        }
        let allowed =
            |finding: &Finding| self.entries.iter().any(|entry| entry.is_of(finding) && finding.found <= entry.amount);
        (findings.into_iter().filter(|finding| !allowed(finding)).collect(), stale)
    }

    /// The list without what is no longer needed, with amounts no larger than found. Nothing is added.
    pub fn shrunk(&self, findings: &[Finding]) -> Self {
        let kept = self.entries.iter().filter_map(|entry| {
            let finding = findings.iter().find(|finding| entry.is_of(finding))?;
            Some(Entry { amount: entry.amount.min(finding.found), ..entry.clone() })
        });
        Self { entries: kept.collect() }
    }

    /// The list as its file has it.
    pub fn render(&self) -> String {
        let mut text = HEAD.to_owned();
        for Entry { rule, subject, amount, reason, .. } in &self.entries {
            let _ = writeln!(text, "{rule} {subject} {amount}  {reason}");
        }
        text
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

impl Entry {
    fn is_of(&self, finding: &Finding) -> bool {
        self.rule == finding.rule && self.subject == finding.subject
    }
}

fn entry(text: &str, line: usize) -> Result<Entry, String> {
    let mut words = text.splitn(4, ' ');
    let mut next = || words.next().unwrap_or_default();
    let (rule, subject, amount, reason) = (next(), next(), next(), next().trim());
    let Some((rule, _)) = RULES.iter().find(|(_, name)| *name == rule) else {
        return Err(format!("found the rule `{rule}`, expected one of {}", RULES.map(|(_, name)| name).join(", ")));
    };
    let amount = amount.parse().map_err(|_| format!("found `{amount}` as the amount, expected a number"))?;
    if reason.is_empty() {
        return Err("an entry has a reason: `rule subject amount  reason`".to_owned());
    }
    Ok(Entry { rule: *rule, subject: subject.to_owned(), amount, reason: reason.to_owned(), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(subject: &str, found: usize) -> Finding {
        let text = String::new;
        Finding {
            rule: Rule::FileLength,
            subject: subject.into(),
            place: text(),
            found,
            allowed: 500,
            what: text(),
            help: text(),
        }
    }

    #[test]
    fn what_is_listed_is_allowed_up_to_its_amount() {
        let list = AllowList::parse("# head\nfile-length a.rs 600  a table\n").unwrap();
        assert_eq!(list.apply(vec![finding("a.rs", 600)]), (vec![], vec![]));
        let (left, stale) = list.apply(vec![finding("a.rs", 601)]);
        assert_eq!((left.len(), stale.len()), (1, 0));
    }

    #[test]
    fn entries_that_are_no_longer_needed_are_told() {
        let list = AllowList::parse("file-length a.rs 600  a table\nfile-length b.rs 700  another\n").unwrap();
        let findings = vec![finding("b.rs", 650)];
        let (left, stale) = list.apply(findings.clone());
        assert!(left.is_empty());
        assert_eq!(
            stale,
            [
                "xtask/tidy/allow.txt:1: nothing needs `file-length a.rs` any more: take the line away, or run cargo \
                 xtask tidy --shrink",
                "xtask/tidy/allow.txt:2: `file-length b.rs` allows 700, found 650: write that, or run cargo xtask tidy \
                 --shrink",
            ]
        );
        let shrunk = list.shrunk(&findings);
        assert_eq!(shrunk.render(), format!("{HEAD}file-length b.rs 650  another\n"));
        assert_eq!(shrunk.apply(findings), (vec![], vec![]));
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        let refused = |text| AllowList::parse(text).unwrap_err();
        let reason = "xtask/tidy/allow.txt:1: an entry has a reason: `rule subject amount  reason`";
        assert_eq!(refused("header a.rs 1"), reason);
        assert_eq!(
            refused("header a.rs one  why"),
            "xtask/tidy/allow.txt:1: found `one` as the amount, expected a number"
        );
        assert!(refused("\nheaders a.rs 1  why").starts_with("xtask/tidy/allow.txt:2: found the rule `headers`"));
    }
}
