//! The layout of one line a run: `name axis=value …: rate`, in the order in which the runs were made.
//!
//! What scripts around other benchmark suites read: R, awk, spreadsheets.

use schemars::JsonSchema;
use serde::Serialize;

use super::csv::line;
use crate::matrix::document::{MatrixDocument, RunRecord};
use crate::matrix::number;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunLine {
    /// Of the matrix.
    pub name: String,
    /// Axis and value, in the plan's order; then the variant.
    pub configuration: Vec<(String, String)>,
    /// From 1.
    pub round: u32,
    /// Number of the run in the planned order, from 1.
    pub position: usize,
    /// Per second; none of a run that failed.
    pub rate: Option<f64>,
    /// Why there is none.
    pub problem: Option<String>,
}

/// All runs.
pub fn lines(document: &MatrixDocument) -> Vec<RunLine> {
    document.runs.iter().map(|run| of_run(document, run)).collect()
}

fn of_run(document: &MatrixDocument, run: &RunRecord) -> RunLine {
    let axes = document.plan.axes.keys().filter_map(|axis| Some((axis.clone(), run.axes.get(axis)?.clone())));
    RunLine {
        name: document.plan.name.clone().unwrap_or_else(|| String::from("matrix")),
        configuration: axes.chain([(String::from("variant"), run.variant.clone())]).collect(),
        round: run.round,
        position: run.position,
        rate: run.rate(&document.plan.measure.rate).filter(|_| run.is_ok()),
        problem: run.reason.clone().filter(|_| !run.is_ok()),
    }
}

/// `uploads delay="0" variant="node": 1,234.56`.
pub fn text_lines(lines: &[RunLine]) -> String {
    let of_line = |line: &RunLine| {
        let pairs: Vec<String> =
            line.configuration.iter().map(|(axis, value)| format!("{axis}={}", word(value))).collect();
        let rate = match (&line.rate, &line.problem) {
            (Some(rate), _) => number::rate(*rate),
            (None, problem) => problem.clone().unwrap_or_else(|| String::from("no rate")),
        };
        format!("{} {}: {rate}\n", line.name, pairs.join(" "))
    };
    lines.iter().map(of_line).collect()
}

/// A value with a space or a quote in it is put in quotes.
fn word(value: &str) -> String {
    match value.is_empty() || value.contains([' ', '"', ':', '=']) {
        true => format!("\"{}\"", value.replace('"', "\\\"")),
        false => value.to_owned(),
    }
}

/// The same as comma-separated values with a head.
pub fn csv_lines(lines: &[RunLine]) -> String {
    let Some(first) = lines.first() else { return String::new() };
    let mut head: Vec<String> = first.configuration.iter().map(|(axis, _)| axis.clone()).collect();
    head.extend(["round", "position", "rate", "problem"].map(String::from));
    let mut out = line(&head);
    for of_run in lines {
        let mut fields: Vec<String> = of_run.configuration.iter().map(|(_, value)| value.clone()).collect();
        fields.extend([of_run.round.to_string(), of_run.position.to_string()]);
        fields.extend([
            of_run.rate.map_or(String::new(), |rate| rate.to_string()),
            of_run.problem.clone().unwrap_or_default(),
        ]);
        out.push_str(&line(&fields));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::table::tests::document;

    #[test]
    fn every_run_has_its_line() {
        let lines = lines(&document());
        let text = text_lines(&lines);
        assert_eq!(text.lines().count(), 32);
        assert_eq!(text.lines().next(), Some("demo size=1k variant=a: 1,010"));
        assert_eq!(text.lines().last(), Some("demo size=10k variant=b: the server died"));
        let csv = csv_lines(&lines);
        assert!(csv.starts_with("size,variant,round,position,rate,problem\r\n1k,a,1,1,1010,\r\n"), "{csv}");
    }

    #[test]
    fn values_with_spaces_are_quoted() {
        assert_eq!(word("a b"), "\"a b\"");
        assert_eq!(word("1k"), "1k");
    }
}
