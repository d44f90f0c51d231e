//! Which runs count as evidence, and which belong together.
//!
//! A run whose generator was the limit says nothing about the target, one that broke off says too little: both are left
//! out by name, with their partner. Results of different machines must not be compared at all unless somebody insists.
//! What may explain a difference without being one (other options, another order) becomes a warning.
//!
//! Runs are paired by cell and round where they have them, else by the order they were given in.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::requests;
use crate::document::{Cause, Document, Generator};

/// One run as it was given.
#[derive(Clone, Debug)]
pub struct EvidenceRun {
    /// Where it came from: a path, or the place in a matrix.
    pub name: String,
    /// The axes of its matrix cell that were not chosen by; empty for single results.
    pub cell: BTreeMap<String, String>,
    /// Its round, when it says so.
    pub round: Option<String>,
    /// The result, or why there is none.
    pub result: Result<Document, String>,
}

/// One of the two things to compare.
#[derive(Clone, Debug)]
pub struct Side {
    /// As the user named it.
    pub name: String,
    /// Its runs.
    pub runs: Vec<EvidenceRun>,
}

impl Side {
    /// A side of one run.
    pub fn single(name: &str, document: Document) -> Side {
        let run = EvidenceRun { name: name.to_owned(), cell: BTreeMap::new(), round: None, result: Ok(document) };
        Side { name: name.to_owned(), runs: vec![run] }
    }

    /// Lets runs count whose generator was late or the limit; the comparison says so.
    pub fn accept_late(&mut self) {
        for document in self.runs.iter_mut().filter_map(|run| run.result.as_mut().ok()) {
            document.generator.accept();
        }
    }
}

/// A run that is no evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The run.
    pub run: String,
    /// Why.
    pub why: String,
    /// What to do about it; empty when there is nothing.
    pub advice: String,
    /// The run that is left out with it, though it would count.
    pub partner: Option<String>,
}

/// Two runs of one cell and round.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The cell they ran in.
    pub cell: &'a BTreeMap<String, String>,
    /// Of A.
    pub a: &'a Document,
    /// Of B.
    pub b: &'a Document,
}

/// What is left to compare.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'a> {
    /// The pairs, by cell.
    pub pairs: Vec<Pair<'a>>,
    /// Runs that do not count.
    pub left_out: Vec<LeftOut>,
    /// What may explain a difference.
    pub warnings: Vec<String>,
}

/// Pairs the runs and leaves out what is no evidence. Refuses sides that cannot be paired.
pub fn gather<'a>(a: &'a Side, b: &'a Side) -> Result<Evidence<'a>, String> {
    let mut evidence = Evidence::default();
    for (first, second) in partners(a, b, &mut evidence.left_out)? {
        match (judged(first), judged(second)) {
            (Ok(a), Ok(b)) => evidence.pairs.push(Pair { cell: &first.cell, a, b }),
            (Ok(_), Err(second)) => evidence.left_out.push(LeftOut { partner: Some(first.name.clone()), ..second }),
            (Err(first), Ok(_)) => evidence.left_out.push(LeftOut { partner: Some(second.name.clone()), ..first }),
            (Err(first), Err(second)) => evidence.left_out.extend([first, second]),
        }
    }
    evidence.warnings = super::warnings::warnings(&evidence.pairs);
    Ok(evidence)
}

/// Results of more than one machine, as a reason not to compare them.
pub fn machines(a: &Side, b: &Side) -> Option<String> {
    let runs = a.runs.iter().chain(&b.runs).filter_map(|run| Some((run, run.result.as_ref().ok()?)));
    let mut first_of: BTreeMap<&str, &EvidenceRun> = BTreeMap::new();
    for (run, document) in runs {
        first_of.entry(&document.environment.machine_id).or_insert(run);
    }
    let mut names = first_of.values().map(|run| run.name.as_str());
    let (first, second) = (names.next()?, names.next()?);
    Some(format!(
        "results of {} machines cannot be compared: {first} and {second} are of different ones (machine_id), and the \
         machine may be the difference; run both on one, or use --across-machines",
        first_of.len()
    ))
}

type Partners<'a> = Vec<(&'a EvidenceRun, &'a EvidenceRun)>;

fn partners<'a>(a: &'a Side, b: &'a Side, left_out: &mut Vec<LeftOut>) -> Result<Partners<'a>, String> {
    for side in [a, b] {
        if side.runs.is_empty() {
            return Err(format!("{} holds no runs", side.name));
        }
    }
    let by_round = a.runs.iter().chain(&b.runs).all(|run| run.round.is_some());
    if by_round { by_cell_and_round(a, b, left_out) } else { by_order(a, b) }
}

fn by_order<'a>(a: &'a Side, b: &'a Side) -> Result<Partners<'a>, String> {
    let (of_a, of_b) = (a.runs.len(), b.runs.len());
    if of_a != of_b {
        return Err(format!(
            "found {of_a} runs in {} and {of_b} in {}, expected as many of each, run by turns, so that each has its \
             partner; where a run is missing, give all of them a --label round=N",
            a.name, b.name
        ));
    }
    Ok(a.runs.iter().zip(&b.runs).collect())
}

fn by_cell_and_round<'a>(a: &'a Side, b: &'a Side, left_out: &mut Vec<LeftOut>) -> Result<Partners<'a>, String> {
    let (of_a, of_b) = (by_key(a)?, by_key(b)?);
    let missing = |runs: &BTreeMap<Key<'a>, &'a EvidenceRun>,
                   others: &BTreeMap<Key<'a>, &'a EvidenceRun>,
                   side: &Side| {
        let without = runs.iter().filter(|(key, _)| !others.contains_key(*key));
        let why = format!("{} has no run of its round", side.name);
        without
            .map(|(_, run)| LeftOut { run: run.name.clone(), why: why.clone(), advice: String::new(), partner: None })
            .collect::<Vec<_>>()
    };
    left_out.extend(missing(&of_a, &of_b, b));
    left_out.extend(missing(&of_b, &of_a, a));
    Ok(of_a.iter().filter_map(|(key, run)| Some((*run, *of_b.get(key)?))).collect())
}

/// Cell and round; rounds that are numbers come in their order.
type Key<'a> = (&'a BTreeMap<String, String>, (u64, &'a str));

fn by_key(side: &Side) -> Result<BTreeMap<Key<'_>, &EvidenceRun>, String> {
    let mut runs: BTreeMap<Key<'_>, &EvidenceRun> = BTreeMap::new();
    for run in &side.runs {
        let round = run.round.as_deref().unwrap_or_default();
        if let Some(other) = runs.insert((&run.cell, (round.parse().unwrap_or(u64::MAX), round)), run) {
            return Err(format!(
                "{} and {} are both round {round} of {}: choose one side's runs more precisely, as in {}:variant=NAME",
                other.name,
                run.name,
                side.name,
                side.name.split(':').next().unwrap_or_default()
            ));
        }
    }
    Ok(runs)
}

/// The result of a run that counts.
fn judged(run: &EvidenceRun) -> Result<&Document, LeftOut> {
    let left_out = |why: String, advice| LeftOut { run: run.name.clone(), why, advice, partner: None };
    let document = run.result.as_ref().map_err(|why| left_out(why.clone(), String::new()))?;
    match objection(document) {
        None => Ok(document),
        Some((why, advice)) => Err(left_out(why, advice)),
    }
}

/// Why a run is no evidence, and what to do.
fn objection(document: &Document) -> Option<(String, String)> {
    // A test whose thresholds failed, or that called itself failed, ran to its end all the same.
    const WHOLE: [u8; 3] = [0, 99, 110];
    if let Some(cause) = document.generator.limit() {
        let Generator { complaint, advice, .. } = document.generator.clone();
        let why = complaint.unwrap_or_else(|| String::from("the generator was the limit"));
        // Older results have no advice of their own.
        return Some((why, advice.unwrap_or_else(|| usual_advice(cause).to_owned())));
    }
    if !WHOLE.contains(&document.exit.code) {
        let reason = document.exit.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        return Some((
            format!("it ended early with exit code {}{reason}", document.exit.code),
            String::from("run it again to its end"),
        ));
    }
    if requests(document).is_none() {
        return Some((
            String::from("it made no request and ended no iteration"),
            String::from("check that the target answers and that the run is long enough"),
        ));
    }
    None
}

fn usual_advice(cause: Cause) -> &'static str {
    match cause {
        Cause::Busy => {
            "give the generator more cores (--workers) or a core of its own, or fewer virtual users, so that the \
             target is the limit"
        }
        Cause::HeldUp | Cause::LateStarts => {
            "end what else runs on the machine, or give generator and target cores of their own; --accept-late counts \
             such runs"
        }
    }
}

/// All different values of what `of` reads from the pairs' results.
pub(super) fn different<T: Ord>(pairs: &[Pair<'_>], of: impl Fn(&Document) -> T) -> BTreeSet<T> {
    pairs.iter().flat_map(|pair| [of(pair.a), of(pair.b)]).collect()
}
