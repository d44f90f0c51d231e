//! `onrush capacity`: how much a target holds, what limits it, and how sure that is.
//!
//! From top to bottom: flags, probes until the search is done or the budget is over, a light load after each that broke
//! until the target has recovered, the answer. Which load comes next and when a probe is decided is
//! `report::capacity`'s to say; `probe` runs one, `follow` reads its journal while it grows, `show` is what is seen
//! meanwhile.

mod asked;
mod follow;
mod probe;
mod show;

use std::path::Path;
use std::time::{Duration, Instant};

use report::capacity::{
    A_PROBE, Aim, CapacityAnswer, Length, LoadUnit, NextProbe, Objective, ProbeSaid, Purpose, RECOVERIES, Said, Search,
    Standing, Tried, has_recovered, is_calm,
};
use report::document::{LimitName, RunLimit, Value};
use report::limit::limit;
use units::show::time;

pub use self::asked::{CapacityFlags, command};
use self::probe::{Light, Probe, Prober, Stopped, limit_facts};
use self::show::SearchShow;
use crate::commands::groups::guard::Guard;
use crate::commands::groups::interruption;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::private_folder::PrivateFolder;
use crate::process::whole_file;
use crate::{json_answer, output};

/// With more failures than this at a light load there is nothing to search for.
const NOTHING_SUCCEEDED: f64 = 0.999;
/// Users and iterations that take longer leave no room for probes within minutes.
const LONGEST_ITERATION_S: f64 = 20.0;

/// Searches, prints the answer, keeps it.
pub fn main(asked: &CapacityFlags) -> Result<ExitCode, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ExitCode::Generic, format!("cannot make a folder for the probes: {error}"))
    };
    let folder = PrivateFolder::make().map_err(failed)?;
    if let Some(save) = &asked.save {
        std::fs::create_dir_all(save).map_err(|error| {
            Failure::new(ExitCode::Generic, format!("--save: cannot make {}: {error}", save.display()))
        })?;
    }
    interruption::listen()?;
    let guard = Guard::start(folder.path())?;
    let answer = Run::new(asked, &guard, folder.path())?.search()?;
    told(asked, &answer)
}

/// Prints and keeps the answer.
fn told(asked: &CapacityFlags, answer: &CapacityAnswer) -> Result<ExitCode, Failure> {
    let is_json = asked.is_json;
    let text = if is_json { json_answer::text(answer) } else { report::visible_lines(&answer.text()).into_owned() };
    let printed = output::print(&text);
    if let Some(save) = &asked.save {
        let path = save.join(report::capacity::FILE_NAME);
        whole_file::write(path.display().to_string(), json_answer::text(answer)).map_err(|error| {
            Failure::new(ExitCode::ResultNotWritten, format!("cannot write {}: {error}", path.display()))
        })?;
    }
    printed.map_err(|error| Failure::new(ExitCode::ResultNotWritten, format!("cannot print the answer: {error}")))?;
    let too_little = asked.at_least.filter(|least| !answer.holds_at_least(*least));
    if let Some(least) = too_little {
        let shown = asked.unit.shown(least);
        let held = answer.low.map_or(String::from("nothing"), |low| asked.unit.shown(low));
        return Err(Failure::new(
            ExitCode::ThresholdsFailed,
            format!("--at-least {shown}: {held} is held for certain"),
        ));
    }
    Ok(if interruption::is_asked() { ExitCode::Signal } else { ExitCode::Ok })
}

/// A search under way.
struct Run<'a> {
    asked: &'a CapacityFlags,
    prober: Prober<'a>,
    search: Search,
    objectives: Vec<Objective>,
    light: Option<Light>,
    show: SearchShow,
    began: Instant,
    answer: CapacityAnswer,
    /// Of the lowest load that broke: the load, the limit.
    broke: Option<(f64, String, RunLimit)>,
    /// Of the generator, where it was the limit.
    no_evidence: Option<String>,
}

impl<'a> Run<'a> {
    fn new(asked: &'a CapacityFlags, guard: &'a Guard, scratch: &'a Path) -> Result<Run<'a>, Failure> {
        let aim = Aim {
            from: asked.from,
            most: asked.to,
            precision: asked.precision,
            is_whole: asked.unit == LoadUnit::Users,
        };
        Ok(Run {
            asked,
            prober: Prober::new(asked, guard, scratch)?,
            search: Search::new(aim),
            objectives: asked.objectives.clone(),
            light: None,
            show: SearchShow::new(asked),
            began: Instant::now(),
            answer: CapacityAnswer {
                kind: report::capacity::KIND.to_owned(),
                schema: report::capacity::SCHEMA,
                onrush: env!("CARGO_PKG_VERSION").to_owned(),
                script: wire::mask::Mask::standard().text(&asked.target).into_owned(),
                started_at: crate::log::rfc3339_ms_now(),
                has_default_objectives: asked.are_usual,
                unit: asked.unit,
                confidence: 0.95,
                precision: asked.precision,
                ..CapacityAnswer::default()
            },
            broke: None,
            no_evidence: None,
        })
    }

    /// Until the answer is as precise as wanted, the budget is over, or a signal comes.
    fn search(mut self) -> Result<CapacityAnswer, Failure> {
        self.show.begin();
        while let NextProbe::Try(load, purpose) = self.search.next() {
            let Some(length) = self.length(purpose) else {
                self.note_short_budget();
                break;
            };
            match self.probe(load, length) {
                Ok(()) => {}
                Err(Stopped::Interrupted) => {
                    self.answer.notes.push(String::from("it was interrupted: this is what was known until then"));
                    break;
                }
                Err(Stopped::Failed(failure)) => return Err(failure),
            }
        }
        Ok(self.finish())
    }

    /// How long the next probe may go on; none where the budget has no room for one.
    fn length(&self, purpose: Purpose) -> Option<Length> {
        let iteration_s = self.light.map_or(0.0, |light| light.iteration_s);
        Length::of(purpose, self.asked.budget.saturating_sub(self.began.elapsed()), iteration_s)
    }

    fn probe(&mut self, load: f64, length: Length) -> Result<(), Stopped> {
        let probe = self.run(load, length)?;
        self.check_first(&probe)?;
        let is_calm = self.is_calm(&probe, load);
        self.search.add(Tried { load, said: probe.said, sustained: probe.sustained, is_calm });
        self.show.done(&probe.figures, self.asked.unit);
        if self.light.is_none() && probe.said != Said::Nothing {
            self.take_light(&probe)?;
        }
        match probe.said {
            Said::Nothing => self.no_evidence = probe.no_evidence.clone().or(self.no_evidence.take()),
            Said::Target(Standing::Broken(_) | Standing::LeansBroken(_)) => self.take_broken(&probe, load),
            Said::Target(_) => {}
        }
        let is_broken = matches!(probe.said, Said::Target(Standing::Broken(_) | Standing::LeansBroken(_)));
        self.answer.probes.push(probe.figures);
        if is_broken { self.recover() } else { Ok(()) }
    }

    fn run(&mut self, load: f64, length: Length) -> Result<Probe, Stopped> {
        let (show, unit, search) = (&mut self.show, self.asked.unit, &self.search);
        let bracket = search.best();
        let budget = self.asked.budget.saturating_sub(self.began.elapsed());
        let mut tick = |seconds: usize, standing: Standing| show.tick(load, unit, seconds, standing, bracket, budget);
        tick(0, Standing::LeansHeld);
        self.prober.run(load, length, &self.objectives, self.light, &mut tick)
    }

    /// Objectives of the script are known after its first probe; so is whether an objective's metric is there at all.
    fn check_first(&mut self, probe: &Probe) -> Result<(), Stopped> {
        if !self.search.tried().is_empty() {
            return Ok(());
        }
        let failed = |text: String| Stopped::Failed(Failure::new(ExitCode::InvalidConfig, text));
        if let Some(index) = probe.has_samples.iter().position(|has| !has) {
            let there = probe.document.as_ref().map(|document| {
                let has_samples = |value: &Value| match value {
                    Value::Counter { count, .. } => *count != 0.0,
                    Value::Rate { total, .. } => *total > 0,
                    Value::Trend(trend) => trend.count > 0,
                    Value::Gauge { .. } => true,
                };
                let names =
                    document.metrics.iter().filter(|metric| metric.filter.is_none() && has_samples(&metric.value));
                names.map(|metric| metric.name.as_str()).collect::<Vec<_>>().join(", ")
            });
            let objective = self.objectives[index].text();
            return Err(failed(format!(
                "--objective '{objective}': found no sample of it in the first probe, expected some; metrics with \
                 samples: {}",
                there.unwrap_or_default()
            )));
        }
        if probe.figures.failed.is_some_and(|failed| failed >= NOTHING_SUCCEEDED) {
            let errors = probe.document.as_ref().map(|document| document.errors.first()).unwrap_or_default();
            let text = format!("no request of the first probe succeeded{errors}: see whether the target answers");
            return Err(Stopped::Failed(Failure::new(ExitCode::NothingSucceeded, text)));
        }
        if self.objectives.is_empty() {
            self.objectives =
                probe.document.as_ref().map(objectives_of).transpose().map_err(failed)?.unwrap_or_default();
            if self.objectives.is_empty() {
                return Err(failed(String::from(
                    "found no objective: the script has no thresholds; say what has to hold, as in --objective \
                     'http_req_duration: p(95)<200'",
                )));
            }
        }
        self.answer.objectives = self.objectives.iter().map(Objective::text).collect();
        Ok(())
    }

    fn take_light(&mut self, probe: &Probe) -> Result<(), Stopped> {
        let figures = &probe.figures;
        let iteration_s = probe.iteration_s.unwrap_or_default();
        if iteration_s > LONGEST_ITERATION_S || figures.ended_per_second == 0.0 {
            let found = if figures.ended_per_second == 0.0 {
                String::from("no iteration ended within the first probe")
            } else {
                format!("an iteration takes {} at a light load", time(iteration_s * 1e3))
            };
            return Err(Stopped::Failed(Failure::new(
                ExitCode::InvalidConfig,
                format!(
                    "{found}: a probe has to be longer than that many times over; take sleeps out of the iteration, or \
                     measure a part of it (--scenario)"
                ),
            )));
        }
        self.light =
            Some(Light { iteration_s, p50: figures.p50, p95: figures.p95, failed: figures.failed.unwrap_or_default() });
        Ok(())
    }

    /// Whether the next load may be four times this one.
    fn is_calm(&self, probe: &Probe, load: f64) -> bool {
        let objective = self.objectives.iter().find(|objective| Some(&objective.key) == probe.figures.metric.as_ref());
        let slowest = objective.and_then(Objective::upper_limit_of_values);
        match probe.said {
            Said::Target(standing) => is_calm(standing, load, slowest, probe.figures.p95),
            Said::Nothing => false,
        }
    }

    fn take_broken(&mut self, probe: &Probe, load: f64) {
        let is_lowest = self.broke.as_ref().is_none_or(|(lowest, ..)| load <= *lowest);
        let (Some(document), Some(light), true) = (&probe.document, self.light, is_lowest) else { return };
        let named = limit(&limit_facts(probe, document, light, self.asked.unit));
        self.broke = Some((load, probe.figures.why.clone().unwrap_or_default(), named));
    }

    /// After a load that broke: a light one until it sees the latency of before.
    fn recover(&mut self) -> Result<(), Stopped> {
        let Some(light) = self.light else { return Ok(()) };
        let began = Instant::now();
        for _ in 0..RECOVERIES {
            let length = Length::light(light.iteration_s);
            let room = A_PROBE + Duration::from_secs(length.seconds() as u64);
            if self.began.elapsed() + room > self.asked.budget {
                return Ok(());
            }
            self.show.recovering();
            let seen = self.prober.run(self.asked.from, length, &self.objectives, Some(light), &mut |_, _| {})?;
            let is_whole = seen.figures.failed.unwrap_or_default() <= light.failed + 0.01;
            if has_recovered(seen.figures.p50, light.p50) && is_whole {
                return Ok(());
            }
        }
        let text = format!(
            "after {} the target had not recovered {} after its load had ended: what follows is of a target that is \
             not as it was",
            self.asked.unit.shown(self.search.tried().last().map_or(0.0, |tried| tried.load)),
            time((began.elapsed().as_secs_f64() * 1e3).round())
        );
        if !self.answer.notes.iter().any(|note| note.contains("had not recovered")) {
            self.answer.notes.push(text);
        }
        Ok(())
    }

    fn note_short_budget(&mut self) {
        let needed = self.search.bracket().half_width().map_or(2.0, |half| (half / self.asked.precision).log2().ceil());
        let more = Duration::from_secs((needed.max(1.0) * 20.0) as u64);
        self.answer.notes.push(format!(
            "the budget was over before the answer was as precise as wanted: about {} more would do (--budget)",
            units::show::about(more)
        ));
    }

    fn finish(mut self) -> CapacityAnswer {
        let bracket = self.search.bracket();
        self.answer.set_bracket(bracket);
        self.answer.time_s = self.began.elapsed().as_secs_f64();
        let is_open = bracket.high.is_none();
        match (is_open, self.search.generator_limit(), self.broke) {
            (true, Some(_), _) => {
                let evidence = self.no_evidence.unwrap_or_else(|| String::from("the generator was the limit"));
                self.answer.limit = Some(RunLimit { name: LimitName::Generator, between: Vec::new(), evidence });
            }
            (_, _, Some((load, why, limit))) => {
                self.answer.broke_first = Some(format!("{why} (at {})", self.asked.unit.shown(load)));
                self.answer.limit = Some(limit);
            }
            (true, None, None) if self.asked.to.is_some() => {
                self.answer.notes.push(String::from("nothing broke up to --to"));
            }
            _ => {}
        }
        let held =
            self.answer.probes.iter().filter(|probe| probe.said == ProbeSaid::Held && probe.ended_per_second > 0.0);
        let highest = held.max_by(|a, b| a.load.total_cmp(&b.load));
        let each = highest.map(|probe| probe.requests_per_second / probe.ended_per_second);
        self.answer.requests_per_iteration = each.filter(|each| *each > 0.0);
        self.answer.knee = self.light.and_then(|light| knee(&self.answer, light.p95?));
        self.show.end();
        self.answer
    }
}

/// The highest held load whose p95 is below twice that of the lightest, where one above it is not.
fn knee(answer: &CapacityAnswer, light: f64) -> Option<f64> {
    let is_low = |p95: f64| p95 <= 2.0 * light + 1.0;
    let of = |is_wanted: bool| {
        let probes = answer.probes.iter().filter(move |probe| probe.p95.is_some_and(|p95| is_low(p95) == is_wanted));
        probes.map(|probe| probe.load)
    };
    let above = of(false).fold(f64::INFINITY, f64::min);
    of(true).filter(|load| *load < above).reduce(f64::max).filter(|_| above.is_finite())
}

/// The thresholds that the first probe ran with.
fn objectives_of(document: &report::Document) -> Result<Vec<Objective>, String> {
    let mut objectives = Vec::new();
    for metric in &document.metrics {
        let key = match &metric.filter {
            Some(filter) => format!("{}{{{filter}}}", metric.name),
            None => metric.name.clone(),
        };
        for threshold in &metric.thresholds {
            let objective = Objective::of(&key, &threshold.source);
            objectives
                .push(objective.map_err(|problem| format!("a threshold of the script is no objective: {problem}"))?);
        }
    }
    Ok(objectives)
}
