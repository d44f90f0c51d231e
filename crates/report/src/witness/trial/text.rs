//! A trial as text: a row for each figure, then what concerns several.

use std::fmt::Write as _;

use units::show::{bytes, grouped, number, time};

use super::verdict::{JudgedFigure, Trial};
use crate::witness::claims::ClaimFigure;

/// The whole trial.
pub fn text(trial: &Trial) -> String {
    let mut rows = vec![["figure", "the tool prints", "the target saw", "verdict"].map(String::from)];
    rows.extend(trial.figures.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [0, 1, 2].map(width);
    let mut text = format!("  {} on trial\n\n", trial.tool);
    for (row, judged) in rows.iter().zip(std::iter::once(None).chain(trial.figures.iter().map(Some))) {
        let [name, printed, seen, verdict] = row;
        let why = judged.map_or(String::new(), |judged| format!(": {}", judged.why));
        let [a, b, c] = widths;
        let _ = writeln!(text, "  {name:<a$}  {printed:>b$}  {seen:>c$}  {verdict}{why}");
        if let Some(wait) = judged.and_then(|judged| judged.on_schedule) {
            let indent = a + b + c + 6;
            let _ = writeln!(
                text,
                "  {:indent$}of requests that were sent; a visitor on schedule waited {} or longer",
                "",
                time(wait)
            );
        }
    }
    if !trial.findings.is_empty() {
        text.push('\n');
    }
    for finding in &trial.findings {
        let _ = writeln!(text, "  {}: {}", finding.name, finding.text);
    }
    text
}

fn row(judged: &JudgedFigure) -> [String; 4] {
    let shown = |value: f64| shown(judged.figure, value);
    let seen = match (judged.least, judged.most) {
        (Some(least), Some(most)) if least == most => shown(least),
        (Some(least), Some(most)) => format!("{} to {}", shown(least), shown(most)),
        (Some(least), None) => format!("at least {}", shown(least)),
        (None, Some(most)) => format!("at most {}", shown(most)),
        (None, None) => String::from("-"),
    };
    let verdict = judged.verdict.name();
    let verdict = match judged.within {
        Some(0.0) => format!("{verdict}, exactly"),
        Some(within) => format!("{verdict} within {}", shown(within)),
        None => verdict.to_owned(),
    };
    [judged.name.clone(), judged.printed.clone(), seen, verdict]
}

/// A value in the unit of its figure.
fn shown(figure: ClaimFigure, value: f64) -> String {
    match figure {
        ClaimFigure::LatencyMin | ClaimFigure::LatencyMean | ClaimFigure::LatencyMax | ClaimFigure::Latency(_) => {
            time(value)
        }
        ClaimFigure::Duration => time(value * 1e3),
        ClaimFigure::Rate | ClaimFigure::SendRate if value < 100.0 => {
            format!("{}/s", number((value * 100.0).round() / 100.0))
        }
        ClaimFigure::Rate | ClaimFigure::SendRate => format!("{}/s", grouped(value.round() as u64)),
        ClaimFigure::Received | ClaimFigure::Sent | ClaimFigure::BodiesReceived | ClaimFigure::BodiesSent
            if value >= 10e6 =>
        {
            bytes(value)
        }
        _ => grouped(value.round() as u64),
    }
}
