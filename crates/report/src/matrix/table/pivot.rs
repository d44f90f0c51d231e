//! The layout of grids: values of some axes as rows, of others as columns, and a grid for each figure. `size` by `body`
//! of every figure on one page.
//!
//! Axes that are neither have a set of grids for each of their values. What is shown are the rows of the tables, so
//! medians, verdicts and marks are the same.

use schemars::JsonSchema;
use serde::Serialize;

use super::column::{FigureColumn, columns};
use super::data::{JudgedBy, TableRow, Tables};
use super::sheet::{Field, Sheet};

/// The percentiles of a pivot by default; 100 is the maximum.
pub const PIVOT_PERCENTILES: [f64; 4] = [50.0, 95.0, 99.0, 100.0];

/// Which axes (or `variant`) are what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pivot {
    /// Their values have a row each.
    pub rows: Vec<String>,
    /// Their values have a column each.
    pub columns: Vec<String>,
}

impl Pivot {
    /// Fills in what was not said: variants are columns, or the last axis when variants are rows; all other axes are
    /// rows when none are named. Refuses unknown axes, and axes that are both.
    pub(super) fn settled(&self, known: &[String]) -> Result<Pivot, String> {
        let mut pivot = self.clone();
        check("rows", self.rows.iter(), known)?;
        check("columns", self.columns.iter(), known)?;
        if let Some(axis) = self.rows.iter().find(|axis| self.columns.contains(axis)) {
            return Err(format!("--columns: '{axis}' is in --rows already, expected another one"));
        }
        if pivot.columns.is_empty() {
            let free = known.iter().rev().find(|axis| !pivot.rows.contains(axis));
            pivot.columns.extend(free.cloned());
        }
        if pivot.rows.is_empty() {
            pivot.rows = known.iter().filter(|axis| !pivot.columns.contains(axis)).cloned().collect();
        }
        Ok(pivot)
    }
}

/// Refuses unknown names of axes.
pub(super) fn check<'a>(
    flag: &str,
    mut axes: impl Iterator<Item = &'a String>,
    known: &[String],
) -> Result<(), String> {
    match axes.find(|axis| !known.contains(axis)) {
        Some(axis) => Err(format!("--{flag}: unknown axis '{axis}', expected some of {}", known.join(", "))),
        None => Ok(()),
    }
}

/// One figure by the values of some axes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Grid {
    /// What is shown: `http_reqs/s`.
    pub figure: String,
    /// Axes and values that all of it has in common: `over=tcp`; empty when there are none.
    pub cell: String,
    /// The axes of the rows.
    pub row_axes: Vec<String>,
    /// Values of the columns' axes, one a column.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<GridRow>,
    #[serde(skip)]
    fields: Vec<Vec<Field>>,
}

/// A row of a grid.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GridRow {
    /// Values of the rows' axes.
    pub names: Vec<String>,
    /// One a column; none where nothing was measured.
    pub values: Vec<Option<f64>>,
}

/// The grids of tables that have a pivot.
pub fn grids(tables: &Tables) -> Vec<Grid> {
    tables.pivot.as_ref().map_or_else(Vec::new, |pivot| of_pivot(tables, pivot))
}

pub(super) fn sheets(tables: &Tables, pivot: &Pivot) -> Vec<Sheet> {
    let by = format!("{} × {}", pivot.rows.join(", "), pivot.columns.join(", "));
    of_pivot(tables, pivot).into_iter().map(|grid| sheet(grid, &by)).collect()
}

fn sheet(grid: Grid, by: &str) -> Sheet {
    let cell = if grid.cell.is_empty() { String::new() } else { format!("{}, ", grid.cell) };
    let mut names: Vec<Field> = grid.row_axes.iter().map(Field::left).collect();
    names.extend(grid.columns.iter().map(Field::right));
    let rows = grid.rows.into_iter().zip(grid.fields).map(|(row, fields)| {
        let names = row.names.into_iter().map(Field::left);
        names.chain(fields).collect()
    });
    Sheet { heading: format!("{cell}{}: {by}", grid.figure), rows: std::iter::once(names).chain(rows).collect() }
}

pub(super) fn of_pivot(tables: &Tables, pivot: &Pivot) -> Vec<Grid> {
    let rows: Vec<Judged<'_>> =
        tables.groups.iter().flat_map(|group| group.rows.iter().map(|row| (row, group.judged_by))).collect();
    let is_rest = |axis: &&String| !pivot.rows.contains(axis) && !pivot.columns.contains(axis);
    let rest: Vec<String> = tables.columns.iter().filter(is_rest).cloned().collect();
    // The same columns in every grid, so that pages and programs can lay them over each other.
    let heads = distinct(rows.iter().map(|(row, _)| values(row, &pivot.columns)));
    let figures: Vec<FigureColumn> = columns(tables).into_iter().filter(FigureColumn::is_of_its_own).collect();
    let mut grids = Vec::new();
    for cell in distinct(rows.iter().map(|(row, _)| values(row, &rest))) {
        let own: Vec<Judged<'_>> = rows.iter().filter(|(row, _)| values(row, &rest) == cell).copied().collect();
        let pairs: Vec<String> = rest.iter().zip(&cell).map(|(axis, value)| format!("{axis}={value}")).collect();
        grids.extend(figures.iter().map(|figure| {
            let (rows, fields) = of_figure(figure, &own, pivot, &heads);
            Grid {
                figure: figure.title(tables),
                cell: pairs.join(", "),
                row_axes: pivot.rows.clone(),
                columns: heads.iter().map(|head| head.join(", ")).collect(),
                rows,
                fields,
            }
        }));
    }
    grids
}

/// A row and what its group was judged by.
type Judged<'a> = (&'a TableRow, JudgedBy);

/// Values and fields of a figure.
fn of_figure(
    figure: &FigureColumn,
    rows: &[Judged<'_>],
    pivot: &Pivot,
    heads: &[Vec<String>],
) -> (Vec<GridRow>, Vec<Vec<Field>>) {
    let names = distinct(rows.iter().map(|(row, _)| values(row, &pivot.rows)));
    let of_name = |names: Vec<String>| {
        let at = |head: &Vec<String>| {
            rows.iter().find(|(row, _)| values(row, &pivot.rows) == names && values(row, &pivot.columns) == *head)
        };
        let places: Vec<Option<&Judged<'_>>> = heads.iter().map(at).collect();
        let field = |place: &Option<&Judged<'_>>| match place {
            Some((row, judged_by)) => figure.field(row, *judged_by),
            None => Field::right("–"),
        };
        let fields = places.iter().map(field).collect();
        (GridRow { values: places.iter().map(|place| figure.value(place.as_ref()?.0)).collect(), names }, fields)
    };
    names.into_iter().map(of_name).unzip()
}

fn values(row: &TableRow, axes: &[String]) -> Vec<String> {
    axes.iter().map(|axis| row.values[axis].clone()).collect()
}

/// Each once, in the order in which they come: the plan's.
pub(super) fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::table::tests::document;
    use crate::matrix::table::{TableOptions, tables};

    fn pivot(rows: &[&str], columns: &[&str]) -> Result<Tables, String> {
        let names = |axes: &[&str]| axes.iter().map(|axis| axis.to_string()).collect();
        let pivot = Some(Pivot { rows: names(rows), columns: names(columns) });
        tables(&document(), &TableOptions { group_by: None, percentiles: vec![50.0, 100.0], pivot })
    }

    #[test]
    fn a_figure_has_a_grid_and_the_best_its_mark() {
        let tables = pivot(&["variant"], &[]).expect("its axes");
        let sheets = sheets(&tables, tables.pivot.as_ref().expect("asked for"));
        let texts = |at: usize| -> Vec<Vec<String>> {
            sheets[at].rows.iter().map(|row| row.iter().map(|field| field.text.clone()).collect()).collect()
        };
        assert_eq!(sheets[0].heading, "http_reqs/s: variant × size");
        assert_eq!(texts(0), [["variant", "1k", "10k"], ["a", "1,045", "1,045"], ["b", "1,150", "1,040"]]);
        let bold: Vec<bool> = sheets[0].rows[2].iter().map(|field| field.bold).collect();
        assert_eq!(bold, [false, true, false], "proven at 1k alone");
        let headings: Vec<&str> = sheets.iter().map(|sheet| sheet.heading.as_str()).collect();
        assert!(headings.contains(&"http_req_duration 50 %, ms: variant × size"), "{headings:?}");
        assert!(!headings.iter().any(|heading| heading.contains("max")), "nobody told one: {headings:?}");
    }

    #[test]
    fn axes_that_are_neither_have_grids_of_their_own() {
        let mut document = document();
        document.runs.retain(|run| run.variant == "a" || run.axes["size"] == "1k");
        let pivot = Some(Pivot { rows: vec![], columns: vec![String::from("size")] });
        let all = tables(&document, &TableOptions { pivot, ..Default::default() }).expect("its axes");
        assert_eq!(
            grids(&all)[0].rows[1],
            GridRow { names: vec![String::from("b")], values: vec![Some(1149.5), None] }
        );
        let one = pivot_of_cells(&document);
        let cells: Vec<&str> = one.iter().map(|grid| grid.cell.as_str()).collect();
        assert_eq!(cells.first().zip(cells.last()), Some((&"size=1k", &"size=10k")));
    }

    /// A plan with another axis beside, so that something is left over.
    fn pivot_of_cells(document: &crate::matrix::document::MatrixDocument) -> Vec<Grid> {
        let mut document = document.clone();
        document.plan.axes.insert(String::from("over"), serde_json::json!(["tcp"]));
        document.runs.iter_mut().for_each(|run| drop(run.axes.insert(String::from("over"), String::from("tcp"))));
        let pivot = Some(Pivot { rows: vec![String::from("over")], columns: vec![String::from("variant")] });
        grids(&tables(&document, &TableOptions { pivot, ..Default::default() }).expect("its axes"))
    }

    #[test]
    fn axes_are_checked() {
        assert_eq!(pivot(&["x"], &[]), Err(String::from("--rows: unknown axis 'x', expected some of size, variant")));
        assert_eq!(
            pivot(&["size"], &["size"]),
            Err(String::from("--columns: 'size' is in --rows already, expected another one"))
        );
        let settled = pivot(&[], &[]).expect("defaults").pivot.expect("asked for");
        assert_eq!((settled.rows, settled.columns), (vec![String::from("size")], vec![String::from("variant")]));
    }
}
