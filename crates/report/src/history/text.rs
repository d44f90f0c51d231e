//! A history for a terminal: a row a run, and below it what changed when.

use units::show;

use super::{FEWEST, History, LevelChange, PastMeasure, PastRun};
use crate::document::Contains;

/// The text, with a line break at its end.
pub fn text(history: &History) -> String {
    let mut head = vec!["started".to_owned(), "result".to_owned()];
    head.extend(history.measures.iter().map(|measure| measure.measure.to_string()));
    let row = |(at, run): (usize, &PastRun)| {
        let mut row = vec![started(run), result(run)];
        row.extend(history.measures.iter().map(|measure| cell(measure, at)));
        row.push(run.name.clone());
        row
    };
    head.push("run".to_owned());
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(history.runs.iter().enumerate().map(row)).collect();
    let last = rows[0].len() - 1;
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=last).map(wide).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, wide))| {
            if at < 2 || at == last { format!("{cell:<wide$}") } else { format!("{cell:>wide$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.push(String::new());
    lines.extend(sentences(history));
    lines.push(String::new());
    lines.join("\n")
}

/// What changed when, and what there is to know about it.
pub(super) fn sentences(history: &History) -> Vec<String> {
    let sentence = |measure: &PastMeasure| {
        let told = measure
            .changes
            .iter()
            .map(|change| format!("{}: {}", measure.measure, of_change(history, measure, change)));
        told.collect::<Vec<_>>()
    };
    let mut lines: Vec<String> = history.measures.iter().flat_map(sentence).collect();
    let counted = history.runs.iter().filter(|run| run.left_out.is_none()).count();
    if counted < FEWEST {
        lines.push(format!("changes are looked for from {FEWEST} runs on, and there are {counted}"));
    } else if lines.is_empty() {
        lines.push(format!("no level has changed in {counted} runs"));
    }
    if counted < history.runs.len() {
        let left = show::counted(history.runs.len() - counted, "run");
        lines.push(format!("{left} marked ! count for no change: their generator was the limit"));
    }
    lines.extend(history.warnings.iter().cloned());
    lines
}

/// `worse since 2026-11-24 18:00: 10ms → 13ms (+30.0 %)`.
pub(super) fn of_change(history: &History, measure: &PastMeasure, change: &LevelChange) -> String {
    let word = match change.is_better {
        Some(true) => "better",
        Some(false) => "worse",
        None => "changed",
    };
    let (before, after) = (value(measure, change.before), value(measure, change.after));
    let ratio = match change.before > 0.0 && !measure.measure.is_share() {
        true => format!(" ({:+.1} %)", (change.after / change.before - 1.0) * 100.0),
        false => String::new(),
    };
    format!("{word} since {}: {before} → {after}{ratio}", started(&history.runs[change.run]))
}

/// To the minute.
pub(super) fn started(run: &PastRun) -> String {
    run.started_at.replace('T', " ").chars().take(16).collect()
}

pub(super) fn result(run: &PastRun) -> String {
    let outcome = if run.exit == 0 { "passed".to_owned() } else { format!("failed ({})", run.exit) };
    if run.left_out.is_some() { format!("{outcome} !") } else { outcome }
}

/// A value, with a mark where a level begins.
pub(super) fn cell(measure: &PastMeasure, run: usize) -> String {
    let mark = measure.changes.iter().find(|change| change.run == run).map_or("", |change| match change.is_better {
        Some(true) => "✓ ",
        Some(false) => "✗ ",
        None => "≠ ",
    });
    measure.values[run].map_or_else(|| "-".to_owned(), |found| format!("{mark}{}", value(measure, found)))
}

fn value(measure: &PastMeasure, value: f64) -> String {
    match measure.contains {
        _ if measure.measure.is_share() => show::percent(value, 2),
        Contains::Time => show::time(value),
        Contains::Data => show::bytes(value),
        Contains::Default => show::rounded(value),
    }
}
