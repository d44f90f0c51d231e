//! Makes the tables of a result: one row for each variant in each cell, its figures medians over the rounds.

use std::collections::BTreeMap;

use super::best;
use super::cold;
use super::data::{JudgedBy, RowGroup, Spread, TableRow, Tables};
use super::notes::{loads_differ, notes};
use super::options::{TableOptions, known};
use crate::matrix::cells::{self, Cell};
use crate::matrix::document::{MatrixDocument, RunRecord, Usage};
use crate::matrix::failed_requests::FailedRequests;
use crate::matrix::server_stats::ServerStats;
use crate::stats::median;

/// Makes the tables of a result. An unknown axis is refused by name.
pub fn tables(document: &MatrixDocument, options: &TableOptions) -> Result<Tables, String> {
    let plan = &document.plan;
    let cells = cells::cells(&plan.axes).map_err(|error| error.message)?;
    let known = known(plan);
    let pivot = options.settled_pivot(&known)?;
    let by = options.group_by.clone().unwrap_or_else(|| plan.axes.keys().cloned().collect());
    let headed = options.group_by.is_some();
    let columns: Vec<String> = known.into_iter().filter(|column| !headed || !by.contains(column)).collect();
    let mut groups: Vec<RowGroup> = Vec::new();
    for row in rows(document, &cells, options) {
        let heading: Vec<String> = by.iter().map(|axis| format!("{axis}={}", row.values[axis])).collect();
        let heading = heading.join(", ");
        match groups.iter_mut().find(|group| group.heading == heading) {
            Some(group) => group.rows.push(row),
            None => {
                groups.push(RowGroup { heading, rows: vec![row], verdict: String::new(), judged_by: JudgedBy::Rate })
            }
        }
    }
    let loads_differ = loads_differ(document);
    for group in &mut groups {
        set_ratios(&mut group.rows);
        let names: Vec<String> = group.rows.iter().map(|row| name_within(row, &by)).collect();
        (group.judged_by, group.verdict) = best::mark(&mut group.rows, &names, loads_differ);
        if let Some(best) = group.rows.iter_mut().find(|row| row.best && cold::measured_cold(document)) {
            best.best = false;
            group.verdict = String::from(cold::NO_BEST);
        }
    }
    let mut tables = Tables {
        name: plan.name.clone().unwrap_or_else(|| String::from("matrix")),
        rate_metric: plan.measure.rate.clone(),
        time_metric: plan.measure.time.clone(),
        rounds: plan.rounds,
        percentiles: options.percentiles.clone(),
        columns,
        headed,
        pivot,
        loads_differ,
        groups,
        notes: Vec::new(),
    };
    tables.notes = notes(document, &tables);
    Ok(tables)
}

/// What tells a row from the others of its group: its variant, then the axes that are not grouped by.
fn name_within(row: &TableRow, by: &[String]) -> String {
    let rest = row.values.iter().filter(|(axis, _)| *axis != "variant" && !by.contains(axis));
    let variant = row.values.get("variant").filter(|_| !by.iter().any(|axis| axis == "variant"));
    let parts = variant.cloned().into_iter().chain(rest.map(|(axis, value)| format!("{axis}={value}")));
    parts.collect::<Vec<_>>().join(" ")
}

/// One row for each cell and variant that was run, in the plan's order.
fn rows(document: &MatrixDocument, cells: &[Cell], options: &TableOptions) -> Vec<TableRow> {
    let mut rows = Vec::new();
    for cell in cells {
        let names = cell.names();
        for variant in &document.plan.variants {
            let of_row = |run: &&RunRecord| run.variant == variant.name && run.axes == names;
            let runs: Vec<&RunRecord> = document.runs.iter().filter(of_row).collect();
            if !runs.is_empty() {
                let mut values = names.clone();
                values.insert(String::from("variant"), variant.name.clone());
                rows.push(row(document, values, &runs, options));
            }
        }
    }
    rows
}

fn row(
    document: &MatrixDocument,
    values: BTreeMap<String, String>,
    runs: &[&RunRecord],
    options: &TableOptions,
) -> TableRow {
    let measure = &document.plan.measure;
    let valid: Vec<&RunRecord> = runs.iter().copied().filter(|run| run.is_ok()).collect();
    let by_round: BTreeMap<u32, f64> =
        valid.iter().filter_map(|run| Some((run.round, run.rate(&measure.rate)?))).collect();
    let rates: Vec<f64> = by_round.values().copied().collect();
    let times: Vec<Vec<Option<f64>>> =
        valid.iter().map(|run| run.percentiles(&measure.time, &options.percentiles)).collect();
    let percentiles =
        (0..options.percentiles.len()).map(|at| median(times.iter().filter_map(|of_run| of_run[at]))).collect();
    let per_cpu = |used: Option<Usage>, run: &RunRecord| {
        let used = used?.cpu_s;
        (used > 0.0).then_some(run.count(&measure.rate)? / used)
    };
    let per_server_cpu_by_round: BTreeMap<u32, f64> =
        valid.iter().filter_map(|run| Some((run.round, per_cpu(run.server, run)?))).collect();
    let cores = |used: f64, run: &RunRecord| (run.measured_s > 0.0).then_some(used / run.measured_s);
    let errors = runs.iter().filter_map(|run| FailedRequests::of(run)).reduce(|mut all, errors| {
        all.add(&errors);
        all
    });
    TableRow {
        values,
        valid: valid.len(),
        made: runs.len(),
        rate: spread(&rates),
        ratio: None,
        best: false,
        percentiles,
        per_server_cpu_s: median(per_server_cpu_by_round.values().copied()),
        per_load_cpu_s: median(valid.iter().filter_map(|run| per_cpu(run.load, run))),
        server_cores: median(valid.iter().filter_map(|run| cores(run.server?.cpu_s, run))),
        load_cores: median(valid.iter().filter_map(|run| cores(run.load?.cpu_s, run))),
        saturated: valid.iter().filter(|run| run.limit(&document.plan.pin).is_some()).count(),
        limited_by: valid.iter().find_map(|run| run.limit(&document.plan.pin)),
        late_accepted: valid.iter().filter(|run| run.accepted().is_some()).count(),
        suspect: valid.iter().filter(|run| run.doubt().is_some()).count(),
        response_bytes: median(valid.iter().filter_map(|run| run.response_bytes())),
        errors: errors.as_ref().map(|errors| errors.total),
        errors_by_kind: errors.map(|errors| errors.kinds).unwrap_or_default(),
        server_stats: server_stats(&valid),
        by_round,
        per_server_cpu_by_round,
    }
}

/// Medians over these runs by name.
fn server_stats(runs: &[&RunRecord]) -> BTreeMap<String, f64> {
    let mut by_name: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, figure) in runs.iter().filter_map(|run| run.server_stats.as_ref()).flat_map(ServerStats::figures) {
        by_name.entry(name).or_default().push(figure);
    }
    by_name.into_iter().filter_map(|(name, figures)| Some((name.to_owned(), median(figures)?))).collect()
}

fn spread(values: &[f64]) -> Option<Spread> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(Spread { median: median(values.iter().copied())?, low, high })
}

/// Rates of the same round, so that a machine that slows down does so on both sides.
fn set_ratios(rows: &mut [TableRow]) {
    let Some(first) = rows.first().map(|row| row.by_round.clone()) else { return };
    for row in rows {
        let of_round = |(round, rate): (&u32, &f64)| Some(rate / first.get(round)?);
        row.ratio = median(row.by_round.iter().filter_map(of_round));
    }
}
