//! CSS selectors as k6 knows them: those of CSS 3, with `:contains()`, `:has()`, `[a!=b]`, `[a#=regex]` and relatives,
//! and without what CSS 4 has and k6 refuses.
//!
//! `read.rs` makes a selector of a text, `matching.rs` asks a document. A selector that cannot be read selects nothing,
//! as in k6.

mod matching;
mod read;

use html5ever::LocalName;
use regex_lite::Regex;

/// What selects elements: any of several chains, in any order.
pub struct CssSelector {
    chains: Vec<Chain>,
}

/// Compound selectors joined by combinators: the last, and what has to stand before or above it.
struct Chain {
    last: Compound,
    /// From the nearest to the farthest.
    before: Vec<(Combinator, Compound)>,
}

/// How two compound selectors stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combinator {
    Descendant,
    Child,
    Adjacent,
    Sibling,
}

/// Conditions that one element has to meet, all of them.
#[derive(Default)]
struct Compound {
    conditions: Vec<Condition>,
}

/// One condition.
enum Condition {
    Tag(LocalName),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        test: Test,
    },
    Not(CssSelector),
    /// Something below matches; only directly below with `true`.
    Has(CssSelector, bool),
    /// The text contains this in any case; only its own text with `true`.
    Contains(String, bool),
    Matches(Regex, bool),
    Nth(Nth),
    Language(String),
    PseudoClass(PseudoClass),
}

/// What an attribute has to be.
enum Test {
    Present,
    Equals(Word),
    Differs(Word),
    /// One of the words.
    Includes(Word),
    /// The value, or the beginning up to a hyphen.
    Dash(Word),
    Begins(Word),
    Ends(Word),
    Holds(Word),
    Regex(Regex),
}

/// A value to compare with, and whether its case does not matter.
struct Word {
    text: String,
    any_case: bool,
}

/// Which of its siblings an element is: `step * n + offset`.
struct Nth {
    step: i32,
    offset: i32,
    from_end: bool,
    of_type: bool,
    /// No sibling may be left: `:only-child`.
    only: bool,
}

/// Conditions without an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PseudoClass {
    Checked,
    Disabled,
    Empty,
    Enabled,
    Input,
    Link,
    /// Of a document that nobody looks at: `:hover`, `:visited`.
    Never,
    Root,
}

impl PseudoClass {
    const NAMES: &'static [(&'static str, PseudoClass)] = &[
        ("active", PseudoClass::Never),
        ("checked", PseudoClass::Checked),
        ("disabled", PseudoClass::Disabled),
        ("empty", PseudoClass::Empty),
        ("enabled", PseudoClass::Enabled),
        ("focus", PseudoClass::Never),
        ("hover", PseudoClass::Never),
        ("input", PseudoClass::Input),
        ("link", PseudoClass::Link),
        ("root", PseudoClass::Root),
        ("target", PseudoClass::Never),
        ("visited", PseudoClass::Never),
    ];
}
