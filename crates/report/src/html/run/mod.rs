//! The report of one run, made from its document alone.
//!
//! The first screen answers what somebody asks at two in the morning: did it pass, was it slow, when, and can the
//! numbers be trusted. Below stand the charts, then the tables of the summary with its very numbers and formats, then
//! machine and options.

mod charts;
mod delay;
mod head;
mod intervals;
mod shown_run;
mod tables;

use super::Page;
use crate::document::Document;
use shown_run::ShownRun;

/// The report as one HTML file.
pub fn page(document: &Document) -> String {
    let run = ShownRun::new(document);
    let mut page = Page::new(&format!("{} · Onrush", document.script));
    page.add(head::head(&run));
    charts::sections(&run).into_iter().for_each(|(title, pieces)| page.section(&title, &pieces));
    page.section("Summary", &tables::summary(&run));
    for scenario in &document.scenarios {
        page.section(&format!("Scenario {}", scenario.name), &tables::scenario(&run, scenario));
    }
    page.section("Machine and options", &tables::circumstances(&run));
    page.html()
}
