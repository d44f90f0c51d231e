//! Tables as data: groups of rows with rates, percentiles and what server and generator used.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::pivot::Pivot;
use crate::document::Cause;

/// Tables.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
    pub groups: Vec<RowGroup>,
    /// What the reader must know: failures, saturation, time.
    pub notes: Vec<String>,
}

impl Tables {
    /// What the groups show, each line once, and whether it names a best; groups that show the same share a line.
    pub(in crate::matrix) fn verdicts(&self) -> Vec<(bool, String)> {
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
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowGroup {
    /// What they have in common: `size=1k`.
    pub heading: String,
    /// In the plan's order.
    pub rows: Vec<TableRow>,
    /// Whether the best is known, and if not, why.
    pub verdict: String,
    /// What the verdict goes by.
    pub judged_by: JudgedBy,
}

/// What the rows of a group are ranked by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    pub(super) fn name(self) -> &'static str {
        match self {
            JudgedBy::Rate => "rate",
            JudgedBy::ServerCpu => "server_cpu",
        }
    }
}

/// One variant in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TableRow {
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
    /// Valid runs that count although some of their figures are in doubt.
    pub suspect: usize,
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

impl TableRow {
    /// What is behind its rate where some of its runs are in doubt.
    pub(super) fn mark(&self) -> &'static str {
        match (self.saturated, self.late_accepted, self.suspect) {
            (0, 0, 0) => "",
            (0, 0, _) => " ?",
            (0, ..) => " ~",
            _ => " !",
        }
    }
}

/// Median, lowest and highest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Of the rounds.
    pub median: f64,
    /// Lowest round.
    pub low: f64,
    /// Highest round.
    pub high: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(groups: &[(&str, &str, bool)]) -> Tables {
        let row = |best| TableRow {
            values: BTreeMap::new(),
            valid: 1,
            made: 1,
            rate: None,
            ratio: None,
            best,
            percentiles: Vec::new(),
            per_server_cpu_s: None,
            per_load_cpu_s: None,
            server_cores: None,
            load_cores: None,
            saturated: 0,
            limited_by: None,
            late_accepted: 0,
            suspect: 0,
            response_bytes: None,
            errors: None,
            errors_by_kind: BTreeMap::new(),
            server_stats: BTreeMap::new(),
            by_round: BTreeMap::new(),
            per_server_cpu_by_round: BTreeMap::new(),
        };
        let group = |(heading, verdict, best): &(&str, &str, bool)| RowGroup {
            heading: (*heading).to_owned(),
            rows: vec![row(false), row(*best)],
            verdict: (*verdict).to_owned(),
            judged_by: JudgedBy::Rate,
        };
        Tables {
            name: String::new(),
            rate_metric: String::new(),
            time_metric: String::new(),
            rounds: 1,
            percentiles: Vec::new(),
            columns: Vec::new(),
            headed: true,
            pivot: None,
            loads_differ: false,
            groups: groups.iter().map(group).collect(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn groups_that_show_the_same_share_a_line() {
        let told = |groups: &[(&str, &str, bool)]| tables(groups).verdicts();
        assert_eq!(told(&[("", "b is best", true)]), [(true, "b is best".to_owned())]);
        assert_eq!(told(&[("", "", true)]), []);
        let three = [("n=1", "same", false), ("n=2", "b is best", true), ("n=3", "same", false), ("n=4", "", false)];
        assert_eq!(told(&three), [(false, "n=1; n=3: same".to_owned()), (true, "n=2: b is best".to_owned())]);
        let all = ["n=1", "n=2", "n=3", "n=4"].map(|heading| (heading, "same", false));
        assert_eq!(told(&all), [(false, "everywhere: same".to_owned())]);
        assert_eq!(told(&all[..3]), [(false, "n=1; n=2; n=3: same".to_owned())]);
        let most = [&all[..], &[("n=5", "b is best", true)]].concat();
        let expected = [(false, "n=1; n=2; n=3; n=4: same".to_owned()), (true, "n=5: b is best".to_owned())];
        assert_eq!(told(&most), expected);
    }

    #[test]
    fn a_rate_is_marked_by_the_worst_that_is_known_of_its_runs() {
        let mark = |saturated, late_accepted, suspect| {
            let row = tables(&[("", "", false)]).groups.remove(0).rows.remove(0);
            TableRow { saturated, late_accepted, suspect, ..row }.mark()
        };
        assert_eq!([mark(0, 0, 0), mark(0, 0, 1), mark(0, 1, 1), mark(0, 1, 0)], ["", " ?", " ~", " ~"]);
        assert_eq!([mark(1, 0, 0), mark(1, 1, 1)], [" !", " !"]);
    }
}
