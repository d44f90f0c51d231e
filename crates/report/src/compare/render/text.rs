//! A comparison for a terminal: verdict, table, what to know about it.

use super::words;
use crate::compare::{ComparedCell, Comparison};

/// The text, with a line break at its end.
pub fn text(comparison: &Comparison) -> String {
    let mut lines = vec![
        format!("A  {}", comparison.a.0),
        format!("B  {}", comparison.b.0),
        format!("   {}", words::counts(comparison)),
        String::new(),
        words::headline(comparison),
    ];
    lines.extend(table(&comparison.all));
    for cell in &comparison.cells {
        lines.extend([String::new(), format!("{}: {}", words::cell(&cell.cell), words::verdict_of_cell(cell))]);
        lines.extend(table(cell));
    }
    let left_out = words::left_out(comparison).into_iter().map(|line| format!("! {line}"));
    let warnings = comparison.warnings.iter().map(|warning| format!("! {warning}"));
    let remarks: Vec<String> = left_out.chain(warnings).collect();
    if !remarks.is_empty() {
        lines.push(String::new());
        lines.extend(remarks);
    }
    lines.push(String::new());
    lines.extend(words::notes(comparison).into_iter().map(|note| format!("· {note}")));
    lines.push(String::new());
    lines.join("\n")
}

/// Names to the left, verdicts to the left, numbers to the right.
fn table(section: &ComparedCell) -> Vec<String> {
    let rows: Vec<Vec<String>> =
        section.judged.iter().chain(&section.shown).map(|row| words::cells(row, section)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let titles: Vec<String> = words::columns(section).into_iter().map(str::to_owned).collect();
    let all: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..all[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let last = row.len() - 1;
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            if at == 0 || at == last { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
    };
    std::iter::once(String::new()).chain(all.iter().map(line)).collect()
}
