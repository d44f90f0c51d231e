//! A matrix's result as one HTML page that opens offline: what can be told, a chart of rates and one of percentiles for
//! each group, the table, what failed with what it printed, and plan and machine.

use std::fmt::Write;

use units::show::counted;

use super::data::{JudgedBy, RowGroup, TableRow, Tables};
use super::options::known;
use super::sheet::Sheet;
use super::{chooser, notes, text};
use crate::html::chart::{Bar, Bars, ChartLine, Percentiles, Unit};
use crate::html::table::CellText;
use crate::html::{Page, Table, Text, grid};
use crate::matrix::document::{MatrixDocument, RunRecord};
use crate::matrix::number;

/// The page.
pub fn html(document: &MatrixDocument, tables: &Tables) -> String {
    let mut page = Page::new(&format!("{} · Onrush", tables.name));
    page.head(head(document, tables));
    let charts: Vec<String> = tables.groups.iter().flat_map(|group| charts(tables, group)).collect();
    let (charts, sheets) = (("Rates and response times", vec![grid(&charts)]), ("Tables", sheets(tables)));
    // Who asks for a pivot looks for its grids.
    let sections = if tables.pivot.is_some() { [sheets, charts] } else { [charts, sheets] };
    sections.iter().for_each(|(title, pieces)| page.section(title, pieces));
    page.section("Pivot", &chooser::section(tables, &known(&document.plan)));
    page.script(include_str!("../../html/pivot.js"));
    page.section("What was left out", &failures(document));
    page.section("Plan and machine", &[circumstances(document)]);
    page.html()
}

fn head(document: &MatrixDocument, tables: &Tables) -> String {
    let (plan, environment) = (&document.plan, &document.environment);
    let cores = |cores: &[usize]| cores.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let pins = [("servers", &plan.pin.server), ("load", &plan.pin.load)]
        .iter()
        .filter(|(_, pinned)| !pinned.is_empty())
        .map(|(what, pinned)| format!("{what} on core{} {}", if pinned.len() == 1 { "" } else { "s" }, cores(pinned)))
        .collect::<Vec<_>>();
    let facts = [
        document.started_at.replace('T', " ").replace('Z', " UTC"),
        format!(
            "{} in {}, seed {}",
            counted(document.runs.len(), "run"),
            counted(plan.rounds as usize, "round"),
            document.seed
        ),
        format!("{} on {}", environment.cpu_model, counted(environment.cores, "core")),
        pins.join(", "),
        format!("Onrush {}", document.onrush),
    ];
    let facts: String =
        facts.iter().filter(|fact| !fact.is_empty()).map(|fact| format!("<span>{}</span>", Text(fact))).collect();
    let mut list = String::from("<ul class=\"verdict\">\n");
    for (class, text) in verdicts(tables) {
        let _ = writeln!(list, "<li class=\"{class}\">{}</li>", Text(&text));
    }
    list.push_str("</ul>");
    format!("<header>\n<h1>{}</h1>\n<p class=\"about\">{facts}</p>\n{list}\n</header>", Text(&tables.name))
}

/// What each group shows, then what the reader must know.
fn verdicts(tables: &Tables) -> Vec<(&'static str, String)> {
    let groups = tables.verdicts().into_iter().map(|(best, line)| (if best { "good" } else { "" }, line));
    let notes = tables.notes.iter().map(|note| match note.chars().next() {
        Some('✗') => ("bad", note.trim_start_matches(['✗', ' ']).to_owned()),
        Some('!') => ("warn", note.trim_start_matches(['!', ' ']).to_owned()),
        // The mark of its rows in the table.
        Some('?') => ("warn", note.clone()),
        _ => ("", note.clone()),
    });
    groups.chain(notes).collect()
}

/// Rates and percentiles of a group, in the same colours.
fn charts(tables: &Tables, group: &RowGroup) -> Vec<String> {
    let heading = |what: &str| match group.heading.is_empty() {
        true => what.to_owned(),
        false => format!("{what}, {}", group.heading),
    };
    let bars = group.rows.iter().enumerate().filter_map(|(at, row)| {
        let rate = row.rate?;
        let mark = if row.best && group.judged_by == JudgedBy::Rate { " best" } else { "" };
        Some(Bar {
            name: name(tables, row),
            value: rate.median,
            shown: format!("{}{}{mark}", number::rate(rate.median), row.mark()),
            interval: Some((rate.low, rate.high)),
            colour: at,
        })
    });
    let rates = Bars {
        title: &heading(&format!("{} per second", tables.rate_metric)),
        note: Some("median of the rounds, with the lowest and the highest"),
        bars: bars.collect(),
    };
    // The maximum has no place on an axis of rarity.
    let percents: Vec<f64> = tables.percentiles.iter().copied().filter(|percent| *percent < 100.0).collect();
    let shown = |row: &TableRow| {
        let values = row.percentiles.iter().zip(&tables.percentiles);
        values.filter(|(_, percent)| **percent < 100.0).map(|(value, _)| *value).collect()
    };
    let lines = group.rows.iter().map(|row| ChartLine::new(name(tables, row), shown(row))).collect();
    let times = Percentiles {
        title: &heading(&tables.time_metric),
        note: Some("by percentile, medians of the rounds"),
        unit: Unit::Time,
        percents: &percents,
        lines,
    };
    vec![rates.html(), times.html()]
}

/// What tells a row from the others of its group.
fn name(tables: &Tables, row: &TableRow) -> String {
    match tables.headed {
        true => tables.columns.iter().map(|column| row.values[column].as_str()).collect::<Vec<_>>().join(", "),
        false => row.values.get("variant").cloned().unwrap_or_default(),
    }
}

fn sheets(tables: &Tables) -> Vec<String> {
    let mut pieces = Vec::new();
    for Sheet { heading, rows } in text::sheets(tables) {
        let Some((head, rows)) = rows.split_first() else { continue };
        let texts = head.iter().filter(|field| !field.right).count();
        let caption = if heading.is_empty() { "All variants in all cells" } else { heading.as_str() };
        let mut table = Table::new(head.iter().map(|field| field.text.as_str())).texts(texts).named(caption);
        for row in rows {
            let best = row.iter().any(|field| field.bold);
            let cells = row.iter().map(|field| match field.bold {
                true => CellText::html(format!("<b>{}</b>", Text(&field.text))),
                false => field.text.clone().into(),
            });
            table.row_of(if best { "strong" } else { "" }, cells);
        }
        if !heading.is_empty() {
            pieces.push(format!("<h3 class=\"of\">{}</h3>", Text(&heading)));
        }
        pieces.push(table.html());
    }
    pieces
}

/// Runs without figures, with what the first of them printed.
fn failures(document: &MatrixDocument) -> Vec<String> {
    let told = |runs: Vec<&RunRecord>| {
        let reason = runs[0].reason.as_deref().unwrap_or("it failed");
        let output = match runs[0].output.is_empty() {
            true => String::new(),
            false => format!("<pre tabindex=\"0\">{}</pre>", Text(&runs[0].output.join("\n"))),
        };
        let (label, rounds) = (notes::label(runs[0]), notes::rounds(&runs));
        format!("<p><strong>{}</strong>, {rounds}: {}</p>{output}", Text(&label), Text(reason))
    };
    notes::failures(document).into_iter().map(told).collect()
}

fn circumstances(document: &MatrixDocument) -> String {
    let pretty = |value: serde_json::Result<String>| value.unwrap_or_default();
    format!(
        "<details><summary>plan</summary><pre tabindex=\"0\">{}</pre></details>\n\
         <details><summary>machine</summary><pre tabindex=\"0\">{}</pre></details>",
        Text(&pretty(serde_json::to_string_pretty(&document.plan))),
        Text(&pretty(serde_json::to_string_pretty(&document.environment)))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::table::tests::document;
    use crate::matrix::table::{TableOptions, tables};

    #[test]
    fn the_page_has_charts_tables_and_failures() {
        let mut document = document();
        let last = document.runs.last_mut().expect("runs");
        last.output = vec![String::from("<script>alert(1)</script>")];
        let page = html(&document, &tables(&document, &TableOptions::default()).expect("its axes"));
        assert_eq!(page.matches("<figure class=\"chart\">").count(), 4, "two for each group");
        assert!(page.contains("<li class=\"good\">size=1k: b is the best, 10.0 % faster than a</li>"), "{page}");
        assert!(page.contains("<li class=\"bad\">round 8 of b (size=10k) is left out: the server died</li>"));
        assert!(page.contains("<pre tabindex=\"0\">&lt;script&gt;alert(1)") && !page.contains("<script>alert"));
        assert!(
            page.contains("<tr class=\"strong\"><th scope=\"row\">1k</th><td>b</td><td class=\"n\"><b>1,150</b></td>"),
            "{page}"
        );
        assert!(!page.contains("http://h:") && !page.contains("src="));
    }
}
