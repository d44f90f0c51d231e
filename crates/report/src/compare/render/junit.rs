//! A comparison as a suite of JUnit: a test case for each metric, or for each condition where there are some.
//!
//! Worse is a failure, cannot tell is skipped, so that a CI shows in its own words what the exit code says. Cells of a
//! matrix do not decide and are only written out. Runs that are no evidence are a case of their own.

use super::words;
use crate::compare::{ComparedCell, ComparedMetric, Comparison, ConditionOutcome};
use crate::junit::{JunitCase, JunitSuite, Problem};
use crate::stats::Verdict;

/// The XML document.
pub fn junit(comparison: &Comparison) -> String {
    suite(comparison).xml()
}

/// The cases.
pub fn suite(comparison: &Comparison) -> JunitSuite {
    let decide = comparison.conditions.is_empty();
    let mut cases: Vec<JunitCase> = conditions(comparison);
    cases.extend(comparison.all.judged.iter().map(|row| case(row, &comparison.all, decide)));
    for cell in &comparison.cells {
        cases.extend(cell.judged.iter().map(|row| case(row, cell, false)));
    }
    let no_pairs = (comparison.all.pairs == 0).then(|| words::headline(comparison));
    if let Some(message) = no_pairs.or_else(|| words::runs_left_out(comparison)) {
        cases.push(JunitCase {
            class: String::from("compare"),
            name: String::from("evidence"),
            problem: Some((Problem::Skipped, message)),
            out: words::left_out(comparison).join("\n"),
        });
    }
    JunitSuite {
        program: "onrush compare",
        name: format!("{} with {}", comparison.a.0, comparison.b.0),
        cases,
        remarks: comparison.warnings.iter().cloned().chain(words::notes(comparison)).collect(),
    }
}

fn conditions(comparison: &Comparison) -> Vec<JunitCase> {
    let case = |judged| {
        let out = words::condition(judged);
        let problem = match judged.outcome {
            ConditionOutcome::Fails => Some((Problem::Failure, out.clone())),
            ConditionOutcome::CannotTell => Some((Problem::Skipped, out.clone())),
            ConditionOutcome::Holds => None,
        };
        JunitCase { class: String::from("conditions"), name: judged.condition.text.clone(), problem, out }
    };
    comparison.conditions.iter().map(case).collect()
}

fn case(row: &ComparedMetric, section: &ComparedCell, decides: bool) -> JunitCase {
    let cells = words::cells(row, section);
    let out = words::columns(section).into_iter().zip(&cells).map(|(title, cell)| format!("{title}: {cell}"));
    let out = out.collect::<Vec<_>>().join("\n");
    let class = match section.cell.is_empty() {
        true => String::from("compare"),
        false => words::cell(&section.cell),
    };
    let problem = match row.verdict {
        _ if !decides => None,
        Some(Verdict::Worse) => Some((Problem::Failure, words::row(row))),
        Some(Verdict::CannotTell | Verdict::Different) => Some((Problem::Skipped, words::row(row))),
        _ => None,
    };
    JunitCase { class, name: row.measure.to_string(), problem, out }
}
