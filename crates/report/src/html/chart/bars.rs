//! Bars beside names, to compare by; with the interval in which the true value lies, where it is known.
//!
//! All bars of a chart share one scale from 0. The number is beside the bar, so nobody has to measure with a ruler.

use std::fmt::Write;

use super::super::Text;
use super::COLOURS;

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What it stands for.
    pub name: String,
    /// Its length; negative values have none.
    pub value: f64,
    /// The value as shown, with its unit.
    pub shown: String,
    /// The interval around the value, when one is known.
    pub interval: Option<(f64, f64)>,
    /// Number of its colour.
    pub colour: usize,
}

/// A chart of bars.
#[derive(Clone, Debug)]
pub struct Bars<'a> {
    /// What it shows.
    pub title: &'a str,
    /// A line below the title.
    pub note: Option<&'a str>,
    /// The bars from above to below.
    pub bars: Vec<Bar>,
}

impl Bars<'_> {
    /// The chart; nothing without bars.
    pub fn html(&self) -> String {
        if self.bars.is_empty() {
            return String::new();
        }
        let ends = self.bars.iter().map(|bar| bar.interval.map_or(bar.value, |(_, high)| high.max(bar.value)));
        let longest = ends.filter(|end| end.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
        let share = |value: f64| if value.is_finite() { (value / longest).clamp(0.0, 1.0) * 100.0 } else { 0.0 };
        let mut html = format!("<figure class=\"chart\">\n<figcaption><h3>{}</h3>", Text(self.title));
        if let Some(note) = self.note {
            let _ = write!(html, "<p>{}</p>", Text(note));
        }
        html.push_str("</figcaption>\n<ul class=\"bars\">\n");
        for bar in &self.bars {
            let colour = bar.colour % COLOURS;
            let _ = write!(html, "<li><span class=\"name\">{}</span><span class=\"track\">", Text(&bar.name));
            let _ = write!(html, "<span class=\"bar c{colour}\" style=\"width:{:.2}%\"></span>", share(bar.value));
            if let Some((low, high)) = bar.interval {
                let (left, right) = (share(low), share(high));
                let wide = (right - left).max(0.0);
                let _ = write!(html, "<span class=\"interval\" style=\"left:{left:.2}%;width:{wide:.2}%\"></span>");
            }
            let _ = writeln!(html, "</span><span class=\"shown\">{}</span></li>", Text(&bar.shown));
        }
        html.push_str("</ul>\n</figure>");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_share_a_scale() {
        let bar = |name: &str, value, interval| Bar {
            name: name.into(),
            value,
            shown: format!("{value}"),
            interval,
            colour: 10,
        };
        let bars = vec![bar("<a>", 5.0, None), bar("b", 8.0, Some((7.0, 10.0))), bar("c", f64::NAN, None)];
        let html = Bars { title: "t", note: None, bars }.html();
        assert!(html.contains("<span class=\"bar c1\" style=\"width:50.00%\">"), "{html}");
        assert!(html.contains("left:70.00%;width:30.00%") && html.contains("&lt;a&gt;"), "{html}");
        assert_eq!(Bars { title: "t", note: None, bars: vec![] }.html(), "");
    }
}
