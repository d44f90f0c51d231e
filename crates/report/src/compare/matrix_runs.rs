//! The runs of a matrix's result, each with its cell.
//!
//! A run without a result stays in the list, with the reason: it must not vanish silently. Axes and the variant that a
//! side was chosen by are left out of the cell, so that its runs find their partners.

use std::path::Path;

use serde::Deserialize;

use super::evidence::EvidenceRun;
use super::source::Selector;
use crate::document::{Cause, Document, Generator};
use crate::matrix::document::{self, KIND, MatrixDocument, RunRecord};
use crate::matrix::plan::Pin;

/// The axis that every matrix has.
const VARIANT: &str = "variant";

#[derive(Deserialize)]
struct KindOnly {
    kind: Option<String>,
}

/// The runs that fit the selector; none when the file is no matrix.
pub fn read(path: &Path, selector: &Selector, chosen: &[String]) -> Result<Option<Vec<EvidenceRun>>, String> {
    // Errors of other kinds of files are reported by their readers.
    let head = document::text(path).ok().and_then(|text| serde_json::from_str::<KindOnly>(&text).ok());
    if head.and_then(|head| head.kind).as_deref() != Some(KIND) {
        return Ok(None);
    }
    let matrix = document::read(path)?;
    check_names(&matrix, path, selector)?;
    let fitting = matrix.runs.into_iter().filter(|run| fits(run, selector));
    let pin = &matrix.plan.pin;
    Ok(Some(fitting.map(|run| into_run(run, path, chosen, pin)).collect()))
}

/// An unknown axis would choose nothing, so it is refused.
fn check_names(matrix: &MatrixDocument, path: &Path, selector: &Selector) -> Result<(), String> {
    let Some(first) = matrix.runs.first() else { return Err(format!("{}: the matrix has no runs", path.display())) };
    let unknown = selector.keys().find(|name| *name != VARIANT && !first.axes.contains_key(*name));
    unknown.map_or(Ok(()), |name| {
        let axes: Vec<&str> = first.axes.keys().map(String::as_str).chain([VARIANT]).collect();
        Err(format!("{}: found no axis '{name}', expected one of {}", path.display(), axes.join(", ")))
    })
}

fn fits(run: &RunRecord, selector: &Selector) -> bool {
    selector.iter().all(|(name, value)| match name.as_str() {
        VARIANT => run.variant == *value,
        name => run.axes.get(name) == Some(value),
    })
}

fn into_run(run: RunRecord, path: &Path, chosen: &[String], pin: &Pin) -> EvidenceRun {
    let limit = run.limit(pin);
    let mut cell = run.axes;
    let axes: String = cell.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    let name = format!("{}: {axes}{} round {}", path.display(), run.variant, run.round);
    // Where nobody chose by it, the variant is an axis like the others.
    cell.insert(VARIANT.to_owned(), run.variant);
    cell.retain(|axis, _| !chosen.contains(axis));
    let result = match (run.outcome, run.result) {
        // The matrix wrote the script itself, another file for each run; what is in it the plan says.
        (document::Outcome::Ok, Some(result)) => {
            Ok(Document { generator: judged(result.generator, limit), script: String::new(), ..result })
        }
        (document::Outcome::Ok, None) => {
            Err(String::from("its load was another program's, which left no result document"))
        }
        (document::Outcome::Failed, _) => Err(format!("its load failed: {}", run.reason.unwrap_or_default())),
        (document::Outcome::Dead, _) => Err(format!("its server died: {}", run.reason.unwrap_or_default())),
    };
    EvidenceRun { name, cell, round: Some(run.round.to_string()), result }
}

/// What the matrix knows of a generator and its own result does not say, so that `compare` and `table` judge a run
/// alike: pinned cores that it filled in a run too short to judge itself.
fn judged(generator: Generator, limit: Option<Cause>) -> Generator {
    if limit.is_none() || generator.saturated {
        return generator;
    }
    let complaint = Some(String::from("the generator was the limit: it filled the cores that the plan gave it"));
    Generator { saturated: true, cause: limit, complaint, ..generator }
}
