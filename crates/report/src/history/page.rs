//! A history as one HTML file: what changed, a chart of each measure over the runs, and the table.

use std::fmt::Write;

use super::text::{cell, of_change, result, sentences, started};
use super::{History, PastMeasure};
use crate::document::Contains;
use crate::html::chart::{Runs, Unit};
use crate::html::table::CellText;
use crate::html::{Page, Table, Text, grid};

/// The page. `name`: of the folder.
pub fn page(history: &History, name: &str) -> String {
    let mut page = Page::new(&format!("{name} · history · Onrush"));
    page.head(head(history, name));
    let labels: Vec<String> = history.runs.iter().map(started).collect();
    let charts: Vec<String> = history.measures.iter().map(|measure| chart(history, measure, &labels)).collect();
    page.section("Over the runs", &[grid(&charts)]);
    page.section("Runs", &[table(history)]);
    page.html()
}

fn head(history: &History, name: &str) -> String {
    let mut list = String::new();
    for measure in &history.measures {
        for change in &measure.changes {
            let class = match change.is_better {
                Some(true) => "good",
                Some(false) => "bad",
                None => "",
            };
            let told = of_change(history, measure, change);
            let what = measure.measure.to_string();
            let _ = write!(list, "<li class=\"{class}\"><strong>{}</strong>{}</li>", Text(&what), Text(&told));
        }
    }
    let changes = history.measures.iter().map(|measure| measure.changes.len()).sum::<usize>();
    for line in sentences(history).iter().skip(changes) {
        let _ = write!(list, "<li>{}</li>", Text(line));
    }
    let runs = units::show::counted(history.runs.len(), "run");
    let ends = [history.runs.first(), history.runs.last()].map(|run| run.map(started).unwrap_or_default());
    let about = format!("<span>{runs}</span><span>{} to {}</span>", Text(&ends[0]), Text(&ends[1]));
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"about\">{about}</p>\n<ul class=\"verdict\">{list}</ul>\n</header>",
        Text(name)
    )
}

fn chart(history: &History, measure: &PastMeasure, labels: &[String]) -> String {
    let unit = match measure.contains {
        _ if measure.measure.is_share() => Unit::Share,
        Contains::Time => Unit::Time,
        Contains::Data => Unit::Bytes,
        Contains::Default => Unit::Number,
    };
    let changes: Vec<usize> = measure.changes.iter().map(|change| change.run).collect();
    let told: Vec<String> = measure.changes.iter().map(|change| of_change(history, measure, change)).collect();
    let note = (!told.is_empty()).then(|| told.join("; "));
    let (title, values) = (measure.measure.to_string(), &measure.values);
    Runs { title: &title, note: note.as_deref(), unit, labels, values, changes: &changes }.html()
}

fn table(history: &History) -> String {
    let measures: Vec<String> = history.measures.iter().map(|measure| measure.measure.to_string()).collect();
    let head = ["started", "result"].into_iter().chain(measures.iter().map(String::as_str)).chain(["run"]);
    let mut table = Table::new(head).texts(2).text_at(measures.len() + 2).named("Runs");
    for (at, run) in history.runs.iter().enumerate() {
        let class = if run.exit == 0 { "" } else { "bad" };
        let values = history.measures.iter().map(|measure| cell(measure, at));
        let name = CellText::html(format!("<span class=\"wide\">{}</span>", Text(&run.name)));
        let told = [started(run), result(run)].into_iter().chain(values).map(CellText::from);
        table.row_of(class, told.chain([name]));
    }
    table.html()
}
