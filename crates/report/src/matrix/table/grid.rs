//! The layout with a row for each variant in each cell and a column for each figure.

use super::column::{FigureColumn, columns};
use super::data::{RowGroup, Tables};
use super::sheet::{Field, Sheet};

/// One table, or one for each group that was asked for; below it what servers counted, if they were asked.
pub(super) fn sheets(tables: &Tables) -> Vec<Sheet> {
    let (stats, figures): (Vec<FigureColumn>, Vec<FigureColumn>) =
        columns(tables).into_iter().partition(FigureColumn::is_stat);
    let groups: Vec<(String, Vec<&RowGroup>)> = match tables.headed {
        true => tables.groups.iter().map(|group| (group.heading.clone(), vec![group])).collect(),
        false => vec![(String::new(), tables.groups.iter().collect())],
    };
    let mut sheets = Vec::new();
    for (heading, groups) in groups {
        sheets.push(Sheet { rows: rows(tables, &groups, &figures, true), heading: heading.clone() });
        if !stats.is_empty() {
            let what = "server statistics: the change during a run, of gauges the level";
            let heading = if heading.is_empty() { what.to_owned() } else { format!("{heading}, {what}") };
            sheets.push(Sheet { rows: rows(tables, &groups, &stats, false), heading });
        }
    }
    sheets
}

fn rows(tables: &Tables, groups: &[&RowGroup], columns: &[FigureColumn], with_valid: bool) -> Vec<Vec<Field>> {
    let mut names: Vec<Field> = tables.columns.iter().map(Field::left).collect();
    names.extend(columns.iter().map(|column| Field::right(&column.name)));
    names.extend(with_valid.then(|| Field::right("valid")));
    let mut rows = vec![names];
    for (group, row) in groups.iter().flat_map(|group| group.rows.iter().map(move |row| (group, row))) {
        let mut fields: Vec<Field> = tables.columns.iter().map(|column| Field::left(&row.values[column])).collect();
        fields.extend(columns.iter().map(|column| column.field(row, group.judged_by)));
        fields.extend(with_valid.then(|| Field::right(format!("{}/{}", row.valid, row.made))));
        rows.push(fields);
    }
    rows
}
