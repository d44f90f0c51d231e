//! One value of each of many runs, in the order they were made: a dot a run, and a line where the level changed.
//!
//! Runs stand at equal distances, because what a value is compared with is the run before, not the week before.

use std::fmt::Write;

use serde_json::{Value, json};
use units::show::counted;

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
        let (short, day) = short_labels(self.labels);
        let ticks = short.into_iter().enumerate().step_by(every).map(|(run, label)| (x(run), label));
        let x_title = day.map_or_else(|| String::from("runs, as they were started"), |day| format!("runs of {day}"));
        Frame {
            title: self.title,
            note: self.note,
            legend: vec![(0, "a run".to_owned())],
            limits: Vec::new(),
            y_ticks: y.ticks().into_iter().map(|(at, value)| (at, tick_text(value))).collect(),
            x_ticks: ticks.collect(),
            x_title: &x_title,
            y_title: unit.to_owned(),
            drawing: self.drawing(&y, x, factor),
            data: self.data(x, factor, unit),
            told: format!(": {}, {}", counted(known.len(), "run"), counted(self.changes.len(), "change")),
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

fn day_and_time(label: &str) -> Option<(&str, &str)> {
    label.split_once(' ').filter(|(day, _)| day.len() == 10)
}

/// Labels `2026-11-24 18:00` as there is room for them: times of one day, which is told beside, or days. Others stay.
fn short_labels(labels: &[String]) -> (Vec<String>, Option<&str>) {
    let Some(split) = labels.iter().map(|label| day_and_time(label)).collect::<Option<Vec<_>>>() else {
        return (labels.to_vec(), None);
    };
    let day = split.first().map(|(day, _)| *day).filter(|first| split.iter().all(|(day, _)| day == first));
    let one_year = split.windows(2).all(|two| two[0].0.get(..5) == two[1].0.get(..5));
    let text = |(date, time): &(&str, &str)| match () {
        () if day.is_some() => (*time).to_owned(),
        () if one_year => date.get(5..).unwrap_or(date).to_owned(),
        () => (*date).to_owned(),
    };
    (split.iter().map(text).collect(), day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_tell_what_tells_them_apart() {
        let of = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
            let (short, day) = short_labels(&labels);
            (short.join(" "), day.map(str::to_owned))
        };
        let told = |text: &str, day: Option<&str>| (text.to_owned(), day.map(str::to_owned));
        assert_eq!(of(&["2026-11-24 18:00", "2026-11-24 18:01"]), told("18:00 18:01", Some("2026-11-24")));
        assert_eq!(of(&["2026-11-24 18:00", "2026-11-25 18:01"]), told("11-24 11-25", None));
        assert_eq!(of(&["2025-12-31 18:00", "2026-01-01 18:01"]), told("2025-12-31 2026-01-01", None));
        assert_eq!(of(&["day 1", "2026-01-01 18:01"]), told("day 1 2026-01-01 18:01", None));
        assert_eq!(of(&[]), told("", None));
    }

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
