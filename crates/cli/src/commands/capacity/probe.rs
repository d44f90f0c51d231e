//! One probe: `onrush run` as a process of its own, watched by the seconds of its journal, ended when it is decided.
//!
//! A process for each, so that nothing of one is left in the next: users, connections, heap. What it saved says in the
//! end whether its generator made the load at all.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use metrics::{Keyed, Trend};
use report::capacity::{
    Breach, Judge, Length, LoadUnit, Objective, ProbeFigures, ProbeSaid, ProbeSecond, Said, Standing,
};
use report::document::{self, Document, Value};
use report::limit::{ClosedUse, LimitFacts, Slower, used};

use super::asked::CapacityFlags;
use super::follow::{Follower, Interval};
use crate::commands::groups::guard::Guard;
use crate::commands::groups::process::{Group, wait_for};
use crate::commands::groups::{interruption, onrush_run};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::descriptors;

/// How often its journal is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a probe may take beyond its load: init code, `setup()`, joining agents.
const SLACK: Duration = Duration::from_secs(120);
/// How long it may take to write its result once it was told to end.
const TO_END: Duration = Duration::from_secs(20);
/// Users are made for so many times what is under way at a light load, and for the slowest answers that are allowed.
const SPARE: f64 = 1.5;
/// Seconds of a rate that users are made for when nothing is known of how long an iteration takes.
const UNKNOWN_S: f64 = 10.0;
/// No probe has more users, nor more than there are descriptors for.
const MOST_USERS: f64 = 10_000.0;
/// Users at the start are made for so many iterations under way.
const MOST_READY: f64 = 500.0;

/// What is known of the target at a light load.
#[derive(Clone, Copy, Debug, Default)]
pub struct Light {
    /// Mean of an iteration, in seconds.
    pub iteration_s: f64,
    /// Median of the metric that figures show.
    pub p50: Option<f64>,
    /// Its 95th percentile.
    pub p95: Option<f64>,
    /// Share of failed requests.
    pub failed: f64,
}

/// A probe that has ended.
pub struct Probe {
    /// What it said.
    pub said: Said,
    /// What of its load was served for certain, if it was held.
    pub sustained: f64,
    /// Why it was no evidence.
    pub no_evidence: Option<String>,
    /// What it measured.
    pub figures: ProbeFigures,
    /// Mean of an iteration, in seconds.
    pub iteration_s: Option<f64>,
    /// Whether each objective had samples.
    pub has_samples: Vec<bool>,
    /// Its result; none where it was cut before it could write one.
    pub document: Option<Document>,
}

/// Why there is none.
pub enum Stopped {
    /// A signal came.
    Interrupted,
    /// It could not be run.
    Failed(Failure),
}

/// Runs probes, one after the other.
pub struct Prober<'a> {
    asked: &'a CapacityFlags,
    guard: &'a Guard,
    onrush: PathBuf,
    scratch: &'a Path,
    number: usize,
}

impl<'a> Prober<'a> {
    /// In this folder.
    pub fn new(asked: &'a CapacityFlags, guard: &'a Guard, scratch: &'a Path) -> Result<Prober<'a>, Failure> {
        let onrush = onrush_run::binary(ExitCode::Generic)?;
        Ok(Prober { asked, guard, onrush, scratch, number: 0 })
    }

    /// Runs one. `tick` is told what the seconds so far say.
    pub fn run(
        &mut self,
        load: f64,
        length: Length,
        objectives: &[Objective],
        light: Option<Light>,
        tick: &mut dyn FnMut(usize, Standing),
    ) -> Result<Probe, Stopped> {
        self.number += 1;
        let folder = match &self.asked.save {
            Some(save) => save.join(format!("probe-{:02}", self.number)),
            None => self.scratch.join(format!("probe-{:02}", self.number)),
        };
        let seconds = length.seconds();
        let command = self.command(&folder, &self.hold(load, seconds, objectives, light), objectives);
        let log = self.scratch.join("probe.log");
        let failed = |error: std::io::Error| {
            Stopped::Failed(Failure::new(ExitCode::Generic, format!("cannot start a probe: {error}")))
        };
        let mut group = Group::spawn(&command, &[], log, self.guard).map_err(failed)?;
        let mut seen = ProbeAccount::new(objectives, load, length);
        let mut follower = Follower::new(folder.clone());
        let began = Instant::now();
        let ended = loop {
            if let Some(ended) = group.ended() {
                break Some(ended);
            }
            if interruption::is_asked() {
                group.stop();
                return Err(Stopped::Interrupted);
            }
            for interval in follower.news() {
                seen.add(&follower, &interval);
                tick(seen.judge.counted(), seen.standing);
            }
            let is_done = !seen.standing.is_open() || seen.judge.counted() >= length.most;
            if is_done || began.elapsed() > SLACK + Duration::from_secs(seconds as u64) {
                break None;
            }
            wait_for(&[&group], LOOK_EVERY);
        };
        if ended.is_none() {
            end(&mut group);
        }
        let (code, lines) = (group.ended().and_then(|end| end.code), group.last_lines());
        group.kill();
        let document = document::read(&folder).ok();
        if self.asked.save.is_none() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        // Thresholds may break, and it may have been told to end.
        let is_well = matches!(code, Some(0 | 99 | 105 | 115 | 116)) || code.is_none() && ended.is_none();
        if !is_well || seen.judge.counted() == 0 && ended.is_some() && document.is_none() {
            return Err(Stopped::Failed(failure(code, &lines)));
        }
        Ok(seen.into_probe(load, document))
    }

    fn command(&self, folder: &Path, hold: &str, objectives: &[Objective]) -> Command {
        let mut command = onrush_run::command(&self.onrush, folder);
        command.arg("--hold").arg(hold);
        for objective in objectives {
            command.arg("--threshold").arg(objective.text());
        }
        command.args(&self.asked.words);
        // Variables of a load would be another one.
        for name in ["K6_VUS", "K6_DURATION", "K6_ITERATIONS", "K6_STAGES"] {
            command.env_remove(name);
        }
        command
    }

    /// The load of a probe, with as many users as its rate needs while the objectives hold.
    fn hold(&self, load: f64, seconds: usize, objectives: &[Objective], light: Option<Light>) -> String {
        if self.asked.unit == LoadUnit::Users {
            return format!("users={load},time={seconds}s");
        }
        let slowest = objectives.iter().filter_map(Objective::upper_limit_of_values).fold(0.0, f64::max) / 1e3;
        let is_known = slowest > 0.0 && self.asked.unit == LoadUnit::Requests;
        let each = match light {
            Some(light) => SPARE * light.iteration_s + 2.0 * slowest + if slowest > 0.0 { 0.05 } else { UNKNOWN_S },
            None if is_known => 2.0 * slowest + 0.05,
            None => UNKNOWN_S,
        };
        let room = MOST_USERS.min(descriptors::room() as f64);
        let most = (load * each + 10.0).min(room).ceil();
        let usual = light.map_or(0.05, |light| SPARE * light.iteration_s);
        let ready = (load * usual + 5.0).clamp(1.0, MOST_READY).min(most).ceil();
        format!("rate={load:.4}/s,time={seconds}s,ready={ready},most={most}")
    }
}

/// Has it end by itself, so that it writes its result.
fn end(group: &mut Group) {
    group.ask_to_end();
    let asked = Instant::now();
    while group.ended().is_none() && asked.elapsed() < TO_END && !interruption::is_asked() {
        wait_for(&[group], LOOK_EVERY);
    }
}

/// What the journal of a probe has told so far.
struct ProbeAccount<'a> {
    objectives: &'a [Objective],
    judge: Judge<'a>,
    standing: Standing,
    skipped: usize,
    intervals: usize,
    has_samples: Vec<bool>,
    ended: f64,
    counted: Counted,
}

/// Sums of the seconds that count.
#[derive(Default)]
struct Counted {
    seconds: f64,
    iterations: f64,
    requests: f64,
    failed: f64,
    iteration_ms: (f64, f64),
    shown: Trend,
    metric: Option<String>,
}

/// A shorter interval at the end says nothing.
const SHORTEST_S: f64 = 0.5;

impl<'a> ProbeAccount<'a> {
    fn new(objectives: &'a [Objective], load: f64, length: Length) -> ProbeAccount<'a> {
        ProbeAccount {
            objectives,
            judge: Judge::new(objectives, load, length.least, length.skipped),
            standing: Standing::LeansHeld,
            skipped: length.skipped,
            intervals: 0,
            has_samples: vec![false; objectives.len()],
            ended: 0.0,
            counted: Counted::default(),
        }
    }

    fn add(&mut self, follower: &Follower, interval: &Interval) {
        let keyed = |key: &str| interval.samples.keyed(follower.registry(), key);
        let count = |key: &str| match keyed(key) {
            Some(Keyed::Counter(count)) => count,
            _ => 0.0,
        };
        let iterations = count("iterations");
        self.ended += iterations;
        if interval.length < SHORTEST_S {
            return;
        }
        self.intervals += 1;
        let tallies: Vec<_> =
            self.objectives.iter().map(|objective| objective.tally(keyed(&objective.key)?, interval.length)).collect();
        tallies.iter().zip(&mut self.has_samples).for_each(|(tally, has)| *has |= tally.is_some());
        let open = follower.planned_rate().map(|rate| rate * interval.end - self.ended);
        self.standing = self.judge.add(ProbeSecond { seconds: interval.length, open, tallies });
        if self.intervals <= self.skipped {
            return;
        }
        let counted = &mut self.counted;
        counted.seconds += interval.length;
        counted.iterations += iterations;
        counted.requests += count("http_reqs");
        if let Some(Keyed::Rate { passes, .. }) = keyed("http_req_failed") {
            counted.failed += passes as f64;
        }
        if let Some(Keyed::Trend(trend)) = keyed("iteration_duration") {
            counted.iteration_ms.0 += trend.sum();
            counted.iteration_ms.1 += trend.count() as f64;
        }
        let shown = self.objectives.iter().map(|objective| objective.key.as_str());
        let shown = shown.chain(["http_req_duration", "grpc_req_duration", "ws_connecting", "iteration_duration"]);
        for key in shown {
            let is_shown = counted.metric.as_deref().is_none_or(|metric| metric == key);
            if let (true, Some(Keyed::Trend(trend))) = (is_shown, keyed(key)) {
                counted.shown.merge(trend);
                counted.metric = Some(key.to_owned());
                break;
            }
        }
    }

    fn into_probe(self, load: f64, document: Option<Document>) -> Probe {
        let generator = document.as_ref().map(|document| &document.generator);
        let no_evidence = generator.filter(|generator| generator.limit().is_some()).map(|generator| {
            let found = generator.judgement.as_ref().and_then(|judgement| judgement.doubts().next());
            found.map_or_else(
                || String::from("the generator was the limit"),
                |found| format!("{} ({})", found.title, found.figure),
            )
        });
        let said = if no_evidence.is_some() { Said::Nothing } else { Said::Target(self.standing) };
        let breach = |breach: Breach| match breach {
            Breach::Objective(index) => self.objectives[index].text(),
            Breach::FallsBehind => String::from("falls behind the rate"),
        };
        let (verdict, why) = match (said, self.standing) {
            (Said::Nothing, _) => (ProbeSaid::NoEvidence, no_evidence.clone()),
            (_, Standing::Held) => (ProbeSaid::Held, None),
            (_, Standing::LeansHeld) => (ProbeSaid::LeansHeld, None),
            (_, Standing::Broken(by)) => (ProbeSaid::Broken, Some(breach(by))),
            (_, Standing::LeansBroken(by)) => (ProbeSaid::LeansBroken, Some(breach(by))),
        };
        let target = document.as_ref().and_then(|document| document.generator_seconds.as_ref()?.target.as_ref());
        let Counted { seconds, iterations, requests, failed, iteration_ms, shown, metric } = self.counted;
        let has_values = shown.count() > 0;
        let percentile = |percent: f64| has_values.then(|| shown.percentile(percent));
        let per_second = |count: f64| count / seconds.max(1e-9);
        Probe {
            said,
            sustained: self.judge.sustained().min(load),
            no_evidence,
            figures: ProbeFigures {
                load,
                said: verdict,
                why,
                seconds,
                ended_per_second: per_second(iterations),
                requests_per_second: per_second(requests),
                metric,
                p50: percentile(50.0),
                p95: percentile(95.0),
                p99: percentile(99.0),
                failed: (requests > 0.0).then(|| failed / requests),
                target_cores: target.and_then(|target| target.mean()),
            },
            iteration_s: (iteration_ms.1 > 0.0).then(|| iteration_ms.0 / iteration_ms.1 / 1e3),
            has_samples: self.has_samples,
            document,
        }
    }
}

/// What names the limit of this probe.
pub fn limit_facts<'d>(probe: &Probe, document: &'d Document, light: Light, unit: LoadUnit) -> LimitFacts<'d> {
    let judgement = document.generator.judgement.as_ref();
    let target = document.generator_seconds.as_ref().and_then(|seconds| seconds.target.as_ref());
    let target = target.and_then(used);
    let count = |name: &str| match document.metric(name).map(|metric| &metric.value) {
        Some(Value::Counter { count, .. }) => *count,
        _ => 0.0,
    };
    let figures = &probe.figures;
    LimitFacts {
        findings: judgement.map_or(&[], |judgement| &judgement.causes),
        target,
        requests: count("http_reqs"),
        refused: document.errors.refused() as f64,
        planned: (unit != LoadUnit::Users)
            .then_some((figures.load * figures.seconds, figures.ended_per_second * figures.seconds)),
        closed: (unit == LoadUnit::Users).then_some(ClosedUse { users: figures.load, waiting: 1.0 }),
        link: None,
        // A light load was measured: what is slower than that stands in a queue.
        is_one_queue: true,
        slower: light.p50.zip(figures.p50).map(|(light, now)| Slower { light, now, light_is: "a light load sees" }),
        is_broken: true,
    }
}

/// Why a probe could not be run, in its own words.
fn failure(code: Option<i32>, lines: &[String]) -> Failure {
    let words = onrush_run::own_words(lines);
    let known = code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0).map(ExitCode::of_script);
    let text = match words.is_empty() {
        true => String::from("the first probe ended before it had measured anything"),
        false => words,
    };
    Failure::new(known.unwrap_or(ExitCode::Generic), text)
}
