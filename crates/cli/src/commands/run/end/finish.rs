//! After the last iteration: teardown, the last judgement, the result that is kept, the summary, the exit code.

use std::cell::Cell;
use std::time::{Duration, Instant};

use ::outputs::Outputs;
use engine::Stopper;
use engine::scenario::Scenarios;
use journal::{AgentsReport, OverTime, Timeline};
use metrics::results::Results;
use metrics::threshold::{Moment, Verdict};
use report::SummaryMode;
use report::document::{self, MessageLogs};
use report::limit::{AnswerCourse, RunLoad};
use report::timing_error::CheckedRequest;
use script::log::Level;
use script::{Program, ScriptError};
use units::Bandwidth;

use crate::commands::run::drive::generator_watch::GeneratorAccount;
use crate::commands::run::drive::lifecycle::Lifecycle;
use crate::commands::run::drive::phases::Phases;
use crate::commands::run::drive::progress::{Elsewhere, Ran};
use crate::commands::run::drive::referee;
use crate::commands::run::drive::run_samples::RunSamples;
use crate::commands::run::end::changes::as_run;
use crate::commands::run::end::findings::Findings;
use crate::commands::run::end::summary::{self, Summary};
use crate::commands::run::end::traces;
use crate::commands::run::facts::generator::{Circumstances, Judged};
use crate::commands::run::facts::target_cpu::TargetCpu;
use crate::commands::run::saved::load_changes::kept_changes;
use crate::commands::run::saved::save::{self, Facts, Figures, Kept, Saving, redacted_document};
use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::load::Script;
use crate::commands::run::start::outputs;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer;
use crate::log::Logger;
use crate::messages::Messages;
use crate::output;
use crate::process::machine;

const SECOND: Duration = Duration::from_secs(1);

/// What the end of a run needs.
pub struct Ending<'a> {
    /// What was asked for.
    pub flags: &'a Flags,
    /// The script, for its teardown and summary.
    pub script: &'a Script,
    /// For what there is to say.
    pub log: &'a Logger,
    /// Knows why the run ended early; a signal may still come.
    pub stopper: &'a Stopper,
    /// What a signal does.
    pub phases: &'a Phases,
    /// `--save`.
    pub saving: Option<&'a Saving>,
    /// `--save-messages`.
    pub messages: Option<&'a Messages>,
    /// The agents, where there were some.
    pub agents: Option<AgentsReport>,
    /// Where they were.
    pub fleet: Option<&'a (dyn Elsewhere + 'a)>,
    /// The machine before the test.
    pub before: machine::Moment,
}

/// What was measured, once nothing more can come.
struct Totals {
    results: Results,
    verdict: Verdict,
    teardown_error: Option<ScriptError>,
    /// `--save-messages`, and whether all messages are there that could be.
    messages: Option<(MessageLogs, bool)>,
}

impl Ending<'_> {
    /// Ends the run that was, keeps the result, prints the summary, and returns the exit code. The result
    /// is kept before `handleSummary()` runs, which may never come back.
    pub fn finish(&self, mut ran: Ran, outputs: Outputs) -> Result<ExitCode, Failure> {
        let (Ending { flags, script, log, .. }, totals) = (self, self.total(&mut ran));
        // Before the summary: an output may write to standard output as well.
        let of_outputs = outputs.finish();
        of_outputs.iter().for_each(|line| log.write(Level::Warning, line, &[]));
        self.tell_unmatched_rules(&ran);
        let traces = traces::told(&script.program, self.agents.as_ref(), log);
        let are_samples_lost = outputs::losses(&of_outputs).next().is_some();
        let over_time = over_time(&mut ran);
        over_time.problem.iter().for_each(|text| log.write(Level::Error, text, &[]));
        let is_whole = !are_samples_lost && over_time.problem.is_none();
        let steadiness = over_time.steadiness.clone();
        let Totals { results, messages, .. } = &totals;
        let lost = messages.as_ref().and_then(|(logs, are_whole)| lost_messages(logs, *are_whole));
        let (start, end) = (ran.generator.machine.as_ref().unwrap_or(&self.before), machine::Moment::now());
        let environment = machine::environment(start, &end);
        let around = Circumstances {
            allowed_cores: environment.allowed_cores.len(),
            machine: machine::Meanwhile::between(start, &end),
            lost: outputs::losses(&of_outputs).chain(lost.clone()).collect(),
            ..self.circumstances(&ran)
        };
        let judged = self.judged(&ran, results, &around);
        let are_shards_there = self.ship(&mut ran, &judged, results);
        let notes = self.notes(ran.generator.referee.as_ref(), results);
        let remarks = judged.lines().into_iter().chain(notes.clone()).chain(lost);
        let options = summary::options(flags, &ran, remarks, judged.kept(), steadiness.as_ref());
        let findings =
            Findings { trust: flags.verdict.strict.then(|| judged.verdict()), ..self.findings(&ran, &totals) };
        let generator = self.generator(&ran.generator, judged, notes);
        let document = self.is_document_wanted().then(|| {
            let facts = Facts {
                head: save::head(flags, &ran.planned.options, &ran.lifecycle.started_at, environment),
                stats: &ran.planned.columns.trend_stats,
                duration: ran.duration,
                figures: Figures { results, details: ran.samples.aggregate.details(ran.load), over_time },
                generator,
                load_changes: kept_changes(&ran.changes),
                messages: messages.as_ref().map(|(logs, _)| logs.clone()),
                traces,
                code: self.exit_code(&findings),
                reason: findings.reason(),
            };
            redacted_document(facts, flags.test.secrets.redactor())
        });
        let report = flags.export().and(document.as_ref()).cloned();
        let mut kept = document.map(|document| Kept::new(self.saving, document, flags));
        let (phases, is_on_stdout, is_incomplete) = (self.phases, Cell::new(false), Cell::new(false));
        let summary = Summary { flags, script, phases, log, options, results, ran: &ran, is_on_stdout, is_incomplete };
        summary.write();
        self.count_refused(&ran.samples);
        findings.explain(self.stopper, log);
        let is_read = self.is_read(&summary);
        let is_whole = is_whole && is_read && are_shards_there && !summary.is_incomplete.get();
        let code = self.exit_code(&findings).unless_incomplete(is_whole);
        let code = kept.as_mut().map_or(code, |kept| kept.close(code, log));
        Ok(self.answer(kept.as_ref(), self.export(report.as_ref(), code)))
    }

    /// Tells which `--name-rule` named nothing. Of a fleet no process knows that: each agent meets its own paths.
    fn tell_unmatched_rules(&self, ran: &Ran) {
        let is_alone = self.fleet.is_none() && !self.flags.test.is_agent;
        let rules = ran.planned.options.name_rules.as_ref().filter(|_| is_alone);
        for rule in rules.iter().flat_map(|rules| rules.unmatched()) {
            let text = format!("the name rule '{rule}' named nothing: no path matched it that no rule before it took");
            self.log.write(Level::Warning, &text, &[]);
        }
    }

    /// Whether anybody gets the result.
    fn is_document_wanted(&self) -> bool {
        let flags = self.flags;
        self.saving.is_some() || flags.export().is_some() || flags.shown.answers_json || flags.kept.ci.is_wanted()
    }

    /// Prints what decides, for a program; the exit code then.
    fn answer(&self, kept: Option<&Kept<'_>>, code: ExitCode) -> ExitCode {
        let Some(kept) = kept.filter(|_| self.flags.shown.answers_json) else { return code };
        match (json_answer::print(&kept.digest(code)), code) {
            (Err(failure), ExitCode::Ok) => {
                self.log.write(Level::Error, &failure.message, &[]);
                failure.code
            }
            _ => code,
        }
    }

    /// Sends the last of what `--shards` wants; whether the store has everything.
    fn ship(&self, ran: &mut Ran, judged: &Judged, results: &Results) -> bool {
        let Some(shipped) = ran.shipped.take() else { return true };
        let is_marked_failed = self.script.program.marked_failed();
        match shipped.finish((judged.judgement(), results), self.stopper, is_marked_failed) {
            Ok(()) => true,
            Err(why) => {
                let text = format!("--shards: the store has not got all of this run: {why}");
                self.log.write(Level::Error, &text, &[]);
                false
            }
        }
    }

    /// Writes the report where `--web-export` wants it; the exit code then.
    fn export(&self, document: Option<&document::Document>, code: ExitCode) -> ExitCode {
        let Some((document, path)) = document.zip(self.flags.export()) else { return code };
        match (save::export(document, code, path), code) {
            (Ok(()), code) => code,
            (Err(message), code) => {
                self.log.write(Level::Error, &message, &[]);
                if code == ExitCode::Ok { ExitCode::ResultNotWritten } else { code }
            }
        }
    }

    /// What else there is to say of how it was measured, and of log lines that are missing.
    fn notes(&self, referee: Option<&document::Referee>, results: &Results) -> Vec<String> {
        let program = &self.script.program;
        let remarks = program.timing_remark(results.count("http_reqs")).into_iter().chain(program.upload_remark());
        let remarks = remarks.chain(referee.into_iter().flat_map(referee::lines));
        let of_agents = self.agents.iter().flat_map(|agents| agents.notes.clone());
        remarks.chain(of_agents).chain(self.log.settle()).collect()
    }

    /// The verdict, who was the limit, and how right response times are.
    fn judged(&self, ran: &Ran, results: &Results, around: &Circumstances) -> Judged {
        let target = ran.samples.target.as_ref().and_then(TargetCpu::used);
        let load = RunLoad { course: ran.samples.course.clone(), ..load_of(ran) };
        let judged = self.judge(ran, results, around).limited_by(results, target, &load);
        match self.agents {
            None => judged.timed(&ran.generator.health, results, around),
            Some(_) => judged,
        }
    }

    /// Agents have judged themselves: here remain counts and samples of all together.
    fn judge(&self, ran: &Ran, results: &Results, around: &Circumstances) -> Judged {
        let shown = &ran.planned.columns.trend_stats;
        match &self.agents {
            None => Judged::new(&ran.generator.health, shown, results, around),
            Some(agents) => {
                let (workers, process_cores) = (Vec::new(), 0.0);
                let health = engine::Health { workers, process_cores, ..ran.generator.health.clone() };
                let around = Circumstances {
                    is_smoke: around.is_smoke,
                    lost: around.lost.clone(),
                    accept_late: around.accept_late,
                    ..Circumstances::default()
                };
                Judged::new(&health, shown, results, &around).and(agents)
            }
        }
    }

    fn generator(&self, account: &GeneratorAccount, judged: Judged, notes: Vec<String>) -> document::Generator {
        let agents = self.agents.as_ref();
        document::Generator {
            referee: account.referee.clone(),
            agents: agents.map(|agents| agents.figures.clone()).unwrap_or_default(),
            start_bound_ms: agents.map(|agents| agents.start_bound_ms),
            stamps_apart_ms: agents.and_then(|agents| agents.stamps_apart_ms),
            ..judged.document(&account.health, notes)
        }
    }

    /// But for the machine and what was lost.
    fn circumstances(&self, ran: &Ran) -> Circumstances {
        Circumstances {
            is_smoke: ran.is_smoke,
            clock_step_ms: ran.generator.clock_step_ms,
            unstamped: self.script.program.unstamped(),
            checked: checked(&self.script.program),
            bias: ran.generator.referee.as_ref().and_then(referee::bias),
            is_target_here: self.script.program.is_target_here(),
            accept_late: self.flags.verdict.accept_late,
            meanwhile: ran.generator.meanwhile.clone(),
            closed_users: load_of(ran).users.map(|users| users as u64),
            ..Circumstances::default()
        }
    }

    /// Tears down and judges the thresholds for the last time.
    fn total(&self, ran: &mut Ran) -> Totals {
        self.phases.wind_up();
        let teardown_error = self.tear_down(ran);
        let of_agents = || self.agents.as_ref().and_then(|agents| agents.messages.clone());
        let messages = self.messages.map(Messages::finish).or_else(of_agents);
        let verdict = ran.samples.aggregate.judge(ran.load, Moment::End);
        let is_full = self.flags.shown.summary_mode == Some(SummaryMode::Full);
        let results = ran.samples.aggregate.results(ran.load, is_full);
        self.warn_of_no_iterations(&ran.lifecycle, &results);
        Totals { results, verdict, teardown_error, messages }
    }

    fn findings<'a>(&self, ran: &'a Ran, totals: &'a Totals) -> Findings<'a> {
        let Totals { results, verdict, teardown_error, messages } = totals;
        let of_flags = |key: &str| {
            let behind = |text: &str| text.trim().strip_prefix(key).is_some_and(|rest| rest.trim().starts_with(':'));
            self.flags.verdict.thresholds.iter().any(|text| behind(text))
        };
        let counts = |key: &&str| self.flags.verdict.strict || of_flags(key);
        Findings {
            without_samples: verdict.without_samples.iter().map(String::as_str).filter(counts).collect(),
            errors: [ran.lifecycle.setup_error.as_ref(), teardown_error.as_ref()],
            verdict,
            is_somebody_stuck: ran.is_somebody_stuck,
            over: self.flags.verdict.fail_on.iter().filter_map(|limit| limit.judge(results)).collect(),
            nothing: self.flags.test.quick.as_ref().and_then(|quick| quick.failure(results)),
            are_messages_whole: messages.as_ref().is_none_or(|(_, are_whole)| *are_whole),
            are_agents_lost: self.agents.as_ref().is_some_and(AgentsReport::has_lost),
            trust: None,
        }
    }

    /// Asked again after `handleSummary()`: a signal may have ended it.
    fn exit_code(&self, findings: &Findings<'_>) -> ExitCode {
        let of_agents = self.agents.as_ref().is_some_and(|agents| agents.is_marked_failed);
        findings.exit_code(self.stopper, of_agents || self.script.program.marked_failed())
    }

    /// A test that ended in its own time before any iteration did has measured little of what its script does.
    fn warn_of_no_iterations(&self, lifecycle: &Lifecycle, results: &Results) {
        let is_script = self.flags.test.quick.is_none();
        let is_whole = lifecycle.setup_error.is_none() && self.stopper.cause().is_none();
        if is_script && is_whole && results.count("iterations") == 0 {
            let text = "no iteration finished: each takes longer than the test, so make the test longer";
            self.log.write(Level::Warning, text, &[]);
        }
    }

    fn count_refused(&self, samples: &RunSamples) {
        let refused = samples.aggregate.refused();
        if refused > 0 {
            self.log.write(Level::Warning, &format!("{refused} samples were not numbers and are left out"), &[]);
        }
    }

    /// Whether standard output has taken the summary; says so when it has not. From here on a signal ends the process
    /// at once.
    fn is_read(&self, summary: &Summary<'_>) -> bool {
        self.phases.end();
        match output::stdout().drain() {
            Err(why) if summary.is_on_stdout.get() => {
                let text = format!(
                    "cannot write the summary to standard output: {why}; \
                     --summary-export FILE or --save DIR keeps it in a file"
                );
                self.log.write(Level::Error, &text, &[]);
                false
            }
            _ => true,
        }
    }

    fn tear_down(&self, ran: &mut Ran) -> Option<ScriptError> {
        let samples = &mut ran.samples;
        if !ran.lifecycle.is_teardown_due() || ran.planned.options.no_teardown == Some(true) {
            return None;
        }
        // A test that was stopped still tears down; a signal that comes from now on ends that.
        let began = Instant::now();
        let Script { program, runtime, .. } = self.script;
        let result = runtime.block_on(program.run_teardown(&samples.recorder, self.phases.another()));
        samples.add_recorded(began.elapsed());
        if let Some(fleet) = self.fleet.filter(|_| result.is_ok()) {
            fleet.torn_down(samples.timeline.as_ref().and_then(Timeline::journal_length));
        }
        result.err()
    }
}

/// What was planned, as far as a limit asks for it.
fn load_of(ran: &Ran) -> RunLoad {
    let (options, as_run) = (&ran.planned.options, as_run(ran));
    let scenarios = || as_run.iter().flat_map(Scenarios::iter);
    let users: Option<u64> = scenarios().map(|scenario| scenario.executor.users()).sum();
    let links: Vec<_> = scenarios().map(|scenario| options.link_of(&scenario.name).unwrap_or_default()).collect();
    let is_same = links.windows(2).all(|two| two[0] == two[1]);
    let link = links.first().filter(|_| is_same);
    let link_bps = |bandwidth: Option<Bandwidth>| bandwidth.map(|link| link.bytes_in(SECOND) as f64 * 8.0);
    RunLoad {
        users: users.map(|users| users as f64),
        is_planned: scenarios().all(|scenario| scenario.executor.users().is_none()),
        link_bps: [link.and_then(|link| link.download), link.and_then(|link| link.upload)].map(link_bps),
        course: AnswerCourse::default(),
    }
}

/// The requests of its users that were checked with the kernel's transmit stamps.
fn checked(program: &Program) -> Vec<CheckedRequest> {
    let departures = program.process_state::<wire::Departures>().found();
    let of = |found: wire::Departure| CheckedRequest {
        lag_ms: found.lag.as_secs_f64() * 1e3,
        weight: f64::from(found.weight),
    };
    departures.into_iter().map(of).collect()
}

/// The series, and whether the run was steady where its plan is.
fn over_time(ran: &mut Ran) -> OverTime {
    let Some(timeline) = ran.samples.timeline.take() else { return OverTime::default() };
    let target = ran.samples.target.as_ref().and_then(TargetCpu::name);
    timeline.finish(as_run(ran).iter().flat_map(Scenarios::iter), target)
}

/// One line when messages are missing in the logs.
fn lost_messages(logs: &MessageLogs, are_whole: bool) -> Option<String> {
    let MessageLogs { written, dropped, .. } = logs;
    let why = if are_whole { "writing could not keep up" } else { "they could not be written" };
    let all = written + dropped;
    (*dropped > 0).then(|| format!("{dropped} of {all} received messages are not in the logs: {why}"))
}
