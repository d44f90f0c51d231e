//! From what a user typed to the runs of one side.
//!
//! `PATH[:NAME=VALUE,…][,PATH…]`: a path is a result (its directory or its `result.json`), a directory of results, or
//! the result of a matrix. Names after the colon choose by label or axis, of a matrix also by `variant`. What is chosen
//! by is no part of a run's cell, so that `m.json:tls=on` and `m.json:tls=off` pair by the other axes. A directory's
//! runs come in the order in which they were started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::evidence::{EvidenceRun, Side};
use super::matrix_runs;
use crate::document::{self, Document, FILE_NAME};

/// Names and values that runs must have.
pub(super) type Selector = BTreeMap<String, String>;

/// The label that pairs runs of different sides.
const ROUND: &str = "round";

/// Reads both sides. The message of an error names the file, what was found and what to do.
pub fn read_sides(a: &str, b: &str) -> Result<(Side, Side), String> {
    let (parts_a, parts_b) = (parts(a), parts(b));
    // What either side chose by is no part of a cell.
    let chosen: Vec<String> = parts_a.iter().chain(&parts_b).flat_map(|(_, names)| names.keys().cloned()).collect();
    let side = |name: &str, parts: &[(PathBuf, Selector)]| {
        let mut runs = Vec::new();
        for (path, selector) in parts {
            let found = runs_at(path, selector, &chosen)?;
            if found.is_empty() && !selector.is_empty() {
                return Err(format!("{}: no run has {}", path.display(), shown(selector)));
            }
            runs.extend(found);
        }
        Ok(Side { name: name.to_owned(), runs })
    };
    Ok((side(a, &parts_a)?, side(b, &parts_b)?))
}

/// Reads the runs of one side, a directory of results as a rule, as they were started.
pub fn read_runs(text: &str) -> Result<Vec<EvidenceRun>, String> {
    let (side, _) = read_sides(text, "")?;
    Ok(side.runs)
}

/// Paths with their selectors. A path that exists as it is written is taken so.
fn parts(text: &str) -> Vec<(PathBuf, Selector)> {
    if Path::new(text).exists() {
        return vec![(PathBuf::from(text), Selector::new())];
    }
    let mut parts: Vec<(PathBuf, Selector)> = Vec::new();
    for piece in text.split(',').filter(|piece| !piece.is_empty()) {
        let (path, pair) = match piece.rsplit_once(':').filter(|(path, pair)| !path.is_empty() && pair.contains('=')) {
            Some((path, pair)) => (Some(path), Some(pair)),
            // A further name of the path before.
            None if piece.contains('=') && !Path::new(piece).exists() && !parts.is_empty() => (None, Some(piece)),
            None => (Some(piece), None),
        };
        if let Some(path) = path {
            parts.push((PathBuf::from(path), Selector::new()));
        }
        let pair = pair.and_then(|pair| pair.split_once('='));
        if let (Some((name, value)), Some((_, selector))) = (pair, parts.last_mut()) {
            selector.insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }
    parts
}

fn runs_at(path: &Path, selector: &Selector, chosen: &[String]) -> Result<Vec<EvidenceRun>, String> {
    if path.is_dir() && !path.join(FILE_NAME).exists() {
        return directory(path, selector);
    }
    if let Some(runs) = matrix_runs::read(path, selector, chosen)? {
        return Ok(runs);
    }
    let run = single(path)?;
    Ok(if fits(&run, selector) { vec![run] } else { Vec::new() })
}

/// Results in the folders and files right inside, as they were started.
fn directory(path: &Path, selector: &Selector) -> Result<Vec<EvidenceRun>, String> {
    let failed = |error: std::io::Error| format!("cannot read the directory {}: {error}", path.display());
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let inside = entry.map_err(failed)?.path();
        let is_json = inside.extension().is_some_and(|extension| extension == "json");
        if inside.join(FILE_NAME).exists() || (is_json && inside.is_file()) {
            runs.push(single(&inside)?);
        }
    }
    if runs.is_empty() {
        return Err(format!(
            "{} holds no results: expected {FILE_NAME}, or directories written by 'onrush run --save'",
            path.display()
        ));
    }
    runs.retain(|run| fits(run, selector));
    runs.sort_by(|a, b| (started(a), &a.name).cmp(&(started(b), &b.name)));
    Ok(runs)
}

fn single(path: &Path) -> Result<EvidenceRun, String> {
    let document = document::read(path).map_err(|error| error.to_string())?;
    let round = document.labels.get(ROUND).cloned();
    Ok(EvidenceRun { name: path.display().to_string(), cell: BTreeMap::new(), round, result: Ok(document) })
}

fn started(run: &EvidenceRun) -> &str {
    run.result.as_ref().map_or("", |document: &Document| &document.started_at)
}

fn fits(run: &EvidenceRun, selector: &Selector) -> bool {
    let labels = run.result.as_ref().map(|document| &document.labels);
    selector.iter().all(|(name, value)| labels.is_ok_and(|labels| labels.get(name) == Some(value)))
}

pub(super) fn shown(selector: &Selector) -> String {
    selector.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_selectors_are_told_apart() {
        let found = |text: &str| {
            let parts = parts(text).into_iter();
            parts.map(|(path, names)| format!("{} {}", path.display(), shown(&names))).collect::<Vec<_>>()
        };
        assert_eq!(found("base"), ["base "]);
        assert_eq!(found("r/1,r/2,"), ["r/1 ", "r/2 "]);
        assert_eq!(found("m.json:variant=a"), ["m.json variant=a"]);
        assert_eq!(found("m.json:variant=a,size=1k"), ["m.json size=1k,variant=a"]);
        assert_eq!(found("all:variant=a,more:variant=b"), ["all variant=a", "more variant=b"]);
        assert_eq!(found("c:/x"), ["c:/x "]);
    }
}
