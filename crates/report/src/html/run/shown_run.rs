//! What all parts of a run's report look at, and how they write values, facts and text.

use super::intervals::Intervals;
use crate::document::{Document, Metric};
use crate::format;
use crate::html::Text;
use crate::options::{SummaryOptions, TimeUnit, TrendStat, parse_trend_stats};

/// What all parts of the report look at.
pub(super) struct ShownRun<'a> {
    pub(super) document: &'a Document,
    pub(super) options: SummaryOptions,
    pub(super) intervals: Intervals<'a>,
}

impl<'a> ShownRun<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        let intervals = Intervals::new(&document.seconds);
        ShownRun { document, options: summary_options(document), intervals }
    }

    /// A value of a metric in the summary's format.
    pub(super) fn show(&self, metric: &Metric, value: f64) -> String {
        format::value(value, metric.result_contains(), self.options.time_unit)
    }

    /// Milliseconds in the summary's format.
    pub(super) fn time(&self, ms: f64) -> String {
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
pub(super) fn facts(facts: &[String]) -> String {
    let spans: Vec<String> =
        facts.iter().filter(|fact| !fact.is_empty()).map(|fact| format!("<span>{fact}</span>")).collect();
    format!("<p class=\"about\">{}</p>", spans.concat())
}

/// Text as finished HTML.
pub(super) fn plain(text: &str) -> String {
    Text(text).to_string()
}
