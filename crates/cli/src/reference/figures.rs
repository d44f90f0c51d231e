//! Ratios and microseconds that pages state are in `bench/results`, where they were measured.
//!
//! Read is what is written outside of examples: `0.6 to 0.9 ×`, `91 µs`. Whether a figure belongs to what its sentence
//! is about, a test cannot tell.

use std::collections::BTreeSet;
use std::path::Path;

use super::named::{files, root, text};

/// Figures that explain an example of output, by page.
const OF_EXAMPLES: [(&str, &str); 3] =
    [("docs/guides/matrix.md", "10 ×"), ("docs/guides/matrix.md", "503 ×"), ("docs/start/summary.md", "378.87 µs")];

/// What stands between the numbers of a range or of a list.
const BETWEEN: [&str; 5] = ["-", ", ", " to ", " and ", " or "];

/// The figures of a text: each number in front of a unit, with the unit.
fn figures(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for unit in ["×", "µs"] {
        for (at, _) in text.match_indices(unit) {
            let mut before = text[..at].strip_suffix(' ').unwrap_or(&text[..at]);
            while let Some(start) = number(before) {
                found.insert(format!("{} {unit}", &before[start..]));
                before = &before[..start];
                match BETWEEN.iter().find_map(|between| before.strip_suffix(between)) {
                    Some(rest) => before = rest,
                    None => break,
                }
            }
        }
    }
    found
}

/// Where the number begins that a text ends with.
fn number(text: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let digits = text.trim_end_matches(is_part).len();
    let start = digits + text[digits..].find(|c: char| c.is_ascii_digit())?;
    text.ends_with(|c: char| c.is_ascii_digit()).then_some(start)
}

/// A page without its examples.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

fn pages(folder: &Path) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    files(folder, ".md", &mut paths);
    let name = |path: &Path| path.strip_prefix(root()).unwrap_or(path).display().to_string();
    paths.iter().map(|path| (name(path), text(path))).collect()
}

#[test]
fn figures_of_pages_were_measured() {
    let measured: BTreeSet<_> =
        pages(&root().join("bench/results")).iter().flat_map(|(_, page)| figures(page)).collect();
    let mut stated = pages(&root().join("docs"));
    stated.retain(|(name, _)| !name.starts_with("docs/design/"));
    stated.push((String::from("README.md"), text(&root().join("README.md"))));
    let mut unknown = BTreeSet::new();
    for (name, page) in &stated {
        let figures = figures(&prose(page)).into_iter().filter(|figure| !measured.contains(figure));
        unknown.extend(figures.map(|figure| (name.clone(), figure)));
    }
    let listed = OF_EXAMPLES.map(|(page, figure)| (page.to_owned(), figure.to_owned())).into();
    let surprising: Vec<_> = unknown.symmetric_difference(&listed).collect();
    assert!(surprising.is_empty(), "in no page of bench/results, or listed for nothing: {surprising:?}");
}

/// The canary: the forms in which pages write figures.
#[test]
fn figures_are_found_in_every_form() {
    let found = |text: &str| figures(&prose(text)).into_iter().collect::<Vec<_>>().join("; ");
    assert_eq!(found("a GET at 0.6 to 0.9 × wrk's, 5 × k6"), "0.6 ×; 0.9 ×; 5 ×");
    assert_eq!(found("| 7,800 × | 26-34 µs, 1.5µs |"), "1.5 µs; 26 µs; 34 µs; 7,800 ×");
    assert_eq!(found("```\n3 × so\n```\nm × n, and 2025. × 4"), "");
}
