//! Response times by percentile, to compare distributions by: a line each, the tail spread out.
//!
//! The horizontal axis goes by the share of samples above (one in two, one in ten, one in a thousand): each magnitude
//! takes the same room, because users remember the tail.

use std::fmt::Write;

use serde_json::{Value, json};

use super::lines::path;
use super::scale::tick_text;
use super::{Axis, COLOURS, ChartLine, Frame, HEIGHT, Unit, WIDTH, short};

/// Highest by lowest from which a chart goes by magnitude.
const LOGARITHMIC_FROM: f64 = 30.0;
/// Percentiles that have a tick, when they are drawn.
const TICKS: [f64; 6] = [50.0, 80.0, 90.0, 95.0, 99.0, 99.9];

/// A chart of percentiles.
#[derive(Clone, Debug)]
pub struct Percentiles<'a> {
    /// What it shows.
    pub title: &'a str,
    /// A line below the title.
    pub note: Option<&'a str>,
    /// What the values are.
    pub unit: Unit,
    /// The percentiles, ascending, above 0 and below 100.
    pub percents: &'a [f64],
    /// A line's values are those of the percentiles.
    pub lines: Vec<ChartLine>,
}

impl Percentiles<'_> {
    /// The chart; nothing when there are fewer than two percentiles with values.
    pub fn html(&self) -> String {
        let values: Vec<f64> =
            self.lines.iter().flat_map(|line| &line.values).flatten().copied().filter(|v| v.is_finite()).collect();
        if self.percents.len() < 2 || values.is_empty() {
            return String::new();
        }
        let highest = values.iter().copied().fold(f64::MIN, f64::max);
        let lowest = values.iter().copied().fold(f64::MAX, f64::min);
        let (factor, unit) = self.unit.suited(highest);
        let y = match lowest > 0.0 && highest > lowest * LOGARITHMIC_FROM {
            true => Axis::logarithmic(lowest * factor * 0.9, highest * factor * 1.1),
            false => Axis::from_zero(lowest * factor, highest * factor),
        };
        // A little room at the right, for half of the last label.
        let x = Axis::logarithmic(rarity(self.percents[0]), rarity(self.percents[self.percents.len() - 1]) * 1.15);
        let ticks = TICKS.iter().filter_map(|percent| Some((x.position(rarity(*percent))?, format!("{percent} %"))));
        let magnitudes = if y.is_logarithmic() { ", logarithmic scale" } else { "" };
        Frame {
            title: self.title,
            note: self.note,
            legend: self.drawn().map(|(colour, line)| (colour, line.name.clone())).collect(),
            limits: Vec::new(),
            y_ticks: y.ticks().into_iter().map(|(at, value)| (at, tick_text(value))).collect(),
            x_ticks: ticks.filter(|(at, _)| (-1e-9..=1.0 + 1e-9).contains(at)).collect(),
            x_title: "percentile",
            y_title: format!("{unit}{magnitudes}"),
            drawing: self.drawing(&x, &y, factor),
            data: self.data(&x, factor, unit),
            told: String::new(),
        }
        .html()
    }

    fn drawn(&self) -> impl Iterator<Item = (usize, &ChartLine)> {
        let coloured = self.lines.iter().enumerate().map(|(at, line)| (line.colour.unwrap_or(at) % COLOURS, line));
        coloured.filter(|(_, line)| line.values.iter().any(Option::is_some))
    }

    fn drawing(&self, x: &Axis, y: &Axis, factor: f64) -> String {
        let mut drawing = String::new();
        for (colour, line) in self.drawn() {
            let place = |(value, percent): (&Option<f64>, &f64)| {
                let (x, y) = (x.position(rarity(*percent))?, y.position((*value)? * factor)?);
                Some((x * WIDTH, HEIGHT * (1.0 - y)))
            };
            // A percentile that nobody told is left out, the line continues.
            let points: Vec<_> = line.values.iter().zip(self.percents).map(place).filter(Option::is_some).collect();
            let _ = write!(drawing, "<path class=\"line c{colour}\" d=\"{}\"/>", path(&points));
        }
        drawing
    }

    fn data(&self, x: &Axis, factor: f64, unit: &str) -> Value {
        let positions: Vec<Value> = self.percents.iter().map(|percent| short(x.position(rarity(*percent)))).collect();
        let labels: Vec<String> = self.percents.iter().map(|percent| format!("{percent} %")).collect();
        let lines = self.drawn().map(|(colour, line)| {
            let values: Vec<Value> = line.values.iter().map(|value| short(value.map(|value| value * factor))).collect();
            json!({ "name": line.name, "colour": colour, "values": values })
        });
        json!({ "unit": unit, "positions": positions, "labels": labels, "lines": lines.collect::<Vec<_>>() })
    }
}

/// One in this many samples is above.
fn rarity(percent: f64) -> f64 {
    100.0 / (100.0 - percent.min(99.999_99))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: Vec<Option<f64>>) -> String {
        let lines = vec![ChartLine::new("<b>", values)];
        Percentiles { title: "t", note: None, unit: Unit::Time, percents: &[50.0, 90.0, 99.0], lines }.html()
    }

    #[test]
    fn each_magnitude_of_the_tail_takes_the_same_room() {
        let html = chart(vec![Some(5.0), Some(10.0), Some(10.0)]);
        // From one in two to one in 115: ln 5 / ln 57.5 of the way is one in ten.
        assert!(html.contains("d=\"M0.0 150.0L397.2 0.0L965.5 0.0\""), "{html}");
        assert!(html.contains(">50 %</span>") && html.contains(">99 %</span>") && !html.contains("99.9 %"), "{html}");
        assert!(!html.contains("<b>") && html.contains("[5,10,10]"), "{html}");
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        assert!(chart(vec![Some(5.0), None, Some(10.0)]).contains("d=\"M0.0 150.0L965.5 0.0\""));
        assert_eq!(chart(vec![None, None, None]), "");
        assert!(chart(vec![Some(1.0), Some(2.0), Some(400.0)]).contains("logarithmic"));
    }

    #[test]
    fn magnitudes_are_those_of_the_unit_that_is_shown() {
        let html = chart(vec![Some(100.0), Some(1_000.0), Some(10_000.0)]);
        // Seconds from 0.9 times the lowest to 1.1 times the highest: of ln (11 / 0.09) = 4.8058, ln (10 / 9) = 0.1054
        // is below the first, and each power of ten takes 2.3026.
        assert!(html.contains("d=\"M0.0 293.4L397.2 149.7L965.5 5.9\""), "{html}");
        assert!(html.contains("s, logarithmic scale") && html.contains("[0.1,1,10]"), "{html}");
        for tick in ["0.1", "0.2", "0.5", "1", "2", "5", "10"] {
            assert!(html.contains(&format!(">{tick}</span>")), "{tick}: {html}");
        }
        assert!(!html.contains(">20</span>") && !html.contains(">0.05</span>"), "{html}");
    }
}
