//! The changes that no test can notice, each with its reason: `xtask/mutants/equivalent.txt`.
//!
//! An entry has three lines: file and change, the line of code, the reason. It has no line number, so that it stays
//! true when the file moves around it. An entry that fits no change any more is an error, because the code that it
//! excused is gone.

use std::path::Path;

use crate::Subject;
use crate::change::Change;

/// Where the list is.
pub const LIST: &str = "xtask/mutants/equivalent.txt";

/// The list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Equivalents(Vec<Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    /// File and change, as cargo-mutants names them but for the place.
    change: String,
    code: String,
}

impl Equivalents {
    pub(crate) fn read(root: &Path) -> Result<Equivalents, String> {
        let text = std::fs::read_to_string(root.join(LIST)).map_err(|error| format!("cannot read {LIST}: {error}"))?;
        Equivalents::parse(&text)
    }

    fn parse(text: &str) -> Result<Equivalents, String> {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let mut entries = Vec::new();
        while let Some((at, change)) = lines.next() {
            let mut field = |name: &str| {
                let value = lines.next().and_then(|(_, line)| line.strip_prefix(name)).map(str::trim);
                value.filter(|value| !value.is_empty()).map(str::to_owned).ok_or_else(|| {
                    format!("{LIST}:{at}: expected the change, then lines that begin with 'in:' and 'because:'")
                })
            };
            let code = field("in:")?;
            field("because:")?;
            entries.push(Entry { change: change.to_owned(), code });
        }
        Ok(Equivalents(entries))
    }

    /// Whether the change is listed.
    pub(crate) fn has(&self, change: &Change) -> bool {
        self.0.iter().any(|entry| entry.is(change))
    }

    /// Every entry about the subject's files has to fit a change.
    pub(crate) fn check(&self, subject: &Subject, all: &[Change]) -> Result<(), String> {
        let of_subject =
            |entry: &&Entry| all.iter().any(|change| entry.change.starts_with(&format!("{}:", change.file)));
        let stale = self.0.iter().filter(of_subject).find(|entry| !all.iter().any(|change| entry.is(change)));
        stale.map_or(Ok(()), |entry| {
            let Entry { change, code } = entry;
            Err(format!("{LIST}: nothing of {} fits any more, take it out:\n{change}\n    in: {code}", subject.name))
        })
    }
}

impl Entry {
    fn is(&self, change: &Change) -> bool {
        self.code == change.code && self.change == format!("{}: {}", change.file, change.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# why\n\na/b.rs: replace < with <= in f\n    in: if x < y {\n    because: both are the same then\n";

    fn change(code: &str) -> Change {
        Change {
            name: "a/b.rs:3:7: replace < with <= in f".to_owned(),
            file: "a/b.rs".to_owned(),
            what: "replace < with <= in f".to_owned(),
            code: code.to_owned(),
        }
    }

    #[test]
    fn an_entry_holds_for_its_line_wherever_that_is() {
        let list = Equivalents::parse(TEXT).unwrap();
        assert!(list.has(&change("if x < y {")));
        assert!(!list.has(&change("if x < z {")));
    }

    #[test]
    fn what_fits_nothing_is_named() {
        let subject = Subject { name: "a", package: "a", files: &[] };
        let list = Equivalents::parse(TEXT).unwrap();
        assert_eq!(list.check(&subject, &[change("if x < y {")]), Ok(()));
        let message = "xtask/mutants/equivalent.txt: nothing of a fits any more, take it out:\na/b.rs: replace < with \
            <= in f\n    in: if x < y {";
        assert_eq!(list.check(&subject, &[change("if x < z {")]), Err(message.to_owned()));
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        let message =
            "xtask/mutants/equivalent.txt:1: expected the change, then lines that begin with 'in:' and 'because:'";
        for text in [
            "a/b.rs: replace < with <= in f\n    in: if x < y {\n",
            "a/b.rs: x\n    because: so\n",
            "a\nin: b\nbecause:",
        ] {
            assert_eq!(Equivalents::parse(text), Err(message.to_owned()));
        }
    }
}
