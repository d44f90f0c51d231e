//! Which row of a group is the best, if any: only one that pairs of rounds prove better than every other.
//!
//! The tests are those of `compare` (`stats`), with Holm over the others of the group. A row whose generator was the limit may
//! really be faster than it looks, so nothing beats it; where variants bring their own load that does not count, for there the
//! generator is what is measured.

use super::Row;
use crate::stats::{Direction, Question, Verdict, answer, pairs_needed};

/// Marks it, and says what can be told. `names` are the rows' names; nothing is said of a single row.
pub fn mark(rows: &mut [Row], names: &[String], loads_differ: bool) -> String {
    let rated: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].rate.is_some()).collect();
    let rate = |row: usize| rows[row].rate.map_or(0.0, |rate| rate.median);
    let Some(&best) = rated.iter().max_by(|a, b| rate(**a).total_cmp(&rate(**b))) else { return String::new() };
    let mut others: Vec<usize> = rated.into_iter().filter(|&row| row != best).collect();
    if others.is_empty() {
        return String::new();
    }
    others.sort_by(|a, b| rate(*b).total_cmp(&rate(*a)));
    let questions: Vec<Question> = others.iter().map(|&other| question(&rows[best], &rows[other])).collect();
    let pairs = questions.iter().map(|question| question.differences.len()).min().unwrap_or(0);
    let needed = pairs_needed(others.len());
    if pairs < needed {
        return format!("no best: {pairs} valid rounds, {needed} are needed to tell {} apart", count(rows.len()));
    }
    if let Some(&limited) = others.iter().find(|&&other| rows[other].saturated > 0 && !loads_differ) {
        return format!("no best: the generator was the limit in runs of {}", names[limited]);
    }
    let answers = answer(&questions);
    let unproven: Vec<&str> = others
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.verdict != Verdict::Better)
        .map(|(&other, _)| names[other].as_str())
        .collect();
    if !unproven.is_empty() {
        return format!("no best: {} cannot be told from {}", names[best], unproven.join(", "));
    }
    rows[best].best = true;
    let (low, high) = answers[0].estimate.interval.expect("a verdict has an interval");
    format!("best: {}, {} to {} faster than {}", names[best], percent(low), percent(high), names[others[0]])
}

/// Logarithms of ratios, round by round. No margin: the question is which one leads, not by how much.
fn question(best: &Row, other: &Row) -> Question {
    let pairs = best.by_round.iter().filter_map(|(round, rate)| Some((rate / other.by_round.get(round)?).ln()));
    Question {
        differences: pairs.filter(|d| d.is_finite()).collect(),
        direction: Direction::Higher,
        margin: (0.0, 0.0),
    }
}

fn count(rows: usize) -> String {
    if rows == 2 { String::from("two") } else { rows.to_string() }
}

/// A difference of logarithms.
fn percent(difference: f64) -> String {
    format!("{:.1} %", difference.exp_m1() * 100.0)
}

#[cfg(test)]
mod tests {
    use crate::matrix::table::tests::document;
    use crate::matrix::table::{TableOptions, tables};

    fn verdicts(change: impl Fn(&mut crate::matrix::document::MatrixDocument)) -> Vec<(String, Vec<bool>)> {
        let mut document = document();
        change(&mut document);
        let tables = tables(&document, &TableOptions::default()).unwrap();
        tables.groups.into_iter().map(|g| (g.verdict, g.rows.iter().map(|row| row.best).collect())).collect()
    }

    #[test]
    fn only_what_is_proven_is_marked() {
        let found = verdicts(|_| ());
        assert_eq!(found[0], (String::from("best: b, 10.0 % to 10.0 % faster than a"), vec![false, true]));
        assert_eq!(found[1].1, [false, false], "differences of both signs");
        assert!(found[1].0.starts_with("no best: "), "{}", found[1].0);
    }

    #[test]
    fn few_rounds_give_no_verdict() {
        let found = verdicts(|document| document.runs.retain(|run| run.round <= 5));
        assert_eq!(found[0].0, "no best: 5 valid rounds, 6 are needed to tell two apart");
        assert_eq!(found[0].1, [false, false]);
    }

    #[test]
    fn who_failed_is_not_ranked() {
        let found = verdicts(|document| {
            document.runs.iter_mut().filter(|run| run.variant == "b").for_each(|run| run.figures = None);
        });
        assert_eq!(found[0], (String::new(), vec![false, false]));
    }
}
