//! One value of each of many runs, in the order they were made: a dot a run, and a line where the level changed.
//!
//! Runs stand at equal distances, because what a value is compared with is the run before, not the week before.

use std::fmt::Write;

use serde_json::{Value, json};

use super::lines::path;
use super::scale::tick_text;
use super::{Axis, Frame, HEIGHT, Unit, WIDTH, short};

/// Labels that find room below a chart.
const LABELS: usize = 6;

/// A chart of runs.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    /// What it shows.
    pub title: &'a str,
    /// A line below the title.
    pub note: Option<&'a str>,
    /// What the values are.
    pub unit: Unit,
    /// What each run is called.
    pub labels: &'a [String],
    /// A value of each; none is a gap.
    pub values: &'a [Option<f64>],
    /// The first runs of new levels.
    pub changes: &'a [usize],
}

impl Runs<'_> {
    /// The chart; nothing with fewer than two values.
    pub fn html(&self) -> String {
        let known: Vec<f64> = self.values.iter().flatten().copied().collect();
        if known.len() < 2 {
            return String::new();
        }
        let highest = known.iter().copied().fold(f64::MIN, f64::max);
        let (factor, unit) = self.unit.suited(highest);
        let y = Axis::from_zero(known.iter().copied().fold(0.0, f64::min) * factor, highest * factor);
        let count = self.values.len() as f64;
        let x = |run: usize| (run as f64 + 0.5) / count;
        let every = self.labels.len().div_ceil(LABELS).max(1);
        let ticks = self.labels.iter().enumerate().step_by(every).map(|(run, label)| (x(run), label.clone()));
        Frame {
            title: self.title,
            note: self.note,
            legend: vec![(0, "a run".to_owned())],
            limits: Vec::new(),
            y_ticks: y.ticks().into_iter().map(|(at, value)| (at, tick_text(value))).collect(),
            x_ticks: ticks.collect(),
            x_title: "runs, as they were started",
            y_title: unit.to_owned(),
            drawing: self.drawing(&y, x, factor),
            data: self.data(x, factor, unit),
            told: format!(": {} runs, {} changes", known.len(), self.changes.len()),
        }
        .html()
    }

    fn drawing(&self, y: &Axis, x: impl Fn(usize) -> f64, factor: f64) -> String {
        let mut drawing = String::new();
        for change in self.changes {
            let at = x(*change) - 0.5 / self.values.len() as f64;
            let _ = write!(drawing, "<path class=\"mark m1\" d=\"M{:.1} 0V{HEIGHT}\"/>", at * WIDTH);
        }
        let place = |(run, value): (usize, &Option<f64>)| {
            Some((x(run) * WIDTH, HEIGHT * (1.0 - y.position((*value)? * factor)?)))
        };
        let points: Vec<_> = self.values.iter().enumerate().map(place).collect();
        let _ = write!(drawing, "<path class=\"line c0\" d=\"{}\"/>", path(&points));
        let dots: String = points.iter().flatten().map(|(x, y)| format!("M{x:.1} {y:.1}h0.1")).collect();
        let _ = write!(drawing, "<path class=\"line dots c0\" d=\"{dots}\"/>");
        drawing
    }

    fn data(&self, x: impl Fn(usize) -> f64, factor: f64, unit: &str) -> Value {
        let positions: Vec<Value> = (0..self.values.len()).map(|run| short(Some(x(run)))).collect();
        let values: Vec<Value> = self.values.iter().map(|value| short(value.map(|value| value * factor))).collect();
        let line = json!({ "name": self.title, "colour": 0, "values": values });
        json!({ "unit": unit, "positions": positions, "labels": self.labels, "lines": [line] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_stand_at_equal_distances_and_changes_between_them() {
        let labels: Vec<String> = (1..=4).map(|day| format!("day {day} <b>")).collect();
        let values = [Some(10.0), Some(10.0), None, Some(20.0)];
        let (note, unit) = (None, Unit::Time);
        let html = Runs { title: "t", note, unit, labels: &labels, values: &values, changes: &[3] }.html();
        assert!(html.contains("<path class=\"mark m1\" d=\"M750.0 0V300\"/>"), "{html}");
        assert!(html.contains("d=\"M125.0 150.0L375.0 150.0M875.0 0.0h0.1\""), "{html}");
        assert!(!html.contains("<b>"), "{html}");
        let one = Runs { title: "t", note, unit, labels: &labels[..1], values: &values[..1], changes: &[] };
        assert_eq!(one.html(), "");
    }
}
