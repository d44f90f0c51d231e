//! The pivot of a page, whose rows, columns and cells the reader chooses: the figures of all rows as data, from which
//! `pivot.js` makes the table, and the table as it is at first, for readers without a script.
//!
//! Figures are the texts of the other tables, with their marks: the script only puts them into places. Absent where
//! fewer than two axes have several values, because then there is nothing to turn.

use serde_json::json;

use super::column::{FigureColumn, columns};
use super::data::{JudgedBy, TableRow, Tables};
use super::pivot::{Pivot, distinct};
use crate::html::table::CellText;
use crate::html::{Table, Text, json_island};

/// An axis with more than one value, in the order of the plan.
struct PivotAxis {
    name: String,
    values: Vec<String>,
}

/// The controls' place, the table and the data; nothing where there is nothing to turn.
pub(super) fn section(tables: &Tables, known: &[String]) -> Vec<String> {
    let rows: Vec<(&TableRow, JudgedBy)> =
        tables.groups.iter().flat_map(|group| group.rows.iter().map(|row| (row, group.judged_by))).collect();
    let axes: Vec<PivotAxis> =
        known.iter().map(|name| axis(name, &rows)).filter(|axis| axis.values.len() > 1).collect();
    let names: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
    let asked = tables.pivot.clone().unwrap_or_default();
    let kept = |of: Vec<String>| of.into_iter().filter(|axis| names.contains(axis)).collect();
    let asked = Pivot { rows: kept(asked.rows), columns: kept(asked.columns) };
    let figures: Vec<FigureColumn> = columns(tables).into_iter().filter(FigureColumn::is_of_its_own).collect();
    let (Ok(pivot), true, Some(first)) = (asked.settled(&names), axes.len() > 1, figures.first()) else {
        return Vec::new();
    };
    let about = "<p class=\"about\">each axis as rows, as columns, or one value of it alone; medians of the rounds</p>";
    let table = at_first(tables, &rows, &axes, &pivot, first);
    let data = json_island(&data(tables, &rows, &axes, &pivot, &figures));
    vec![format!(
        "<div id=\"pivot\">{about}<div class=\"choices\"></div><div class=\"turned\">{table}</div>{data}</div>"
    )]
}

fn axis(name: &str, rows: &[(&TableRow, JudgedBy)]) -> PivotAxis {
    let values = distinct(rows.iter().filter_map(|(row, _)| row.values.get(name).cloned()));
    PivotAxis { name: name.to_owned(), values }
}

/// What an axis is at first: of those that are neither rows nor columns the first value alone.
fn place(axis: &PivotAxis, pivot: &Pivot) -> &'static str {
    match () {
        () if pivot.rows.contains(&axis.name) => "rows",
        () if pivot.columns.contains(&axis.name) => "columns",
        () => "0",
    }
}

fn data(
    tables: &Tables,
    rows: &[(&TableRow, JudgedBy)],
    axes: &[PivotAxis],
    pivot: &Pivot,
    figures: &[FigureColumn],
) -> serde_json::Value {
    let of_row = |(row, judged_by): &(&TableRow, JudgedBy)| {
        let at: Vec<Option<usize>> =
            axes.iter().map(|axis| axis.values.iter().position(|value| *value == row.values[&axis.name])).collect();
        let fields: Vec<_> = figures.iter().map(|figure| figure.field(row, *judged_by)).collect();
        let texts: Vec<&str> = fields.iter().map(|field| &*field.text).collect();
        json!({ "at": at, "texts": texts, "best": fields.iter().position(|field| field.bold) })
    };
    json!({
        "axes": axes.iter().map(|axis| json!({ "name": axis.name, "values": axis.values, "place": place(axis, pivot) }))
            .collect::<Vec<_>>(),
        "figures": figures.iter().map(|figure| figure.title(tables)).collect::<Vec<_>>(),
        "rows": rows.iter().map(of_row).collect::<Vec<_>>(),
    })
}

/// The table that the script makes of the places at first, of the first figure.
fn at_first(
    tables: &Tables,
    rows: &[(&TableRow, JudgedBy)],
    axes: &[PivotAxis],
    pivot: &Pivot,
    figure: &FigureColumn,
) -> String {
    let is_shown =
        |row: &TableRow| axes.iter().all(|axis| place(axis, pivot) != "0" || row.values[&axis.name] == axis.values[0]);
    let shown: Vec<_> = rows.iter().filter(|(row, _)| is_shown(row)).collect();
    let values =
        |row: &TableRow, names: &[String]| names.iter().map(|name| row.values[name].clone()).collect::<Vec<_>>();
    let heads = distinct(shown.iter().map(|(row, _)| values(row, &pivot.columns)));
    let head = pivot.rows.iter().cloned().chain(heads.iter().map(|head| head.join(", ")));
    let head: Vec<String> = head.collect();
    let caption = format!("{}: {} by {}", figure.title(tables), pivot.rows.join(", "), pivot.columns.join(", "));
    let mut table = Table::new(head.iter().map(String::as_str)).texts(pivot.rows.len().max(1)).named(&caption);
    for names in distinct(shown.iter().map(|(row, _)| values(row, &pivot.rows))) {
        let cell = |head: &Vec<String>| {
            let is_it = |(row, _): &&&(&TableRow, JudgedBy)| {
                values(row, &pivot.rows) == names && values(row, &pivot.columns) == *head
            };
            match shown.iter().find(is_it).map(|(row, judged_by)| figure.field(row, *judged_by)) {
                Some(field) if field.bold => CellText::html(format!("<b>{}</b>", Text(&field.text))),
                Some(field) => field.text.into(),
                None => "–".into(),
            }
        };
        let cells: Vec<CellText> = heads.iter().map(cell).collect();
        table.row(names.iter().map(|name| CellText::from(name.clone())).chain(cells));
    }
    table.html()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::table::options::known;
    use crate::matrix::table::tests::document;
    use crate::matrix::table::{TableOptions, tables};

    fn of(pivot: Option<Pivot>) -> Vec<String> {
        let document = document();
        let options = TableOptions { percentiles: vec![50.0], pivot, ..TableOptions::default() };
        section(&tables(&document, &options).expect("its axes"), &known(&document.plan))
    }

    fn data_of(html: &str) -> serde_json::Value {
        let text = html.split("application/json\">").nth(1).and_then(|rest| rest.split("</script>").next());
        serde_json::from_str(text.expect("an island")).expect("JSON")
    }

    #[test]
    fn a_page_has_all_figures_in_places_and_a_table_without_a_script() {
        let html = of(None).concat();
        let data = data_of(&html);
        let [size, variant] = [("size", "rows", ["1k", "10k"]), ("variant", "columns", ["a", "b"])]
            .map(|(name, place, values)| json!({ "name": name, "place": place, "values": values }));
        assert_eq!(data["axes"], json!([size, variant]));
        assert_eq!(data["figures"][0], "http_reqs/s");
        let row = |at: usize| (&data["rows"][at]["at"], &data["rows"][at]["best"], &data["rows"][at]["texts"][0]);
        assert_eq!(row(1), (&json!([0, 1]), &json!(0), &json!("1,150")));
        assert_eq!(row(3), (&json!([1, 1]), &json!(null), &json!("1,040")));
        assert!(html.contains("<caption>http_reqs/s: size by variant</caption>"), "{html}");
        let row = "<th scope=\"row\">1k</th><td class=\"n\">1,045</td><td class=\"n\"><b>1,150</b></td>";
        assert!(html.contains(row), "{html}");
    }

    #[test]
    fn it_begins_with_what_was_asked_for() {
        let names = |axis: &str| vec![axis.to_owned()];
        let html = of(Some(Pivot { rows: names("variant"), columns: names("size") })).concat();
        assert_eq!(data_of(&html)["axes"][0]["place"], "columns");
        assert!(html.contains("<th scope=\"row\">b</th><td class=\"n\"><b>1,150</b></td>"), "{html}");
    }

    #[test]
    fn one_axis_cannot_be_turned() {
        let mut document = document();
        document.runs.retain(|run| run.axes["size"] == "1k");
        let tables = tables(&document, &TableOptions::default()).expect("its axes");
        assert!(section(&tables, &known(&document.plan)).is_empty());
    }
}
