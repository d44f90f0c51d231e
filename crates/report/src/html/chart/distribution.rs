//! How the values of a Trend are spread: the share of samples by value, percentiles marked.
//!
//! Bins are of equal width, or of equal ratio when values span more than a magnitude and a half. The last thousandth of
//! the samples may lie far out: when it does, it is gathered beyond the right border and the chart says where the
//! highest lies.

use std::fmt::Write;

use metrics::Trend;
use serde_json::{Value, json};

use super::scale::tick_text;
use super::{Axis, Frame, HEIGHT, Unit, WIDTH, short};
use crate::document::Histogram;

/// Bins of a chart.
const BINS: usize = 60;
/// Highest by lowest from which bins are of equal ratio.
const LOGARITHMIC_FROM: f64 = 30.0;

/// Highest by the 99.9th percentile from which the last samples would squeeze all others together.
const FAR_OUT: f64 = 10.0;

/// A chart of one distribution.
#[derive(Clone, Debug)]
pub struct Distribution<'a> {
    /// What it shows.
    pub title: &'a str,
    /// What the values are.
    pub unit: Unit,
    /// The samples.
    pub histogram: &'a Histogram,
    /// Number of its colour.
    pub colour: usize,
}

impl Distribution<'_> {
    /// The chart; nothing when there are no samples, or when all are the same: there is nothing to see then. Where both
    /// scales make sense, the one that suits less is below, to be opened.
    pub fn html(&self) -> String {
        let trend = self.histogram.trend();
        if trend.count() == 0 || trend.min() == trend.max() {
            return String::new();
        }
        let is_wide = trend.min() >= 0.0 && self.top(&trend) > lowest_positive(&trend) * LOGARITHMIC_FROM;
        let chart = self.chart(&trend, is_wide);
        let (top, (factor, _)) = (self.top(&trend), self.unit.suited(self.top(&trend)));
        if trend.min() < 0.0 || self.axis(&trend, top, factor, !is_wide).ticks().len() < 3 {
            return chart;
        }
        let scale = if is_wide { "linear" } else { "logarithmic" };
        let other = self.chart(&trend, !is_wide);
        format!("<div>{chart}\n<details><summary>The same on a {scale} scale</summary>\n{other}</details></div>")
    }

    /// Up to where it is drawn.
    fn top(&self, trend: &Trend) -> f64 {
        let most = trend.percentile(99.9);
        if trend.max() > most * FAR_OUT { most } else { trend.max() }
    }

    fn chart(&self, trend: &Trend, is_logarithmic: bool) -> String {
        let top = self.top(trend);
        let (factor, unit) = self.unit.suited(top);
        let axis = self.axis(trend, top, factor, is_logarithmic);
        let (shares, beyond) = shares(trend, &axis, factor);
        let highest = shares.iter().copied().fold(0.0, f64::max);
        let height = Axis::from_zero(0.0, highest);
        let marks = [(50.0, "p50"), (95.0, "p95"), (99.0, "p99")].map(|(p, name)| (trend.percentile(p) * factor, name));
        let told = |(value, name): &(f64, &str)| format!("{name} {} {unit}", digits(*value));
        let mut note = marks.iter().map(told).collect::<Vec<_>>().join(" · ");
        let _ = write!(note, " · max {} {unit}", digits(trend.max() * factor));
        if beyond > 0.0 {
            let _ = write!(note, " ({} % of the samples lie beyond the chart)", digits(beyond * 100.0));
        }
        let scale = if axis.is_logarithmic() { ", logarithmic scale" } else { "" };
        Frame {
            title: self.title,
            note: Some(&note),
            legend: Vec::new(),
            limits: Vec::new(),
            y_ticks: height.ticks().into_iter().map(|(at, share)| (at, tick_text(share * 100.0))).collect(),
            x_ticks: axis.ticks().into_iter().map(|(at, value)| (at, tick_text(value))).collect(),
            x_title: &format!("{unit}{scale}"),
            y_title: "% of samples".to_owned(),
            drawing: self.drawing(&shares, &height, &axis, &marks),
            data: data(&shares, &axis, unit),
            told: format!(": {note}"),
        }
        .html()
    }

    fn axis(&self, trend: &Trend, top: f64, factor: f64, is_logarithmic: bool) -> Axis {
        let low = trend.min();
        if is_logarithmic {
            return Axis::logarithmic(lowest_positive(trend) * factor, top * factor);
        }
        let room = (top - low) * 0.02;
        Axis::exact((low - room).min(low.abs() * 0.9 * low.signum()) * factor, (top + room) * factor)
    }

    fn drawing(&self, shares: &[f64], height: &Axis, axis: &Axis, marks: &[(f64, &str)]) -> String {
        let mut drawing = format!("<path class=\"bars c{}\" d=\"", self.colour);
        let wide = WIDTH / shares.len() as f64;
        for (at, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let y = HEIGHT * (1.0 - height.position(*share).unwrap_or(0.0));
            let _ =
                write!(drawing, "M{:.1} {HEIGHT}V{y:.1}h{:.1}V{HEIGHT}Z", at as f64 * wide + wide * 0.06, wide * 0.88);
        }
        drawing.push_str("\"/>");
        for (number, (value, _)) in marks.iter().enumerate() {
            if let Some(at) = axis.position(*value).filter(|at| (0.0..=1.0).contains(at)) {
                let _ = write!(drawing, "<path class=\"mark m{number}\" d=\"M{:.1} 0V{HEIGHT}\"/>", at * WIDTH);
            }
        }
        drawing
    }
}

fn lowest_positive(trend: &Trend) -> f64 {
    trend.buckets().map(|(mean, _)| mean).find(|mean| *mean > 0.0).unwrap_or(1.0)
}

/// Share of the samples in each bin, and of those beyond the last. What is below the first, zeros on a logarithmic
/// axis, is in it.
fn shares(trend: &Trend, axis: &Axis, factor: f64) -> (Vec<f64>, f64) {
    let (mut shares, mut beyond) = (vec![0.0; BINS], 0.0);
    let total = trend.count() as f64;
    for (mean, count) in trend.buckets() {
        let share = count as f64 / total;
        let at = axis.position(mean * factor).unwrap_or(0.0);
        if at > 1.0 + 1e-9 {
            beyond += share;
        } else {
            shares[((at * BINS as f64).max(0.0) as usize).min(BINS - 1)] += share;
        }
    }
    let all = shares.iter().sum::<f64>() + beyond;
    debug_assert!((all - 1.0).abs() < 1e-6, "each sample is in a bin or beyond them: {all}");
    (shares, beyond)
}

fn data(shares: &[f64], axis: &Axis, unit: &str) -> Value {
    let border = |at: usize| short(Some(axis.value(at as f64 / shares.len() as f64)));
    let borders: Vec<Value> = (0..=shares.len()).map(border).collect();
    let values: Vec<Value> = shares.iter().map(|share| short(Some(share * 100.0))).collect();
    json!({ "unit": unit, "borders": borders, "values": values })
}

/// Three digits are enough to read.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    tick_text(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::results::TrendValue;

    fn chart(values: impl IntoIterator<Item = f64>) -> String {
        let mut trend = Trend::default();
        values.into_iter().for_each(|value| trend.add(value));
        let histogram = Histogram::from(&TrendValue::from(trend));
        Distribution { title: "d", unit: Unit::Time, histogram: &histogram, colour: 0 }.html()
    }

    #[test]
    fn equal_or_no_values_are_no_chart() {
        assert_eq!(chart([]), "");
        assert_eq!(chart([5.0, 5.0]), "");
    }

    #[test]
    fn bins_hold_all_samples() {
        for html in [chart((1..=100).map(f64::from)), chart((0..100).map(|n| 1.1_f64.powi(n))), chart([0.0, -5.0, 3.0])]
        {
            let island = html.split("application/json\">").nth(1).and_then(|rest| rest.split("</script>").next());
            let data: Value = serde_json::from_str(island.expect("an island")).expect("JSON");
            let sum: f64 = data["values"].as_array().expect("values").iter().filter_map(Value::as_f64).sum();
            assert!((98.9..=100.5).contains(&sum), "{sum}");
        }
        assert!(chart((0..100).map(|n| 1.1_f64.powi(n))).contains("logarithmic"));
    }

    #[test]
    fn what_lies_far_out_is_said() {
        let html = chart((0..10_000).map(|n| if n < 9_995 { f64::from(n % 10) + 1.0 } else { 5_000.0 }));
        assert!(html.contains("max 5000 ms (0.05 % of the samples lie beyond the chart)"), "{html}");
    }
}
