//! Lines over the time of a run.
//!
//! A gap in the values is a gap in the line; a value between two gaps is a dot. A single moment is no chart: tables
//! tell of it. Values that span several magnitudes, as a slow second among fast ones, are drawn by magnitude, and the
//! chart says so. All charts of a page share the pointer.

use std::fmt::Write;

use serde_json::{Value, json};

use super::scale::{clock_tick, tick_text};
use super::{Axis, COLOURS, Frame, HEIGHT, Unit, WIDTH, short};

/// Highest by median from which a chart goes by magnitude: less than a twelfth of the height would be left for what is
/// usual.
const LOGARITHMIC_FROM: f64 = 12.0;

/// Limit by highest value up to which the chart reaches to the limit.
const LIMIT_WITHIN: f64 = 2.0;

/// One line.
#[derive(Clone, Debug)]
pub struct ChartLine {
    /// What the legend says.
    pub name: String,
    /// A value an interval, in the chart's unit; none is a gap.
    pub values: Vec<Option<f64>>,
    /// Number of its colour, when it should not be its position.
    pub colour: Option<usize>,
}

/// A chart of lines over time.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    /// What it shows.
    pub title: &'a str,
    /// A line below the title.
    pub note: Option<&'a str>,
    /// What the values are.
    pub unit: Unit,
    /// Start and end of each interval, in seconds since the start.
    pub times: &'a [(f64, f64)],
    /// The lines, the most important first.
    pub lines: Vec<ChartLine>,
    /// Whether the area below the first line is filled.
    pub filled: bool,
    /// Whether values may be drawn by magnitude when they span many.
    pub may_be_logarithmic: bool,
    /// Times that are shaded, because something was different then.
    pub shaded: &'a [(f64, f64)],
    /// Moments from which on the load was another one.
    pub changes: &'a [f64],
    /// Values that thresholds allow.
    pub limits: Vec<Limit>,
}

/// What a threshold allows, drawn across a chart.
#[derive(Clone, Debug)]
pub struct Limit {
    /// As written: `p(95)<500`.
    pub name: String,
    /// In the chart's unit.
    pub value: f64,
    /// Number of the colour of the line that it judges.
    pub colour: usize,
}

impl ChartLine {
    /// A line of the colour that its position gives it.
    pub fn new(name: impl Into<String>, values: Vec<Option<f64>>) -> ChartLine {
        ChartLine { name: name.into(), values, colour: None }
    }
}

impl Lines<'_> {
    /// The chart; nothing when there are not two moments with values.
    pub fn html(&self) -> String {
        let longest = self.lines.iter().map(|line| line.values.iter().flatten().count()).max();
        if longest.unwrap_or(0) < 2 {
            return String::new();
        }
        let mut values: Vec<f64> = self.lines.iter().flat_map(|line| &line.values).flatten().copied().collect();
        values.retain(|value| value.is_finite());
        if values.is_empty() {
            return String::new();
        }
        values.sort_by(f64::total_cmp);
        let measured = values[values.len() - 1];
        let (factor, unit) = self.unit.suited(measured);
        // A limit far above would press the lines together; it is named all the same.
        let near = self.limits.iter().map(|limit| limit.value).filter(|value| *value <= measured * LIMIT_WITHIN);
        values.extend(near);
        values.sort_by(f64::total_cmp);
        let axis = self.y_axis(&values, factor);
        let end = self.times.last().map_or(1.0, |(_, end)| *end);
        let clock = Axis::clock(end);
        let magnitudes = if axis.is_logarithmic() { ", logarithmic scale" } else { "" };
        let limits = self.limits.iter().map(|limit| {
            let is_above = limit.value > measured * LIMIT_WITHIN;
            (limit.colour, format!("limit {}{}", limit.name, if is_above { ", above the chart" } else { "" }))
        });
        let limits = limits.collect();
        let legend = self.drawn().map(|(colour, line)| (colour, line.name.clone())).collect();
        Frame {
            title: self.title,
            note: self.note,
            legend,
            limits,
            y_ticks: axis.ticks().into_iter().map(|(at, value)| (at, tick_text(value))).collect(),
            x_ticks: clock.ticks().into_iter().map(|(at, value)| (at, clock_tick(value, end))).collect(),
            x_title: "time since the start of the scenarios",
            y_title: format!("{unit}{magnitudes}"),
            drawing: self.drawing(&axis, &clock, factor),
            data: self.data(&axis, factor, unit, end),
            told: self.told(factor, unit),
        }
        .html()
    }

    /// The lines that have values, each with its colour.
    fn drawn(&self) -> impl Iterator<Item = (usize, &ChartLine)> {
        let coloured = self.lines.iter().enumerate().map(|(at, line)| (line.colour.unwrap_or(at) % COLOURS, line));
        coloured.filter(|(_, line)| line.values.iter().any(Option::is_some))
    }

    /// From where to where each line goes.
    fn told(&self, factor: f64, unit: &str) -> String {
        let range = |(_, line): (usize, &ChartLine)| {
            let values = || line.values.iter().flatten().copied().filter(|value| value.is_finite());
            let ends = [values().reduce(f64::min), values().reduce(f64::max)].map(|end| short(end.map(|v| v * factor)));
            format!("{} {} to {} {unit}", line.name, ends[0], ends[1])
        };
        format!(": {}", self.drawn().map(range).collect::<Vec<_>>().join("; "))
    }

    fn y_axis(&self, sorted: &[f64], factor: f64) -> Axis {
        debug_assert!(!sorted.is_empty() && sorted.is_sorted(), "from the lowest to the highest");
        let (lowest, highest) = (sorted[0], sorted[sorted.len() - 1]);
        let positive = sorted.partition_point(|value| *value <= 0.0);
        let usual = sorted[positive.min(sorted.len() - 1)..][(sorted.len() - positive.min(sorted.len() - 1)) / 2];
        if self.may_be_logarithmic && lowest > 0.0 && highest > usual * LOGARITHMIC_FROM {
            // A little room above and below, so that lines do not lie on the border.
            return Axis::logarithmic(lowest * factor * 0.9, highest * factor * 1.1);
        }
        Axis::from_zero(lowest * factor, highest * factor)
    }

    fn drawing(&self, axis: &Axis, clock: &Axis, factor: f64) -> String {
        let mut drawing = self.shading(clock);
        for x in self.changes.iter().filter_map(|at| clock.position(*at)).filter(|x| (0.0..=1.0).contains(x)) {
            let _ = write!(drawing, "<path class=\"changed\" d=\"M{:.1} 0V{HEIGHT}\"/>", x * WIDTH);
        }
        for limit in &self.limits {
            let at = axis.position(limit.value * factor).filter(|at| (0.0..=1.0).contains(at));
            let y = at.map(|at| HEIGHT * (1.0 - at));
            let colour = limit.colour % COLOURS;
            let _ = y.map(|y| write!(drawing, "<path class=\"limit c{colour}\" d=\"M0 {y:.1}H{WIDTH}\"/>"));
        }
        let drawn: Vec<(usize, &ChartLine)> = self.drawn().collect();
        for (at, (colour, line)) in drawn.into_iter().enumerate().rev() {
            let points: Vec<Option<(f64, f64)>> = line
                .values
                .iter()
                .zip(self.times)
                .map(|(value, (start, end))| {
                    let y = axis.position((*value)? * factor)?;
                    let x = clock.position((start + end) / 2.0)?;
                    Some((x * WIDTH, HEIGHT * (1.0 - y)))
                })
                .collect();
            if self.filled && at == 0 && !axis.is_logarithmic() {
                let _ = write!(drawing, "<path class=\"fill c{colour}\" d=\"{}\"/>", area(&points));
            }
            let _ = write!(drawing, "<path class=\"line c{colour}\" d=\"{}\"/>", path(&points));
        }
        drawing
    }

    fn shading(&self, clock: &Axis) -> String {
        let mut shading = String::new();
        for (from, to) in self.shaded {
            let (Some(from), Some(to)) = (clock.position(*from), clock.position(*to)) else { continue };
            let (x, width) = (from * WIDTH, (to.min(1.0) - from).max(0.0) * WIDTH);
            let _ = write!(
                shading,
                "<rect class=\"unsteady\" x=\"{x:.1}\" y=\"0\" width=\"{width:.1}\" height=\"{HEIGHT}\"/>"
            );
        }
        shading
    }

    fn data(&self, axis: &Axis, factor: f64, unit: &str, end: f64) -> Value {
        let times: Vec<Value> = self.times.iter().map(|(start, _)| json!((start * 10.0).round() / 10.0)).collect();
        let lines = self.drawn().map(|(colour, line)| {
            let values: Vec<Value> = line.values.iter().map(|value| short(value.map(|value| value * factor))).collect();
            json!({ "name": line.name, "colour": colour, "values": values })
        });
        let limits = self.limits.iter().map(
            |limit| json!({ "name": limit.name, "colour": limit.colour, "value": short(Some(limit.value * factor)) }),
        );
        json!({
            "unit": unit, "end": (end * 10.0).round() / 10.0, "times": times, "lines": lines.collect::<Vec<_>>(),
            "limits": limits.collect::<Vec<_>>(), "filled": self.filled,
            "logarithmic": axis.is_logarithmic(), "scales": self.may_be_logarithmic,
        })
    }
}

/// Pieces of a line between gaps.
fn pieces(points: &[Option<(f64, f64)>]) -> impl Iterator<Item = Vec<(f64, f64)>> {
    points
        .split(Option::is_none)
        .map(|piece| piece.iter().flatten().copied().collect())
        .filter(|piece: &Vec<_>| !piece.is_empty())
}

/// The line through these points; a gap is a gap.
pub(super) fn path(points: &[Option<(f64, f64)>]) -> String {
    let mut path = String::new();
    for piece in pieces(points) {
        for (at, (x, y)) in piece.iter().enumerate() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
        }
        if piece.len() == 1 {
            // Round ends make a dot of a line without length.
            path.push_str("h0.1");
        }
    }
    path
}

fn area(points: &[Option<(f64, f64)>]) -> String {
    let mut path = String::new();
    for piece in pieces(points).filter(|piece| piece.len() > 1) {
        let _ = write!(path, "M{:.1} {HEIGHT}", piece[0].0);
        piece.iter().for_each(|(x, y)| {
            let _ = write!(path, "L{x:.1} {y:.1}");
        });
        let _ = write!(path, "L{:.1} {HEIGHT}Z", piece[piece.len() - 1].0);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(values: Vec<Option<f64>>) -> String {
        let times: Vec<(f64, f64)> = (0..values.len()).map(|n| (n as f64, n as f64 + 1.0)).collect();
        let lines = vec![ChartLine::new("<b>", values)];
        let chart = Lines {
            title: "t",
            note: None,
            unit: Unit::Time,
            times: &times,
            lines,
            filled: false,
            may_be_logarithmic: true,
            shaded: &[(0.0, 1.0)],
            changes: &[2.0, 9.0],
            limits: vec![Limit { name: "avg<3".into(), value: 3.0, colour: 0 }],
        };
        chart.html()
    }

    #[test]
    fn gaps_are_gaps_and_lone_values_dots() {
        let html = lines(vec![Some(1.0), Some(2.0), None, Some(2.0), None]);
        assert!(html.contains("d=\"M100.0 200.0L300.0 100.0M700.0 100.0h0.1\""), "{html}");
        assert!(
            html.contains("[1,2,null,2,null]") && html.contains("\\u003cb\\u003e") && !html.contains("<b>"),
            "{html}"
        );
    }

    #[test]
    fn times_are_shaded_behind_the_lines() {
        let html = lines(vec![Some(1.0), Some(2.0), Some(2.0), Some(2.0)]);
        let shade = html.find("<rect class=\"unsteady\" x=\"0.0\" y=\"0\" width=\"250.0\"").expect("a quarter");
        assert!(shade < html.find("class=\"line").expect("a line after the legend's") || html.contains("swatch"));
    }

    #[test]
    fn changes_of_the_load_are_marked_within_the_chart() {
        let html = lines(vec![Some(1.0), Some(2.0), Some(2.0), Some(2.0)]);
        assert!(html.contains("<path class=\"changed\" d=\"M500.0 0V"), "{html}");
        assert_eq!(html.matches("class=\"changed\"").count(), 1, "the other one is beyond the end");
    }

    #[test]
    fn no_values_no_chart() {
        assert_eq!(lines(vec![None, None]), "");
        assert_eq!(lines(vec![]), "");
        assert_eq!(lines(vec![None, Some(1.0), None]), "", "one moment is no chart");
        assert_eq!(lines(vec![Some(f64::NAN), Some(f64::INFINITY)]), "");
    }

    #[test]
    fn many_magnitudes_are_said() {
        assert!(lines(vec![Some(1.0), Some(1.0), Some(400.0)]).contains("ms, logarithmic scale"));
        assert!(!lines(vec![Some(1.0), Some(1.0), Some(4.0)]).contains("logarithmic scale"));
        assert!(!lines(vec![Some(0.0), Some(1.0), Some(400.0)]).contains("logarithmic scale"), "0 has no magnitude");
    }
}
