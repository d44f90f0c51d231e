//! Requests by what was asked for and how it was answered: the tables that say what was slow and what failed, by
//! request, by scenario and by group; errors over time; the tail of the distribution.
//!
//! Each row names the rows of the document that it adds up, so that `stretch.js` can make it anew for a part of the
//! run, from the blocks that `data` puts into the page. Those are coarse: the tables of the whole run do not come from
//! them.

use std::collections::BTreeMap;

use metrics::Trend;
use serde_json::json;
use units::show;

use super::plots::unit_of;
use super::shown_run::{ShownRun, plain};
use super::tables::titled;
use super::traces;
use crate::document::{Histogram, Metric, Protocol, RequestRow, Requests};
use crate::html::chart::{ChartLine, INK, Lines, Percentiles, Unit};
use crate::html::table::CellText;
use crate::html::{Table, json_island};

/// Bytes that the blocks may take in a page.
const BLOCKS_WITHIN: usize = 600_000;
/// Lines of a chart that an eye can follow.
const LINES: usize = 6;
/// Percentiles of the chart of the tail, those that have samples beyond them.
const PERCENTS: [f64; 14] = [1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9, 99.95, 99.99, 99.999];

/// Rows of the document that are one row here.
struct RowSum {
    rows: Vec<usize>,
    durations: Trend,
    failed: u64,
}

/// All tables, and what a script makes them anew from.
pub(super) fn section(run: &ShownRun<'_>) -> Vec<String> {
    let requests = &run.document.requests;
    if requests.is_empty() {
        return Vec::new();
    }
    let cut = "there were more kinds of requests than rows: \"other requests\" are the rest, by outcome; give requests \
               whose URLs have numbers in them a name (tags: { name }), and they are one row";
    let note = if requests.is_cut { format!("<p class=\"about\">{cut}</p>") } else { String::new() };
    let opens = requests.rows.iter().any(|row| row.protocol == Protocol::WebSocket);
    let opens = if opens { "<p class=\"about\">a WebSocket (WS) took as long as it took to open</p>" } else { "" };
    vec![
        note,
        opens.to_owned(),
        by_request(run),
        by(run, "Scenario", |row| &row.scenario),
        by(run, "Group", |row| &row.group),
        traces::table(run),
        data(requests),
    ]
}

fn sums<K: Ord>(requests: &Requests, key: impl Fn(&RequestRow) -> K) -> Vec<(K, RowSum)> {
    let mut sums: BTreeMap<K, RowSum> = BTreeMap::new();
    for (at, row) in requests.rows.iter().enumerate() {
        let empty = || RowSum { rows: Vec::new(), durations: Trend::default(), failed: 0 };
        let sum = sums.entry(key(row)).or_insert_with(empty);
        sum.rows.push(at);
        sum.durations.merge(&row.durations.trend());
        sum.failed += if row.failed { row.durations.count } else { 0 };
    }
    let mut sums: Vec<(K, RowSum)> = sums.into_iter().collect();
    // As the document has them: those that failed, then the most frequent, and the others at the end.
    let is_other = |sum: &RowSum| requests.rows[sum.rows[0]].is_other();
    sums.sort_by_key(|(_, sum)| (is_other(sum), sum.failed == 0, std::cmp::Reverse(sum.durations.count())));
    sums
}

fn by_request(run: &ShownRun<'_>) -> String {
    let requests = &run.document.requests;
    let head = ["status", "request", "count", "per second", "share", "median", "p95", "p99", "slowest"];
    let table = Table::new(head).texts(2).told_by(1).named("Requests by URL or name, status and error");
    let mut table = table.over_stretches("- - count rate share p50 p95 p99 max");
    let all = requests.rows.iter().map(|row| row.durations.count).sum::<u64>();
    let key = |row: &RequestRow| {
        let asked = (row.name.clone(), row.method.clone(), row.protocol);
        (asked, row.status, row.error.clone(), row.failed)
    };
    for (_, sum) in sums(requests, key) {
        let row = &requests.rows[sum.rows[0]];
        let (class, status) = status(row);
        let count = sum.durations.count();
        let mut cells = vec![status.into(), what(row), show::grouped(count).into(), rate(run, count).into()];
        cells.push(show::share(count, all).into());
        cells.extend(figures(run, &sum.durations));
        cells.push(run.time(sum.durations.max()).into());
        table.row_with(class, rows_of(&sum.rows), cells);
    }
    table.html()
}

fn by(run: &ShownRun<'_>, what: &'static str, of: impl Fn(&RequestRow) -> &String) -> String {
    let requests = &run.document.requests;
    let sums = sums(requests, |row| of(row).clone());
    if sums.len() < 2 {
        return String::new();
    }
    let title = format!("By {}", what.to_lowercase());
    let head = [what, "requests", "per second", "failed", "share failed", "median", "p95", "p99"];
    let mut table = Table::new(head).named(&title).over_stretches("- count rate failed failedshare p50 p95 p99");
    for (name, sum) in sums {
        let name = match name.trim_start_matches("::").replace("::", " › ") {
            name if name.is_empty() => "none".to_owned(),
            name => name,
        };
        let count = sum.durations.count();
        let share = show::share(sum.failed, count);
        let counts = [name, show::grouped(count), rate(run, count), show::grouped(sum.failed), share];
        let cells = counts.into_iter().map(CellText::from).chain(figures(run, &sum.durations));
        table.row_with(if sum.failed > 0 { "bad" } else { "" }, rows_of(&sum.rows), cells);
    }
    titled(&title, table.html())
}

fn figures(run: &ShownRun<'_>, durations: &Trend) -> [CellText; 3] {
    durations.percentiles([50.0, 95.0, 99.0]).map(|value| run.time(value).into())
}

fn rate(run: &ShownRun<'_>, count: u64) -> String {
    let seconds = run.document.rate_time_s();
    if seconds > 0.0 { show::rounded(count as f64 / seconds) } else { "0".to_owned() }
}

fn rows_of(rows: &[usize]) -> String {
    let rows: Vec<String> = rows.iter().map(usize::to_string).collect();
    format!(" data-rows=\"{}\"", rows.join(" "))
}

/// Never by colour alone.
fn status(row: &RequestRow) -> (&'static str, String) {
    let status = row.outcome().unwrap_or_else(|| "no answer".to_owned());
    if row.failed { ("bad", format!("✗ {status}")) } else { ("", status) }
}

/// The request in words, with why it failed and an example below it.
fn what(row: &RequestRow) -> CellText {
    if row.is_other() {
        return row.what().into();
    }
    let below = |text: &str| format!("<small class=\"sure\">{}</small>", plain(text));
    let error = row.error.as_deref().map(below).unwrap_or_default();
    let example = row.example.as_deref().map(|url| below(&format!("as {url}"))).unwrap_or_default();
    CellText::html(format!("<span class=\"url\">{}{error}{example}</span>", plain(&row.what())))
}

/// What `stretch.js` reads.
fn data(requests: &Requests) -> String {
    if requests.blocks.is_empty() {
        return String::new();
    }
    let blocks = requests.blocks.within(BLOCKS_WITHIN);
    let failed: Vec<u8> = requests.rows.iter().map(|row| u8::from(row.failed)).collect();
    let ends = blocks.starts_s.iter().zip(&blocks.lengths_s).map(|(start, length)| start + length);
    let round = |time: f64| (time * 1e3).round() / 1e3;
    let value = json!({
        "starts": blocks.starts_s.iter().map(|time| round(*time)).collect::<Vec<_>>(),
        "ends": ends.map(round).collect::<Vec<_>>(),
        "rows": blocks.rows, "failed": failed,
    });
    format!("<div id=\"blocks\" hidden>{}</div>", json_island(&value))
}

/// Failed requests by status or reason, block by block.
pub(super) fn errors_over_time(run: &ShownRun<'_>) -> String {
    let requests = &run.document.requests;
    let blocks = &requests.blocks;
    if blocks.is_empty() {
        return String::new();
    }
    // As a point of its own the rest of a second is a rate that never was.
    let is_rest = matches!(blocks.lengths_s[..], [.., before, last] if last < before / 2.0);
    let mut lines = Vec::new();
    let kinds = sums(requests, RequestRow::failure);
    let kinds = kinds.into_iter().filter_map(|(kind, sum)| Some((kind?, sum)));
    for (name, sum) in kinds.take(LINES) {
        let mut counts = vec![0_u64; blocks.starts_s.len()];
        for row in sum.rows {
            let by_block = blocks.row(row).into_iter().map(|coarse| coarse.values().sum::<u64>());
            counts.iter_mut().zip(by_block).for_each(|(count, more)| *count += more);
        }
        let mut lengths = blocks.lengths_s.clone();
        if let ([.., before, last], [.., count, rest]) = (&mut lengths[..], &mut counts[..])
            && is_rest
        {
            (*before, *count) = (*before + *last, *count + *rest);
            lengths.pop();
            counts.pop();
        }
        let rates = counts.iter().zip(&lengths).map(|(count, length)| Some(*count as f64 / length.max(1e-3)));
        lines.push(ChartLine::new(name, rates.collect()));
    }
    for (line, colour) in lines.iter_mut().zip([4, 3, 1, 6, 5, 7]) {
        line.colour = Some(colour);
    }
    let mut times: Vec<(f64, f64)> =
        blocks.starts_s.iter().zip(&blocks.lengths_s).map(|(start, length)| (*start, start + length)).collect();
    if let [.., before, last] = &mut times[..]
        && is_rest
    {
        before.1 = last.1;
        times.pop();
    }
    let shaded = &run.unsteady;
    let (title, unit, limits) = ("Errors by kind", Unit::PerSecond, Vec::new());
    let is_logarithmic = false;
    Lines {
        title,
        note: None,
        unit,
        times: &times,
        lines,
        filled: true,
        may_be_logarithmic: is_logarithmic,
        shaded,
        changes: &run.changes,
        limits,
    }
    .html()
}

/// The tail: all requests, and the most frequent kinds.
pub(super) fn spectrum(run: &ShownRun<'_>, all: &Metric) -> String {
    let Some(histogram) = all.histogram() else { return String::new() };
    // A percentile with fewer than a sample beyond it is the maximum, told elsewhere.
    let percents: Vec<f64> =
        PERCENTS.into_iter().filter(|percent| (1.0 - percent / 100.0) * histogram.count as f64 >= 1.0).collect();
    let line = |name: String, trend: &Trend| {
        let values = percents.iter().map(|percent| Some(trend.percentile(*percent)));
        ChartLine::new(name, values.collect())
    };
    let mut lines = vec![ChartLine { colour: Some(INK), ..line("all requests".to_owned(), &histogram.trend()) }];
    let before = run.before.and_then(|before| before.metric(&all.name)?.histogram()).map(Histogram::trend);
    let before = before.filter(|trend| trend.count() > 0);
    let before = before.map(|trend| ChartLine { colour: Some(7), ..line("all requests, before".to_owned(), &trend) });
    lines.extend(before);
    let mut kinds = of_http(run);
    kinds.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.durations.count()));
    if kinds.len() > 1 {
        let named = kinds.iter().filter(|((method, _), _)| !method.is_empty()).take(LINES);
        let named = named.enumerate().map(|(colour, ((method, name), sum))| {
            let line = line(format!("{method} {name}"), &sum.durations);
            ChartLine { colour: Some(colour), ..line }
        });
        lines.extend(named);
    }
    let note = "each magnitude of rarity takes the same room: one in ten, one in a hundred, one in a thousand";
    let (title, unit) = ("Request duration by percentile", unit_of(all));
    Percentiles { title, note: Some(note), unit, percents: &percents, lines }.html()
}

/// Requests of HTTP by method and name.
fn of_http(run: &ShownRun<'_>) -> Vec<((String, String), RowSum)> {
    let key = |row: &RequestRow| (row.protocol.is_http(), row.method.clone(), row.name.clone());
    let kinds = sums(&run.document.requests, key).into_iter();
    kinds.filter(|((is_http, ..), _)| *is_http).map(|((_, method, name), sum)| ((method, name), sum)).collect()
}

/// The request whose 95th percentile is highest among those that are not rare, and that percentile.
pub(super) fn slowest(run: &ShownRun<'_>) -> Option<(String, f64)> {
    let kinds = of_http(run);
    let all: u64 = kinds.iter().map(|(_, sum)| sum.durations.count()).sum();
    let known = kinds.iter().filter(|((method, _), _)| !method.is_empty());
    let usual = known.filter(|(_, sum)| sum.durations.count() * 100 >= all && sum.durations.count() >= 20);
    let timed = usual.map(|((method, name), sum)| (format!("{method} {name}"), sum.durations.percentile(95.0)));
    let slowest = timed.reduce(|slow, next| if next.1 > slow.1 { next } else { slow });
    slowest.filter(|_| kinds.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    use metrics::Trend;
    use metrics::results::TrendValue;

    fn row(name: &str, scenario: &str, failed: bool, count: u32) -> RequestRow {
        let mut trend = Trend::default();
        (0..count).for_each(|n| trend.add(f64::from(n)));
        let durations = (&TrendValue::from(trend)).into();
        let [name, method, scenario] = [name, "GET", scenario].map(str::to_owned);
        RequestRow { name, method, failed, scenario, durations, ..RequestRow::default() }
    }

    #[test]
    fn sums_that_failed_come_first_then_the_most_frequent_and_the_others_last() {
        let rest = RequestRow { method: String::new(), ..row("", "", true, 50) };
        let rows = vec![row("/d", "d", true, 2), row("/a", "a", false, 5), row("/b", "b", false, 9), rest];
        let rows =
            rows.into_iter().chain([row("/d2", "d", false, 1), row("/a", "a", false, 3), row("/d", "d", true, 4)]);
        let requests = Requests { rows: rows.collect(), ..Requests::default() };
        let told: Vec<_> = sums(&requests, |row| row.scenario.clone())
            .into_iter()
            .map(|(key, sum)| (key, sum.rows, sum.durations.count(), sum.failed))
            .collect();
        let of = |key: &str, rows: &[usize], count, failed| (key.to_owned(), rows.to_vec(), count, failed);
        assert_eq!(
            told,
            [of("d", &[0, 4, 6], 7, 6), of("b", &[2], 9, 0), of("a", &[1, 5], 8, 0), of("", &[3], 50, 50)]
        );
    }
}
