//! The figures that tables show of a row, one list: a table has a column of each, a pivot a grid.
//!
//! Figures that no row has are left out.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{JudgedBy, TableRow, Tables};
use super::sheet::Field;
use crate::matrix::number;

/// Statistics of servers that get a column; the others are in the result.
const MOST_STATS: usize = 12;

/// Kinds of errors that get a column, the most frequent; `errors` counts all.
const MOST_KINDS: usize = 8;

/// What a figure is to a row.
#[derive(Clone, Debug, PartialEq)]
enum Figure {
    Rate,
    Lowest,
    Highest,
    Ratio,
    PerCpu,
    ServerCores,
    LoadCores,
    Percentile(usize),
    ResponseBytes,
    Errors,
    ErrorsOf(String),
    Stat(String),
}

/// A figure with its name.
pub(super) struct FigureColumn {
    /// As a heading.
    pub(super) name: String,
    figure: Figure,
    loads_differ: bool,
}

impl FigureColumn {
    /// Whether a pivot has a grid of it: those that only make sense beside another column have none.
    pub(super) fn is_of_its_own(&self) -> bool {
        !matches!(self.figure, Figure::Lowest | Figure::Highest | Figure::Ratio)
    }

    /// Whether a server told it.
    pub(super) fn is_stat(&self) -> bool {
        matches!(self.figure, Figure::Stat(_))
    }

    /// As the heading of a grid, which has nothing beside it that tells metric and unit.
    pub(super) fn title(&self, tables: &Tables) -> String {
        match self.figure {
            Figure::Percentile(_) => format!("{} {}, ms", tables.time_metric, self.name),
            Figure::Stat(_) => format!("server statistics, {}", self.name),
            _ => self.name.clone(),
        }
    }

    /// Its value in a row.
    pub(super) fn value(&self, row: &TableRow) -> Option<f64> {
        match &self.figure {
            Figure::Rate => row.rate.map(|rate| rate.median),
            Figure::Lowest => row.rate.map(|rate| rate.low),
            Figure::Highest => row.rate.map(|rate| rate.high),
            Figure::Ratio => row.ratio,
            // The price of a request, on the side that is measured.
            Figure::PerCpu if self.loads_differ => row.per_load_cpu_s,
            Figure::PerCpu => row.per_server_cpu_s,
            Figure::ServerCores => row.server_cores,
            Figure::LoadCores => row.load_cores,
            Figure::Percentile(at) => row.percentiles[*at],
            Figure::ResponseBytes => row.response_bytes,
            Figure::Errors => row.errors,
            Figure::ErrorsOf(kind) => row.errors.map(|_| row.errors_by_kind.get(kind).copied().unwrap_or(0.0)),
            Figure::Stat(name) => row.server_stats.get(name).copied(),
        }
    }

    /// As it is shown: the best of its group in bold, a rate that was the generator's with a mark.
    pub(super) fn field(&self, row: &TableRow, judged_by: JudgedBy) -> Field {
        let show = match self.figure {
            Figure::Percentile(_) => number::ms,
            Figure::Ratio | Figure::ServerCores | Figure::LoadCores => number::ratio,
            Figure::ResponseBytes | Figure::Errors | Figure::ErrorsOf(_) | Figure::Stat(_) => number::count,
            Figure::Rate | Figure::Lowest | Figure::Highest | Figure::PerCpu => number::rate,
        };
        let mut field = Field::right(self.value(row).map_or(String::from("–"), show));
        field.bold = row.best
            && match judged_by {
                JudgedBy::Rate => self.figure == Figure::Rate,
                JudgedBy::ServerCpu => self.figure == Figure::PerCpu,
            };
        if self.figure == Figure::Rate {
            field.text.push_str(row.mark());
        }
        field
    }
}

/// All figures that some row has, in the order of a table's columns.
pub(super) fn columns(tables: &Tables) -> Vec<FigureColumn> {
    let per_cpu = if tables.loads_differ { "per load CPU s" } else { "per server CPU s" };
    let mut named = vec![
        (format!("{}/s", tables.rate_metric), Figure::Rate),
        (String::from("lowest"), Figure::Lowest),
        (String::from("highest"), Figure::Highest),
        (String::from("× first"), Figure::Ratio),
        (String::from(per_cpu), Figure::PerCpu),
        (String::from("server cores"), Figure::ServerCores),
        (String::from("load cores"), Figure::LoadCores),
    ];
    let percent = |percent: f64| if percent < 100.0 { format!("{percent} %") } else { String::from("max") };
    named.extend(tables.percentiles.iter().enumerate().map(|(at, of)| (percent(*of), Figure::Percentile(at))));
    named.push((String::from("bytes/response"), Figure::ResponseBytes));
    let rows = || tables.groups.iter().flat_map(|group| &group.rows);
    if rows().any(|row| row.errors.is_some_and(|errors| errors > 0.0)) {
        named.push((String::from("errors"), Figure::Errors));
        let kinds = totals(rows().map(|row| &row.errors_by_kind));
        named.extend(kinds.into_iter().take(MOST_KINDS).map(|(kind, _)| (kind.clone(), Figure::ErrorsOf(kind))));
    }
    named.extend(stats(tables).into_iter().map(|name| (name.clone(), Figure::Stat(name))));
    let column = |(name, figure)| FigureColumn { name, figure, loads_differ: tables.loads_differ };
    let several = tables.groups.iter().any(|group| group.rows.len() > 1);
    let is_there = |column: &FigureColumn| match column.figure {
        Figure::Ratio => several,
        // A rate is what the table is about, also where none was measured.
        Figure::Rate | Figure::Lowest | Figure::Highest => true,
        _ => rows().any(|row| column.value(row).is_some()),
    };
    named.into_iter().map(column).filter(is_there).collect()
}

/// Names of the statistics that are shown: all when they are few, else the first that changed.
fn stats(tables: &Tables) -> Vec<String> {
    let of_rows = tables.groups.iter().flat_map(|group| &group.rows).flat_map(|row| &row.server_stats);
    let all: BTreeSet<&String> = of_rows.clone().map(|(name, _)| name).collect();
    let changed: BTreeSet<&String> = of_rows.filter(|(_, value)| **value != 0.0).map(|(name, _)| name).collect();
    let shown = if all.len() > MOST_STATS { changed } else { all };
    shown.into_iter().take(MOST_STATS).cloned().collect()
}

/// How many of the servers' statistics are not shown.
pub(super) fn hidden_stats(tables: &Tables) -> usize {
    let of_rows = tables.groups.iter().flat_map(|group| &group.rows).flat_map(|row| row.server_stats.keys());
    of_rows.collect::<BTreeSet<_>>().len() - stats(tables).len()
}

/// Sums by name over rows, the largest first.
fn totals<'a>(rows: impl Iterator<Item = &'a BTreeMap<String, f64>>) -> Vec<(String, f64)> {
    let mut totals: BTreeMap<String, f64> = BTreeMap::new();
    rows.flatten().for_each(|(name, value)| *totals.entry(name.clone()).or_insert(0.0) += value);
    let mut totals: Vec<(String, f64)> = totals.into_iter().collect();
    totals.sort_by(|a, b| b.1.total_cmp(&a.1));
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::document::{MatrixDocument, Outcome};
    use crate::matrix::server_stats::ServerStats;
    use crate::matrix::table::tests::document;
    use crate::matrix::table::{TableOptions, tables};

    fn names(document: &MatrixDocument) -> Vec<String> {
        let tables = tables(document, &TableOptions::default()).expect("tables");
        columns(&tables).into_iter().map(|column| column.name).collect()
    }

    #[test]
    fn a_table_is_about_rates_also_where_none_was_measured() {
        let mut document = document();
        let measured = ["http_reqs/s", "lowest", "highest", "× first", "per server CPU s", "server cores"];
        assert_eq!(names(&document)[..6], measured);
        for run in &mut document.runs {
            (run.outcome, run.figures, run.server, run.load) = (Outcome::Dead, None, None, None);
        }
        assert_eq!(names(&document), ["http_reqs/s", "lowest", "highest", "× first"]);
        document.plan.variants.pop();
        assert_eq!(names(&document), ["http_reqs/s", "lowest", "highest"], "nothing to compare with");
    }

    /// Which of so many statistics of a server have a column, and how many have none; only every third changes.
    fn statistics(count: u32) -> (Vec<String>, usize) {
        let mut document = document();
        let all = |value: &dyn Fn(u32) -> f64| (1..=count).map(|n| (format!("s{n:02}"), value(n))).collect();
        for run in &mut document.runs {
            let (before, after) = (all(&|_| 1.0), all(&|n| if n % 3 == 0 { 8.0 } else { 1.0 }));
            run.server_stats = Some(ServerStats { before, after, ..ServerStats::default() });
        }
        let tables = tables(&document, &TableOptions::default()).expect("tables");
        let shown = columns(&tables).into_iter().filter(FigureColumn::is_stat).map(|column| column.name);
        (shown.collect(), hidden_stats(&tables))
    }

    #[test]
    fn twelve_statistics_of_a_server_are_all_shown_and_of_more_those_that_changed() {
        let (twelve, hidden) = statistics(12);
        assert_eq!((twelve, hidden), ((1..=12).map(|n| format!("s{n:02}")).collect(), 0));
        assert_eq!(statistics(13), (["s03", "s06", "s09", "s12"].map(String::from).to_vec(), 9));
        let (many, hidden) = statistics(60);
        assert_eq!((many.len(), many.last().map(String::as_str), hidden), (12, Some("s36"), 48));
    }
}
