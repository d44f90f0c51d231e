//! A comparison as JUnit XML: a test case for each metric, or for each condition where there are some.
//!
//! Worse is a failure, cannot tell is skipped, so that a CI shows in its own words what the exit code says. Cells of a
//! matrix do not decide and are only written out.

use std::fmt::Write;

use super::words;
use crate::compare::{ComparedCell, ComparedMetric, Comparison, ConditionOutcome};
use crate::stats::Verdict;

struct Case {
    class: String,
    name: String,
    /// Element and message, for a case that did not pass.
    problem: Option<(&'static str, String)>,
    out: String,
}

/// The XML document.
pub fn junit(comparison: &Comparison) -> String {
    let decide = comparison.conditions.is_empty();
    let mut cases: Vec<Case> = conditions(comparison);
    cases.extend(comparison.all.judged.iter().map(|row| case(row, &comparison.all, decide)));
    for cell in &comparison.cells {
        cases.extend(cell.judged.iter().map(|row| case(row, cell, false)));
    }
    if comparison.all.pairs == 0 {
        cases.push(Case {
            class: String::from("compare"),
            name: String::from("evidence"),
            problem: Some(("skipped", words::headline(comparison))),
            out: words::left_out(comparison).join("\n"),
        });
    }
    let count = |kind| cases.iter().filter(|case| case.problem.as_ref().is_some_and(|(k, _)| *k == kind)).count();
    let (failures, skipped) = (count("failure"), count("skipped"));
    let totals = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", cases.len());
    let name = escape(&format!("{} with {}", comparison.a.0, comparison.b.0));
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(xml, "<testsuites name=\"onrush compare\" {totals}>");
    let _ = writeln!(xml, "  <testsuite name=\"{name}\" {totals}>");
    cases.iter().for_each(|case| write_case(&mut xml, case));
    let remarks: Vec<String> = comparison.warnings.iter().cloned().chain(words::notes(comparison)).collect();
    let _ = writeln!(xml, "    <system-out>{}</system-out>", escape(&remarks.join("\n")));
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn conditions(comparison: &Comparison) -> Vec<Case> {
    let case = |judged| {
        let out = words::condition(judged);
        let problem = match judged.outcome {
            ConditionOutcome::Fails => Some(("failure", out.clone())),
            ConditionOutcome::CannotTell => Some(("skipped", out.clone())),
            ConditionOutcome::Holds => None,
        };
        Case { class: String::from("conditions"), name: judged.condition.text.clone(), problem, out }
    };
    comparison.conditions.iter().map(case).collect()
}

fn case(row: &ComparedMetric, section: &ComparedCell, decides: bool) -> Case {
    let cells = words::cells(row, section);
    let out = words::columns(section).into_iter().zip(&cells).map(|(title, cell)| format!("{title}: {cell}"));
    let out = out.collect::<Vec<_>>().join("\n");
    let class = match section.cell.is_empty() {
        true => String::from("compare"),
        false => words::cell(&section.cell),
    };
    let message = || {
        let change = words::change(row.estimate.center, row.scale, row.contains);
        match row.estimate.interval {
            Some(_) => {
                format!("{} {change} ({})", row.measure, words::interval(&row.estimate, row.scale, row.contains))
            }
            None => {
                let why = row.lack.clone();
                let why = why.unwrap_or_else(|| format!("no interval from {} pairs", row.estimate.pairs));
                format!("{}: {why}", row.measure)
            }
        }
    };
    let problem = match row.verdict {
        _ if !decides => None,
        Some(Verdict::Worse) => Some(("failure", message())),
        Some(Verdict::CannotTell | Verdict::Different) => Some(("skipped", message())),
        _ => None,
    };
    Case { class, name: row.measure.to_string(), problem, out }
}

fn write_case(xml: &mut String, case: &Case) {
    let _ = writeln!(
        xml,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"0\">",
        escape(&case.class),
        escape(&case.name)
    );
    if let Some((kind, message)) = &case.problem {
        let _ = writeln!(xml, "      <{kind} message=\"{}\"/>", escape(message));
    }
    let _ = writeln!(xml, "      <system-out>{}</system-out>\n    </testcase>", escape(&case.out));
}

/// Text and attribute values; what XML 1.0 cannot hold at all becomes a replacement character.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(super::escape("a<b>&\"c\"\u{1}"), "a&lt;b&gt;&amp;&quot;c&quot;\u{FFFD}");
    }
}
