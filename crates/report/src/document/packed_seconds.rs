//! How a document writes the series: a table a kind of metric, its columns named once, a short text a series.
//!
//! The text has all numbers of the first column, then those of the next one (`column`). What is no whole number and no
//! distribution, which only counters and gauges of a script have, stays a list of plain numbers. Schema 1 wrote a list
//! of named columns for each series, and so did the first results of schema 2; they are read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column;
use super::seconds::{Column, Counts, Points, Seconds, Series};

/// Stands for the series of the parent.
const SAME: &str = "=";
/// Whole numbers beyond this are not exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// All series of a run over the same intervals.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Seconds")]
pub(super) struct PackedSeconds {
    /// Start of each interval, from the start of the run's clock.
    starts_s: Vec<f64>,
    /// Length of each interval: about 1; setup, teardown and the last second of the test are as long as they were.
    lengths_s: Vec<f64>,
    /// When the scenarios began, from the start of the run's clock: what is before belongs to setup.
    #[serde(default)]
    #[schemars(!default)]
    scenarios_start_s: f64,
    /// When the last iteration ended: what is after belongs to teardown.
    #[serde(default)]
    #[schemars(!default)]
    scenarios_end_s: f64,
    /// Counters. `sum`: of the interval's samples; divide by the length for a rate.
    #[serde(default, skip_serializing_if = "SeriesTable::is_empty")]
    counter: SeriesTable,
    /// Gauges. `last`: sample of the interval.
    #[serde(default, skip_serializing_if = "SeriesTable::is_empty")]
    gauge: SeriesTable,
    /// Rates. `passes`: samples that were not zero; `total`: all.
    #[serde(default, skip_serializing_if = "SeriesTable::is_empty")]
    rate: SeriesTable,
    /// Distributions. `count`: number of samples; `avg`, `min`, `max`: their mean, lowest and highest; `p50` to `p99`:
    /// percentiles of the interval alone, which cannot be averaged into those of a longer one.
    #[serde(default, skip_serializing_if = "SeriesTable::is_empty")]
    trend: SeriesTable,
    /// How schema 1 and the first results of schema 2 had all of them.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    series: Vec<Series>,
}

/// The series of one kind of metric.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct SeriesTable {
    /// Names of the columns that each series has.
    columns: Vec<String>,
    /// By `name` or `name{filter}` of a metric that has samples: the intervals of the first column, then those of the
    /// next.
    series: BTreeMap<String, PackedSeries>,
}

/// The columns of a series, one after the other.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum PackedSeries {
    /// Whole numbers, each as its difference to the one before (0 before the first), in Base64 VLQ, the encoding of
    /// JavaScript's source maps. `.` is an interval without samples; `*` and a number: as many more intervals like the
    /// one before. `=` alone: the series of the parent. Numbers of a distribution but `count` are the upper 28 bits of
    /// the value's 64 (IEEE 754), rounded; of a negative value those of its magnitude, negated.
    Text(String),
    /// Plain numbers, where some are not whole; null in an interval without samples.
    Plain(Column),
}

impl From<Seconds> for PackedSeconds {
    fn from(seconds: Seconds) -> Self {
        let mut written = PackedSeconds {
            starts_s: seconds.starts_s,
            lengths_s: seconds.lengths_s,
            scenarios_start_s: seconds.scenarios_start_s,
            scenarios_end_s: seconds.scenarios_end_s,
            counter: SeriesTable::default(),
            gauge: SeriesTable::default(),
            rate: SeriesTable::default(),
            trend: SeriesTable::default(),
            series: Vec::new(),
        };
        for Series { name, filter, points } in seconds.series {
            let (table, columns) = match &points {
                Points::Counter { .. } => (&mut written.counter, &["sum"][..]),
                Points::Gauge { .. } => (&mut written.gauge, &["last"][..]),
                Points::Rate { .. } => (&mut written.rate, &["passes", "total"][..]),
                Points::Trend { .. } => {
                    (&mut written.trend, &["count", "avg", "min", "max", "p50", "p90", "p95", "p99"][..])
                }
            };
            table.columns = columns.iter().map(|column| (*column).to_owned()).collect();
            let packed = packed(&points);
            let (key, packed) = match filter {
                None => (name, packed),
                Some(filter) if table.series.get(&name) == Some(&packed) => {
                    (format!("{name}{{{filter}}}"), PackedSeries::same())
                }
                Some(filter) => (format!("{name}{{{filter}}}"), packed),
            };
            table.series.insert(key, packed);
        }
        written
    }
}

/// Makes the points of a kind of metric of the columns.
type PointsOf = fn(&SeriesColumns<'_>) -> Result<Points, String>;

impl TryFrom<PackedSeconds> for Seconds {
    type Error = String;

    fn try_from(read: PackedSeconds) -> Result<Self, String> {
        let mut series: Vec<Series> = read.series;
        series.iter_mut().for_each(|series| series.points = series.points.clone().in_steps());
        let tables: [(&SeriesTable, PointsOf); 4] =
            [(&read.counter, counter), (&read.gauge, gauge), (&read.rate, rate), (&read.trend, trend)];
        check_size(tables.iter().map(|(table, _)| *table), read.starts_s.len())?;
        for (table, points_of) in tables {
            for key in table.series.keys() {
                let columns = table.columns_of(key, read.starts_s.len());
                let points = columns.and_then(|columns| points_of(&columns));
                let points = points.map_err(|problem| format!("the series of {key}: {problem}"))?;
                let (name, filter) = named(key);
                series.push(Series { name: name.to_owned(), filter: filter.map(str::to_owned), points });
            }
        }
        series.sort_by(|a, b| (&a.name, &a.filter).cmp(&(&b.name, &b.filter)));
        let PackedSeconds { starts_s, lengths_s, scenarios_start_s, scenarios_end_s, .. } = read;
        Ok(Seconds { starts_s, lengths_s, scenarios_start_s, scenarios_end_s, series })
    }
}

/// Numbers of all series together: 200 Trends over a day are 138 million.
const MOST_NUMBERS: usize = 200_000_000;

/// Columns of a kind of metric: a Trend has eight.
const MOST_COLUMNS: usize = 32;

/// Refuses tables that would not fit into memory: a repeated number takes two bytes of the file, however often it is
/// repeated, and a series that is like its parent takes one.
fn check_size<'a>(tables: impl Iterator<Item = &'a SeriesTable>, intervals: usize) -> Result<(), String> {
    let mut all = 0_usize;
    for table in tables {
        let columns = table.columns.len();
        if columns > MOST_COLUMNS {
            return Err(format!("found {columns} columns, expected at most {MOST_COLUMNS}"));
        }
        all = all.saturating_add(columns.saturating_mul(intervals).saturating_mul(table.series.len()));
    }
    match all <= MOST_NUMBERS {
        true => Ok(()),
        false => Err(format!("found {all} numbers in the series, expected at most {MOST_NUMBERS}")),
    }
}

impl SeriesTable {
    fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// The columns of a series: its own, or its parent's.
    fn columns_of(&self, key: &str, intervals: usize) -> Result<SeriesColumns<'_>, String> {
        let own = |key: &str| self.series.get(key).filter(|packed| **packed != PackedSeries::same());
        let (parent, _) = named(key);
        let packed = own(key).or_else(|| own(parent));
        let packed = packed.ok_or_else(|| format!("found '{SAME}', and {parent} has no series"))?;
        let numbers = match packed {
            PackedSeries::Text(text) => SeriesNumbers::Whole(column::unpacked(text, self.columns.len() * intervals)?),
            PackedSeries::Plain(numbers) => SeriesNumbers::Plain(numbers),
        };
        Ok(SeriesColumns { names: &self.columns, intervals, numbers })
    }
}

impl PackedSeries {
    /// What stands for the series of the parent.
    fn same() -> PackedSeries {
        PackedSeries::Text(String::from(SAME))
    }
}

/// Name and filter of `name{filter}`.
fn named(key: &str) -> (&str, Option<&str>) {
    match key.strip_suffix('}').and_then(|key| key.split_once('{')) {
        Some((name, filter)) => (name, Some(filter)),
        None => (key, None),
    }
}

fn packed(points: &Points) -> PackedSeries {
    match points {
        Points::Counter { sum: numbers } | Points::Gauge { last: numbers } => {
            let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() <= EXACT;
            match numbers.iter().flatten().all(is_whole) {
                true => text(numbers.iter().map(|number| number.map(|number| number as i64))),
                false => PackedSeries::Plain(numbers.clone()),
            }
        }
        Points::Rate { passes, total } => text(passes.iter().chain(total).map(|count| count.map(whole))),
        Points::Trend { count, avg, min, max, p50, p90, p95, p99 } => {
            let values = [avg, min, max, p50, p90, p95, p99].into_iter().flatten();
            let steps = values.map(|value| value.map(column::step));
            text(count.iter().map(|count| count.map(whole)).chain(steps))
        }
    }
}

fn text(numbers: impl Iterator<Item = Option<i64>>) -> PackedSeries {
    PackedSeries::Text(column::packed(&numbers.collect::<Vec<_>>()))
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What a series has, to be asked by the names of its columns.
struct SeriesColumns<'a> {
    names: &'a [String],
    intervals: usize,
    numbers: SeriesNumbers<'a>,
}

enum SeriesNumbers<'a> {
    Whole(Vec<Option<i64>>),
    Plain(&'a Column),
}

impl SeriesColumns<'_> {
    /// The whole numbers of a column.
    fn whole(&self, name: &str) -> Result<&[Option<i64>], String> {
        let at = self.names.iter().position(|column| column == name).ok_or_else(|| format!("no column {name}"))?;
        let SeriesNumbers::Whole(numbers) = &self.numbers else {
            return Err(String::from("found a list, expected a text"));
        };
        Ok(&numbers[at * self.intervals..(at + 1) * self.intervals])
    }

    /// The numbers of a column that may be plain.
    fn numbers(&self, name: &str) -> Result<Column, String> {
        if let SeriesNumbers::Plain(numbers) = &self.numbers {
            return Ok((*numbers).clone());
        }
        Ok(self.whole(name)?.iter().map(|number| number.map(|number| number as f64)).collect())
    }

    fn counts(&self, name: &str) -> Result<Counts, String> {
        let count =
            |number: i64| u64::try_from(number).map_err(|_| format!("{name}: found {number}, expected 0 or more"));
        self.whole(name)?.iter().map(|number| number.map(count).transpose()).collect()
    }

    fn values(&self, name: &str) -> Result<Column, String> {
        let value = |step: i64| column::value(step).ok_or_else(|| format!("{name}: found {step}, which is no value"));
        self.whole(name)?.iter().map(|step| step.map(value).transpose()).collect()
    }
}

fn counter(columns: &SeriesColumns<'_>) -> Result<Points, String> {
    Ok(Points::Counter { sum: columns.numbers("sum")? })
}

fn gauge(columns: &SeriesColumns<'_>) -> Result<Points, String> {
    Ok(Points::Gauge { last: columns.numbers("last")? })
}

fn rate(columns: &SeriesColumns<'_>) -> Result<Points, String> {
    Ok(Points::Rate { passes: columns.counts("passes")?, total: columns.counts("total")? })
}

fn trend(columns: &SeriesColumns<'_>) -> Result<Points, String> {
    let count = columns.counts("count")?;
    let [avg, min, max] = ["avg", "min", "max"].map(|name| columns.values(name));
    let [p50, p90, p95, p99] = ["p50", "p90", "p95", "p99"].map(|name| columns.values(name));
    Ok(Points::Trend { count, avg: avg?, min: min?, max: max?, p50: p50?, p90: p90?, p95: p95?, p99: p99? })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn series(name: &str, filter: Option<&str>, points: Points) -> Series {
        Series { name: name.into(), filter: filter.map(str::to_owned), points }
    }

    fn seconds(series: Vec<Series>) -> Seconds {
        Seconds {
            starts_s: vec![0.0, 1.0],
            lengths_s: vec![1.0, 0.5],
            scenarios_start_s: 0.0,
            scenarios_end_s: 1.5,
            series,
        }
    }

    fn trend(avg: f64) -> Points {
        let column = |value| vec![Some(value), None];
        Points::Trend {
            count: vec![Some(3), None],
            avg: column(avg),
            min: column(-1.0),
            max: column(8.0),
            p50: column(2.0),
            p90: column(6.0),
            p95: column(7.0),
            p99: column(7.5),
        }
    }

    #[test]
    fn columns_are_named_once_and_series_are_texts() {
        let rate = Points::Rate { passes: vec![Some(0), Some(1)], total: vec![Some(4), Some(4)] };
        let all = seconds(vec![
            series("checks", None, rate),
            series("d", None, trend(2.5)),
            series("d", Some("a:1"), trend(2.5)),
            series("d", Some("a:2"), trend(3.0)),
            series("half", None, Points::Counter { sum: vec![Some(0.5), None] }),
            series("n", None, Points::Counter { sum: vec![None, Some(16.0)] }),
            series("vus", None, Points::Gauge { last: vec![Some(2.0), Some(-2.0)] }),
        ]);
        let written = serde_json::to_value(&all).expect("JSON");
        let expected = json!({
            "starts_s": [0.0, 1.0], "lengths_s": [1.0, 0.5], "scenarios_start_s": 0.0, "scenarios_end_s": 1.5,
            "counter": { "columns": ["sum"], "series": { "half": [0.5, null], "n": ".gB" } },
            "gauge": { "columns": ["last"], "series": { "vus": "EJ" } },
            "rate": { "columns": ["passes", "total"], "series": { "checks": "ACGA" } },
            "trend": {
                "columns": ["count", "avg", "min", "max", "p50", "p90", "p95", "p99"],
                "series": {
                    "d": "G.6//ggE.hgg9/H.gggkgI.hggI.gggG.gggB.ggQ.",
                    "d{a:1}": "=",
                    "d{a:2}": "G.6//hgE.hgg+/H.gggkgI.hggI.gggG.gggB.ggQ.",
                },
            },
        });
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<Seconds>(written).expect("reads back"), all);
    }

    #[test]
    fn named_columns_of_schema_1_are_read() {
        let old = json!({ "starts_s": [0.0, 1.0], "lengths_s": [1.0, 0.5], "scenarios_end_s": 1.5, "series": [
            { "name": "n", "filter": null, "kind": "counter", "points": { "sum": [0.5, null] } },
            { "name": "d", "filter": "a:1", "kind": "trend", "points": {
                "count": [3, null], "avg": [2.50001, null], "min": [-1.0, null], "max": [8.0, null],
                "p50": [2.0, null], "p90": [6.0, null], "p95": [7.0, null], "p99": [7.5, null] } },
        ] });
        let expected = seconds(vec![
            series("d", Some("a:1"), trend(2.5)),
            series("n", None, Points::Counter { sum: vec![Some(0.5), None] }),
        ]);
        assert_eq!(serde_json::from_value::<Seconds>(old).expect("reads"), expected);
    }

    #[test]
    fn sizes_that_multiply_are_bounded_before_anything_is_made() {
        let table = |columns: usize, series: usize| SeriesTable {
            columns: vec![String::from("sum"); columns],
            series: (0..series).map(|n| (format!("s{n}"), PackedSeries::same())).collect(),
        };
        let check = |columns, series, intervals| check_size([table(columns, series)].iter(), intervals);
        assert_eq!(check(MOST_COLUMNS, 1, 10), Ok(()));
        let broad = "found 33 columns, expected at most 32";
        assert_eq!(check(MOST_COLUMNS + 1, 1, 10), Err(broad.to_owned()));
        assert_eq!(check(2, 100, MOST_NUMBERS / 200), Ok(()));
        let many = "found 200000200 numbers in the series, expected at most 200000000";
        assert_eq!(check(2, 100, MOST_NUMBERS / 200 + 1), Err(many.to_owned()));
        assert!(check(2, 100, usize::MAX).is_err());
    }

    #[test]
    fn columns_are_found_by_name() {
        let read: Seconds = serde_json::from_value(json!({ "starts_s": [0.0], "lengths_s": [1.0],
            "rate": { "columns": ["later", "total", "passes"], "series": { "checks{a:{1}}": "oBDC" } } }))
        .expect("reads");
        let Points::Rate { passes, total } = &read.series[0].points else { panic!("a rate") };
        assert_eq!(
            (read.series[0].filter.as_deref(), &passes[..], &total[..]),
            (Some("a:{1}"), &[Some(20)][..], &[Some(19)][..])
        );
    }

    #[test]
    fn what_is_no_series_says_so() {
        let refused = |kind: &str, columns: &[&str], series: Value| {
            let text = json!({ "starts_s": [0.0], "lengths_s": [1.0], kind: { "columns": columns, "series": series } });
            serde_json::from_value::<Seconds>(text).expect_err("refused").to_string()
        };
        let rate = ["passes", "total"];
        for (series, expected) in [
            (json!({ "c": "A" }), "the series of c: found 1 numbers, expected 2"),
            (json!({ "c": "A*qggggD" }), "the series of c: found more than 2 numbers"),
            (json!({ "c": "*C" }), "the series of c: found nothing that could be repeated at byte 0"),
            (json!({ "c": "A*D" }), "the series of c: found a count below 0 before byte 3"),
            (json!({ "c": "AD" }), "the series of c: total: found -1, expected 0 or more"),
            (json!({ "c": [1.0, 2.0] }), "the series of c: found a list, expected a text"),
            (json!({ "c{a:1}": "=" }), "the series of c{a:1}: found '=', and c has no series"),
            (json!({ "c": "=" }), "the series of c: found '=', and c has no series"),
        ] {
            assert_eq!(refused("rate", &rate, series), expected);
        }
        assert_eq!(refused("rate", &["passes"], json!({ "c": "A" })), "the series of c: no column total");
        let high = json!({ "d": "AggggggD" });
        assert_eq!(
            refused("trend", &["count", "avg"], high),
            "the series of d: avg: found 1610612736, which is no value"
        );
    }
}
