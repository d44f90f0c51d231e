//! Tables of a matrix, as data: groups of rows with a rate, percentiles and what server and generator used.
//!
//! Nothing is averaged over different loads: axes that are not grouped by are columns. A row is one variant in one
//! cell, its figures medians over the rounds; only valid runs count, and what was left out is said below.

mod best;
mod column;
mod csv;
mod grid;
mod html;
mod lines;
pub(super) mod number;
mod pivot;
mod sheet;

use std::collections::BTreeMap;

use serde::Serialize;
use units::show::{counted, percent};

use super::cells::{self, Cell};
use super::document::{MatrixDocument, RunRecord, Usage};
use super::failed_requests::FailedRequests;
use super::plan::Plan;
use super::server_stats::ServerStats;
use crate::document::Cause;
use crate::stats::median;

pub use csv::csv;
pub use html::html;
pub use lines::{Line, csv_lines, lines, text_lines};
pub use pivot::{Grid, PIVOT_PERCENTILES, Pivot, grids};
pub use sheet::{markdown, text};

/// The percentiles that tables show by default; 100 is the maximum.
pub const PERCENTILES: [f64; 12] = [5.0, 10.0, 20.0, 40.0, 50.0, 60.0, 80.0, 90.0, 95.0, 99.0, 99.9, 100.0];

/// Why `compare` may say less of the same runs.
const BEST_IS_BY_RATE: &str = "a best goes by one figure, with no margin and Holm's correction over the rows; `onrush \
    compare` judges \
                               several metrics together, so with few rounds it may not tell yet";

/// What a table is to show.
#[derive(Clone, Debug, PartialEq)]
pub struct TableOptions {
    /// Axes (or `variant`) that get a table of their own for each value; when none are named there is one table, and
    /// the rows of one cell are a group.
    pub group_by: Option<Vec<String>>,
    /// Which percentiles.
    pub percentiles: Vec<f64>,
    /// Grids of these axes instead of rows; not together with `group_by`.
    pub pivot: Option<Pivot>,
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions { group_by: None, percentiles: PERCENTILES.to_vec(), pivot: None }
    }
}

impl TableOptions {
    /// Refuses axes that a plan does not have.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        self.settled_pivot(&known(plan)).map(drop)
    }

    /// Which axes are rows and columns, if a pivot was asked for.
    fn settled_pivot(&self, known: &[String]) -> Result<Option<Pivot>, String> {
        let named = self.group_by.iter().flatten();
        pivot::check("group-by", named, known)?;
        self.pivot.as_ref().map(|pivot| pivot.settled(known)).transpose()
    }
}

/// What rows can be told apart by.
fn known(plan: &Plan) -> Vec<String> {
    plan.axes.keys().cloned().chain([String::from("variant")]).collect()
}

/// Tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tables {
    /// Of the matrix.
    pub name: String,
    /// What the rate counts: `http_reqs`.
    pub rate_metric: String,
    /// What the percentiles are of: `http_req_duration`.
    pub time_metric: String,
    /// Rounds planned.
    pub rounds: u32,
    /// Percentiles shown.
    pub percentiles: Vec<f64>,
    /// Axes that have a column; `variant` among them.
    pub columns: Vec<String>,
    /// Whether each group has its own heading.
    pub headed: bool,
    /// The axes of grids, when those were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pivot: Option<Pivot>,
    /// Whether variants bring loads of their own: then it is loads that are measured.
    pub loads_differ: bool,
    /// Rows that are compared with each other.
    pub groups: Vec<Group>,
    /// What the reader must know: failures, saturation, time.
    pub notes: Vec<String>,
}

impl Tables {
    /// What the groups show, each line once, and whether it names a best; groups that show the same share a line.
    pub(super) fn verdicts(&self) -> Vec<(bool, String)> {
        let mut lines: Vec<(&str, bool, Vec<&str>)> = Vec::new();
        for group in self.groups.iter().filter(|group| !group.verdict.is_empty()) {
            let best = group.rows.iter().any(|row| row.best);
            match lines.iter_mut().find(|(verdict, ..)| *verdict == group.verdict) {
                Some((_, _, headings)) => headings.push(&group.heading),
                None => lines.push((&group.verdict, best, vec![&group.heading])),
            }
        }
        let shown = |(verdict, best, headings): (&str, bool, Vec<&str>)| match headings[..] {
            [""] => (best, verdict.to_owned()),
            _ if headings.len() > 3 && headings.len() == self.groups.len() => (best, format!("everywhere: {verdict}")),
            _ => (best, format!("{}: {verdict}", headings.join("; "))),
        };
        lines.into_iter().map(shown).collect()
    }
}

/// Rows that are compared with each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// What they have in common: `size=1k`.
    pub heading: String,
    /// In the plan's order.
    pub rows: Vec<Row>,
    /// Whether the best is known, and if not, why.
    pub verdict: String,
    /// What the verdict goes by.
    pub judged_by: JudgedBy,
}

/// What the rows of a group are ranked by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    /// Their rates.
    #[default]
    Rate,
    /// Requests for each CPU second of the server: it stays true where the generator was the limit of the rate.
    ServerCpu,
}

impl JudgedBy {
    /// As programs read it.
    fn name(self) -> &'static str {
        match self {
            JudgedBy::Rate => "rate",
            JudgedBy::ServerCpu => "server_cpu",
        }
    }
}

/// One variant in one cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Value names by axis, and `variant`.
    pub values: BTreeMap<String, String>,
    /// Valid runs.
    pub valid: usize,
    /// Runs made.
    pub made: usize,
    /// Per second: median, lowest and highest round.
    pub rate: Option<Spread>,
    /// The median over rounds of this row's rate to the first row's of the group.
    pub ratio: Option<f64>,
    /// Best of its group beyond doubt.
    pub best: bool,
    /// Medians over rounds.
    pub percentiles: Vec<Option<f64>>,
    /// Requests for each CPU second of the server.
    pub per_server_cpu_s: Option<f64>,
    /// Requests for each CPU second of the load.
    pub per_load_cpu_s: Option<f64>,
    /// Cores the server used.
    pub server_cores: Option<f64>,
    /// Cores the load's processes used.
    pub load_cores: Option<f64>,
    /// Valid runs whose rate is no evidence: the generator was the limit, was held up, or started iterations late.
    pub saturated: usize,
    /// Which of these it was, in the first such run.
    pub limited_by: Option<Cause>,
    /// Valid runs that count only because of `--accept-late`.
    pub late_accepted: usize,
    /// Bytes received for each request, headers included: median.
    pub response_bytes: Option<f64>,
    /// Failed requests of all runs made, also of those that are not valid because of them; none when nobody counted.
    pub errors: Option<f64>,
    /// The same by what went wrong.
    pub errors_by_kind: BTreeMap<String, f64>,
    /// What the server counted during a run, levels of gauges: medians over rounds, by name.
    pub server_stats: BTreeMap<String, f64>,
    /// Rates by round, for tests.
    #[serde(skip)]
    pub by_round: BTreeMap<u32, f64>,
    /// Requests for each CPU second of the server by round.
    #[serde(skip)]
    pub per_server_cpu_by_round: BTreeMap<u32, f64>,
}

impl Row {
    /// What is behind its rate where some of its runs are in doubt.
    fn mark(&self) -> &'static str {
        match (self.saturated, self.late_accepted) {
            (0, 0) => "",
            (0, _) => " ~",
            _ => " !",
        }
    }
}

/// Median, lowest and highest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Of the rounds.
    pub median: f64,
    /// Lowest round.
    pub low: f64,
    /// Highest round.
    pub high: f64,
}

/// Makes the tables of a result. An unknown axis is refused by name.
pub fn tables(document: &MatrixDocument, options: &TableOptions) -> Result<Tables, String> {
    let plan = &document.plan;
    let cells = cells::cells(&plan.axes).map_err(|error| error.message)?;
    let known = known(plan);
    let pivot = options.settled_pivot(&known)?;
    let by = options.group_by.clone().unwrap_or_else(|| plan.axes.keys().cloned().collect());
    let headed = options.group_by.is_some();
    let columns: Vec<String> = known.into_iter().filter(|column| !headed || !by.contains(column)).collect();
    let mut groups: Vec<Group> = Vec::new();
    for row in rows(document, &cells, options) {
        let heading: Vec<String> = by.iter().map(|axis| format!("{axis}={}", row.values[axis])).collect();
        let heading = heading.join(", ");
        match groups.iter_mut().find(|group| group.heading == heading) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { heading, rows: vec![row], verdict: String::new(), judged_by: JudgedBy::Rate }),
        }
    }
    let loads_differ = loads_differ(document);
    for group in &mut groups {
        set_ratios(&mut group.rows);
        let names: Vec<String> = group.rows.iter().map(|row| name_within(row, &by)).collect();
        (group.judged_by, group.verdict) = best::mark(&mut group.rows, &names, loads_differ);
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
fn name_within(row: &Row, by: &[String]) -> String {
    let rest = row.values.iter().filter(|(axis, _)| *axis != "variant" && !by.contains(axis));
    let variant = row.values.get("variant").filter(|_| !by.iter().any(|axis| axis == "variant"));
    let parts = variant.cloned().into_iter().chain(rest.map(|(axis, value)| format!("{axis}={value}")));
    parts.collect::<Vec<_>>().join(" ")
}

/// One row for each cell and variant that was run, in the plan's order.
fn rows(document: &MatrixDocument, cells: &[Cell], options: &TableOptions) -> Vec<Row> {
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
) -> Row {
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
    Row {
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
    by_name.into_iter().filter_map(|(name, figures)| Some((name.to_owned(), median(figures.into_iter())?))).collect()
}

fn spread(values: &[f64]) -> Option<Spread> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(Spread { median: median(values.iter().copied())?, low, high })
}

/// Rates of the same round, so that a machine that slows down does so on both sides.
fn set_ratios(rows: &mut [Row]) {
    let Some(first) = rows.first().map(|row| row.by_round.clone()) else { return };
    for row in rows {
        let of_round = |(round, rate): (&u32, &f64)| Some(rate / first.get(round)?);
        row.ratio = median(row.by_round.iter().filter_map(of_round));
    }
}

/// What the reader must know: what failed, where the generator was the limit, what the matrix itself took.
fn notes(document: &MatrixDocument, tables: &Tables) -> Vec<String> {
    let mut notes = Vec::new();
    for runs in failures(document) {
        let reason = runs[0].reason.as_deref().unwrap_or("it failed");
        notes.push(format!("✗ {}: left out of {}: {reason}", label(runs[0]), rounds(&runs)));
    }
    notes.extend(limited(document));
    notes.extend(accepted(document));
    notes.extend(unread_stats(document));
    let hidden = column::hidden_stats(tables);
    if hidden > 0 {
        notes.push(format!("{hidden} more server statistics are in the result; names in the plan's stats choose some"));
    }
    notes.extend(disturbances(document));
    let timing = &document.timing;
    if timing.total_s() > 0.0 {
        let part = |seconds: f64| format!("{} ({})", number::seconds(seconds), percent(timing.share(seconds), 1));
        let commands = match timing.commands_s > 0.05 {
            true => format!("{} the plan's commands, ", part(timing.commands_s)),
            false => String::new(),
        };
        notes.push(format!(
            "{} in {}: {} measured, {} warming up, {commands}{} starting and stopping servers, {} loads, {} \
             the matrix's own",
            counted(document.runs.len(), "run"),
            number::seconds(timing.total_s()),
            part(timing.measured_s),
            part(timing.warm_up_s),
            part(timing.servers_s),
            part(timing.loads_s),
            part(timing.own_s),
        ));
    }
    if tables.groups.iter().flat_map(|group| &group.rows).any(|row| row.best) {
        notes.push(String::from(BEST_IS_BY_RATE));
    }
    notes
}

/// Where rates are no evidence, by cause, and what to do about it unless it is generators that are measured.
fn limited(document: &MatrixDocument) -> Vec<String> {
    let valid: Vec<&RunRecord> = document.runs.iter().filter(|run| run.is_ok()).collect();
    let mut counts: BTreeMap<Cause, usize> = BTreeMap::new();
    for cause in valid.iter().filter_map(|run| run.limit(&document.plan.pin)) {
        *counts.entry(cause).or_default() += 1;
    }
    let line = |(cause, count): (Cause, usize)| {
        let meaning = match cause {
            Cause::Busy if loads_differ(document) => "these rates are the most that it gets from its cores",
            Cause::Busy => "these rates are its own, not the server's; give it more cores or the server fewer",
            Cause::HeldUp | Cause::LateStarts => {
                "the server may do more than these rates; end what else runs on the machine, or pin servers and load \
                 to cores \
                 of their own; --accept-late counts such runs"
            }
        };
        format!("! in {count} of {} runs {}: {meaning}", valid.len(), cause.text())
    };
    counts.into_iter().map(line).collect()
}

/// Runs that count because somebody said so.
fn accepted(document: &MatrixDocument) -> Option<String> {
    let valid = document.runs.iter().filter(|run| run.is_ok());
    let lines: Vec<Option<String>> = valid.map(RunRecord::accepted).collect();
    let count = lines.iter().flatten().count();
    let first = lines.iter().flatten().next()?;
    Some(format!("! ~ in {count} of {} runs: {first}", lines.len()))
}

/// Whether variants bring loads of their own.
fn loads_differ(document: &MatrixDocument) -> bool {
    document.plan.variants.iter().any(|variant| variant.load.is_some())
}

/// Runs whose server did not tell what it counted, and why the first of them did not.
fn unread_stats(document: &MatrixDocument) -> Option<String> {
    let problem = |run: &RunRecord| run.server_stats.as_ref()?.problem.clone();
    let problems: Vec<String> = document.runs.iter().filter_map(problem).collect();
    let first = problems.first()?;
    Some(format!(
        "! in {} of {} runs server statistics could not be read: {first}",
        problems.len(),
        document.runs.len()
    ))
}

/// Who else had the processors.
fn disturbances(document: &MatrixDocument) -> Vec<String> {
    let machines: Vec<_> = document.runs.iter().filter(|run| run.is_ok()).filter_map(RunRecord::machine).collect();
    let stolen: Vec<f64> = machines.iter().filter_map(|machine| machine.notable_steal()).collect();
    let throttled = machines.iter().filter(|machine| machine.was_throttled()).count();
    let most = stolen.iter().copied().fold(0.0, f64::max) * 100.0;
    let of_all = |count: usize| format!("{count} of {} runs", machines.len());
    let told = [
        (!stolen.is_empty())
            .then(|| format!("! in {} the hypervisor took CPU time away, up to {most:.0} %", of_all(stolen.len()))),
        (throttled > 0)
            .then(|| format!("! in {} a CPU limit of the control group held the processes up", of_all(throttled))),
    ];
    told.into_iter().flatten().collect()
}

/// Runs that failed, those of the same variant and cell for the same reason together.
fn failures(document: &MatrixDocument) -> Vec<Vec<&RunRecord>> {
    let mut failures: BTreeMap<(String, Option<&String>), Vec<&RunRecord>> = BTreeMap::new();
    for run in document.runs.iter().filter(|run| !run.is_ok()) {
        failures.entry((label(run), run.reason.as_ref())).or_default().push(run);
    }
    failures.into_values().collect()
}

/// `round 3`, `rounds 1, 2, 3`.
fn rounds(runs: &[&RunRecord]) -> String {
    let numbers: Vec<String> = runs.iter().map(|run| run.round.to_string()).collect();
    format!("round{} {}", if runs.len() > 1 { "s" } else { "" }, numbers.join(", "))
}

/// `a size=1k`.
fn label(run: &RunRecord) -> String {
    let axes = run.axes.iter().map(|(axis, value)| format!(" {axis}={value}"));
    std::iter::once(run.variant.clone()).chain(axes).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::matrix::document::{KIND, Outcome, SCHEMA, Timing};
    use crate::matrix::figures::Figures;
    use crate::matrix::plan;

    /// Two variants in two cells over six rounds; b is 10 % faster than a at 1k, and as fast at 10k. c died once.
    pub fn document() -> MatrixDocument {
        let plan = plan::from_toml(
            "p.toml",
            "name = 'demo'\n[axes]\nsize = ['1k', '10k']\n[load]\nurl = 'http://h/'\n[[variants]]\nname = \
             'a'\n[[variants]]\nname = 'b'\n",
        )
        .unwrap();
        let mut runs = Vec::new();
        for round in 1..=8_u32 {
            for (size, variant, factor) in [
                ("1k", "a", 1.0),
                ("1k", "b", 1.1),
                ("10k", "a", 1.0),
                ("10k", "b", if round % 2 == 0 { 1.01 } else { 0.99 }),
            ] {
                let rate = (1000.0 + f64::from(round) * 10.0) * factor;
                runs.push(RunRecord {
                    axes: BTreeMap::from([(String::from("size"), size.to_owned())]),
                    variant: variant.to_owned(),
                    round,
                    position: runs.len() + 1,
                    at: String::from("2026-11-21T18:00:00.000Z"),
                    outcome: Outcome::Ok,
                    measured_s: 2.0,
                    reason: None,
                    output: vec![],
                    result: None,
                    figures: Some(Figures {
                        rate,
                        count: Some(rate * 2.0),
                        percentiles_ms: BTreeMap::from([(String::from("50"), 0.5), (String::from("99.9"), 123.456)]),
                        ..Figures::default()
                    }),
                    server_stats: None,
                    server: Some(Usage { cpu_s: 1.0, peak_bytes: Some(1 << 20) }),
                    load: Some(Usage { cpu_s: 0.5, peak_bytes: Some(1 << 20) }),
                    machine: None,
                });
            }
        }
        let last = runs.last_mut().unwrap();
        (last.outcome, last.reason, last.figures) = (Outcome::Dead, Some(String::from("the server died")), None);
        MatrixDocument {
            kind: KIND.to_owned(),
            schema: SCHEMA,
            onrush: String::from("0.1.0"),
            started_at: String::from("2026-11-21T18:00:00.000Z"),
            seed: 1,
            plan: plan::Plan { rounds: 8, ..plan },
            environment: Default::default(),
            timing: Timing {
                measured_s: 64.0,
                warm_up_s: 32.0,
                commands_s: 0.0,
                servers_s: 1.0,
                loads_s: 2.0,
                own_s: 1.0,
            },
            runs,
        }
    }

    #[test]
    fn who_else_had_the_processors_is_told() {
        let mut document = document();
        let machine = |steal: f64, throttled| {
            Some(crate::document::Environment { steal_share: Some(steal), throttled, ..Default::default() })
        };
        document.runs[0].machine = machine(0.01, Some(0));
        document.runs[1].machine = machine(0.05, None);
        document.runs[2].machine = machine(0.0, Some(3));
        let notes = tables(&document, &TableOptions::default()).unwrap().notes;
        assert_eq!(notes[1], "! in 1 of 3 runs the hypervisor took CPU time away, up to 5 %");
        assert_eq!(notes[2], "! in 1 of 3 runs a CPU limit of the control group held the processes up");
    }

    /// A result of the first run whose generator was late.
    fn late(document: &mut MatrixDocument, accepted: bool) {
        let mut result: crate::document::Document = serde_json::from_value(serde_json::json!({
            "kind": "onrush-result", "schema": 1, "onrush": "0.1.0", "started_at": "", "duration_s": 2.0, "script": "",
            "options": {}, "environment": crate::document::Environment::default(),
            "generator": crate::document::Generator::default(), "exit": { "code": 0, "reason": null },
            "metrics": [], "checks": [], "groups": { "name": "", "path": "", "checks": [], "groups": [] },
            "seconds": { "starts_s": [], "lengths_s": [], "series": [] },
        }))
        .unwrap();
        result.generator.saturated = true;
        result.generator.cause = Some(Cause::HeldUp);
        result.generator.complaint = Some(String::from("the generator was held up: why"));
        result.generator.late_accepted = accepted;
        document.runs[0].result = Some(result);
    }

    #[test]
    fn runs_that_were_held_up_are_not_blamed_on_the_generator() {
        let mut document = document();
        late(&mut document, false);
        let tables = super::tables(&document, &TableOptions::default()).unwrap();
        let row = &tables.groups[0].rows[0];
        assert_eq!((row.saturated, row.limited_by, row.late_accepted), (1, Some(Cause::HeldUp), 0));
        let expected = "! in 1 of 31 runs the generator was held up by something else: the server may do more than \
            these rates; \
                        end what else runs on the machine, or pin servers and load to cores of their own; \
                        --accept-late counts \
                        such runs";
        assert_eq!(tables.notes[1], expected);
        late(&mut document, true);
        let tables = super::tables(&document, &TableOptions::default()).unwrap();
        let row = &tables.groups[0].rows[0];
        assert_eq!((row.saturated, row.limited_by, row.late_accepted), (0, None, 1));
        let expected = "! ~ in 1 of 31 runs: late accepted (--accept-late): the generator was held up: why";
        assert_eq!(tables.notes[1], expected);
        assert!(text(&tables).contains(" ~  "), "{}", text(&tables));
    }

    #[test]
    fn rows_are_medians_over_rounds() {
        let tables = tables(&document(), &TableOptions::default()).unwrap();
        assert_eq!(tables.columns, ["size", "variant"]);
        let [small, large] = &tables.groups[..] else { panic!("a group a cell") };
        assert_eq!((small.heading.as_str(), large.heading.as_str()), ("size=1k", "size=10k"));
        let b = &small.rows[1];
        assert_eq!((b.valid, b.made), (8, 8));
        let rate = b.rate.unwrap();
        assert!((rate.median - 1045.0 * 1.1).abs() < 1e-9 && (rate.low - 1010.0 * 1.1).abs() < 1e-9, "{rate:?}");
        assert!((b.ratio.unwrap() - 1.1).abs() < 1e-12);
        assert_eq!((b.percentiles[4], b.percentiles[0], b.percentiles[10]), (Some(0.5), None, Some(123.456)));
        assert!((b.per_server_cpu_s.unwrap() - 2.0 * rate.median).abs() < 1e-9);
        assert_eq!((b.server_cores, b.load_cores), (Some(0.5), Some(0.25)));
        assert_eq!((large.rows[1].valid, large.rows[1].made), (7, 8));
        assert_eq!(tables.notes.last().map(String::as_str), Some(BEST_IS_BY_RATE));
        assert_eq!(tables.notes[0], "✗ b size=10k: left out of round 8: the server died");
        assert!(
            tables.notes[1].ends_with(
                "1.0 s (1.0 %) starting and stopping servers, 2.0 s (2.0 %) loads, 1.0 s (1.0 %) the matrix's own"
            ),
            "{}",
            tables.notes[1]
        );
    }

    #[test]
    fn groups_are_by_any_axis() {
        let by = |axes: &[&str]| {
            let group_by = Some(axes.iter().map(|a| a.to_string()).collect());
            tables(&document(), &TableOptions { group_by, ..Default::default() })
        };
        let found = by(&["variant"]).unwrap();
        assert_eq!(found.columns, ["size"]);
        assert_eq!(found.groups.iter().map(|g| g.heading.as_str()).collect::<Vec<_>>(), ["variant=a", "variant=b"]);
        assert_eq!(by(&["sise"]).unwrap_err(), "--group-by: unknown axis 'sise', expected some of size, variant");
    }
}
