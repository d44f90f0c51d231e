//! A comparison as a comment of a pull request: verdict first, table, details folded.

use super::words;
use crate::compare::{ComparedCell, Comparison};
use crate::markdown::{code, escape};

/// GitHub-flavoured Markdown.
pub fn markdown(comparison: &Comparison) -> String {
    let mut lines = vec![format!("**{}**", escape(&words::headline(comparison))), String::new()];
    lines.extend(table(&comparison.all));
    let refused = words::runs_left_out(comparison).into_iter();
    for remark in refused.chain(comparison.warnings.iter().cloned()) {
        lines.push(format!("> ⚠ {}", escape(&remark)));
        lines.push(String::from(">"));
    }
    lines.extend([String::new(), String::from("<details><summary>Details</summary>"), String::new()]);
    lines.push(format!(
        "A is {}, B is {}: {}.",
        code(&comparison.a.0),
        code(&comparison.b.0),
        words::counts(comparison)
    ));
    lines.push(String::new());
    let details = words::notes(comparison).into_iter().chain(words::left_out(comparison));
    lines.extend(details.map(|line| format!("- {}", escape(&line))));
    for cell in &comparison.cells {
        let name = words::cell(&cell.cell);
        lines.extend([String::new(), format!("{}: {}", code(&name), words::verdict_of_cell(cell)), String::new()]);
        lines.extend(table(cell));
    }
    lines.extend([String::new(), String::from("</details>"), String::new()]);
    lines.join("\n")
}

fn table(section: &ComparedCell) -> Vec<String> {
    if section.judged.is_empty() && section.shown.is_empty() {
        return Vec::new();
    }
    let titles = words::columns(section);
    let mut lines = vec![format!("| {} |", titles.join(" | "))];
    let last = titles.len() - 1;
    let rule = (0..titles.len()).map(|at| if at == 0 || at == last { "---" } else { "--:" });
    lines.push(format!("|{}|", rule.collect::<Vec<_>>().join("|")));
    for row in section.judged.iter().chain(&section.shown) {
        let mut cells = words::cells(row, section);
        let verdict = cells.pop().unwrap_or_default();
        let changed = row.verdict.is_some_and(|verdict| verdict.is_change());
        let verdict = if changed { format!("**{verdict}**") } else { verdict };
        let name = code(&cells.remove(0));
        lines.push(format!("| {name} | {} | {verdict} |", cells.join(" | ")));
    }
    lines.push(String::new());
    lines
}
