//! Lines of metrics with aligned columns.
//!
//! All lines of one block share their widths: names are filled with dots to the longest, first values to the longest
//! first value, each statistic of Trends to its own longest. That is k6's layout, and as wide as it comes. Where it
//! does not fit, the statistics of Trends take two lines beside the name, or stand below it where not even half of them
//! fit.

use metrics::metric::{Contains, Kind};
use metrics::results::{MetricResult, Value};
use units::show;

use super::paint::Paint;
use crate::format;
use crate::options::SummaryOptions;
use crate::visible;

/// One line: a name and its value.
pub(super) struct SummaryRow {
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

impl SummaryRow {
    /// The line of a metric or sub-metric.
    pub fn of(metric: &MetricResult, options: &SummaryOptions) -> SummaryRow {
        let name = match &metric.filter {
            Some(filter) => format!("{{ {} }}", visible(filter.trim())),
            None => metric.name.clone(),
        };
        let indent = if metric.filter.is_some() { 2 } else { 0 };
        SummaryRow { indent, name, cells: cells(metric, options) }
    }

    /// A line of a value and one extra.
    pub fn pair(name: &str, value: String, extra: String) -> SummaryRow {
        SummaryRow { indent: 0, name: name.to_owned(), cells: Cells::Values(value, vec![extra]) }
    }

    fn name_width(&self) -> usize {
        self.indent + width(&self.name)
    }
}

fn cells(metric: &MetricResult, options: &SummaryOptions) -> Cells {
    let show = |value: f64| format::value(value, metric.contains, options.time_unit);
    match &metric.value {
        Value::Trend(_) if was_never_answered(metric) => Cells::Values(String::from("none"), Vec::new()),
        Value::Counter { count, rate } => Cells::Values(show(*count), vec![format!("{}/s", show(*rate))]),
        Value::Gauge { value, min, max } => {
            Cells::Values(show(*value), vec![format!("min={}", show(*min)), format!("max={}", show(*max))])
        }
        Value::Rate { passes, total } => {
            Cells::Values(show::share(*passes, *total), vec![format!("{passes} out of {total}")])
        }
        Value::Trend(trend) => Cells::Stats(
            options
                .trend_stats
                .iter()
                .map(|stat| {
                    let counts = matches!(stat, crate::options::TrendStat::Count);
                    let value = stat.of(trend);
                    let text = if counts { show::number(value) } else { show(value) };
                    (stat.label().to_owned(), text)
                })
                .chain((trend.censored() > 0).then(|| (String::from("dropped"), show::number(trend.censored() as f64))))
                .collect(),
        ),
    }
}

/// Whether no request got as far as being sent. k6 tells 0 s, which reads like a very fast server.
pub(crate) fn was_never_answered(metric: &MetricResult) -> bool {
    let Value::Trend(trend) = &metric.value else { return false };
    metric.name == "http_req_duration" && trend.max() == 0.0
}

/// The left side of a threshold, in the form of its metric.
pub(crate) fn threshold_value(metric: &MetricResult, label: &str, left: f64, options: &SummaryOptions) -> String {
    match (metric.kind, metric.contains) {
        _ if was_never_answered(metric) => String::from("none"),
        (Kind::Rate, _) => show::fraction(left),
        (Kind::Counter, contains) if label == "rate" => {
            format!("{}/s", format::value(left, contains, options.time_unit))
        }
        (_, contains @ (Contains::Default | Contains::Time | Contains::Data)) => {
            format::value(left, contains, options.time_unit)
        }
    }
}

/// Spaces before statistics that stand below their name.
const BELOW: usize = 2;

/// How the rows of a block are laid out.
struct Layout {
    /// Width of the names' column. A longer name, which only a limited width allows, has its values below.
    name: usize,
    first: usize,
    extras: Vec<usize>,
    /// Statistics of Trends: widths of their columns, beside a name and below one.
    beside: Vec<usize>,
    below: Vec<usize>,
    /// Whether all statistics stand below their names.
    is_below: bool,
    room: Option<usize>,
}

impl Layout {
    /// k6's when it fits into this many columns, or when there is no limit.
    fn of<'a>(rows: impl Iterator<Item = &'a SummaryRow> + Clone, room: Option<usize>) -> Layout {
        let mut layout =
            Layout { name: 0, first: 0, extras: vec![], beside: vec![], below: vec![], is_below: false, room };
        let mut stats: Vec<usize> = Vec::new();
        for row in rows.clone() {
            layout.name = layout.name.max(row.name_width());
            match &row.cells {
                Cells::Values(first, extras) => {
                    layout.first = layout.first.max(width(first));
                    grow(&mut layout.extras, extras.iter().map(|extra| width(extra)));
                }
                Cells::Stats(cells) => {
                    grow(&mut stats, cells.iter().map(|(label, text)| width(label) + 1 + width(text)))
                }
            }
        }
        layout.beside = stats.clone();
        match room {
            Some(room) if layout.start() + line_width(&stats) > room => layout.narrowed(rows, &stats, room),
            _ => Layout { room: None, ..layout },
        }
    }

    fn narrowed<'a>(mut self, rows: impl Iterator<Item = &'a SummaryRow>, stats: &[usize], room: usize) -> Layout {
        // One long name must not move the values of all the others.
        self.name = rows.map(SummaryRow::name_width).filter(|name| *name <= room / 2).max().unwrap_or(0);
        self.beside = columns(stats, room.saturating_sub(self.start()));
        self.below = columns(stats, room.saturating_sub(BELOW));
        self.is_below = self.beside.len() * 2 < stats.len();
        self
    }

    /// Where values begin.
    fn start(&self) -> usize {
        self.name + "...: ".len()
    }
}

/// Widths of as many columns as fit; the statistics are spread evenly over the lines that this takes.
fn columns(stats: &[usize], room: usize) -> Vec<usize> {
    let fold = |count: usize| -> Vec<usize> {
        (0..count).map(|at| stats.iter().skip(at).step_by(count).copied().max().unwrap_or(0)).collect()
    };
    let fitting = (1..=stats.len()).rev().find(|count| line_width(&fold(*count)) <= room).unwrap_or(1);
    fold(stats.len().div_ceil(stats.len().div_ceil(fitting).max(1)))
}

fn line_width(columns: &[usize]) -> usize {
    columns.iter().sum::<usize>() + columns.len().saturating_sub(1)
}

fn grow(known: &mut Vec<usize>, found: impl Iterator<Item = usize>) {
    for (at, width) in found.enumerate() {
        match known.get_mut(at) {
            Some(widest) => *widest = width.max(*widest),
            None => known.push(width),
        }
    }
}

/// The sections of a block as lines, aligned with each other and within `room` columns where that is possible. The
/// result has one list of lines for each section.
pub(super) fn render(sections: &[Vec<SummaryRow>], paint: Paint, room: Option<usize>) -> Vec<Vec<String>> {
    let layout = Layout::of(sections.iter().flatten(), room);
    sections.iter().map(|rows| rows.iter().flat_map(|row| lines(row, &layout, paint)).collect()).collect()
}

fn lines(row: &SummaryRow, layout: &Layout, paint: Paint) -> Vec<String> {
    let dots = ".".repeat(layout.name.saturating_sub(row.name_width()) + 3);
    let head = format!("{:indent$}{}{} ", "", row.name, paint.dots(&format!("{dots}:")), indent = row.indent);
    let is_long = row.name_width() > layout.name;
    match &row.cells {
        Cells::Values(first, extras) => {
            let padding = if extras.is_empty() { String::new() } else { blanks(layout.first, first) };
            let mut values = vec![paint.value(first) + &padding];
            // A single extra ends its line; several are columns.
            let fill = |wide: usize, text: &str| if extras.len() > 1 { blanks(wide, text) } else { String::new() };
            let padded = extras.iter().zip(&layout.extras);
            values.extend(padded.map(|(text, wide)| format!("{}{}", paint.extra(text), fill(*wide, text))));
            let last = extras.last().map_or(0, |text| 1 + width(text));
            let columns = layout.extras.iter().take(extras.len().saturating_sub(1));
            let plain = layout.first + columns.map(|wide| 1 + wide).sum::<usize>() + last;
            let is_wide = layout.room.is_some_and(|room| layout.start() + plain > room);
            if is_long || is_wide { below(&head, row.indent, &[values]) } else { vec![head + &values.join(" ")] }
        }
        Cells::Stats(stats) => {
            let is_below = layout.is_below || is_long;
            let columns = if is_below { &layout.below } else { &layout.beside };
            let column = |((label, text), wide): (&(String, String), &usize)| {
                format!("{label}={}{}", paint.value(text), blanks(wide - width(label) - 1, text))
            };
            let cells: Vec<String> = stats.iter().zip(columns.iter().cycle()).map(column).collect();
            let parts: Vec<Vec<String>> = cells.chunks(columns.len().max(1)).map(<[String]>::to_vec).collect();
            if is_below { below(&head, row.indent, &parts) } else { beside(head, layout, &parts) }
        }
    }
}

/// The values behind the name, further lines of them below the first.
fn beside(head: String, layout: &Layout, parts: &[Vec<String>]) -> Vec<String> {
    let mut lines = vec![head + &parts.first().map(|first| first.join(" ")).unwrap_or_default()];
    let start = layout.start();
    lines.extend(parts.iter().skip(1).map(|part| format!("{:start$}{}", "", part.join(" "))));
    lines
}

/// The name in a line of its own, the values below it.
fn below(head: &str, indent: usize, parts: &[Vec<String>]) -> Vec<String> {
    let shift = indent + BELOW;
    let values = parts.iter().map(|part| format!("{:shift$}{}", "", part.join(" ").trim_end()));
    std::iter::once(head.trim_end().to_owned()).chain(values).collect()
}

fn blanks(wide: usize, text: &str) -> String {
    " ".repeat(wide.saturating_sub(width(text)))
}

fn width(text: &str) -> usize {
    text.chars().count()
}
