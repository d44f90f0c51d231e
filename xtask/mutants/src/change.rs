//! One change that cargo-mutants can make.

use std::path::Path;

use serde_json::Value;

/// A change, as cargo-mutants lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// `crates/metrics/src/sink.rs:12:5: replace < with <= in Sink::add`; unique.
    pub(crate) name: String,
    /// `crates/metrics/src/sink.rs`.
    pub(crate) file: String,
    /// `replace < with <= in Sink::add`.
    pub(crate) what: String,
    /// The line of the source that it begins in, without the blanks around it.
    pub(crate) code: String,
}

impl Change {
    /// Of an item of `cargo mutants --list --json`.
    pub(crate) fn read(tree: &Path, item: &Value) -> Result<Change, String> {
        let text = |name: &str| item[name].as_str().ok_or_else(|| format!("a change has no {name}: {item}"));
        let (name, file) = (text("name")?.to_owned(), text("file")?.to_owned());
        let line = item["span"]["start"]["line"].as_u64().ok_or_else(|| format!("{name} is on no line"))?;
        let what = name.splitn(4, ':').nth(3).ok_or_else(|| format!("{name} has no place"))?.trim().to_owned();
        let source =
            std::fs::read_to_string(tree.join(&file)).map_err(|error| format!("cannot read {file}: {error}"))?;
        let code = source.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().trim().to_owned();
        Ok(Change { name, file, what, code })
    }
}
