//! The seconds of a run, made few enough to draw.
//!
//! Only the scenarios' time is drawn: setup and teardown would be slow seconds that no user had. Of a long run several
//! seconds are put together to a point: sums add up, means are weighted by their samples, extremes stay extremes. A
//! percentile of a longer time cannot be computed from those of its seconds; charts draw their weighted mean and say
//! so.

use std::ops::Range;

use crate::document::{Metric, Points, Seconds, Series};

/// Points of a chart, at most.
const POINTS: usize = 600;

/// Which intervals are drawn as which points.
pub(super) struct Intervals<'a> {
    seconds: &'a Seconds,
    /// The intervals of each point.
    points: Vec<Range<usize>>,
    /// Start and end of each point in seconds since the scenarios began.
    pub times: Vec<(f64, f64)>,
    /// Intervals of a point.
    each: usize,
}

/// A Trend over time.
#[derive(Default)]
pub(super) struct TrendLines {
    pub avg: Vec<Option<f64>>,
    pub p50: Vec<Option<f64>>,
    pub p90: Vec<Option<f64>>,
    pub p95: Vec<Option<f64>>,
    pub p99: Vec<Option<f64>>,
    pub max: Vec<Option<f64>>,
}

impl<'a> Intervals<'a> {
    pub fn new(seconds: &'a Seconds) -> Self {
        let (from, to) = (seconds.scenarios_start_s, seconds.scenarios_end_s);
        let middle = |at: usize| seconds.starts_s[at] + seconds.lengths_s[at] / 2.0;
        let inside = |at: &usize| to <= from || (from..=to).contains(&middle(*at));
        let drawn: Vec<usize> = (0..seconds.starts_s.len()).filter(inside).collect();
        let (first, count) = (drawn.first().copied().unwrap_or(0), drawn.len());
        let each = count.div_ceil(POINTS).max(1);
        let mut points: Vec<Range<usize>> =
            (0..count).step_by(each).map(|at| first + at..first + (at + each).min(count)).collect();
        let origin = seconds.starts_s.get(first).copied().unwrap_or(0.0);
        let start = |point: &Range<usize>| seconds.starts_s[point.start] - origin;
        let end = |point: &Range<usize>| seconds.starts_s[point.end - 1] + seconds.lengths_s[point.end - 1] - origin;
        if let [.., before, last] = &mut points[..]
            && end(last) - start(last) < (end(before) - start(before)) / 2.0
        {
            // The rest of a second has a sample or two: as a point of its own it would be a spike or a drop that never
            // was.
            before.end = last.end;
            points.pop();
        }
        let times = points.iter().map(|point| (start(point), end(point))).collect();
        Intervals { seconds, points, times, each }
    }

    /// What another run measured at the same times since its scenarios began: the columns of its seconds, put on these
    /// points.
    pub fn of_other(&self, other: &Intervals<'_>, column: &[Option<f64>]) -> Vec<Option<f64>> {
        let at = |(from, to): &(f64, f64)| {
            let middle = (from + to) / 2.0;
            let place = other.times.partition_point(|(_, end)| *end <= middle);
            let (start, _) = other.times.get(place)?;
            (*start <= middle).then(|| column.get(place).copied().flatten()).flatten()
        };
        self.times.iter().map(at).collect()
    }

    /// Seconds that a point stands for when it stands for more than one.
    pub fn seconds_per_point(&self) -> Option<usize> {
        (self.each > 1).then_some(self.each)
    }

    /// What a chart of percentiles has to say about points of several seconds.
    pub fn note(&self) -> Option<String> {
        let each = self.seconds_per_point()?;
        Some(format!("each point is {each} seconds; percentiles are means of those of its seconds, max is the highest"))
    }

    fn series(&self, metric: &Metric) -> Option<&'a Series> {
        self.seconds.series.iter().find(|series| series.name == metric.name && series.filter == metric.filter)
    }

    fn over<T>(&self, of: impl Fn(Range<usize>) -> Option<T>) -> Vec<Option<T>> {
        self.points.iter().map(|point| of(point.clone())).collect()
    }

    /// A Counter's sum, a Rate's or a Trend's samples per second: 0 when nothing happened.
    pub fn rate(&self, metric: &Metric) -> Vec<Option<f64>> {
        self.per_second(metric, |points, at| match points {
            Points::Counter { sum } => sum[at].unwrap_or(0.0),
            Points::Rate { total, .. } => total[at].unwrap_or(0) as f64,
            Points::Trend { count, .. } => count[at].unwrap_or(0) as f64,
            Points::Gauge { .. } => 0.0,
        })
    }

    /// Samples of a Rate that were not zero, or that were, per second.
    pub fn share_rate(&self, metric: &Metric, passed: bool) -> Vec<Option<f64>> {
        self.per_second(metric, |points, at| match points {
            Points::Rate { passes, total } => {
                let (passes, total) = (passes[at].unwrap_or(0), total[at].unwrap_or(0));
                (if passed { passes } else { total.saturating_sub(passes) }) as f64
            }
            _ => 0.0,
        })
    }

    fn per_second(&self, metric: &Metric, of: impl Fn(&Points, usize) -> f64) -> Vec<Option<f64>> {
        let Some(series) = self.series(metric) else { return Vec::new() };
        let sums = self.points.iter().map(|point| point.clone().map(|at| of(&series.points, at)).sum::<f64>());
        sums.zip(&self.times).map(|(sum, (start, end))| Some(sum / (end - start).max(1e-3))).collect()
    }

    /// Share of a Rate's samples that were not zero.
    pub fn share(&self, metric: &Metric) -> Vec<Option<f64>> {
        let Some(Series { points: Points::Rate { passes, total }, .. }) = self.series(metric) else {
            return Vec::new();
        };
        self.over(|point| {
            let sum = |column: &[Option<u64>]| column[point.clone()].iter().flatten().sum::<u64>();
            let (passes, total) = (sum(passes), sum(total));
            (total > 0).then(|| passes as f64 / total as f64)
        })
    }

    /// A Gauge's last value.
    pub fn level(&self, metric: &Metric) -> Vec<Option<f64>> {
        let Some(Series { points: Points::Gauge { last }, .. }) = self.series(metric) else { return Vec::new() };
        self.over(|point| last[point].iter().flatten().last().copied())
    }

    /// A column beside the series: the highest of the intervals of each point, or their mean.
    pub fn of_column(&self, column: &[Option<f64>], is_highest: bool) -> Vec<Option<f64>> {
        self.over(|point| {
            let values = || column.get(point.clone()).unwrap_or_default().iter().flatten().copied();
            let count = values().count();
            match is_highest {
                true => values().reduce(f64::max),
                false => (count > 0).then(|| values().sum::<f64>() / count as f64),
            }
        })
    }

    /// A Trend's statistics.
    pub fn trend(&self, metric: &Metric) -> TrendLines {
        let Some(Series { points: Points::Trend { count, avg, max, p50, p90, p95, p99, .. }, .. }) =
            self.series(metric)
        else {
            return TrendLines::default();
        };
        let mean = |column: &[Option<f64>]| {
            self.over(|point| {
                let pairs = point.filter_map(|at| Some((column[at]?, count[at]? as f64)));
                let (sum, samples) = pairs.fold((0.0, 0.0), |(sum, all), (value, n)| (sum + value * n, all + n));
                (samples > 0.0).then(|| sum / samples)
            })
        };
        let highest = self.over(|point| max[point].iter().flatten().copied().reduce(f64::max));
        TrendLines { avg: mean(avg), p50: mean(p50), p90: mean(p90), p95: mean(p95), p99: mean(p99), max: highest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Contains, Value};

    fn metric(name: &str) -> Metric {
        let value = Value::Counter { count: 0.0, rate: 0.0 };
        Metric {
            name: name.into(),
            filter: None,
            contains: Contains::Default,
            thresholds: vec![],
            percentiles: vec![],
            value,
        }
    }

    fn seconds(count: usize, series: Vec<Series>) -> Seconds {
        Seconds {
            starts_s: (0..count).map(|n| n as f64).collect(),
            lengths_s: vec![1.0; count],
            scenarios_start_s: 0.0,
            scenarios_end_s: count as f64,
            series,
        }
    }

    fn counter(sum: Vec<Option<f64>>) -> Series {
        Series { name: "c".into(), filter: None, points: Points::Counter { sum } }
    }

    #[test]
    fn long_runs_become_few_points_without_losing_sums_or_extremes() {
        let many = 5 * 3600;
        let column = |value: f64| vec![Some(value); many];
        let mut max = column(2.0);
        max[7_777] = Some(900.0);
        let trend = Points::Trend {
            count: vec![Some(10); many],
            avg: column(1.0),
            min: column(0.5),
            max,
            p50: column(1.0),
            p90: column(1.5),
            p95: column(1.7),
            p99: column(1.9),
        };
        let trend = Series { name: "t".into(), filter: None, points: trend };
        let seconds = seconds(many, vec![counter(column(5.0)), trend]);
        let intervals = Intervals::new(&seconds);
        assert_eq!((intervals.times.len(), intervals.seconds_per_point()), (600, Some(30)));
        assert!(intervals.rate(&metric("c")).iter().all(|rate| (rate.expect("a rate") - 5.0).abs() < 1e-9));
        let lines = intervals.trend(&metric("t"));
        assert_eq!(lines.max.iter().flatten().copied().fold(0.0, f64::max), 900.0);
        assert!((lines.p95[3].expect("a value") - 1.7).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_no_rate_of_zero_for_a_level_but_one_for_a_count() {
        let gauge = Series { name: "g".into(), filter: None, points: Points::Gauge { last: vec![Some(3.0), None] } };
        let seconds = seconds(2, vec![counter(vec![Some(4.0), None]), gauge]);
        let intervals = Intervals::new(&seconds);
        assert_eq!(intervals.rate(&metric("c")), [Some(4.0), Some(0.0)]);
        assert_eq!(intervals.level(&metric("g")), [Some(3.0), None]);
    }

    #[test]
    fn setup_is_left_out_and_a_short_end_joins_its_neighbour() {
        let sums = vec![Some(1.0), Some(10.0), Some(20.0), Some(9.0), Some(1.0)];
        let seconds = Seconds {
            starts_s: vec![0.0, 3.0, 4.0, 5.0, 5.1],
            lengths_s: vec![3.0, 1.0, 1.0, 0.1, 2.0],
            scenarios_start_s: 3.0,
            scenarios_end_s: 5.1,
            series: vec![counter(sums)],
        };
        let intervals = Intervals::new(&seconds);
        assert_eq!((intervals.times.len(), intervals.seconds_per_point()), (2, None));
        assert_eq!(intervals.times[0], (0.0, 1.0));
        let rates = intervals.rate(&metric("c"));
        assert_eq!(rates[0], Some(10.0));
        assert!((rates[1].expect("a rate") - 29.0 / 1.1).abs() < 1e-9, "{rates:?}");
    }
}
