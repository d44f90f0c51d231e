//! What may explain a difference between two sides without being one: order, options, length, machine.
//!
//! None of it forbids a comparison, since sometimes it is the very thing compared; all of it has misled people.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use units::show::percent;

use super::evidence::{Pair, different};
use crate::document::{Document, OneSided};

/// Runs of a pair may differ in length by this share before Onrush warns.
const LENGTHS_APART: f64 = 0.1;
/// As `engine::judge` has it.
const SHORTEST_JUDGED_S: f64 = 1.0;

/// One line each.
pub fn warnings(pairs: &[Pair<'_>]) -> Vec<String> {
    let found = [
        order(pairs),
        lengths(pairs),
        short(pairs),
        accepted(pairs),
        doubtful(pairs),
        one_sided(pairs),
        options(pairs),
        changed(pairs),
        scripts(pairs),
        versions(pairs),
        cores(pairs),
        steal(pairs),
        throttled(pairs),
    ];
    found.into_iter().flatten().collect()
}

/// Without turns, a machine that becomes slower looks like a slower variant.
fn order(pairs: &[Pair<'_>]) -> Option<String> {
    // RFC 3339 in UTC with a fixed number of digits sorts as text.
    let a_first = pairs.iter().filter(|pair| pair.a.started_at < pair.b.started_at).count();
    if pairs.len() < 2 || (a_first != 0 && a_first != pairs.len()) {
        return None;
    }
    let (first, second) = if a_first == 0 { ("B", "A") } else { ("A", "B") };
    let starts = pairs.iter().map(|pair| (&pair.a.started_at, &pair.b.started_at));
    let (early, late): (Vec<_>, Vec<_>) = starts.map(|(a, b)| if a_first == 0 { (b, a) } else { (a, b) }).unzip();
    if early.iter().max() < late.iter().min() {
        return Some(format!(
            "all runs of {first} were made before the first of {second}: a machine that became slower or faster \
             meanwhile looks like a difference; run them by turns, A B B A"
        ));
    }
    (pairs.len() >= 4).then(|| {
        format!(
            "in every pair {first} ran before {second}: what the first leaves behind for the second looks like a \
             difference; change the order from pair to pair, A B B A"
        )
    })
}

fn lengths(pairs: &[Pair<'_>]) -> Option<String> {
    let (a, b) = pairs
        .iter()
        .map(|pair| (pair.a.duration_s, pair.b.duration_s))
        .find(|(a, b)| (a - b).abs() > LENGTHS_APART * a.max(*b))?;
    Some(format!("runs of a pair lasted different times, such as {a:.1} s and {b:.1} s"))
}

/// The generator judges itself only over a second or more: nobody knows whether it was the limit of a shorter run.
fn short(pairs: &[Pair<'_>]) -> Option<String> {
    let short = |document: &&Document| document.generator.too_short || document.duration_s < SHORTEST_JUDGED_S;
    let runs = pairs.iter().flat_map(|pair| [pair.a, pair.b]).filter(short).count();
    (runs > 0).then(|| {
        format!(
            "{runs} of {} runs lasted less than a second: whether the generator was their limit is not known",
            2 * pairs.len()
        )
    })
}

/// Runs that count because somebody said so.
fn accepted(pairs: &[Pair<'_>]) -> Option<String> {
    let runs = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let accepted: Vec<String> = runs.filter_map(|document| document.generator.accepted()).collect();
    let first = accepted.first()?;
    Some(format!("{} of {} runs: {first}", accepted.len(), 2 * pairs.len()))
}

/// Runs that count although some of their figures are in doubt, with the causes.
fn doubtful(pairs: &[Pair<'_>]) -> Option<String> {
    let runs = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let doubts: Vec<String> = runs.filter_map(|document| document.generator.doubt()).collect();
    let first = doubts.first()?;
    Some(format!("{} of {} runs are in doubt: {first}", doubts.len(), 2 * pairs.len()))
}

/// Runs whose figures are known from one side: a difference of such figures may be larger or smaller than it looks.
fn one_sided(pairs: &[Pair<'_>]) -> Option<String> {
    let runs = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let known: Vec<&OneSided> =
        runs.filter_map(|document| document.generator.judgement.as_ref()?.one_sided.first()).collect();
    let first = known.first()?;
    Some(format!("in {} of {} runs {}", known.len(), 2 * pairs.len(), first.sentence()))
}

fn options(pairs: &[Pair<'_>]) -> Option<String> {
    let mut names = BTreeSet::new();
    for pair in pairs {
        let (Some(a), Some(b)) = (pair.a.options.as_object(), pair.b.options.as_object()) else { continue };
        // An option that is null was not set: matrices leave it out.
        let set =
            |options: &Map<String, Value>, name: &str| options.get(name).filter(|value| !value.is_null()).cloned();
        names.extend(a.keys().chain(b.keys()).filter(|name| set(a, name) != set(b, name)).cloned());
    }
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| format!("the options of A and B differ in {}", names.join(", ")))
}

/// Options are those of before: what clients made of the load meanwhile is not in them.
fn changed(pairs: &[Pair<'_>]) -> Option<String> {
    let runs = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let changed = runs.filter(|document| !document.load_changes.is_empty()).count();
    (changed > 0).then(|| format!("the load of {changed} of {} runs was changed while they ran", 2 * pairs.len()))
}

fn scripts(pairs: &[Pair<'_>]) -> Option<String> {
    let pair = pairs.iter().find(|pair| pair.a.script != pair.b.script)?;
    Some(format!("A ran {} and B ran {}", pair.a.script, pair.b.script))
}

fn versions(pairs: &[Pair<'_>]) -> Option<String> {
    let versions: Vec<String> = different(pairs, |document| document.onrush.clone()).into_iter().collect();
    (versions.len() > 1).then(|| format!("the runs were made by different versions of onrush: {}", versions.join(", ")))
}

fn cores(pairs: &[Pair<'_>]) -> Option<String> {
    let sets = different(pairs, |document| document.environment.allowed_cores.clone());
    (sets.len() > 1).then(|| {
        let sets: Vec<String> = sets.iter().map(|set| format!("{set:?}")).collect();
        format!("the generator was not on the same cores in all runs: {}", sets.join(", "))
    })
}

fn steal(pairs: &[Pair<'_>]) -> Option<String> {
    let documents = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let most = documents.filter_map(|document| document.environment.notable_steal()).reduce(f64::max)?;
    Some(format!("the hypervisor took up to {} of the machine's CPU time away during a run", percent(most, 0)))
}

fn throttled(pairs: &[Pair<'_>]) -> Option<String> {
    let documents = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    let runs = documents.filter(|document| document.environment.was_throttled()).count();
    (runs > 0).then(|| {
        format!("the CPU limit of its control group held the generator up in {runs} of {} runs", 2 * pairs.len())
    })
}
