//! Whether a run can be believed: facts of the run go to `engine::judge`, what it says goes to the summary and the
//! result document.

use std::collections::HashSet;
use std::time::Duration;

use engine::judgement::{ClosedLoop, MachineFacts, Outputs, Percentile, SaidMeanwhile, Throttling};
use engine::{Facts, Finding, Health, Severity};
use journal::AgentsReport;
use metrics::results::{Results, TrendValue, Value};
use report::TrendStat;
use report::document::{self, Cause, Generator, Iterations, OneSided, Pressure, RunLimit, TimingError, WorkerFigures};
use report::limit::{RunLoad, TargetUse, of_run};
use report::one_sided::{one_sided, read_late};
use report::timing_error::{CheckedRequest, TimingFacts, timing_error};

use crate::commands::run::facts::samples::{Samples, trend};
use crate::process::machine::Meanwhile;

/// What is known of a run, or of some seconds of it, beside its samples and its own health.
#[derive(Default)]
pub struct Circumstances {
    /// Whether the whole test is one iteration of one user.
    pub is_smoke: bool,
    /// The largest step of the wall clock, in ms.
    pub clock_step_ms: f64,
    /// Exchanges that the kernel did not stamp.
    pub unstamped: u64,
    /// Requests that were checked with transmit stamps.
    pub checked: Vec<CheckedRequest>,
    /// The medians of users and referee, in ms, where they are apart.
    pub bias: Option<(f64, f64)>,
    /// Whether the target is on this machine.
    pub is_target_here: bool,
    /// Cores that the process may use.
    pub allowed_cores: usize,
    /// The machine meanwhile.
    pub machine: Meanwhile,
    /// What outputs and logs lost, a line each.
    pub lost: Vec<String>,
    /// `--accept-late`.
    pub accept_late: bool,
    /// What was found of single seconds while the test ran.
    pub meanwhile: Vec<SaidMeanwhile>,
    /// Users, where all scenarios begin again when they have ended.
    pub closed_users: Option<u64>,
}

/// A judgement, and whether the user overruled it.
pub struct Judged {
    judgement: engine::Judgement,
    iterations: Iterations,
    accept_late: bool,
    limit: Option<RunLimit>,
    timing_error: Option<TimingError>,
    one_sided: Vec<OneSided>,
}

impl Judged {
    /// Judges a run.
    pub fn new(health: &Health, shown: &[TrendStat], results: &Results, around: &Circumstances) -> Self {
        let engine::state::Counts { completed, interrupted, dropped, .. } = health.counts;
        let planned = completed + interrupted + dropped;
        let facts = Facts {
            percentiles: percentiles(results, shown),
            disagreements: report::laws::broken(results, around.closed_users),
            ..facts(&Samples::from(results), around)
        };
        debug_assert!(facts.disagreements.is_empty(), "{:?}", facts.disagreements);
        Judged {
            judgement: engine::judge(health, &facts),
            iterations: Iterations { planned, ended: completed, dropped, interrupted },
            accept_late: around.accept_late,
            limit: None,
            timing_error: None,
            one_sided: Vec::new(),
        }
    }

    /// With who was the limit.
    #[must_use]
    pub fn limited_by(self, results: &Results, target: Option<TargetUse>, load: &RunLoad) -> Self {
        let limit = of_run(results, &self.kept(), target, load);
        let judged = Judged { limit, ..self };
        Judged { one_sided: one_sided(results, &judged.kept()), ..judged }
    }

    /// With how far response times are from the truth.
    #[must_use]
    pub fn timed(self, health: &Health, results: &Results, around: &Circumstances) -> Self {
        let late = health.workers.iter().map(|worker| worker.lag_p99_ms).fold(0.0, f64::max);
        let facts = TimingFacts {
            checked: &around.checked,
            requests: results.count("http_reqs"),
            unstamped: around.unstamped,
            loop_late_ms: late,
        };
        let one_sided = self.one_sided.into_iter().chain(read_late(&facts)).collect();
        Judged { timing_error: timing_error(&facts), one_sided, ..self }
    }

    /// The verdict with its findings.
    pub fn judgement(&self) -> &engine::Judgement {
        &self.judgement
    }

    /// With what was found about the agents of a fleet, each of which judged itself.
    #[must_use]
    pub fn and(mut self, agents: &AgentsReport) -> Self {
        self.judgement.verdict = self.judgement.verdict.max(agents.verdict);
        self.judgement.findings.extend(agents.findings.iter().cloned());
        self.judgement.basis.clone_from(&agents.basis);
        self.judgement.findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.cause.cmp(&b.cause)));
        self
    }

    /// As every output has it.
    pub fn kept(&self) -> document::Judgement {
        document::Judgement {
            verdict: match self.judgement.verdict {
                engine::Verdict::NotJudged => document::Trust::NotJudged,
                engine::Verdict::Trusted => document::Trust::Trusted,
                engine::Verdict::Suspect => document::Trust::Suspect,
                engine::Verdict::Invalid => document::Trust::Invalid,
            },
            causes: self.judgement.findings.iter().map(kept).collect(),
            basis: self.judgement.basis.clone(),
            iterations: self.iterations,
            limit: self.limit.clone(),
            timing_error: self.timing_error.clone(),
            one_sided: self.one_sided.clone(),
        }
    }

    /// What `--strict` makes an exit code of: none where somebody overruled it.
    pub fn verdict(&self) -> engine::Verdict {
        if self.accept_late { engine::Verdict::Trusted } else { self.judgement.verdict }
    }

    /// For the summary: what is wrong and what helps. The same advice is given once.
    pub fn lines(&self) -> Vec<String> {
        let mut advised = HashSet::new();
        let mut lines: Vec<String> = Vec::new();
        for finding in self.judgement.doubts() {
            if self.accept_late {
                lines.push(document::accepted(&finding.text));
                continue;
            }
            // A reason has told already what it touched.
            if !lines.iter().any(|line| line.contains(&finding.text)) {
                lines.push(finding.text.clone());
            }
            lines.extend(advised.insert(&finding.advice).then(|| finding.advice.clone()));
        }
        lines.into_iter().chain(self.notes()).collect()
    }

    /// What touched no figure. Percentiles of few samples are in most short tests and are marked in the result alone.
    fn notes(&self) -> impl Iterator<Item = String> {
        let notes = self.judgement.findings.iter().filter(|finding| finding.severity == Severity::Note);
        notes.filter(|finding| finding.cause != engine::Cause::TooFewSamples).map(|finding| finding.text.clone())
    }

    /// For the result document. `notes` are further lines about the generator.
    pub fn document(self, health: &Health, notes: impl IntoIterator<Item = String>) -> Generator {
        let mut generator = Generator {
            process_cores: rounded(health.process_cores),
            workers: health.workers.iter().map(worker).collect(),
            dropped_iterations: health.counts.dropped,
            judgement: Some(self.kept()),
            too_short: self.judgement.verdict == engine::Verdict::NotJudged,
            notes: self.notes().chain(notes).collect(),
            ..Generator::default()
        };
        if let Some(finding) = self.judgement.findings.iter().find(|finding| refutes(finding)) {
            generator.saturated = true;
            generator.cause = Some(cause_in_document(finding.cause));
            generator.complaint = Some(finding.text.clone());
            generator.advice = Some(finding.advice.clone());
            generator.late_accepted = self.accept_late;
        }
        generator
    }
}

/// Whether a finding makes the run no evidence of anything. A target that is too slow for its rate drops iterations,
/// and that is a figure to compare.
fn refutes(finding: &Finding) -> bool {
    finding.severity == Severity::Invalid && finding.cause != engine::Cause::UsersExhausted
}

fn kept(finding: &Finding) -> document::Finding {
    document::Finding {
        cause: finding.cause.name().to_owned(),
        title: finding.cause.title().to_owned(),
        severity: match finding.severity {
            Severity::Note => document::Severity::Note,
            Severity::Suspect => document::Severity::Suspect,
            Severity::Invalid => document::Severity::Invalid,
        },
        figure: finding.figure.clone(),
        text: finding.text.clone(),
        advice: finding.advice.clone(),
    }
}

fn worker(worker: &engine::health::WorkerHealth) -> WorkerFigures {
    use engine::health::Occupation;
    let occupation = match worker.longest_gap.occupation {
        Occupation::Computed => "computed",
        Occupation::WaitedForCore => "waited_for_core",
        Occupation::StoodStill => "stood_still",
    };
    WorkerFigures {
        cpu_share: rounded(worker.cpu_share),
        waited_share: worker.waited_share.map(rounded),
        lag_avg_ms: rounded(worker.lag_avg_ms),
        lag_p50_ms: rounded(worker.lag_p50_ms),
        lag_p99_ms: rounded(worker.lag_p99_ms),
        lag_max_ms: rounded(worker.lag_max_ms),
        missed_beats: worker.missed_beats,
        stalled_share: rounded(worker.stalled_share),
        longest_gap_start_s: rounded(worker.longest_gap.began.as_secs_f64()),
        longest_gap_occupation: (worker.stalled_share > 0.0).then(|| occupation.to_owned()),
    }
}

/// To a millionth of a core or of a millisecond: more than these figures are good for, and the file stays small.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn cause_in_document(cause: engine::Cause) -> Cause {
    match cause {
        engine::Cause::Cpu => Cause::Busy,
        engine::Cause::LateStarts | engine::Cause::BelowRate => Cause::LateStarts,
        _ => Cause::HeldUp,
    }
}

/// All but the percentiles.
pub fn facts(samples: &Samples, around: &Circumstances) -> Facts {
    let Circumstances { is_smoke, clock_step_ms, unstamped, is_target_here, allowed_cores, machine, lost, .. } = around;
    Facts {
        is_smoke: *is_smoke,
        requests: samples.requests,
        unstamped: *unstamped,
        without_file: samples.without_file,
        without_port: samples.without_port,
        bias: around.bias,
        is_target_here: *is_target_here,
        iteration_lag: samples.lag.map(|(lag, _)| lag),
        closed: closed(samples),
        machine: MachineFacts {
            allowed_cores: *allowed_cores,
            stolen: machine.steal_share.filter(|share| *share >= document::NOTABLE_STEAL),
            throttling: Throttling {
                times: machine.throttled.map_or(0, |(times, _)| times),
                time: machine.throttled.map(|(_, seconds)| Duration::from_secs_f64(seconds)),
            },
            pressure: machine.pressure.map(|Pressure { cpu, memory, io }| engine::judgement::Pressure {
                cpu,
                memory,
                io,
            }),
            clock_step_ms: *clock_step_ms,
        },
        outputs: Outputs { lost: lost.clone() },
        percentiles: Vec::new(),
        meanwhile: around.meanwhile.clone(),
        disagreements: Vec::new(),
    }
}

/// The percentiles that thresholds judge by, and those of the main Trend that the summary
/// shows. What nobody measured counts as beyond.
fn percentiles(results: &Results, shown: &[TrendStat]) -> Vec<Percentile> {
    let mut found = Vec::new();
    let mut add = |metric: &str, percent: f64, trend: &TrendValue, is_wanted| {
        found.push(Percentile {
            metric: metric.to_owned(),
            percent,
            samples: trend.count() + trend.censored(),
            is_wanted,
        });
    };
    let main = ["http_req_duration", "iteration_duration"].into_iter().find(|name| trend(results, name).is_some());
    for metric in &results.metrics {
        let Value::Trend(trend) = &metric.value else { continue };
        let key = metric.filter.as_ref().map(|filter| format!("{}{{{filter}}}", metric.name));
        let key = key.as_deref().unwrap_or(&metric.name);
        for threshold in &metric.thresholds {
            if let Ok(TrendStat::Percentile { percent, .. }) = threshold.label.parse() {
                add(key, percent, trend, true);
            }
        }
        for stat in shown.iter().filter(|_| metric.filter.is_none() && main == Some(metric.name.as_str())) {
            if let TrendStat::Percentile { percent, .. } = stat {
                add(key, *percent, trend, false);
            }
        }
    }
    found.retain(|percentile| percentile.percent > 0.0 && percentile.percent < 100.0);
    found
}

/// Iterations whose start no plan gave: all but those of arrival-rate scenarios.
fn closed(samples: &Samples) -> Option<ClosedLoop> {
    let Samples { iterations: all, iterations_from_plan: open, .. } = samples;
    let iterations = all.count.saturating_sub(open.count) as f64;
    let share = iterations / all.count.max(1) as f64;
    // From the plan an iteration lasts longer by its lag.
    let of_open = open.sum - samples.lag.map_or(0.0, |(_, sum)| sum);
    let spent_ms = all.sum - of_open.max(0.0);
    // Who waits for many requests at once, as with http.batch, waits for them once.
    let waiting_ms = share * samples.request_durations.sum;
    let at_once = if spent_ms > 0.0 { (waiting_ms / spent_ms).max(1.0) } else { 1.0 };
    let requests = samples.requests as f64 * share / at_once;
    (iterations > 0.0).then(|| ClosedLoop { waits: requests.max(iterations), spent_ms })
}

#[cfg(test)]
mod tests {
    use metrics::results::{GroupResult, MetricResult, ThresholdResult};
    use metrics::{Contains, ErrorCount, ErrorKind, Kind, Trend};

    use super::*;

    fn results(metrics: &[(&str, &[f64])]) -> Results {
        let metric = |(name, samples): &(&str, &[f64])| {
            let mut trend = Trend::default();
            samples.iter().for_each(|sample| trend.add(*sample));
            let (kind, value) = match *name {
                "http_reqs" => (Kind::Counter, Value::Counter { count: samples[0], rate: 1.0 }),
                _ => (Kind::Trend, Value::Trend(TrendValue::from(trend))),
            };
            let name = (*name).to_owned();
            MetricResult { name, filter: None, kind, contains: Contains::Time, value, thresholds: Vec::new() }
        };
        Results {
            duration: std::time::Duration::from_secs(5),
            metrics: metrics.iter().map(metric).collect(),
            root: GroupResult::default(),
            checks: Vec::new(),
            scenarios: Vec::new(),
            errors: Vec::new(),
            requests: Default::default(),
        }
    }

    fn closed_of(metrics: &[(&str, &[f64])]) -> Option<(f64, f64)> {
        let results = results(metrics);
        let closed = closed(&Samples::from(&results));
        closed.map(|closed| (closed.waits, closed.spent_ms))
    }

    #[test]
    fn users_wait_once_for_requests_that_are_made_at_once() {
        let iterations: (&str, &[f64]) = ("iteration_duration", &[100.0, 100.0]);
        assert_eq!(closed_of(&[iterations]), Some((2.0, 200.0)));
        let one_by_one = [iterations, ("http_reqs", &[8.0]), ("http_req_duration", &[20.0; 8])];
        assert_eq!(closed_of(&one_by_one), Some((8.0, 200.0)));
        let batch = [iterations, ("http_reqs", &[8.0]), ("http_req_duration", &[100.0; 8])];
        assert_eq!(closed_of(&batch), Some((2.0, 200.0)));
    }

    #[test]
    fn percentiles_of_thresholds_and_of_the_main_trend_are_judged() {
        let mut results = results(&[("http_req_duration", &[1.0; 30]), ("mine", &[1.0; 9]), ("http_reqs", &[30.0])]);
        let threshold = |label: &str| ThresholdResult {
            source: String::new(),
            label: label.to_owned(),
            left: 1.0,
            ok: true,
            has_samples: true,
        };
        results.metrics[1].thresholds = vec![threshold("p(99)"), threshold("avg")];
        let found: Vec<String> = percentiles(&results, &TrendStat::defaults())
            .iter()
            .map(|found| format!("{} {} {} {}", found.metric, found.percent, found.samples, found.is_wanted))
            .collect();
        let shown = ["http_req_duration 90 30 false", "http_req_duration 95 30 false"];
        assert_eq!(found, [shown[0], shown[1], "mine 99 9 true"]);
    }

    #[test]
    fn errors_that_this_machine_made_are_told_from_the_targets() {
        let mut results = results(&[]);
        let error = |text: &str, count| ErrorCount { kind: ErrorKind::NoAnswer(text.into()), count };
        results.errors = vec![
            error("dial: too many open files", 3),
            error("dial: cannot assign requested address", 2),
            error("dial: connection refused", 7),
        ];
        let samples = Samples::from(&results);
        assert_eq!((samples.without_file, samples.without_port), (3, 2));
    }

    #[test]
    fn iterations_of_arrival_rates_lose_no_rate() {
        let all = [("iteration_duration", &[50.0, 50.0][..]), ("iteration_lag", &[5.0, 5.0])];
        let open = ("iteration_duration_from_plan", &[55.0, 55.0][..]);
        assert_eq!(closed_of(&[all[0], all[1], open]), None);
        let mixed = ("iteration_duration", &[50.0, 50.0, 300.0][..]);
        assert_eq!(closed_of(&[mixed, all[1], open]), Some((1.0, 300.0)));
        assert_eq!(closed_of(&[]), None);
    }
}
