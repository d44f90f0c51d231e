//! The report of one run, made from its document alone.
//!
//! The first screen answers what somebody asks at two in the morning: did it pass, was it slow, when, and can the
//! numbers be trusted. Then what failed, which requests were slow, and when. Below stand charts of all that was
//! measured, the tables of the summary with its very numbers and formats, machine and options.

mod agents;
mod changes;
mod charts;
mod delay;
mod errors;
mod head;
mod intervals;
mod plots;
mod requests;
mod shown_run;
mod tables;
mod thresholds;
mod timeline;
mod traces;

use super::Page;
use crate::document::Document;
pub use changes::Earlier;
use shown_run::ShownRun;

/// The report as one HTML file.
pub fn page(document: &Document) -> String {
    page_against(document, None)
}

/// The same beside an earlier run.
pub fn page_against(document: &Document, earlier: Option<&Earlier<'_>>) -> String {
    let run = ShownRun::new(document, earlier.map(|earlier| earlier.document));
    let mut page = Page::new(&format!("{} · Onrush", document.script));
    page.head(head::head(&run));
    page.section("What failed", &errors::section(&run));
    page.section("Requests", &requests::section(&run));
    page.section("What changed", &changes::section(&run, earlier));
    page.section("Over time", &timeline::section(&run));
    page.section("Thresholds", &[thresholds::table(&run)]);
    charts::sections(&run).into_iter().for_each(|(title, pieces)| page.section(&title, &pieces));
    page.section("Agents", &agents::section(&run));
    page.section("Summary", &tables::summary(&run));
    for scenario in &document.scenarios {
        page.section(&format!("Scenario {}", scenario.name), &tables::scenario(&run, scenario));
    }
    page.section("Machine and options", &tables::circumstances(&run));
    page.html()
}
