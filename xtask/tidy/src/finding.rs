//! A finding: what rule is broken, where, by how much, and what to do.
//!
//! The names of rules are those of the allow-list; a new rule has its name in `RULES`, and in no other place.

use std::fmt;

/// The rules, by the name that the allow-list knows them by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// Files of a crate that import each other in a circle.
    Circle,
    /// Folders of a crate that import each other in a circle.
    FolderCircle,
    /// Who may import what.
    Boundary,
    /// Lines of a file.
    FileLength,
    /// Lines of a function.
    FunctionLength,
    /// Columns of a line.
    LineLength,
    /// What a file says of itself at its top.
    Header,
    /// One name for two types of a crate.
    TypeName,
    /// Public items that tests alone use.
    UnusedPub,
    /// Big files in the repository.
    Blob,
    /// A flag that two pages document.
    FlagDocument,
    /// Source files of a folder.
    FlatFolder,
    /// One name for types of many crates.
    SpreadName,
    /// Long files with a header of one line.
    ThinHeader,
    /// Doc comments that repeat a name.
    ShortDoc,
    /// Parameters packed into tuples.
    TupleParameter,
    /// Big files in the history of the repository.
    HistoryBlob,
    /// Unsafe code that the page of it does not account for.
    UnsafeCode,
    /// A fault that was found, whose page names no test of its kind.
    FaultCover,
}

/// Every rule, in the order in which findings are told.
pub const RULES: [(Rule, &str); 19] = [
    (Rule::Circle, "circle"),
    (Rule::FolderCircle, "folder-circle"),
    (Rule::Boundary, "boundary"),
    (Rule::FileLength, "file-length"),
    (Rule::FunctionLength, "function-length"),
    (Rule::LineLength, "line-length"),
    (Rule::Header, "header"),
    (Rule::TypeName, "type-name"),
    (Rule::UnusedPub, "unused-pub"),
    (Rule::Blob, "blob"),
    (Rule::FlagDocument, "flag-document"),
    (Rule::FlatFolder, "flat-folder"),
    (Rule::SpreadName, "spread-name"),
    (Rule::ThinHeader, "thin-header"),
    (Rule::ShortDoc, "short-doc"),
    (Rule::TupleParameter, "tuple-parameter"),
    (Rule::HistoryBlob, "history-blob"),
    (Rule::UnsafeCode, "unsafe-code"),
    (Rule::FaultCover, "fault-cover"),
];

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = RULES.iter().find(|(rule, _)| rule == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// One broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// What the allow-list calls it: a path, a crate, `crate/Name`; without spaces.
    pub subject: String,
    /// `file:line`.
    pub place: String,
    /// How much there is: files, lines, columns, bytes, definitions.
    pub found: usize,
    /// How much there may be.
    pub allowed: usize,
    /// What was found, in words.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} [{} {}]", self.place, self.what, self.rule, self.subject)?;
        writeln!(f, "    found {}, allowed {}", self.found, self.allowed)?;
        write!(f, "    {}", self.help)
    }
}
