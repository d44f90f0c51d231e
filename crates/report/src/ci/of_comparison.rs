//! What a comparison comes to for a CI, and what the refusal of one does: a build that could not be judged must not
//! look like one that was.

use super::place::{CiScript, Place};
use super::{CiFigure, CiReport, Notice, NoticeLevel};
use crate::compare::{Comparison, ConditionOutcome, render};
use crate::document::Document;
use crate::junit::{JunitCase, JunitSuite, Problem};
use crate::markdown::escape;
use crate::stats::Verdict;
use crate::visible_lines;

/// Everything that there is to tell of a comparison. Notices stand at the script of B, if it has one.
pub fn of_comparison(comparison: &Comparison, script: Option<&CiScript>) -> CiReport {
    let place = script.map(CiScript::itself);
    CiReport {
        suite: render::suite(comparison),
        markdown: visible_lines(&render::markdown(comparison)).into_owned(),
        notices: notices(comparison, place.as_ref()),
        figures: figures(comparison),
    }
}

/// What there is to tell when two sides cannot be compared.
pub fn of_refusal(names: (&str, &str), message: &str) -> CiReport {
    let case = JunitCase {
        class: String::from("compare"),
        name: String::from("evidence"),
        problem: Some((Problem::Error, message.to_owned())),
        out: String::new(),
    };
    let notice = Notice {
        level: NoticeLevel::Invalid,
        check: "compare",
        subject: String::from("evidence"),
        message: format!("not comparable: {message}"),
        place: None,
    };
    CiReport {
        suite: JunitSuite {
            program: "onrush compare",
            name: format!("{} with {}", names.0, names.1),
            cases: vec![case],
            remarks: Vec::new(),
        },
        markdown: format!("**not comparable**: {}\n", escape(&visible_lines(message))),
        notices: vec![notice],
        figures: Vec::new(),
    }
}

/// Conditions alone where there are some, as with the exit code.
fn notices(comparison: &Comparison, place: Option<&Place>) -> Vec<Notice> {
    let notice =
        |level, check, subject: String, message| Notice { level, check, subject, message, place: place.cloned() };
    if !comparison.conditions.is_empty() {
        let told = comparison.conditions.iter().filter_map(|judged| {
            let level = match judged.outcome {
                ConditionOutcome::Fails => NoticeLevel::Failed,
                ConditionOutcome::CannotTell => NoticeLevel::Doubtful,
                ConditionOutcome::Holds => return None,
            };
            Some(notice(level, "condition", judged.condition.text.clone(), render::condition(judged)))
        });
        return told.collect();
    }
    let rows = comparison.all.judged.iter();
    let worse = rows.filter(|row| row.verdict == Some(Verdict::Worse));
    let mut told: Vec<Notice> = worse
        .map(|row| {
            let message = format!("worse: {}", render::row(row));
            notice(NoticeLevel::Failed, "change", row.measure.to_string(), message)
        })
        .collect();
    if matches!(comparison.all.verdict, Verdict::CannotTell | Verdict::Different) {
        let subject = comparison.all.verdict.name().to_owned();
        told.push(notice(NoticeLevel::Doubtful, "change", subject, render::headline(comparison)));
    }
    told
}

/// The value of B and the change from A of each metric.
fn figures(comparison: &Comparison) -> Vec<CiFigure> {
    let rows = || comparison.all.judged.iter().chain(&comparison.all.shown);
    let figure =
        |name: &str, metric: String, value| CiFigure { name: name.to_owned(), labels: vec![("metric", metric)], value };
    let values = rows().filter_map(|row| Some(figure("compared_value", row.measure.to_string(), row.medians?.1)));
    let changes = rows().filter(|row| !row.values.is_empty()).map(|row| {
        let change = row.scale.shown(row.estimate.center);
        figure("compared_change", row.measure.to_string(), change)
    });
    values.chain(changes).collect()
}

impl CiScript {
    /// The script of a result, unread: for notices that are about all of it.
    pub fn of_result(document: &Document) -> Option<CiScript> {
        let is_file = !document.script.is_empty() && document.script != "-" && !document.script.contains("://");
        is_file.then(|| CiScript { path: document.script.clone(), ..CiScript::default() })
    }
}
