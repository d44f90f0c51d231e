//! The sentences and numbers of a comparison, the same in every format.

use std::collections::{BTreeMap, BTreeSet};

use units::show;

use crate::compare::{
    ComparedCell, ComparedMetric, Comparison, JudgedCondition, LeftOut, PairLooks, Scale, SecondsUsed,
};
use crate::document::Contains;
use crate::stats::within::{BLOCKS, RUN_TO_RUN, RUN_TO_RUN_POINTS};
use crate::stats::{CONFIDENCE, Estimate, Verdict, pairs_needed};

/// More pairs than this are not worth naming a number for.
const MANY_PAIRS: usize = 1000;

/// Columns of a table of metrics; A and B are left out where they would mean nothing. The change is no ratio of the two
/// columns before it, and says what it is.
pub fn columns(section: &ComparedCell) -> Vec<&'static str> {
    let (a, b, change) = match section {
        ComparedCell { seconds: Some(_), pairs: 1, .. } => ("A, whole run", "B, whole run", "change, median of blocks"),
        ComparedCell { seconds: Some(_), .. } => ("A, median", "B, median", "change, median of blocks"),
        ComparedCell { pairs: 1, .. } => ("A", "B", "change"),
        _ => ("A, median", "B, median", "change, median of pairs"),
    };
    let values = [a, b].into_iter().filter(|_| has_values(section));
    ["metric"].into_iter().chain(values).chain([change, "95 % interval", "p", "verdict"]).collect()
}

/// The cells of one line of that table.
pub fn cells(row: &ComparedMetric, section: &ComparedCell) -> Vec<String> {
    let mut cells = vec![row.measure.to_string()];
    if has_values(section) {
        let (a, b) = row.medians.map_or((dash(), dash()), |(a, b)| (value(a, row), value(b, row)));
        cells.extend([a, b]);
    }
    let none = row.values.is_empty();
    cells.push(if none { dash() } else { change(row.estimate.center, row.scale, row.contains) });
    cells.push(interval(&row.estimate, row.scale, row.contains));
    cells.push(row.adjusted_p.filter(|_| !none).map_or(dash(), p_value));
    cells.push(row.verdict.map_or("not judged", Verdict::name).to_owned());
    cells
}

fn has_values(section: &ComparedCell) -> bool {
    section.judged.iter().chain(&section.shown).any(|row| row.medians.is_some())
}

fn dash() -> String {
    String::from("-")
}

/// `-0.5 %`, `+0.10 points`, `+3.2ms`.
pub fn change(size: f64, scale: Scale, contains: Contains) -> String {
    match scale {
        Scale::Ratio => format!("{} %", signed(size.exp_m1() * 100.0)),
        Scale::Points => format!("{} points", signed(size * 100.0)),
        Scale::Plain => {
            let sign = if size < 0.0 { '-' } else { '+' };
            format!("{sign}{}", plain(size.abs(), contains))
        }
    }
}

/// The 95 % interval on the same scale.
pub fn interval(estimate: &Estimate, scale: Scale, contains: Contains) -> String {
    let Some((low, high)) = estimate.interval else { return dash() };
    let (low, high) = (change(low, scale, contains), change(high, scale, contains));
    // The unit once.
    let low = low.strip_suffix(" %").or(low.strip_suffix(" points")).unwrap_or(&low);
    format!("{low} … {high}")
}

fn signed(number: f64) -> String {
    // No change of -0.00 %.
    if number.abs() < 0.005 {
        return String::from("0");
    }
    if number.abs() >= 9.995 { format!("{number:+.1}") } else { format!("{number:+.2}") }
}

/// A p-value; no more digits than mean something.
pub fn p_value(p: f64) -> String {
    if p < 0.0001 { String::from("<0.0001") } else { format!("{p:.4}") }
}

fn value(value: f64, row: &ComparedMetric) -> String {
    if row.measure.is_share() { show::percent(value, 2) } else { plain(value, row.contains) }
}

fn plain(value: f64, contains: Contains) -> String {
    match contains {
        Contains::Time => show::time(value),
        Contains::Data => show::bytes(value),
        Contains::Default if value.abs() >= 1000.0 => format!("{value:.0}"),
        Contains::Default if value.abs() >= 10.0 => format!("{value:.1}"),
        Contains::Default => show::number((value * 1e4).round() / 1e4),
    }
}

/// A metric, its change and the interval of that; or why there is none.
pub fn row(row: &ComparedMetric) -> String {
    if row.estimate.interval.is_none() {
        let why = row.lack.clone();
        let why = why.unwrap_or_else(|| format!("no interval from {} pairs", row.estimate.pairs));
        return format!("{}: {why}", row.measure);
    }
    let change = change(row.estimate.center, row.scale, row.contains);
    format!("{} {change} ({})", row.measure, interval(&row.estimate, row.scale, row.contains))
}

/// The verdict with its reasons in one line.
pub fn headline(comparison: &Comparison) -> String {
    let weaker = comparison.all.seconds.map(|used| format!(" (weaker evidence: {} each)", number_of_runs(used.runs)));
    format!("{}{}", verdict(comparison), weaker.unwrap_or_default())
}

fn verdict(comparison: &Comparison) -> String {
    if !comparison.conditions.is_empty() {
        let lines: Vec<String> = comparison.conditions.iter().map(condition).collect();
        return lines.join("; ");
    }
    let rows = &comparison.all.judged;
    let verdict = comparison.all.verdict;
    match verdict {
        Verdict::Same => String::from("same: no metric differs by more than the margin"),
        Verdict::CannotTell => format!("cannot tell: {}", why_not(comparison)),
        _ => {
            let mut parts = vec![with_changes(rows, verdict)];
            let others = [Verdict::Better, Verdict::Different, Verdict::CannotTell];
            for other in others.into_iter().filter(|other| *other != verdict) {
                let names: Vec<String> = with_verdict(rows, other).map(|row| row.measure.to_string()).collect();
                if !names.is_empty() {
                    parts.push(format!("{}: {}", other.name(), names.join(", ")));
                }
            }
            parts.join("; ")
        }
    }
}

fn with_verdict(rows: &[ComparedMetric], verdict: Verdict) -> impl Iterator<Item = &ComparedMetric> {
    rows.iter().filter(move |row| row.verdict == Some(verdict))
}

fn with_changes(rows: &[ComparedMetric], verdict: Verdict) -> String {
    let each = with_verdict(rows, verdict)
        .map(|row| format!("{} {}", row.measure, change(row.estimate.center, row.scale, row.contains)));
    format!("{}: {}", verdict.name(), each.collect::<Vec<_>>().join(", "))
}

fn why_not(comparison: &Comparison) -> String {
    let section = &comparison.all;
    if section.pairs == 0 {
        return String::from("no pair of runs is left to compare");
    }
    if section.seconds.is_some() {
        let rows = with_verdict(&section.judged, Verdict::CannotTell);
        let found = |row: &ComparedMetric| match row.values.is_empty() {
            true => row.measure.to_string(),
            false => format!("{} {}", row.measure, change(row.estimate.center, row.scale, row.contains)),
        };
        return rows.map(found).collect::<Vec<_>>().join(", ");
    }
    if section.pairs < section.pairs_needed {
        return too_few(section);
    }
    let names = with_verdict(&section.judged, Verdict::CannotTell).map(|row| row.measure.to_string());
    names.collect::<Vec<_>>().join(", ")
}

fn too_few(section: &ComparedCell) -> String {
    let ComparedCell { pairs, pairs_needed: needed, judged, .. } = section;
    let tests = judged.iter().filter(|row| row.is_test()).count();
    let fewer = if tests > 1 && *pairs >= pairs_needed(1) { ", or judge fewer metrics (--metric)" } else { "" };
    let takes = match tests {
        0 | 1 => String::from("a verdict takes"),
        tests => format!("a verdict on {tests} metrics takes"),
    };
    format!(
        "{pairs} {} found, and {takes} at least {needed}: run {} more of each by turns{fewer}",
        plural(*pairs, "pair"),
        needed - pairs
    )
}

fn too_few_for_conditions(comparison: &Comparison) -> Option<String> {
    let (pairs, conditions) = (comparison.all.pairs, comparison.conditions.len());
    let needed = pairs_needed(conditions);
    let takes = if conditions == 1 { "a condition takes" } else { &format!("{conditions} conditions take") };
    (pairs < needed).then(|| format!("{pairs} {} found, and {takes} at least {needed}", plural(pairs, "pair")))
}

/// `one run`, `3 runs`.
fn number_of_runs(runs: usize) -> String {
    if runs == 1 { String::from("one run") } else { format!("{runs} runs") }
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// A condition, how it ended, and the change.
pub fn condition(judged: &JudgedCondition) -> String {
    let JudgedCondition { condition, scale, estimate, outcome, .. } = judged;
    let found = match estimate.interval {
        _ if estimate.pairs == 0 => String::from("no pairs"),
        None => {
            format!("{}, no interval from {} pairs", change(estimate.center, *scale, Contains::Default), estimate.pairs)
        }
        Some(_) => format!(
            "{}, 95 % interval {}",
            change(estimate.center, *scale, Contains::Default),
            interval(estimate, *scale, Contains::Default)
        ),
    };
    format!("{} {}: {found}", condition.text, outcome.name())
}

/// What a reader must know to believe the table.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes: Vec<String> = looks(comparison).into_iter().collect();
    match comparison.all.seconds {
        Some(used) => notes.extend(weaker(comparison, used)),
        None => notes.push(rule(comparison)),
    }
    if !comparison.conditions.is_empty() {
        notes.push(String::from(
            "a condition fails when the change is proven to be beyond its bound, holds when it is proven to be on this \
             side, and otherwise nobody can tell (signed-rank test against the bound at 5 %, Holm over the \
             conditions); conditions alone decide the exit code",
        ));
        let is_of_pairs = comparison.all.seconds.is_none() && comparison.looks.is_none();
        notes.extend(too_few_for_conditions(comparison).filter(|_| is_of_pairs));
    }
    let all = &comparison.all;
    notes.extend(comparison.no_seconds.clone());
    if all.seconds.is_some() {
        notes.extend(all.judged.iter().filter_map(|row| Some(format!("{}: {}", row.measure, row.lack.as_ref()?))));
    } else if all.pairs > 0 && all.pairs < all.pairs_needed {
        notes.push(too_few(all));
    } else {
        notes.extend(all.judged.iter().filter_map(more_pairs));
    }
    if all.seconds.is_none() {
        notes.extend(all.judged.iter().filter_map(|row| missing(row, all.pairs)));
        notes.extend(alone(all));
    }
    let unknown: Vec<String> =
        with_verdict(&all.judged, Verdict::Different).map(|row| row.measure.to_string()).collect();
    if !unknown.is_empty() {
        notes.push(format!(
            "whether {} changed for the better is not known: add :higher or :lower to the metric",
            unknown.join(", ")
        ));
    }
    if !comparison.cells.is_empty() {
        notes.push(format!(
            "the verdict is that over all pairs; the {} cells are judged one by one, so one in twenty may be called \
             changed by chance",
            comparison.cells.len()
        ));
    }
    notes
}

/// What a few runs of each can tell, and what they cannot.
fn weaker(comparison: &Comparison, used: SecondsUsed) -> Vec<String> {
    let SecondsUsed { runs, seconds, warm_up } = used;
    let (percent, points) = (RUN_TO_RUN * 100.0, RUN_TO_RUN_POINTS * 100.0);
    let (each, more) = (number_of_runs(runs), comparison.all.pairs_needed - runs);
    vec![
        format!(
            "{each} of each: the intervals tell these runs apart, not A from B, because runs of the same program \
             easily differ by {percent:.0} %; for evidence about A and B run {more} more of each by turns"
        ),
        format!(
            "change is the Hodges-Lehmann estimate over {BLOCKS} blocks of {seconds} seconds, each block of B against \
             that of A from the same time, without the first {warm_up} s; p and interval are those of the exact \
             signed-rank test over the blocks, spread for seconds that are like the one before, p after Holm"
        ),
        format!(
            "better and worse need p at or under 0.05 and an interval beyond ±{percent:.0} % (shares: ±{points:.0} \
             point); same is an interval that stays within the margin when it is wider by as much"
        ),
    ]
}

/// Metrics that their own test tells apart and Holm's correction does not. `onrush table` asks about the rate alone.
fn alone(section: &ComparedCell) -> Option<String> {
    const LEVEL: f64 = 1.0 - CONFIDENCE;
    let tests = section.judged.iter().filter(|row| row.is_test()).count();
    let unproven = section.judged.iter().filter(|row| {
        row.estimate.p <= LEVEL && row.adjusted_p.is_some_and(|p| p > LEVEL) && row.estimate.interval.is_some()
    });
    let names: Vec<String> = unproven.map(|row| format!("{} (p {})", row.measure, p_value(row.estimate.p))).collect();
    (!names.is_empty()).then(|| {
        format!(
            "alone these would be told apart: {}; Holm's correction over {tests} metrics asks for more. `onrush table` \
             asks about the rate alone, as --metric does with one metric",
            names.join(", ")
        )
    })
}

/// When it was known, or what came before that.
fn looks(comparison: &Comparison) -> Option<String> {
    let PairLooks { most_pairs, ended_by } = comparison.looks.as_ref()?;
    let decided = if comparison.is_decided() { "decided" } else { "not decided" };
    let why = ended_by.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    Some(format!("{decided} after {} of at most {most_pairs} pairs{why}", comparison.all.pairs))
}

fn rule(comparison: &Comparison) -> String {
    let margin = match comparison.margin {
        0.0 => String::from("exactly the same in all runs"),
        margin => format!("the whole interval within ±{} %, shares within ±0.1 points", show::number(margin * 100.0)),
    };
    if comparison.looks.is_some() {
        return format!(
            "change is the Hodges-Lehmann estimate over the pairs; p, after Holm, and interval hold at all looks \
             together, so that it may stop as soon as it knows (exact over the signs of the pairs); better and worse \
             need p at or under 0.05, same is {margin}"
        );
    }
    format!(
        "change is the Hodges-Lehmann estimate over the pairs, p that of the exact signed-rank test after Holm; better \
         and worse need p at or under 0.05, same is {margin}"
    )
}

fn more_pairs(row: &ComparedMetric) -> Option<String> {
    let pairs = match row.pairs_to_tell? {
        pairs if pairs > MANY_PAIRS => format!("more than {MANY_PAIRS}"),
        pairs => format!("about {pairs}"),
    };
    Some(format!("{}: with this noise it takes {pairs} pairs to tell, fewer with longer runs", row.measure))
}

fn missing(row: &ComparedMetric, pairs: usize) -> Option<String> {
    let there = row.values.len();
    (there < pairs).then(|| format!("{}: only {there} of {pairs} pairs have samples of it", row.measure))
}

/// A line for each run that does not count, and for each kind what to do about it.
pub fn left_out(comparison: &Comparison) -> Vec<String> {
    let line = |run: &LeftOut| {
        let partner = run.partner.as_ref().map(|partner| format!("; left out with it: {partner}")).unwrap_or_default();
        format!("{} is no evidence: {}{partner}", run.run, run.why)
    };
    let advice: BTreeSet<&str> =
        comparison.left_out.iter().map(|run| run.advice.as_str()).filter(|text| !text.is_empty()).collect();
    comparison.left_out.iter().map(line).chain(advice.into_iter().map(str::to_owned)).collect()
}

/// How many runs do not count, when some do not.
pub fn runs_left_out(comparison: &Comparison) -> Option<String> {
    let count = comparison.left_out.len() + comparison.left_out.iter().filter(|run| run.partner.is_some()).count();
    let of = comparison.a.1 + comparison.b.1;
    (count > 0).then(|| format!("{count} of {of} runs are left out: they are no evidence, or their partner is none"))
}

/// `size=1k tls=on`.
pub fn cell(cell: &BTreeMap<String, String>) -> String {
    cell.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// `size=1k: worse, 8 pairs`, the name to be written by the caller.
pub fn verdict_of_cell(section: &ComparedCell) -> String {
    format!("{}, {} {}", section.verdict.name(), section.pairs, plural(section.pairs, "pair"))
}

/// How many runs and pairs there are.
pub fn counts(comparison: &Comparison) -> String {
    let runs = |count: usize| format!("{count} {}", plural(count, "run"));
    let pairs = comparison.all.pairs;
    if let Some(used) = comparison.all.seconds {
        let given = format!("{} of A, {} of B", runs(comparison.a.1), runs(comparison.b.1));
        return format!("{given}, {} seconds of {} each compared", used.seconds, number_of_runs(used.runs));
    }
    format!("{} of A, {} of B, {pairs} {} compared", runs(comparison.a.1), runs(comparison.b.1), plural(pairs, "pair"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_have_four_digits_or_are_below_them() {
        for (p, text) in [(1.0, "1.0000"), (0.03125, "0.0312"), (0.0001, "0.0001"), (0.000_099, "<0.0001")] {
            assert_eq!(p_value(p), text);
        }
    }

    #[test]
    fn large_numbers_have_fewer_decimals() {
        for (number, text) in [
            (1234.4, "1234"),
            (1000.0, "1000"),
            (999.94, "999.9"),
            (10.0, "10.0"),
            (9.999_94, "9.9999"),
            (-9.25, "-9.25"),
            (0.000_04, "0"),
            (-12.34, "-12.3"),
            (-2000.2, "-2000"),
        ] {
            assert_eq!(plain(number, Contains::Default), text);
        }
    }
}
