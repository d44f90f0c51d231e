//! What all parts of a run's report look at, and how they write values, facts and text.

use super::intervals::Intervals;
use crate::document::{Document, Metric, Steadiness};
use crate::format;
use crate::html::Text;
use crate::options::{SummaryOptions, TimeUnit, TrendStat, trend_stats_of};

/// What all parts of the report look at.
pub(super) struct ShownRun<'a> {
    pub(super) document: &'a Document,
    pub(super) options: SummaryOptions,
    pub(super) intervals: Intervals<'a>,
    /// From when to when the load was the same and the answers were not those of the steady stretch.
    pub(super) unsteady: Vec<(f64, f64)>,
    /// When the load was changed.
    pub(super) changes: Vec<f64>,
    /// An earlier run, drawn beside.
    pub(super) before: Option<&'a Document>,
}

impl<'a> ShownRun<'a> {
    pub(super) fn new(document: &'a Document, before: Option<&'a Document>) -> Self {
        let intervals = Intervals::new(&document.seconds);
        let unsteady = document.steadiness.as_ref().map(Steadiness::unsteady).unwrap_or_default();
        let changes = document.load_changes.iter().map(|change| change.at_s).collect();
        ShownRun { document, options: summary_options(document), intervals, unsteady, changes, before }
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
    let asked = trend_stats_of(&document.options);
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
