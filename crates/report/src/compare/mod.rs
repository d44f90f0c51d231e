//! Comparing results: what changed from A to B, with an interval and a verdict for each metric.
//!
//! Pure functions of result documents, but for `source`, which reads them. Evidence is gathered (`evidence`), numbers
//! are read from it (`measure`), the statistics answer (`crate::stats`), and `render` says it as text, Markdown, JSON
//! or JUnit XML. Ratios are compared by their logarithms; shares, and values that are 0 somewhere, by their difference.
//!
//! Of one run each, and of so few that pairs tell nothing, the seconds are compared (`seconds`). That is weaker: it
//! tells these runs apart, and says so.
//!
//! A comparison of matrices is over all cells, each run against its partner of the same cell and round, and in addition
//! within each cell. The verdict over all is the one that counts: among many cells some differ by chance.

mod condition;
mod defaults;
mod evidence;
mod matrix_runs;
mod measure;
pub mod render;
mod row;
mod seconds;
mod source;
mod warnings;

use std::collections::BTreeMap;

pub use condition::{Bound, Condition, ConditionOutcome};
pub use evidence::{EvidenceRun, LeftOut, Side};
pub use measure::{ComparedValue, GENERATOR_CPU, Source, Stat, Wanted};
pub use row::{ComparedMetric, JudgedCondition, Scale};
pub use seconds::SecondsUsed;
pub use source::{read_runs, read_sides};

use crate::document::Document;
use crate::stats::{Looks, MOST_PAIRS, Verdict, pairs_needed};
use evidence::Pair;
use row::Basis;
use seconds::FewRuns;

/// What can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Measures to judge; the usual ones when empty.
    pub wanted: Vec<Wanted>,
    /// Changes up to this share count as none: 0.02.
    pub margin: f64,
    /// Conditions that decide in place of the verdict.
    pub conditions: Vec<Condition>,
    /// Compare results even if they are of different machines.
    pub across_machines: bool,
    /// The comparison is asked for after each of at most so many pairs.
    pub most_pairs: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { wanted: Vec::new(), margin: 0.02, conditions: Vec::new(), across_machines: false, most_pairs: None }
    }
}

/// A finished comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Name of A and number of its runs.
    pub a: (String, usize),
    /// Name of B and number of its runs.
    pub b: (String, usize),
    /// The margin it was judged by.
    pub margin: f64,
    /// Over all pairs.
    pub all: ComparedCell,
    /// Within each cell, when there is more than one.
    pub cells: Vec<ComparedCell>,
    /// Conditions, in the order given.
    pub conditions: Vec<JudgedCondition>,
    /// Runs that are no evidence.
    pub left_out: Vec<LeftOut>,
    /// What may explain a difference.
    pub warnings: Vec<String>,
    /// Why so few runs have no answer from their seconds.
    pub no_seconds: Option<String>,
    /// Where pairs are looked at after each one.
    pub looks: Option<PairLooks>,
}

/// Pairs that were made until the answer was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairLooks {
    /// There would have been at most so many.
    pub most_pairs: usize,
    /// What ended it before it was decided, as far as it is known.
    pub ended_by: Option<String>,
}

/// The metrics of some pairs, judged together.
#[derive(Clone, Debug)]
pub struct ComparedCell {
    /// The cell; empty over all.
    pub cell: BTreeMap<String, String>,
    /// Number of pairs.
    pub pairs: usize,
    /// The seconds that are compared where there are too few pairs.
    pub seconds: Option<SecondsUsed>,
    /// The fewest pairs with which this many metrics can be judged at all.
    pub pairs_needed: usize,
    /// Metrics with a verdict.
    pub judged: Vec<ComparedMetric>,
    /// Metrics without.
    pub shown: Vec<ComparedMetric>,
    /// The verdict over the metrics.
    pub verdict: Verdict,
}

/// What a comparison comes to for a program that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Nothing is worse.
    SameOrBetter,
    /// Something is.
    Worse,
    /// Not enough evidence.
    CannotTell,
}

/// Compares B with A. Refuses, saying why, what cannot be compared at all.
pub fn compare(a: &Side, b: &Side, settings: &Settings) -> Result<Comparison, String> {
    if let Some(why) = evidence::machines(a, b).filter(|_| !settings.across_machines) {
        return Err(why);
    }
    let evidence = evidence::gather(a, b)?;
    if evidence.pairs.len() > MOST_PAIRS {
        return Err(format!("found {} pairs of runs, expected at most {MOST_PAIRS}", evidence.pairs.len()));
    }
    let documents: Vec<&Document> = evidence.pairs.iter().flat_map(|pair| [pair.a, pair.b]).collect();
    let judged = measures(&settings.wanted, &documents)?;
    let shown = if settings.wanted.is_empty() { defaults::shown(&documents) } else { Vec::new() };
    let section = |cell, basis: Basis<'_>, one_cell| {
        let judged = row::judged(&judged, basis, settings.margin, one_cell);
        let tests = judged.iter().filter(|row| row.is_test()).count();
        let verdict = over_all(&judged);
        let shown = row::shown(&shown, basis, one_cell);
        let (pairs, seconds) = (basis.pairs.len(), basis.seconds.map(FewRuns::used));
        let pairs_needed = match settings.most_pairs {
            Some(most_pairs) => {
                Looks { most_pairs, tests: judged.len() }.fewest_pairs().unwrap_or(pairs_needed(judged.len()))
            }
            None => pairs_needed(tests),
        };
        ComparedCell { cell, pairs, seconds, pairs_needed, judged, shown, verdict }
    };
    let by_cell = by_cell(&evidence.pairs);
    let one_cell = by_cell.len() <= 1;
    let several = by_cell.iter().filter(|_| !one_cell);
    let most_pairs = settings.most_pairs;
    let cells = several
        .map(|(cell, pairs)| section((*cell).clone(), Basis { pairs, seconds: None, most_pairs }, true))
        .collect();
    let is_few = most_pairs.is_none() && (1..pairs_needed(1)).contains(&evidence.pairs.len());
    let few = is_few.then(|| FewRuns::new(&evidence.pairs));
    let (seconds, no_seconds) = match &few {
        Some(Ok(few)) => (Some(few), None),
        Some(Err(why)) => (None, Some(why.clone())),
        None => (None, None),
    };
    let basis = Basis { pairs: &evidence.pairs, seconds, most_pairs };
    Ok(Comparison {
        a: (a.name.clone(), a.runs.len()),
        b: (b.name.clone(), b.runs.len()),
        margin: settings.margin,
        all: section(BTreeMap::new(), basis, one_cell),
        cells,
        conditions: row::judge_conditions(&settings.conditions, basis)?,
        left_out: evidence.left_out,
        warnings: evidence.warnings,
        no_seconds,
        looks: most_pairs.map(|most_pairs| PairLooks { most_pairs, ended_by: None }),
    })
}

impl Comparison {
    /// Whether further pairs have nothing left to tell: every metric, or every condition, has its answer.
    pub fn is_decided(&self) -> bool {
        match self.conditions.is_empty() {
            true => {
                let judged = &self.all.judged;
                !judged.is_empty() && judged.iter().all(|row| row.verdict != Some(Verdict::CannotTell))
            }
            false => self.conditions.iter().all(|condition| condition.outcome != ConditionOutcome::CannotTell),
        }
    }

    /// Conditions decide where there are some, else the verdict over all.
    pub fn conclusion(&self) -> Conclusion {
        let any = |outcome| self.conditions.iter().any(|condition| condition.outcome == outcome);
        match self.all.verdict {
            _ if any(ConditionOutcome::Fails) => Conclusion::Worse,
            _ if any(ConditionOutcome::CannotTell) => Conclusion::CannotTell,
            _ if !self.conditions.is_empty() => Conclusion::SameOrBetter,
            Verdict::Worse => Conclusion::Worse,
            Verdict::Better | Verdict::Same => Conclusion::SameOrBetter,
            Verdict::Different | Verdict::CannotTell => Conclusion::CannotTell,
        }
    }
}

/// The named measures, or the usual ones. Without any evidence nothing can be looked up, and nothing is.
pub fn measures(wanted: &[Wanted], documents: &[&Document]) -> Result<Vec<ComparedValue>, String> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    if wanted.is_empty() {
        return Ok(defaults::judged(documents));
    }
    let mut measures: Vec<ComparedValue> = Vec::new();
    for one in wanted {
        for measure in one.resolve(documents)? {
            // A metric named twice would be two tests.
            if !measures.iter().any(|known| known.source == measure.source) {
                measures.push(measure);
            }
        }
    }
    Ok(measures)
}

/// Worse where anything is; the same only where everything is.
fn over_all(rows: &[ComparedMetric]) -> Verdict {
    let any = |verdict| rows.iter().any(|row| row.verdict == Some(verdict));
    let order = [Verdict::Worse, Verdict::Different, Verdict::Better, Verdict::CannotTell, Verdict::Same];
    order.into_iter().find(|verdict| any(*verdict)).unwrap_or(Verdict::CannotTell)
}

fn by_cell<'a>(pairs: &[Pair<'a>]) -> BTreeMap<&'a BTreeMap<String, String>, Vec<Pair<'a>>> {
    let mut cells: BTreeMap<_, Vec<Pair<'a>>> = BTreeMap::new();
    for pair in pairs {
        cells.entry(pair.cell).or_default().push(*pair);
    }
    cells
}
