//! Lines of metrics with aligned columns.
//!
//! All lines of one block share their widths: names are filled with dots to the longest, first values to the longest first
//! value, each statistic of Trends to its own longest.

use metrics::metric::{Contains, Kind};
use metrics::results::{MetricResult, Value};

use super::paint::Paint;
use crate::format;
use crate::options::SummaryOptions;

/// One line: a name and what it came to.
pub(super) struct Row {
    /// Spaces before the name; sub-metrics have two.
    indent: usize,
    name: String,
    cells: Cells,
}

enum Cells {
    /// A value and what else there is to say.
    Values(String, Vec<String>),
    /// Label and value of each statistic.
    Stats(Vec<(String, String)>),
}

impl Row {
    /// The line of a metric or sub-metric.
    pub fn of(metric: &MetricResult, options: &SummaryOptions) -> Row {
        let name = match &metric.filter {
            Some(filter) => format!("{{ {} }}", filter.trim()),
            None => metric.name.clone(),
        };
        let indent = if metric.filter.is_some() { 2 } else { 0 };
        Row { indent, name, cells: cells(metric, options) }
    }

    /// A line of a value and one extra.
    pub fn pair(name: &str, value: String, extra: String) -> Row {
        Row { indent: 0, name: name.to_owned(), cells: Cells::Values(value, vec![extra]) }
    }

    fn name_width(&self) -> usize {
        self.indent + width(&self.name)
    }
}

fn cells(metric: &MetricResult, options: &SummaryOptions) -> Cells {
    let show = |value: f64| format::value(value, metric.contains, options.time_unit);
    match &metric.value {
        Value::Counter { count, rate } => Cells::Values(show(*count), vec![format!("{}/s", show(*rate))]),
        Value::Gauge { value, min, max } => {
            Cells::Values(show(*value), vec![format!("min={}", show(*min)), format!("max={}", show(*max))])
        }
        Value::Rate { passes, total } => {
            Cells::Values(format::share(*passes, *total), vec![format!("{passes} out of {total}")])
        }
        Value::Trend(trend) => Cells::Stats(
            options
                .trend_stats
                .iter()
                .map(|stat| {
                    let counts = matches!(stat, crate::options::TrendStat::Count);
                    let value = stat.of(trend);
                    let text = if counts { format::number(value) } else { show(value) };
                    (stat.label().to_owned(), text)
                })
                .collect(),
        ),
    }
}

/// The left side of a threshold, in the form its metric is told in.
pub(crate) fn threshold_value(metric: &MetricResult, label: &str, left: f64, options: &SummaryOptions) -> String {
    match (metric.kind, metric.contains) {
        (Kind::Rate, _) => format::fraction(left),
        (Kind::Counter, contains) if label == "rate" => {
            format!("{}/s", format::value(left, contains, options.time_unit))
        }
        (_, contains @ (Contains::Default | Contains::Time | Contains::Data)) => {
            format::value(left, contains, options.time_unit)
        }
    }
}

/// Widths that the rows of a block share.
#[derive(Default)]
struct Widths {
    name: usize,
    first: usize,
    extras: Vec<usize>,
    stats: Vec<usize>,
}

impl Widths {
    fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Widths {
        let mut widths = Widths::default();
        for row in rows {
            widths.name = widths.name.max(row.name_width());
            match &row.cells {
                Cells::Values(first, extras) => {
                    widths.first = widths.first.max(width(first));
                    grow(&mut widths.extras, extras.iter().map(|extra| width(extra)));
                }
                Cells::Stats(stats) => {
                    grow(&mut widths.stats, stats.iter().map(|(label, text)| width(label) + 1 + width(text)))
                }
            }
        }
        widths
    }
}

fn grow(known: &mut Vec<usize>, found: impl Iterator<Item = usize>) {
    for (at, width) in found.enumerate() {
        match known.get_mut(at) {
            Some(widest) => *widest = width.max(*widest),
            None => known.push(width),
        }
    }
}

/// The sections of a block as lines, aligned with each other. The result has one list of lines for each section.
pub(super) fn render(sections: &[Vec<Row>], paint: Paint) -> Vec<Vec<String>> {
    let widths = Widths::of(sections.iter().flatten());
    sections.iter().map(|rows| rows.iter().map(|row| line(row, &widths, paint)).collect()).collect()
}

fn line(row: &Row, widths: &Widths, paint: Paint) -> String {
    let dots = ".".repeat(widths.name - row.name_width() + 3);
    let head = format!("{:indent$}{}{} ", "", row.name, paint.dots(&format!("{dots}:")), indent = row.indent);
    let columns: Vec<String> = match &row.cells {
        Cells::Stats(stats) => {
            let column = |((label, text), wide): (&(String, String), &usize)| {
                format!("{label}={}{}", paint.value(text), blanks(wide - width(label) - 1, text))
            };
            stats.iter().zip(&widths.stats).map(column).collect()
        }
        Cells::Values(first, extras) => {
            let first = format!("{}{}", paint.value(first), blanks(widths.first, first));
            // A single extra ends its line; several are columns.
            let fill = |wide: usize, text: &str| if extras.len() > 1 { blanks(wide, text) } else { String::new() };
            let extras = extras.iter().zip(&widths.extras);
            let extras = extras.map(|(text, wide)| format!("{}{}", paint.extra(text), fill(*wide, text)));
            std::iter::once(first).chain(extras).collect()
        }
    };
    head + &columns.join(" ")
}

fn blanks(wide: usize, text: &str) -> String {
    " ".repeat(wide.saturating_sub(width(text)))
}

fn width(text: &str) -> usize {
    text.chars().count()
}
