//! Which row of a group is the best, if any: only one that pairs of rounds prove better than every other.
//!
//! The tests are those of `compare` (`stats`), with Holm over the others of the group. A row whose generator was the
//! limit may really be faster than it looks, so nothing beats its rate; then the rows are ranked by what a request
//! costs their servers, where that is known. Where variants bring their own load none of this matters: there the
//! generator is what is measured.

use units::show;

use super::data::{JudgedBy, TableRow};
use super::text::listed;
use crate::document::Cause;
use crate::stats::{Direction, Question, Verdict, answer, pairs_needed};

/// Marks it, and says what can be told and by which figure. `names` are the rows' names; nothing is said of a single
/// row.
pub fn mark(rows: &mut [TableRow], names: &[String], loads_differ: bool) -> (JudgedBy, String) {
    let rated: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].rate.is_some()).collect();
    let by_rate = ranked(rows, rated.clone(), JudgedBy::Rate);
    let Some((_, slower)) = by_rate.split_first() else { return (JudgedBy::Rate, String::new()) };
    let Some(limited) = slower.iter().find(|&&row| rows[row].saturated > 0 && !loads_differ) else {
        return (JudgedBy::Rate, verdict(rows, names, &by_rate, JudgedBy::Rate));
    };
    let why = rows[*limited].limited_by.unwrap_or(Cause::Busy).text();
    let limited = format!("{why} in runs of {}", names[*limited]);
    if rated.iter().any(|&row| rows[row].per_server_cpu_s.is_none()) {
        return (JudgedBy::Rate, format!("no best, because {limited}"));
    }
    let by_cpu = ranked(rows, rated, JudgedBy::ServerCpu);
    let verdict = verdict(rows, names, &by_cpu, JudgedBy::ServerCpu);
    (JudgedBy::ServerCpu, format!("{verdict} (rates tell nothing, because {limited})"))
}

/// The rows from the best to the worst.
fn ranked(rows: &[TableRow], mut rated: Vec<usize>, judged_by: JudgedBy) -> Vec<usize> {
    let figure = |row: usize| match judged_by {
        JudgedBy::Rate => rows[row].rate.map_or(0.0, |rate| rate.median),
        JudgedBy::ServerCpu => rows[row].per_server_cpu_s.unwrap_or(0.0),
    };
    rated.sort_by(|a, b| figure(*b).total_cmp(&figure(*a)));
    rated
}

fn verdict(rows: &mut [TableRow], names: &[String], ranked: &[usize], judged_by: JudgedBy) -> String {
    let Some((&best, others)) = ranked.split_first().filter(|(_, others)| !others.is_empty()) else {
        return String::new();
    };
    let questions: Vec<Question> = others.iter().map(|&other| question(&rows[best], &rows[other], judged_by)).collect();
    let pairs = questions.iter().map(|question| question.differences.len()).min().unwrap_or(0);
    let needed = pairs_needed(others.len());
    if pairs < needed {
        let (rounds, are) = (show::counted(pairs, "round"), if pairs == 1 { "is" } else { "are" });
        return format!(
            "no best yet, because {rounds} {are} valid and it takes {needed} to tell {} apart",
            count(rows.len())
        );
    }
    let answers = answer(&questions);
    let unproven: Vec<&str> = others
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.verdict != Verdict::Better)
        .map(|(&other, _)| names[other].as_str())
        .collect();
    if !unproven.is_empty() {
        let by = if judged_by == JudgedBy::ServerCpu { " by the server's CPU time" } else { "" };
        return format!("no best{by}, because {} cannot be told from {}", names[best], listed(&unproven, "or"));
    }
    rows[best].best = true;
    let (low, high) = answers[0].estimate.interval.expect("a verdict has an interval");
    let (best, next) = (&names[best], &names[others[0]]);
    let by = between(percent(low), percent(high));
    match judged_by {
        JudgedBy::Rate => format!("{best} is the best, {by} faster than {next}"),
        JudgedBy::ServerCpu => {
            format!("{best} is the best by the server's CPU time, {by} more requests for each CPU second than {next}")
        }
    }
}

/// Logarithms of ratios, round by round. No margin: the question is which one leads, not by how much.
fn question(best: &TableRow, other: &TableRow, judged_by: JudgedBy) -> Question {
    let (best, other) = match judged_by {
        JudgedBy::Rate => (&best.by_round, &other.by_round),
        JudgedBy::ServerCpu => (&best.per_server_cpu_by_round, &other.per_server_cpu_by_round),
    };
    let pairs = best.iter().filter_map(|(round, figure)| Some((figure / other.get(round)?).ln()));
    Question {
        differences: pairs.filter(|d| d.is_finite()).collect(),
        direction: Direction::Higher,
        margin: (0.0, 0.0),
    }
}

fn count(rows: usize) -> String {
    if rows == 2 { String::from("two") } else { rows.to_string() }
}

/// One figure where both ends are shown as the same.
fn between(low: String, high: String) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}

/// A difference of logarithms.
fn percent(difference: f64) -> String {
    show::percent(difference.exp_m1(), 1)
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
        assert_eq!(found[0], (String::from("b is the best, 10.0 % faster than a"), vec![false, true]));
        assert_eq!(found[1].1, [false, false], "differences of both signs");
        assert_eq!(found[1].0, "no best, because a cannot be told from b");
    }

    #[test]
    fn few_rounds_give_no_verdict() {
        let found = verdicts(|document| document.runs.retain(|run| run.round <= 5));
        assert_eq!(found[0].0, "no best yet, because 5 rounds are valid and it takes 6 to tell two apart");
        assert_eq!(found[0].1, [false, false]);
    }

    /// Pins both sides, fills the load's core in all runs of `variant`, and makes b's server cheaper by the factor.
    fn limited(document: &mut crate::matrix::document::MatrixDocument, variant: &str, cheaper: f64) {
        document.plan.pin = crate::matrix::plan::Pin { server: vec![0], load: vec![1] };
        for run in &mut document.runs {
            if run.variant == variant {
                run.load.as_mut().unwrap().cpu_s = 1.95;
            }
            if run.variant == "b" {
                run.server.as_mut().unwrap().cpu_s /= cheaper;
            }
        }
    }

    #[test]
    fn where_the_generator_was_the_limit_the_servers_cpu_time_decides() {
        let found = verdicts(|document| limited(document, "a", 1.5));
        let because = "(rates tell nothing, because the generator was the limit in runs of a)";
        let best = "b is the best by the server's CPU time, 65.0 % more requests for each CPU second than a";
        assert_eq!(found[0], (format!("{best} {because}"), vec![false, true]));
    }

    #[test]
    fn who_leads_may_have_a_full_generator() {
        let found = verdicts(|document| limited(document, "b", 1.0));
        assert_eq!(found[0].0, "b is the best, 10.0 % faster than a", "it is at least so fast");
    }

    #[test]
    fn a_full_server_is_the_limit_itself() {
        let found = verdicts(|document| {
            limited(document, "a", 1.0);
            document.runs.iter_mut().for_each(|run| run.server.as_mut().unwrap().cpu_s = 1.95);
        });
        assert_eq!(found[0].0, "b is the best, 10.0 % faster than a");
    }

    #[test]
    fn without_the_servers_cpu_time_there_is_no_best() {
        let found = verdicts(|document| {
            limited(document, "a", 1.0);
            document.runs.iter_mut().for_each(|run| run.server = None);
        });
        assert_eq!(
            found[0],
            (String::from("no best, because the generator was the limit in runs of a"), vec![false, false])
        );
    }

    #[test]
    fn sentences_are_right_in_number() {
        let found = verdicts(|document| document.runs.retain(|run| run.round <= 1));
        assert_eq!(found[0].0, "no best yet, because 1 round is valid and it takes 6 to tell two apart");
        let between = |low: &str, high: &str| super::between(low.into(), high.into());
        assert_eq!([between("1 %", "1 %"), between("1 %", "2 %")], ["1 %", "1 % to 2 %"]);
    }

    #[test]
    fn who_failed_is_not_ranked() {
        let found = verdicts(|document| {
            document.runs.iter_mut().filter(|run| run.variant == "b").for_each(|run| run.figures = None);
        });
        assert_eq!(found[0], (String::new(), vec![false, false]));
    }
}
