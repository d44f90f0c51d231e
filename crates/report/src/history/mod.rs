//! The runs of a folder one after the other: a measure over them, and where its level changed.
//!
//! Pure: runs come in as documents. A run whose generator was the limit is shown and counts for no change, because it
//! tells of the generator. Changes are those of `stats::changes`, which takes six runs at least; one slow run is none.
//! Levels of different scripts or machines are no history: the caller chooses runs by label, and what differs is said.

mod answer;
mod page;
mod text;

use std::collections::BTreeSet;

pub use answer::{HistoryAnswer, json};
pub use page::page;
pub use text::text;

use crate::compare::{ComparedValue, EvidenceRun, Wanted, measures};
use crate::document::{Contains, Document};
use crate::stats::{Direction, change_points, median};

/// Runs that changes can be looked for in, at least.
pub const FEWEST: usize = 6;

/// Many runs.
#[derive(Clone, Debug)]
pub struct History {
    /// As they were started.
    pub runs: Vec<PastRun>,
    /// What is looked at.
    pub measures: Vec<PastMeasure>,
    /// What may explain a change.
    pub warnings: Vec<String>,
}

/// One run.
#[derive(Clone, Debug)]
pub struct PastRun {
    /// Its file or folder.
    pub name: String,
    /// When its clock started.
    pub started_at: String,
    /// Its exit code: 0 is passed.
    pub exit: u8,
    /// Why it counts for no change; none where it does.
    pub left_out: Option<String>,
}

/// A measure over the runs.
#[derive(Clone, Debug)]
pub struct PastMeasure {
    /// What it is.
    pub measure: ComparedValue,
    /// What its values are.
    pub contains: Contains,
    /// A value of each run.
    pub values: Vec<Option<f64>>,
    /// Where its level changed.
    pub changes: Vec<LevelChange>,
}

/// A new level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelChange {
    /// The first run of it.
    pub run: usize,
    /// Median of the runs of the level before.
    pub before: f64,
    /// Median of its own runs.
    pub after: f64,
    /// Whether that is better; none where nobody said which way is good.
    pub is_better: Option<bool>,
}

/// The history of these runs by these measures, the usual ones when none are named.
pub fn history(runs: &[EvidenceRun], wanted: &[Wanted]) -> Result<History, String> {
    let read = |run: &EvidenceRun| run.result.clone().ok().map(|document| (run.name.clone(), document));
    let documents: Vec<(String, Document)> = runs.iter().filter_map(read).collect();
    let all: Vec<&Document> = documents.iter().map(|(_, document)| document).collect();
    let past = documents.iter().map(|(name, document)| PastRun {
        name: name.clone(),
        started_at: document.started_at.clone(),
        exit: document.exit.code,
        left_out: document.generator.limit().map(|cause| cause.text().to_owned()),
    });
    let past: Vec<PastRun> = past.collect();
    let counts: Vec<bool> = past.iter().map(|run| run.left_out.is_none()).collect();
    let measured = measures(wanted, &all)?.into_iter().map(|measure| PastMeasure::new(measure, &all, &counts));
    Ok(History { measures: measured.collect(), warnings: warnings(&all), runs: past })
}

fn warnings(documents: &[&Document]) -> Vec<String> {
    let several = |what: &str, of: &dyn Fn(&Document) -> String| {
        let found: BTreeSet<String> = documents.iter().map(|document| of(document)).collect();
        (found.len() > 1).then(|| format!("these runs are of {} {what}", found.len()))
    };
    let scripts = several("scripts: choose by label, as in DIR:script=shop", &|document| document.script.clone());
    let machines = several("machines, whose figures differ", &|document| document.environment.machine_id.clone());
    [scripts, machines].into_iter().flatten().collect()
}

impl PastMeasure {
    fn new(measure: ComparedValue, documents: &[&Document], counts: &[bool]) -> PastMeasure {
        let values: Vec<Option<f64>> = documents.iter().map(|document| measure.of(document)).collect();
        let contains = documents.last().map_or(Contains::Default, |document| measure.contains(document));
        let known: Vec<(usize, f64)> =
            values.iter().enumerate().filter_map(|(run, value)| Some((run, (*value)?))).collect();
        let known: Vec<(usize, f64)> = known.into_iter().filter(|(run, _)| counts[*run]).collect();
        let changes = if known.len() < FEWEST { Vec::new() } else { changes(&known, measure.direction) };
        PastMeasure { measure, contains, values, changes }
    }
}

/// Changes by ratio where all values have one.
fn changes(known: &[(usize, f64)], direction: Direction) -> Vec<LevelChange> {
    let has_ratio = known.iter().all(|(_, value)| *value > 0.0);
    let series: Vec<f64> = known.iter().map(|(_, value)| if has_ratio { value.ln() } else { *value }).collect();
    let points = change_points(&series);
    let ends = |at: usize| points.get(at).copied().unwrap_or(known.len());
    let level = |from: usize, to: usize| median(known[from..to].iter().map(|(_, value)| *value)).unwrap_or(0.0);
    let change = |(at, point): (usize, &usize)| {
        let start = if at == 0 { 0 } else { points[at - 1] };
        let (before, after) = (level(start, *point), level(*point, ends(at + 1)));
        let is_better = match direction {
            Direction::Higher => Some(after > before),
            Direction::Lower => Some(after < before),
            Direction::Unknown => None,
        };
        LevelChange { run: known[*point].0, before, after, is_better }
    };
    points.iter().enumerate().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64], direction: Direction) -> Vec<LevelChange> {
        let known: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
        changes(&known, direction)
    }

    #[test]
    fn a_level_that_stays_is_a_change_and_one_slow_run_is_none() {
        let noise = [1.0, 1.02, 0.99, 1.01, 0.98, 1.0, 1.015, 0.985];
        let slower: Vec<f64> = (0..24).map(|run| noise[run % 8] * if run < 14 { 10.0 } else { 13.0 }).collect();
        let changes = found(&slower, Direction::Lower);
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!((changes[0].run, changes[0].is_better), (14, Some(false)));
        assert!((changes[0].after / changes[0].before - 1.3).abs() < 0.03);
        assert_eq!(found(&slower, Direction::Higher)[0].is_better, Some(true));
        let mut once = slower[..14].to_vec();
        once[7] = 40.0;
        assert_eq!(found(&once, Direction::Lower), []);
    }
}
