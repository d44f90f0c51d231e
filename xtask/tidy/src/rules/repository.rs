//! What is in the repository: no large files, and no flag that two pages document.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::finding::{Finding, Rule};
use crate::workspace::Workspace;

/// Bytes of a file.
const BLOB: u64 = 200 * 1024;

/// What is in the history already: only rewriting it would take these away. Named here and not in the allow-list,
/// because a shallow clone does not have them.
const PAST: [&str; 4] = [
    "bench/results/2026-11-21-clients.matrix.json.gz",
    "bench/results/2026-11-21-compare.json",
    "bench/results/2026-11-21-responses.json",
    "bench/results/2026-11-21-responses.matrix.json.gz",
];

pub fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings: Vec<Finding> = workspace.files.iter().filter_map(|(path, size)| blob(path, *size)).collect();
    // Pages for users of other tools list those tools' flags; a changelog and a map mention ours.
    let documents = |path: &&String| path.starts_with("docs/") && !path.starts_with("docs/coming-from/");
    let pages = workspace.files.keys().filter(|path| path.ends_with(".md")).filter(documents);
    let texts =
        pages.filter_map(|path| Some((path.as_str(), std::fs::read_to_string(workspace.root.join(path)).ok()?)));
    findings.extend(flags(texts));
    let past = history(&workspace.root).into_iter().filter(|(path, _)| !PAST.contains(&path.as_str()));
    findings.extend(past.filter_map(|(path, size)| past_blob(&path, size)));
    findings
}

/// Paths of the history with the size of their largest version; empty where the history is not at hand.
fn history(root: &Path) -> BTreeMap<String, u64> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(root).args(arguments).stderr(Stdio::null()).stdout(Stdio::piped());
        command
    };
    let Ok(mut objects) = git(&["rev-list", "--objects", "HEAD"]).spawn() else { return BTreeMap::new() };
    let listed = objects.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let sizes = git(&["cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)"]).stdin(listed).output();
    // Waited for, so that it leaves no process behind; what it could not list is missing.
    let _ = objects.wait();
    let text = sizes.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let mut largest = BTreeMap::<String, u64>::new();
    for line in text.lines() {
        if let Some((size, path)) = line.strip_prefix("blob ").and_then(|rest| rest.split_once(' ')) {
            let size: u64 = size.parse().unwrap_or_default();
            let known = largest.entry(path.to_owned()).or_default();
            *known = size.max(*known);
        }
    }
    largest
}

fn past_blob(path: &str, size: u64) -> Option<Finding> {
    (size > BLOB).then(|| Finding {
        rule: Rule::HistoryBlob,
        what: format!("{} KB in the history", size / 1024),
        help: "take the commit back before it is pushed: what is in the history is cloned by everybody".to_owned(),
        ..blob(path, size).expect("it is as large")
    })
}

fn blob(path: &str, size: u64) -> Option<Finding> {
    (size > BLOB).then(|| Finding {
        rule: Rule::Blob,
        subject: path.to_owned(),
        place: format!("{path}:1"),
        found: usize::try_from(size).unwrap_or(usize::MAX),
        allowed: BLOB as usize,
        what: format!("a file of {} KB", size / 1024),
        help: "keep tables and verdicts, pack raw documents, or make the file when it is needed".to_owned(),
    })
}

/// Flags that begin an entry of a table or list in more than one page: one of the two will be wrong one day.
fn flags<'a>(pages: impl Iterator<Item = (&'a str, String)>) -> Vec<Finding> {
    let mut entries: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for (path, text) in pages {
        for (number, line) in (1..).zip(text.lines()) {
            let Some(flag) = entry(line) else { continue };
            let places = entries.entry(flag.to_owned()).or_default();
            if !places.iter().any(|(page, _)| page == path) {
                places.push((path.to_owned(), number));
            }
        }
    }
    let twice = entries.into_iter().filter(|(_, places)| places.len() > 1);
    twice.map(|(flag, places)| documented_twice(&flag, &places)).collect()
}

fn documented_twice(flag: &str, places: &[(String, usize)]) -> Finding {
    let named: Vec<String> = places.iter().map(|(page, line)| format!("{page}:{line}")).collect();
    Finding {
        rule: Rule::FlagDocument,
        subject: flag.to_owned(),
        place: named[0].clone(),
        found: places.len(),
        allowed: 1,
        what: format!("{} pages document `{flag}`: {}", places.len(), named.join(" ")),
        help: "the reference is made from the table of flags: link to it".to_owned(),
    }
}

/// The flag that an entry of a table or of a list is about: `` | `--vus` … `` or `` - `-u`, `--vus` … ``.
fn entry(line: &str) -> Option<&str> {
    let cell = line.trim_start().strip_prefix(['|', '-', '*'])?.split('|').next()?;
    let mut codes = cell.trim_start().strip_prefix('`')?.split('`').step_by(2);
    let word = codes.find(|code| code.starts_with("--"))?.split([' ', '=']).next()?;
    (word.len() > 2).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_are_told() {
        assert_eq!(blob("a", 204_800), None);
        assert!(blob("a", 204_801).unwrap().to_string().starts_with("a:1: a file of 200 KB [blob a]"));
    }

    #[test]
    fn the_flag_of_an_entry_is_its_first() {
        assert_eq!(entry("| `-u`, `--vus <N>` | users |"), Some("--vus"));
        assert_eq!(entry("- `--out json=FILE`: as JSON"), Some("--out"));
        assert_eq!(entry("| users | `--vus` |"), None);
        assert_eq!(entry("With `--vus` users …"), None);
    }

    #[test]
    fn a_flag_is_documented_in_one_page() {
        let page = |name, text: &str| (name, text.to_owned());
        let pages = [page("a.md", "| `--vus` | x |\n| `--vus` | y |"), page("b.md", "text\n- `--vus`: z")];
        let found = flags(pages.into_iter());
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().starts_with("a.md:1: 2 pages document `--vus`: a.md:1 b.md:2"));
    }
}
