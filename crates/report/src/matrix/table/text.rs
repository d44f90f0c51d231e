//! Tables as text for a terminal and as Markdown, whatever their layout: a list of sheets.

use units::show::counted;

use super::data::Tables;
use super::sheet::{Field, Sheet, escape};
use super::{grid, pivot};

/// The sheets of a layout.
pub(super) fn sheets(tables: &Tables) -> Vec<Sheet> {
    match &tables.pivot {
        Some(pivot) => pivot::sheets(tables, pivot),
        None => grid::sheets(tables),
    }
}

/// For a terminal: aligned columns.
pub fn text(tables: &Tables) -> String {
    let mut out = format!("{}\n", head(tables));
    for Sheet { heading, rows } in sheets(tables) {
        if !heading.is_empty() {
            out.push_str(&format!("\n{heading}\n"));
        }
        out.push('\n');
        out.push_str(&aligned(&rows));
    }
    push_notes(&mut out, tables, "");
    out
}

/// For a document: the best in bold.
pub fn markdown(tables: &Tables) -> String {
    let mut out = format!("# {}\n\n{}\n", escape(&tables.name), head(tables));
    for Sheet { heading, rows } in sheets(tables) {
        if !heading.is_empty() {
            out.push_str(&format!("\n### {}\n", escape(&heading)));
        }
        out.push('\n');
        for (at, cells) in rows.iter().enumerate() {
            let cells: Vec<String> = cells.iter().map(|cell| cell.marked_down()).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if at == 0 {
                let marks: Vec<&str> = rows[0].iter().map(|cell| if cell.right { "--:" } else { "---" }).collect();
                out.push_str(&format!("|{}|\n", marks.join("|")));
            }
        }
    }
    push_notes(&mut out, tables, "- ");
    out
}

fn head(tables: &Tables) -> String {
    let rounds = counted(tables.rounds as usize, "round");
    match tables.pivot {
        Some(_) => format!("medians of {rounds}; percentiles are of {}", tables.time_metric),
        None => format!(
            "{}/s: median, lowest and highest of {rounds}; percentiles of {} in ms, medians of the rounds",
            tables.rate_metric, tables.time_metric
        ),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn listed(names: &[impl AsRef<str>], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} {word} {last}", rest.join(", ")),
    }
}

fn push_notes(out: &mut String, tables: &Tables, bullet: &str) {
    let verdicts = tables.verdicts().into_iter().map(|(_, line)| line);
    let lines: Vec<String> = verdicts.chain(tables.notes.iter().cloned()).collect();
    if !lines.is_empty() {
        out.push('\n');
        lines.iter().for_each(|line| out.push_str(&format!("{bullet}{line}\n")));
    }
}

/// Columns as wide as their widest field; the best has a mark before the figure that it is best by.
fn aligned(rows: &[Vec<Field>]) -> String {
    let plain = |field: &Field| if field.bold { format!("* {}", field.text) } else { field.text.clone() };
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|at| rows.iter().map(|row| plain(&row[at]).chars().count()).max().unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let fields: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(field, &width)| match field.right {
                true => format!("{:>width$}", plain(field)),
                false => format!("{:<width$}", plain(field)),
            })
            .collect();
        out.push_str(fields.join("  ").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::table::tests::document;
    use crate::matrix::table::{TableOptions, tables};

    fn of(group_by: Option<&str>) -> Tables {
        let group_by = group_by.map(|axis| vec![axis.to_owned()]);
        tables(&document(), &TableOptions { group_by, percentiles: vec![50.0, 75.0, 99.9], pivot: None }).unwrap()
    }

    #[test]
    fn text_has_aligned_columns_without_empty_ones() {
        let text = text(&of(None));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].starts_with("size  variant  http_reqs/s  lowest  highest  × first"), "{text}");
        assert!(!text.contains("75 %"), "nobody told that percentile: {text}");
        assert!(lines[6].starts_with("10k   b"), "{text}");
        assert!(lines[6].ends_with("7/8"), "{text}");
        let width = |line: &str| line.chars().count();
        assert!(lines[3..7].iter().all(|line| width(line) == width(lines[3])), "{text}");
    }

    #[test]
    fn markdown_has_a_table_for_each_group_that_was_asked_for() {
        let text = markdown(&of(Some("size")));
        assert!(text.starts_with("# demo\n\nhttp_reqs/s: median"), "{text}");
        assert!(text.contains("\n### size=1k\n\n| variant | http\\_reqs/s | lowest"), "{text}");
        assert!(text.contains("|---|--:|--:|--:|"), "{text}");
        assert_eq!(text.matches("\n### ").count(), 2);
    }

    #[test]
    fn lists_end_with_a_word() {
        let listed = |names: &[&str]| super::listed(names, "and");
        assert_eq!([listed(&["a"]), listed(&["a", "b"]), listed(&["a", "b", "c"])], ["a", "a and b", "a, b and c"]);
    }

    #[test]
    fn marks_of_markdown_are_escaped() {
        assert_eq!(escape("a|b<i>*"), "a\\|b\\<i>\\*");
    }
}
