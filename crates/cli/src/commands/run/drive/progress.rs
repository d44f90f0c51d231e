//! The test while it runs: setup once the users are made, samples and thresholds at every tick, progress on the screen.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use ::outputs::Outputs;
use clap::ArgMatches;
use engine::{Event, LoadChange, Outcome, RunConfig, RunError, RunState, StopCause, Stopper, Tick};
use journal::{AgentsReport, EndedLoad, Timeline};
use metrics::results::Results;
use metrics::threshold::Moment;
use metrics::{Aggregate, Recorder, Registry, Snapshot};
use report::limit::AnswerCourse;
use script::log::Level;
use script::options::Options;
use server::Server;

use crate::api::{Board, LoadRequest, Stage};
use crate::commands::run::drive::generator_watch::{GeneratorAccount, GeneratorWatch};
use crate::commands::run::drive::lifecycle::Lifecycle;
use crate::commands::run::drive::observer::{Observer, Sources};
use crate::commands::run::drive::pause;
use crate::commands::run::drive::referee::RefereeThread;
use crate::commands::run::drive::run_samples::RunSamples;
use crate::commands::run::drive::watch::Watch;
use crate::commands::run::facts::target_cpu::TargetCpu;
use crate::commands::run::saved::save::Saving;
use crate::commands::run::saved::shards::{Shards, ShippedPart};
use crate::commands::run::start::flags::{Flags, LoadFlags};
use crate::commands::run::start::load::Script;
use crate::commands::run::start::outputs;
use crate::commands::run::start::plan::{Planned, SummaryColumns};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::live::Glance;
use crate::log::Logger;
use crate::terminal::progress::Screen;

/// How often thresholds are judged, in ticks of a second: k6 judges every two.
const JUDGE_EVERY: u32 = 2;

/// What the loop needs.
pub struct Drive<'a> {
    /// The script.
    pub script: &'a Script,
    /// For warnings.
    pub log: &'a Logger,
    /// Ends the run.
    pub stopper: Stopper,
    /// The run's metrics.
    pub registry: Arc<Registry>,
    /// Where the progress is drawn.
    pub screen: Screen,
    /// What was asked for.
    pub flags: &'a Flags,
    /// Where the series over time are kept, if they are.
    pub saving: Option<&'a Saving>,
    /// Where its seconds go, if somebody else merges them.
    pub shards: Option<&'a Shards>,
    /// What sees every sample.
    pub outputs: &'a Outputs,
    /// What a REST API sees of the run.
    pub board: Option<&'a Board>,
}

/// A test that is about to run.
pub struct Test<'a> {
    /// What was asked for.
    pub flags: &'a Flags,
    /// The same as given.
    pub matches: &'a ArgMatches,
    /// What will run.
    pub planned: &'a Planned,
    /// The script.
    pub script: &'a Script,
    /// The target beside the test.
    pub target: Option<&'a Server>,
    /// Its certificate.
    pub trusted_pem: Option<String>,
    /// Whether files can be made where the result goes.
    pub saves: bool,
}

/// Gets others ready to run a test.
pub type Start = for<'a> fn(&Test<'_>, &Arc<Registry>, &'a Logger) -> Result<Box<dyn Elsewhere + 'a>, Failure>;

/// Runs the scenarios elsewhere than in this process.
pub trait Elsewhere {
    /// Tells what `engine::run` would. `setup` gives what `setup()` returned, once it has.
    fn run(
        &mut self,
        config: &RunConfig,
        setup: &dyn Fn() -> Option<String>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Outcome, Failure>;

    /// Does what clients want of the load, as it comes here, while the scenarios run.
    fn follow(&mut self, requests: Receiver<LoadRequest>);

    /// What `setup()` returned in a process that was killed, where this run goes on with its test.
    fn begun_before(&self) -> Option<&Option<String>>;

    /// What a process that was killed has measured to the end of the load: nothing of it is run again.
    fn load_before(&self) -> Option<&EndedLoad>;

    /// Lets the agents go, and tells how they fared. From here on another process can end the run by itself, where
    /// so many bytes of the journal are written.
    fn finish(&mut self, journal: Option<u64>) -> AgentsReport;

    /// `teardown()` has returned, and so much of the journal has what it measured.
    fn torn_down(&self, journal: Option<u64>);

    /// The run is over: there is nothing to be followed.
    fn close(&self);
}

/// A run that has ended, early or not.
pub struct Ran {
    /// What was planned.
    pub planned: Planned,
    /// Whether the whole test is one iteration of one user.
    pub is_smoke: bool,
    /// When it started, and whether teardown is due.
    pub lifecycle: Lifecycle,
    /// What clients changed of the load.
    pub changes: Vec<LoadChange>,
    /// What was measured so far.
    pub samples: RunSamples,
    /// From before setup to the end of the last worker.
    pub duration: Duration,
    /// Of the load: from the start of the first scenario to the end of the last iteration. Rates divide by it.
    pub load: Duration,
    /// Whether a virtual user or a whole worker could not be stopped.
    pub is_somebody_stuck: bool,
    /// How the generator fared.
    pub generator: GeneratorAccount,
    /// Its seconds on their way to a store.
    pub shipped: Option<ShippedPart>,
}

/// What the event handler changes.
pub struct Progress<'a> {
    pub drive: Drive<'a>,
    planned: Planned,
    state: Arc<RunState>,
    pub lifecycle: Lifecycle,
    pub samples: RunSamples,
    ticks: u32,
    generator: GeneratorWatch,
    observer: Observer,
    referee: Option<RefereeThread>,
    shipped: Option<ShippedPart>,
}

impl<'a> Drive<'a> {
    /// Whether a result is made of the run.
    fn is_saved(&self) -> bool {
        self.saving.is_some() || self.flags.export().is_some()
    }

    /// Runs the plan and gathers everything.
    pub fn finish_scenarios(
        self,
        planned: Planned,
        aggregate: Aggregate,
        elsewhere: Option<&mut (dyn Elsewhere + '_)>,
    ) -> Result<Ran, Failure> {
        let state = planned.plan.state();
        let recorder = Rc::new(Recorder::new(self.registry.clone()));
        let tap = outputs::tap(self.outputs);
        tap.iter().for_each(|tap| tap(0, &recorder));
        let config = RunConfig {
            prepare: tap,
            stopper: self.stopper.clone(),
            ..run_config(&planned.options, self.registry.clone(), state.clone())
        };
        self.board.iter().for_each(|board| {
            let mut seen = board.seen();
            (seen.state, seen.origin) = (Some(state.clone()), Some(config.origin));
        });
        let requests = self.board.filter(|_| elsewhere.is_some()).map(Board::load_requests);
        let program = &self.script.program;
        let setup = || program.setup_data().map(|data| data.to_string());
        let plan = planned.plan.clone();
        let is_saved = self.is_saved();
        let mut progress = Progress {
            planned,
            state,
            lifecycle: Lifecycle::new(elsewhere.as_ref().and_then(|fleet| fleet.begun_before().cloned())),
            samples: RunSamples {
                aggregate,
                recorder,
                timeline: Some(Timeline::new(self.registry.clone(), is_saved)),
                target: None,
                course: AnswerCourse::default(),
            },
            ticks: 0,
            generator: GeneratorWatch::new(),
            observer: Observer::new(self.registry.clone(), self.flags.test.secrets.clone(), self.screen.is_watched()),
            referee: None,
            shipped: None,
            drive: self,
        };
        let outcome = match elsewhere {
            Some(fleet) => {
                requests.into_iter().for_each(|requests| fleet.follow(requests));
                fleet.load_before().map_or(Ok(()), |before| progress.restore(before))?;
                fleet.run(&config, &setup, &mut |event| progress.take(event))
            }
            None => script::run(program, plan, config, &mut |event| progress.take(event)).map_err(run_failure),
        };
        Ok(progress.finish(outcome?))
    }
}

/// What the engine obeys of these options.
pub fn run_config(options: &Options, registry: Arc<Registry>, state: Arc<RunState>) -> RunConfig {
    RunConfig {
        system_tags: options.enabled_system_tags(),
        tags: options.tags.clone().unwrap_or_default(),
        min_iteration_duration: options.shortest_iteration(),
        rps: f64::from(options.rps.unwrap_or(0)),
        ..RunConfig::new(registry, state)
    }
}

impl Progress<'_> {
    fn take(&mut self, event: Event) {
        match event {
            Event::Making { done, of } => self.show_making(done, of),
            Event::Made => self.set_up(),
            Event::Started(start) => {
                self.generator.start(start, self.is_smoke());
                // The agents of a fleet look at themselves.
                if self.drive.flags.load.fleet.is_none() {
                    self.referee = self.begin_referee();
                }
                self.observer.start(start);
                let Drive { flags, registry, .. } = &self.drive;
                let shards = self.drive.shards;
                self.shipped = shards.map(|shards| shards.begin(flags, &self.planned.options, start, registry.clone()));
                self.samples.timeline.iter_mut().for_each(|timeline| timeline.start(start));
                self.watch_target();
            }
            Event::Tick(tick) => self.tick(tick),
            Event::Lost(text) => self.drive.log.write(Level::Error, &text, &[]),
            Event::Warning(text) => self.drive.log.write(Level::Warning, &text, &[]),
        }
    }

    fn begin_timeline(&mut self) {
        let Some(timeline) = &mut self.samples.timeline else { return };
        timeline.begin(self.lifecycle.began());
        let Some(saving) = self.drive.saving else { return };
        let Drive { flags, registry, .. } = &self.drive;
        let journal = saving.journal(flags, &self.planned.options, &self.lifecycle.started_at, registry.clone());
        journal.into_iter().for_each(|journal| timeline.keep(journal));
    }

    fn show_making(&mut self, done: u64, of: u64) {
        // Few users are made in no time; a line for each of them would be noise.
        if of >= 1000 && (done.is_multiple_of(500) || done == of) {
            self.drive.screen.note(&format!("init [{done}/{of} VUs initialized]"));
        }
    }

    fn set_up(&mut self) {
        if !self.is_resumed() {
            return;
        }
        let made = self.lifecycle.begin();
        // Another journal takes the place of the one that has it.
        let measured_before = self.setup_before();
        self.begin_timeline();
        if let Some(data) = &self.lifecycle.setup_before {
            self.drive.script.program.set_setup_data(data.as_deref());
        }
        measured_before.into_iter().for_each(|(took, snapshot)| self.samples.add_aside(took, snapshot));
        let is_left_out = self.planned.options.no_setup == Some(true) || self.lifecycle.setup_before.is_some();
        if is_left_out || self.drive.stopper.is_stopped() {
            self.show_setup();
            return;
        }
        self.drive.board.iter().for_each(|board| board.enter(Stage::Setup));
        let Script { program, runtime, .. } = self.drive.script;
        let stopper = self.drive.stopper.clone();
        let result = runtime.block_on(program.run_setup(&self.samples.recorder, async { stopper.stopped().await }));
        self.samples.add_recorded(made.elapsed());
        if let Err(error) = result {
            self.lifecycle.setup_error = Some(error);
            self.drive.stopper.stop(StopCause::Requested);
        }
        self.show_setup();
    }

    /// What `setup()` measured in a process that was killed, and how long it took.
    fn setup_before(&self) -> Option<(Duration, Snapshot)> {
        self.lifecycle.setup_before.as_ref()?;
        let Drive { saving, registry, log, .. } = &self.drive;
        saving.as_ref()?.setup_before(registry).unwrap_or_else(|why| {
            log.write(Level::Warning, &format!("--resume: what setup() measured is missing: {why}"), &[]);
            None
        })
    }

    /// Waits when the run is to begin paused; whether it begins at all.
    fn is_resumed(&self) -> bool {
        let Drive { script, log, stopper, registry, board, .. } = &self.drive;
        let Some(board) = board.filter(|_| self.planned.options.paused == Some(true)) else { return true };
        pause::wait(board, &pause::Service { script, registry, log }, async { stopper.stopped().await });
        !stopper.is_stopped()
    }

    /// What the REST API tells from now on.
    fn show_setup(&self) {
        let Some(board) = self.drive.board else { return };
        let data = self.drive.script.program.setup_data();
        let mut seen = board.seen();
        seen.stage = Stage::Running;
        seen.setup = data.and_then(|data| serde_json::from_str(&data).ok());
    }

    fn show_results(&self, elapsed: Duration) {
        let Some(board) = self.drive.board else { return };
        let results = self.samples.aggregate.results(elapsed, false);
        let summary = show_summary(&results, &self.planned.columns, elapsed);
        board.seen().summary = summary;
    }

    fn tick(&mut self, tick: Tick) {
        let program = &self.drive.script.program;
        if self.drive.flags.load.fleet.is_some() {
            self.generator.look_at_pace(&tick);
        } else {
            let said = self.generator.look(&tick, program).filter(|_| !self.drive.flags.verdict.accept_late);
            said.iter().for_each(|text| self.drive.log.write(Level::Warning, text, &[]));
        }
        self.samples.timeline.iter_mut().for_each(|timeline| timeline.keep_changes(&self.state.load_changes()));
        self.samples.tick(&tick, program.port_here());
        let RunSamples { aggregate, timeline, .. } = &mut self.samples;
        let problem = timeline.as_mut().and_then(Timeline::journal_problem);
        let of_shards = self.shipped.as_mut().and_then(|shipped| shipped.tick(&tick));
        problem.iter().chain(&of_shards).for_each(|text| self.drive.log.write(Level::Warning, text, &[]));
        self.observer.look(&tick);
        tick.snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
        for warning in aggregate.warnings() {
            self.drive.log.write(Level::Warning, &warning, &[]);
        }
        self.ticks += 1;
        if self.ticks.is_multiple_of(JUDGE_EVERY) && !tick.is_last {
            let verdict = aggregate.judge(tick.elapsed, Moment::Running);
            if verdict.abort {
                self.drive.stopper.stop(StopCause::Threshold(verdict.crossed.join(", ")));
            }
        }
        self.show_results(tick.elapsed);
        self.drive.log.look();
        self.drive.screen.show(&self.glance(tick.now, tick.elapsed, tick.is_last));
    }

    fn glance(&self, now: Duration, elapsed: Duration, is_over: bool) -> Glance {
        let run = Sources {
            planned: &self.planned.plan,
            state: &self.state,
            aggregate: &self.samples.aggregate,
            watch: self.generator.watch.as_ref(),
            is_fleet: self.drive.flags.load.fleet.is_some(),
        };
        self.observer.glance(&run, now, elapsed, is_over)
    }

    /// That of a fleet is elsewhere.
    fn watch_target(&mut self) {
        let LoadFlags { serve, fleet, .. } = &self.drive.flags.load;
        if fleet.is_none() {
            let target = self.samples.target.insert(TargetCpu::new(serve.is_some()));
            // The first look has nothing before it.
            let _first = target.look(None);
        }
    }

    fn begin_referee(&self) -> Option<RefereeThread> {
        self.drive.flags.verdict.referee.as_ref()?;
        let started =
            RefereeThread::start(self.drive.script.program.referee(), self.planned.options.network_settings());
        started.map_err(|text| self.drive.log.write(Level::Warning, &text, &[])).ok()
    }

    fn is_smoke(&self) -> bool {
        self.state.scenarios().len() == 1 && self.state.scenario_iterations(0) == Some(1)
    }

    fn finish(mut self, outcome: Outcome) -> Ran {
        self.shipped.iter_mut().for_each(|shipped| shipped.over(&outcome, &self.state));
        let began = self.lifecycle.began();
        let first = self.planned.plan.scenarios().map(|scenario| scenario.start_time).min().unwrap_or_default();
        self.drive.screen.settle();
        for worker in &outcome.stuck_workers {
            let text = format!(
                "worker {worker} did not end: a script is stuck in native code; its last second of samples \
                 is missing"
            );
            self.drive.log.write(Level::Error, &text, &[]);
        }
        Ran {
            is_smoke: self.is_smoke(),
            planned: self.planned,
            lifecycle: self.lifecycle,
            changes: self.state.load_changes(),
            samples: self.samples,
            duration: outcome.ended.saturating_sub(began),
            load: outcome.started.map_or(Duration::ZERO, |start| outcome.loaded_until.saturating_sub(start + first)),
            is_somebody_stuck: outcome.lost_users > 0 || !outcome.stuck_workers.is_empty(),
            generator: GeneratorAccount {
                health: outcome.health,
                clock_step_ms: self.generator.clock_step_ms(),
                referee: self.referee.map(RefereeThread::finish),
                meanwhile: self.generator.watch.as_ref().map(Watch::meanwhile).unwrap_or_default(),
                machine: self.generator.machine,
            },
            shipped: self.shipped,
        }
    }
}

/// The data of `handleSummary`, as it would be now.
pub fn show_summary(results: &Results, columns: &SummaryColumns, elapsed: Duration) -> serde_json::Value {
    let options = report::SummaryOptions {
        trend_stats: columns.trend_stats.clone(),
        time_unit: columns.time_unit,
        ..report::SummaryOptions::default()
    };
    let state = report::RunState { is_stdout_tty: false, is_stderr_tty: false, duration: elapsed };
    report::handle_summary_data(results, &options, &state, None)
}

/// Why there was no run.
pub fn run_failure(error: RunError) -> Failure {
    match error {
        RunError::Create(error) => Failure::new(ExitCode::of_script(error.exit_code), error.message),
        RunError::System(_) => Failure::new(ExitCode::Generic, error.to_string()),
    }
}
