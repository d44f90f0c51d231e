//! Tables as comma-separated values, one row a variant and cell, for other programs: full numbers, no marks.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{JudgedBy, TableRow, Tables};
use super::pivot::{self, Pivot};

/// RFC 4180, with a head.
pub fn csv(tables: &Tables) -> String {
    if let Some(pivot) = &tables.pivot {
        return of_grids(tables, pivot);
    }
    let axes = axes(tables);
    let mut head: Vec<String> = axes.clone();
    let fixed = [
        "rate",
        "lowest",
        "highest",
        "ratio_to_first",
        "best",
        "judged_by",
        "per_server_cpu_s",
        "per_load_cpu_s",
        "server_cores",
        "load_cores",
        "valid",
        "made",
        "saturated",
        "late_accepted",
        "suspect",
    ];
    head.extend(fixed.map(String::from));
    head.extend(tables.percentiles.iter().map(|percent| format!("p{percent}_ms")));
    head.extend(["response_bytes", "errors"].map(String::from));
    let kinds = names(tables, |row| &row.errors_by_kind);
    let stats = names(tables, |row| &row.server_stats);
    head.extend(kinds.iter().map(|kind| format!("errors: {kind}")));
    head.extend(stats.iter().map(|name| format!("server: {name}")));
    let mut out = line(&head);
    for group in &tables.groups {
        for row in &group.rows {
            let mut fields = values(&axes, row, group.judged_by);
            // A kind that did not happen here happened 0 times; what no server told is not known.
            let of_kind = |kind| row.errors.map(|_| row.errors_by_kind.get(kind).copied().unwrap_or(0.0));
            fields.extend(kinds.iter().map(|kind| or_empty(of_kind(kind))));
            fields.extend(stats.iter().map(|name| or_empty(row.server_stats.get(name).copied())));
            out.push_str(&line(&fields));
        }
    }
    out
}

/// What some row has a number of.
fn names(tables: &Tables, of: fn(&TableRow) -> &BTreeMap<String, f64>) -> Vec<String> {
    let rows = tables.groups.iter().flat_map(|group| &group.rows);
    rows.flat_map(|row| of(row).keys().cloned()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn or_empty(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// All axes: those that have a heading have a column here.
fn axes(tables: &Tables) -> Vec<String> {
    let first = tables.groups.iter().flat_map(|group| &group.rows).next();
    first.map_or_else(Vec::new, |row| row.values.keys().cloned().collect())
}

fn values(axes: &[String], row: &TableRow, judged_by: JudgedBy) -> Vec<String> {
    let mut values: Vec<String> = axes.iter().map(|axis| row.values[axis].clone()).collect();
    values.extend([
        or_empty(row.rate.map(|rate| rate.median)),
        or_empty(row.rate.map(|rate| rate.low)),
        or_empty(row.rate.map(|rate| rate.high)),
        or_empty(row.ratio),
        row.best.to_string(),
        judged_by.name().to_owned(),
        or_empty(row.per_server_cpu_s),
        or_empty(row.per_load_cpu_s),
        or_empty(row.server_cores),
        or_empty(row.load_cores),
        row.valid.to_string(),
        row.made.to_string(),
        row.saturated.to_string(),
        row.late_accepted.to_string(),
        row.suspect.to_string(),
    ]);
    values.extend(row.percentiles.iter().map(|value| or_empty(*value)));
    values.extend([or_empty(row.response_bytes), or_empty(row.errors)]);
    values
}

/// Comma-separated values: a line for each row of each grid, with the figure and what the grid's rows have in common
/// first.
fn of_grids(tables: &Tables, pivot: &Pivot) -> String {
    let grids = pivot::of_pivot(tables, pivot);
    let Some(first) = grids.first() else { return String::new() };
    let head = [String::from("figure"), String::from("cell")].into_iter();
    let mut out = line(&head.chain(first.row_axes.clone()).chain(first.columns.clone()).collect::<Vec<_>>());
    for grid in &grids {
        for row in &grid.rows {
            let values = row.values.iter().map(|value| value.map_or(String::new(), |value| value.to_string()));
            let head = [grid.figure.clone(), grid.cell.clone()].into_iter();
            out.push_str(&line(&head.chain(row.names.clone()).chain(values).collect::<Vec<_>>()));
        }
    }
    out
}

/// Fields with what would end them are put in quotes. A text that a spreadsheet would run as a formula gets an
/// apostrophe in front, because names in a result may be anybody's; numbers stay numbers.
pub(super) fn line(fields: &[String]) -> String {
    let harmless = |field: &String| match field.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true if field.parse::<f64>().is_err() => format!("'{field}"),
        _ => field.clone(),
    };
    let quoted = |field: &String| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", harmless(field).replace('"', "\"\"")),
        false => harmless(field),
    };
    fields.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::table::tests::document;
    use crate::matrix::table::{TableOptions, tables};

    #[test]
    fn no_text_is_a_formula() {
        let fields = ["=HYPERLINK(\"http://h.test\")", "+1", "-2.5", "-x", "@SUM(A1)", "\t=1", "1=1", ""];
        let expected = "\"'=HYPERLINK(\"\"http://h.test\"\")\",+1,-2.5,'-x,'@SUM(A1),'\t=1,1=1,\r\n";
        assert_eq!(line(&fields.map(String::from)), expected);
    }

    #[test]
    fn there_is_a_row_for_each_variant_and_cell() {
        let tables =
            tables(&document(), &TableOptions { group_by: None, percentiles: vec![50.0, 75.0], pivot: None }).unwrap();
        let text = csv(&tables);
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 5);
        assert!(
            lines[0].starts_with("size,variant,rate,lowest,highest,")
                && lines[0].ends_with(",p50_ms,p75_ms,response_bytes,errors"),
            "{text}"
        );
        assert!(lines[1].starts_with("1k,a,1045,1010,1080,1,") && lines[1].ends_with(",8,8,0,0,0,0.5,,,"), "{text}");
    }

    #[test]
    fn commas_and_quotes_are_quoted() {
        assert_eq!(line(&[String::from("a,b"), String::from("c\"d")]), "\"a,b\",\"c\"\"d\"\r\n");
    }
}
