//! The report of one run, made from its document alone.
//!
//! The first screen answers what somebody asks at two in the morning: did it pass, was it slow, when, and can the
//! numbers be trusted. Below stand the charts, then the tables of the summary with its very numbers and formats, then
//! machine and options.

mod charts;
mod delay;
mod head;
mod intervals;
mod tables;

use crate::document::{Document, Metric};
use crate::format;
use crate::options::{SummaryOptions, TimeUnit, TrendStat, parse_trend_stats};

use super::{Page, Text};
use intervals::Intervals;

/// The report as one HTML file.
pub fn page(document: &Document) -> String {
    let run = Run { document, options: summary_options(document), intervals: Intervals::new(&document.seconds) };
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

/// What all parts of the report look at.
struct Run<'a> {
    document: &'a Document,
    options: SummaryOptions,
    intervals: Intervals<'a>,
}

impl Run<'_> {
    /// A value of a metric in the summary's format.
    fn show(&self, metric: &Metric, value: f64) -> String {
        format::value(value, metric.result_contains(), self.options.time_unit)
    }

    /// Milliseconds in the summary's format.
    fn time(&self, ms: f64) -> String {
        format::time(ms, self.options.time_unit)
    }
}

/// Columns and unit as the run's own summary had them; the usual ones when the document says something else.
fn summary_options(document: &Document) -> SummaryOptions {
    let names = document.options["summaryTrendStats"].as_array();
    let names: Vec<String> = names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let asked = Some(names).filter(|names| !names.is_empty()).and_then(|names| parse_trend_stats(&names).ok());
    let time_unit: Option<TimeUnit> = document.options["summaryTimeUnit"].as_str().and_then(|unit| unit.parse().ok());
    SummaryOptions { trend_stats: asked.unwrap_or_else(TrendStat::defaults), time_unit, ..SummaryOptions::default() }
}

/// A line of facts, each between separators.
fn facts(facts: &[String]) -> String {
    let spans: Vec<String> =
        facts.iter().filter(|fact| !fact.is_empty()).map(|fact| format!("<span>{fact}</span>")).collect();
    format!("<p class=\"about\">{}</p>", spans.concat())
}

/// Text as finished HTML.
fn plain(text: &str) -> String {
    Text(text).to_string()
}
