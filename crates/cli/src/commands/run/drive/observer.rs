//! Makes the one struct a second that everything shows which shows a running test: `live::Glance`.
//!
//! What only a screen or a page shows (charts, checks, errors, thresholds) is put together only while one is there: the
//! plain progress costs what it did. Nothing here is on the path of a request.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use engine::{Plan, RunState, Tick};
use metrics::threshold::Standing;
use metrics::{Aggregate, Contains, ErrorKind, Kind, MetricId, Registry, Snapshot, builtin};
use script::secrets::Secrets;
use units::show;

use crate::commands::run::drive::watch::Watch;
use crate::commands::run::facts::samples::Total;
use crate::live::{Chart, CheckLine, ErrorLine, Glance, IterationCounts, RequestCounts, ThresholdLine, UserCounts};
use crate::terminal::scenario_line::scenario_line;

/// Trends that have a chart when they have samples; those of the script come behind them.
const TRENDS: [MetricId; 8] = [
    builtin::HTTP_REQ_DURATION,
    builtin::HTTP_REQ_WAITING,
    builtin::ITERATION_DURATION,
    builtin::ITERATION_LAG,
    builtin::GRPC_REQ_DURATION,
    builtin::WS_CONNECTING,
    builtin::WS_SESSION_DURATION,
    builtin::SSE_FIRST_EVENT,
];
/// Counters that have one.
const COUNTERS: [MetricId; 6] = [
    builtin::HTTP_REQS,
    builtin::ITERATIONS,
    builtin::DROPPED_ITERATIONS,
    builtin::WS_MSGS_RECEIVED,
    builtin::DATA_RECEIVED,
    builtin::DATA_SENT,
];
/// A shorter stretch makes no point of a chart.
const SHORTEST_S: f64 = 0.5;
/// Metrics of a script that have one.
const MOST_OWN: usize = 8;
/// Kinds of errors and checks that are told; a script may make any number.
const MOST_LINES: usize = 100;

/// Sees each second of a run.
pub struct Observer {
    registry: Arc<Registry>,
    /// Nobody sees them on a screen either.
    secrets: Arc<Secrets>,
    /// Whether anything shows more than a line.
    is_watched: bool,
    /// Until when the last second reached.
    cut: Duration,
    /// Counters that had samples: a second without any is a 0 from then on.
    seen: HashSet<MetricId>,
    charts: Vec<Chart>,
}

/// Of the run, what a glance is made of.
pub struct Sources<'a> {
    /// The scenarios.
    pub planned: &'a Plan,
    /// Users and iterations.
    pub state: &'a RunState,
    /// All samples so far.
    pub aggregate: &'a Aggregate,
    /// Pace and verdict; none before the scenarios start.
    pub watch: Option<&'a Watch>,
    /// Whether others judge themselves.
    pub is_fleet: bool,
}

impl Observer {
    /// `is_watched`: by a screen or a page.
    pub fn new(registry: Arc<Registry>, secrets: Arc<Secrets>, is_watched: bool) -> Observer {
        Observer { registry, secrets, is_watched, cut: Duration::ZERO, seen: HashSet::new(), charts: Vec::new() }
    }

    /// The scenarios start, by the run's clock.
    pub fn start(&mut self, start: Duration) {
        self.cut = start;
    }

    /// Looks at a second's samples, before they are merged.
    pub fn look(&mut self, tick: &Tick) {
        let over = tick.cut.saturating_sub(std::mem::replace(&mut self.cut, tick.cut)).as_secs_f64();
        self.charts.clear();
        // The last one may be a moment, whose rates would be a spike or a hole.
        if self.is_watched && over >= SHORTEST_S {
            self.charts = self.charts_of(&tick.snapshots, over);
        }
    }

    /// The run as it is now.
    pub fn glance(&self, run: &Sources<'_>, now: Duration, elapsed: Duration, is_over: bool) -> Glance {
        let (counts, scenarios) = (run.state.counts(), run.planned.scenarios().enumerate());
        let scenarios: Vec<_> = scenarios.map(|(index, s)| scenario_line(index, s, run.state, now, is_over)).collect();
        let plain = Glance {
            what: "running",
            elapsed,
            left: scenarios.iter().filter_map(|line| line.left).max(),
            users: UserCounts { active: counts.active, total: run.state.vus_initialised() },
            iterations: IterationCounts {
                complete: counts.completed,
                interrupted: counts.interrupted,
                dropped: counts.dropped,
            },
            pace: run.watch.filter(|_| !is_over).and_then(Watch::pace),
            scenarios,
            ..Glance::default()
        };
        if self.is_watched { self.filled(plain, run) } else { plain }
    }

    fn filled(&self, glance: Glance, run: &Sources<'_>) -> Glance {
        let mut charts = self.charts.clone();
        let users = Chart { name: String::from("vus"), unit: "", lines: vec![("active", glance.users.active as f64)] };
        charts.extend((!charts.is_empty()).then_some(users));
        let check = |check: metrics::results::CheckResult| CheckLine {
            name: self.shown(&check.name),
            passes: check.passes,
            fails: check.fails,
        };
        Glance {
            requests: RequestCounts {
                count: run.aggregate.live(builtin::HTTP_REQS) as u64,
                failed: run.aggregate.live(builtin::HTTP_REQ_FAILED) as u64,
            },
            charts,
            errors: run.aggregate.errors().iter().take(MOST_LINES).filter_map(|error| self.error_line(error)).collect(),
            checks: run.aggregate.checks().into_iter().take(MOST_LINES).map(check).collect(),
            thresholds: run.aggregate.standings().into_iter().map(|one| self.threshold_line(one)).collect(),
            trust: run.watch.filter(|_| !run.is_fleet).map(|watch| watch.trust().clone()),
            ..glance
        }
    }

    fn charts_of(&mut self, snapshots: &[Snapshot], over: f64) -> Vec<Chart> {
        let definitions = self.registry.definitions();
        let own = definitions.iter().skip(builtin::ALL.len());
        let own = own.filter(|one| matches!(one.kind, Kind::Trend | Kind::Counter)).take(MOST_OWN).map(|one| one.id);
        let failed = Total::of(snapshots, builtin::HTTP_REQ_FAILED);
        let mut charts = Vec::new();
        for id in TRENDS.into_iter().chain(COUNTERS).chain(own) {
            let Some(definition) = definitions.iter().find(|one| one.id == id) else { continue };
            let (name, contains) = (definition.name.to_string(), definition.contains);
            let lines = match definition.kind {
                Kind::Trend => Snapshot::trend(snapshots, id).map(|trend| {
                    let [p50, p95, p99] = trend.percentiles([50.0, 95.0, 99.0]);
                    vec![("p99", p99), ("p95", p95), ("p50", p50)]
                }),
                _ => self.rate(snapshots, id, over).map(|rate| vec![("rate", rate)]),
            };
            let unit = unit(contains, definition.kind);
            charts.extend(lines.map(|lines| Chart { name, unit, lines }));
        }
        if failed.count > 0 {
            let share = failed.sum / failed.count as f64 * 100.0;
            charts.push(Chart { name: String::from("http_req_failed"), unit: "%", lines: vec![("share", share)] });
        }
        charts
    }

    /// None for a counter that has never counted.
    fn rate(&mut self, snapshots: &[Snapshot], id: MetricId, over: f64) -> Option<f64> {
        let total = Total::of(snapshots, id);
        if total.count > 0 {
            self.seen.insert(id);
        }
        self.seen.contains(&id).then_some(total.sum / over)
    }

    /// Answers that the script expects are no errors.
    fn error_line(&self, error: &metrics::ErrorCount) -> Option<ErrorLine> {
        let what = match &error.kind {
            ErrorKind::Exception(what) | ErrorKind::NoAnswer(what) => self.shown(what),
            ErrorKind::Status { expected: true, .. } => return None,
            ErrorKind::Status { status, .. } => format!("status {status}"),
        };
        Some(ErrorLine { what, count: error.count })
    }

    fn shown(&self, text: &str) -> String {
        self.secrets.redactor().text(text).into_owned()
    }

    fn threshold_line(&self, standing: Standing) -> ThresholdLine {
        let name = standing.key.split('{').next().unwrap_or_default();
        let definition = self.registry.definitions().into_iter().find(|one| &*one.name == name);
        let shown = |left: f64| match definition.as_ref().map(|one| (one.kind, one.contains)) {
            Some((Kind::Trend, Contains::Time)) => show::time(left),
            Some((Kind::Rate, _)) => show::percent(left, 2),
            _ => show::rounded(left),
        };
        ThresholdLine {
            left: standing.left.map(shown),
            metric: standing.key,
            source: standing.source,
            ok: standing.ok,
            margin: standing.margin,
        }
    }
}

fn unit(contains: Contains, kind: Kind) -> &'static str {
    match (contains, kind) {
        (Contains::Time, _) => "ms",
        (Contains::Data, Kind::Counter) => "B/s",
        (Contains::Data, _) => "B",
        (_, Kind::Counter) => "/s",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use metrics::{Recorder, TagSet};

    use super::*;

    #[test]
    fn counters_go_on_with_a_zero_and_trends_have_a_gap() {
        let registry = Registry::new();
        let recorder = Recorder::new(registry.clone());
        let mut observer = Observer::new(registry, Arc::default(), true);
        let series = |metric| recorder.series(metric, &TagSet::empty());
        recorder.add(series(builtin::HTTP_REQS), 1.0, 0);
        recorder.add(series(builtin::HTTP_REQ_DURATION), 8.0, 0);
        recorder.add(series(builtin::HTTP_REQ_FAILED), 0.0, 0);
        let told = |observer: &mut Observer, snapshot| -> Vec<String> {
            let charts = observer.charts_of(&[snapshot], 0.5);
            charts.iter().map(|chart| format!("{} {} {:?}", chart.name, chart.unit, chart.lines)).collect()
        };
        assert_eq!(
            told(&mut observer, recorder.take()),
            [
                r#"http_req_duration ms [("p99", 8.0), ("p95", 8.0), ("p50", 8.0)]"#,
                r#"http_reqs /s [("rate", 2.0)]"#,
                r#"http_req_failed % [("share", 0.0)]"#
            ]
        );
        assert_eq!(told(&mut observer, recorder.take()), [r#"http_reqs /s [("rate", 0.0)]"#]);
    }

    #[test]
    fn thresholds_are_told_in_the_units_of_their_metrics() {
        let observer = Observer::new(Registry::new(), Arc::default(), true);
        let line = |key: &str, left| {
            let (key, source) = (key.to_owned(), String::from("p(95)<500"));
            observer.threshold_line(Standing { key, source, left, ok: true, margin: Some(0.5) }).left
        };
        assert_eq!(line("http_req_duration{status:200}", Some(1.5)).as_deref(), Some("1.5ms"));
        assert_eq!(line("checks", Some(0.955)).as_deref(), Some("95.50 %"));
        assert_eq!(line("http_reqs", Some(12345.0)).as_deref(), Some("12,345"));
        assert_eq!(line("http_reqs", None), None);
    }
}
