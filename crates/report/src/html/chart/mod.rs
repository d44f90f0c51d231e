//! Charts: values over time, distributions, bars to compare by.
//!
//! The SVG is stretched to the width there is, with strokes that keep their width; every text is HTML beside it, so
//! that it stays readable on a phone and on paper. Most colour-blind people can distinguish the colours (Okabe and
//! Ito's) and lines by their dashes as well. A chart without values is nothing.
//!
//! Our own, because a report runs no scripts, and chart crates draw pictures whose texts and strokes stretch with them.

mod bars;
mod distribution;
mod lines;
mod percentiles;
mod runs;
mod scale;

use std::fmt::Write;

use serde_json::{Value, json};

pub use bars::{Bar, Bars};
pub use distribution::Distribution;
pub use lines::{ChartLine, Limit, Lines};
pub use percentiles::Percentiles;
pub use runs::Runs;
pub(crate) use scale::clock_text;
pub use scale::{Axis, Unit};

use super::Text;

/// Size of the drawing in its own units; it is stretched to the size on the screen.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 300.0;

/// Colours before they repeat.
const COLOURS: usize = 9;
/// Number of the colour of text, for a line that stands for all others together.
pub const INK: usize = 8;

/// The parts that all charts are put together of.
struct Frame<'a> {
    title: &'a str,
    note: Option<&'a str>,
    /// Names with their colour's number; none for a chart that needs no legend.
    legend: Vec<(usize, String)>,
    /// The same of limits.
    limits: Vec<(usize, String)>,
    /// Position from below (0 to 1) and text.
    y_ticks: Vec<(f64, String)>,
    /// Position from the left (0 to 1) and text.
    x_ticks: Vec<(f64, String)>,
    x_title: &'a str,
    y_title: String,
    /// What is drawn, in the drawing's units.
    drawing: String,
    /// What the script reads values from.
    data: Value,
    /// What of it is worth telling somebody who does not see it.
    told: String,
}

impl Frame<'_> {
    fn html(&self) -> String {
        let mut html = format!("<figure class=\"chart\">\n<figcaption><h3>{}</h3>", Text(self.title));
        if let Some(note) = self.note {
            let _ = write!(html, "<p>{}</p>", Text(note));
        }
        html.push_str("</figcaption>\n<ul class=\"legend\">");
        let lines = self.legend.iter().map(|named| ("line", named));
        for (kind, (colour, name)) in lines.chain(self.limits.iter().map(|named| ("limit", named))) {
            let class = colour % COLOURS;
            let _ = write!(
                html,
                "<li><svg class=\"swatch\" aria-hidden=\"true\" viewBox=\"0 0 24 8\">\
                 <path class=\"{kind} c{class}\" d=\"M1 4H23\"/></svg>{}</li>",
                Text(name)
            );
        }
        let _ = write!(
            html,
            "</ul>\n<p class=\"unit\">{}</p>\n<div class=\"plot\">\n<div class=\"y\">",
            Text(&self.y_title)
        );
        for (at, text) in &self.y_ticks {
            let _ = write!(html, "<span style=\"bottom:{:.2}%\">{}</span>", at * 100.0, Text(text));
        }
        let _ = write!(
            html,
            "</div>\n<div class=\"area\" tabindex=\"0\" role=\"group\" \
             aria-label=\"{0}: arrow keys read values\"><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}{1}\">",
            Text(self.title),
            Text(&self.told)
        );
        self.grid_lines(&mut html);
        let _ = write!(
            html,
            "{}</svg><div class=\"cursor\"></div><div class=\"tip\"></div></div>\n<div class=\"x\">",
            self.drawing
        );
        for (number, (at, text)) in self.x_ticks.iter().enumerate() {
            // Where every second label goes on a narrow screen; few labels can all stay.
            let minor = if number % 2 == 1 && self.x_ticks.len() > 5 { " class=\"minor\"" } else { "" };
            let _ = write!(html, "<span{minor} style=\"left:{:.2}%\">{}</span>", at * 100.0, Text(text));
        }
        let island = super::json_island(&self.data);
        let _ = write!(html, "</div>\n</div>\n<p class=\"x-title\">{}</p>\n{island}\n</figure>", Text(self.x_title));
        html
    }

    fn grid_lines(&self, html: &mut String) {
        html.push_str("<path class=\"grid-line\" d=\"");
        for (at, _) in &self.y_ticks {
            let _ = write!(html, "M0 {:.1}H{WIDTH}", HEIGHT * (1.0 - at));
        }
        html.push_str("\"/>");
    }
}

/// To four digits: what a reader sees, and no more in the file.
fn short(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| {
        let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
        if rounded.fract() == 0.0 && rounded.abs() < 1e15 { json!(rounded as i64) } else { json!(rounded) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_four_digits() {
        assert_eq!(short(Some(1234.567)).to_string(), "1235");
        assert_eq!(short(Some(0.123456)).to_string(), "0.1235");
        assert_eq!(short(None), Value::Null);
    }
}
