//! Tables as text for a terminal and as Markdown.

use super::number;
use super::{Group, JudgedBy, Row, Tables};
use crate::format::counted;

/// For a terminal: aligned columns.
pub fn text(tables: &Tables) -> String {
    let mut out = format!("{}\n", head(tables));
    for (heading, rows) in sheets(tables) {
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
    for (heading, rows) in sheets(tables) {
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
    format!(
        "{}/s: median, lowest and highest of {}; percentiles of {} in ms, medians of the rounds",
        tables.rate_metric,
        counted(tables.rounds as usize, "round"),
        tables.time_metric
    )
}

fn push_notes(out: &mut String, tables: &Tables, bullet: &str) {
    let verdicts = tables.verdicts().into_iter().map(|(_, line)| line);
    let lines: Vec<String> = verdicts.chain(tables.notes.iter().cloned()).collect();
    if !lines.is_empty() {
        out.push('\n');
        lines.iter().for_each(|line| out.push_str(&format!("{bullet}{line}\n")));
    }
}

/// One field of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) text: String,
    pub(super) right: bool,
    pub(super) bold: bool,
}

impl Field {
    fn left(text: impl Into<String>) -> Field {
        Field { text: text.into(), right: false, bold: false }
    }

    fn right(text: impl Into<String>) -> Field {
        Field { text: text.into(), right: true, bold: false }
    }

    fn marked_down(&self) -> String {
        let text = escape(&self.text);
        if self.bold { format!("**{text}**") } else { text }
    }
}

/// A bar would end a cell, a bracket begin a link or a tag.
fn escape(text: &str) -> String {
    text.chars()
        .flat_map(|c| matches!(c, '|' | '<' | '*' | '_' | '`' | '[' | '\\').then_some('\\').into_iter().chain([c]))
        .collect()
}

/// Heading and rows of each table, its first row being the names of the columns.
pub(super) fn sheets(tables: &Tables) -> Vec<(String, Vec<Vec<Field>>)> {
    let shown = Shown::of(tables);
    let names = shown.names(tables);
    match tables.headed {
        true => {
            let sheet = |group: &Group| std::iter::once(names.clone()).chain(shown.rows(tables, group)).collect();
            tables.groups.iter().map(|group| (group.heading.clone(), sheet(group))).collect()
        }
        false => {
            let rows = tables.groups.iter().flat_map(|group| shown.rows(tables, group));
            vec![(String::new(), std::iter::once(names.clone()).chain(rows).collect())]
        }
    }
}

/// How a number is written.
type Show = fn(f64) -> String;

/// The price of a request, on the side that is measured.
fn per_cpu(tables: &Tables, row: &Row) -> Option<f64> {
    if tables.loads_differ { row.per_load_cpu_s } else { row.per_server_cpu_s }
}

/// Columns that have something in them.
struct Shown {
    percentiles: Vec<usize>,
    ratio: bool,
    per_cpu: bool,
    server: bool,
    load: bool,
}

impl Shown {
    fn of(tables: &Tables) -> Shown {
        let rows: Vec<&Row> = tables.groups.iter().flat_map(|group| &group.rows).collect();
        let percentiles =
            (0..tables.percentiles.len()).filter(|&at| rows.iter().any(|row| row.percentiles[at].is_some()));
        Shown {
            percentiles: percentiles.collect(),
            ratio: tables.groups.iter().any(|group| group.rows.len() > 1),
            per_cpu: rows.iter().any(|row| per_cpu(tables, row).is_some()),
            server: rows.iter().any(|row| row.server_cores.is_some()),
            load: rows.iter().any(|row| row.load_cores.is_some()),
        }
    }

    fn names(&self, tables: &Tables) -> Vec<Field> {
        let mut names: Vec<Field> = tables.columns.iter().map(Field::left).collect();
        names.extend([
            Field::right(format!("{}/s", tables.rate_metric)),
            Field::right("lowest"),
            Field::right("highest"),
        ]);
        let optional = [
            (self.ratio, "× first"),
            (self.per_cpu, if tables.loads_differ { "per load CPU s" } else { "per server CPU s" }),
            (self.server, "server cores"),
            (self.load, "load cores"),
        ];
        names.extend(optional.iter().filter(|(shown, _)| *shown).map(|(_, name)| Field::right(*name)));
        names.extend(self.percentiles.iter().map(|&at| Field::right(format!("{} %", tables.percentiles[at]))));
        names.push(Field::right("valid"));
        names
    }

    fn rows(&self, tables: &Tables, group: &Group) -> Vec<Vec<Field>> {
        group.rows.iter().map(|row| self.row(tables, row, group.judged_by)).collect()
    }

    fn row(&self, tables: &Tables, row: &Row, judged_by: JudgedBy) -> Vec<Field> {
        let or_dash = |value: Option<f64>, show: Show| Field::right(value.map_or(String::from("–"), show));
        let mut fields: Vec<Field> = tables.columns.iter().map(|column| Field::left(&row.values[column])).collect();
        let mut rate = or_dash(row.rate.map(|rate| rate.median), number::rate);
        rate.bold = row.best && judged_by == JudgedBy::Rate;
        rate.text.push_str(row.mark());
        fields.push(rate);
        fields.push(or_dash(row.rate.map(|rate| rate.low), number::rate));
        fields.push(or_dash(row.rate.map(|rate| rate.high), number::rate));
        let mut per_cpu = or_dash(per_cpu(tables, row), number::rate);
        per_cpu.bold = row.best && judged_by == JudgedBy::ServerCpu;
        let optional = [
            (self.ratio, or_dash(row.ratio, number::ratio)),
            (self.per_cpu, per_cpu),
            (self.server, or_dash(row.server_cores, number::ratio)),
            (self.load, or_dash(row.load_cores, number::ratio)),
        ];
        fields.extend(optional.into_iter().filter(|(shown, _)| *shown).map(|(_, field)| field));
        fields.extend(self.percentiles.iter().map(|&at| or_dash(row.percentiles[at], number::ms)));
        fields.push(Field::right(format!("{}/{}", row.valid, row.made)));
        fields
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
        tables(&document(), &TableOptions { group_by, percentiles: vec![50.0, 75.0, 99.9] }).unwrap()
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
    fn marks_of_markdown_are_escaped() {
        assert_eq!(escape("a|b<i>*"), "a\\|b\\<i>\\*");
    }
}
