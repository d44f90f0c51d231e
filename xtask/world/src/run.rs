//! Runs one world from its beginning to its end, as the command line runs a test: plan, outputs, journal, ticks,
//! results; then asks the judges.
//!
//! Files are real ones in a folder in memory. A full disk is the kernel's own: no file of this process may grow past a
//! size (RLIMIT_FSIZE), so that a write takes a part and the next one nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::clock::{Clock, FakeClock};
use engine::run::run_simulated;
use engine::scenario::Scenarios;
use engine::segment::Stripes;
use engine::{Event, Outcome, Plan, RunConfig, RunState, StopCause, Stopper, Tick};
use journal::{FILE_NAME, Journal, JournalHead, KIND, NoSecrets, SCHEMA, Timeline};
use metrics::{Aggregate, Recorder, Registry, Results, SystemTags, ThresholdSpecs, Thresholds};
use outputs::{Outputs, Setup};
use serde_json::json;

use crate::case::{Case, Files};
use crate::disk::{Disk, Limit};
use crate::judge::written::{Expected, Point, Samples, check_journal, digest, spoil};
use crate::judge::{counts, figures};
use crate::network::WorldNetwork;
use crate::user::{WorldUsers, forget_workers};
use crate::world::World;

thread_local!(static POINTS: RefCell<Vec<Point>> = RefCell::default());

/// What a world was, for those who want to know whether the seeds do what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Exchanges that users were told of, and the failed ones among them.
    pub exchanges: u64,
    /// Those that failed.
    pub failed: u64,
    /// Iterations that began.
    pub iterations: u64,
    /// Iterations that were cut short.
    pub interrupted: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Journals that were read back.
    pub journals: u64,
    /// Files of samples that were read back.
    pub outputs: u64,
}

impl Tally {
    /// Adds another world.
    pub fn add(&mut self, other: &Tally) {
        self.exchanges += other.exchanges;
        self.failed += other.failed;
        self.iterations += other.iterations;
        self.interrupted += other.interrupted;
        self.connections += other.connections;
        self.journals += other.journals;
        self.outputs += other.outputs;
    }
}

/// What collects the samples of a run.
struct Measured {
    aggregate: Aggregate,
    timeline: Timeline,
}

/// A journal while it is written.
#[derive(Default)]
struct JournalWatch {
    ticks: usize,
    /// Totals after the last interval that was written, or after the one before the kill.
    totals: Option<Vec<String>>,
    /// Bytes of the journal then, and after the next interval.
    length: u64,
    next_length: Option<u64>,
    is_broken: bool,
}

/// Runs a case and judges it.
pub(crate) fn run(case: &Case) -> Result<Tally, String> {
    let files = &case.files;
    let has_files = files.has_journal || files.has_outputs;
    let disk = has_files.then(Disk::take);
    let world = World::new(case.clone());
    let _present = world.enter();
    forget_workers();
    let installed = wire::simulated::install(Rc::new(WorldNetwork(Rc::clone(&world))));
    let ran = execute(&world, disk.as_ref());
    // Clients have sockets of this network.
    forget_workers();
    drop(installed);
    ran
}

fn execute(world: &Rc<World>, disk: Option<&Disk>) -> Result<Tally, String> {
    let (case, files) = (&world.case, &world.case.files);
    let scenarios = Scenarios::from_json(&case.scenarios).map_err(|error| error.to_string())?;
    let plan = Plan::new(&scenarios, &Stripes::whole(), case.workers).map_err(|error| error.to_string())?;
    let (registry, state, stopper) = (Registry::new(), plan.state(), Stopper::new());
    let mut config = RunConfig::new(Arc::clone(&registry), Arc::clone(&state));
    config.stopper = stopper.clone();
    let limit = disk.zip(files.disk_bytes).map(|(_, bytes)| Limit::set(bytes)).transpose()?;
    let outputs = disk.filter(|_| files.has_outputs).map(|disk| open_outputs(disk, &registry)).transpose()?;
    if let Some(outputs) = &outputs {
        config.prepare = Some(prepare(outputs, &registry));
    }
    let mut timeline = Timeline::new(Arc::clone(&registry), true);
    let journal = disk.filter(|_| files.has_journal);
    if let Some(disk) = journal {
        timeline.keep(Journal::begin(disk.folder(), &head(case), Arc::clone(&registry), Box::new(NoSecrets)));
    }
    let aggregate = Aggregate::new(Arc::clone(&registry), Thresholds::default());
    let mut samples = Measured { aggregate, timeline };
    let mut watch = JournalWatch::default();
    let clock = world.clock.clone();
    let on_event = |event: Event| match event {
        Event::Made => samples.timeline.begin(clock.now()),
        Event::Started(at) => {
            samples.timeline.start(at);
            stop_later(world, &stopper, at, &clock);
        }
        Event::Tick(tick) => samples.tick(tick, journal, files, &mut watch),
        Event::Warning(_) | Event::Lost(_) | Event::Making { .. } => {}
    };
    let outcome = run_simulated(plan, Arc::new(WorldUsers), config, &world.clock, on_event);
    let lost = outputs.map(Outputs::finish).unwrap_or_default();
    drop(limit);
    let outcome = outcome.map_err(|error| error.to_string())?;
    let Measured { aggregate, timeline } = samples;
    let results = aggregate.results(timeline.load(), false);
    drop(timeline);
    verdict(world, &results, &state, &outcome)?;
    if let Some(disk) = journal {
        watch.judge(disk, files, world)?;
    }
    if let Some(disk) = disk.filter(|_| files.has_outputs) {
        judge_outputs(disk, files, &lost)?;
    }
    Ok(tally(world, files))
}

/// The test is stopped from outside.
fn stop_later(world: &Rc<World>, stopper: &Stopper, start: Duration, clock: &FakeClock) {
    if let Some(at) = world.case.stopped_at {
        let (clock, stopper) = (clock.clone(), stopper.clone());
        tokio::task::spawn_local(async move {
            clock.sleep_until(start + at).await;
            stopper.stop(StopCause::Signal("SIGINT"));
        });
    }
}

fn verdict(world: &World, results: &Results, state: &RunState, outcome: &Outcome) -> Result<(), String> {
    let wrong = world.ledger.borrow().wrong.join("\n");
    if !wrong.is_empty() {
        return Err(wrong);
    }
    counts::requests(world, results)?;
    counts::iterations(world, state, results, outcome)?;
    figures::check(world, results)
}

fn tally(world: &World, files: &Files) -> Tally {
    let ledger = world.ledger.borrow();
    Tally {
        exchanges: ledger.told.exchanges,
        failed: ledger.told.failed,
        iterations: ledger.diary.len() as u64,
        interrupted: ledger.cut_short(),
        connections: ledger.connections.len() as u64,
        journals: u64::from(files.has_journal),
        outputs: 2 * u64::from(files.has_outputs),
    }
}

fn head(case: &Case) -> JournalHead {
    JournalHead {
        kind: KIND.to_owned(),
        schema: SCHEMA,
        started_at: String::from("2001-09-09T01:46:40Z"),
        script: String::from("world.js"),
        labels: BTreeMap::new(),
        options: json!({ "scenarios": case.scenarios }),
        environment: Default::default(),
        part: None,
    }
}

fn open_outputs(disk: &Disk, registry: &Arc<Registry>) -> Result<Outputs, String> {
    let setup = Setup {
        registry: Arc::clone(registry),
        thresholds: &ThresholdSpecs::default(),
        system_tags: SystemTags::default(),
        env: &BTreeMap::new(),
        stdout: &|| Err(std::io::ErrorKind::Unsupported.into()),
        tell: Arc::new(|_: &str| {}),
    };
    let path = |name: &str| disk.folder().join(name).display().to_string();
    let wanted = [format!("json={}", path("samples.json")), format!("csv={}", path("samples.csv"))];
    Outputs::open(&wanted, &setup).map_err(|error| error.to_string())
}

/// Each recorder shows its samples to the outputs, and to the judge.
fn prepare(outputs: &Outputs, registry: &Arc<Registry>) -> engine::Prepare {
    let (tap, registry) = (outputs.tap(), Arc::clone(registry));
    POINTS.with_borrow_mut(Vec::clear);
    Arc::new(move |_, recorder: &Recorder| {
        tap(recorder);
        let registry = Arc::clone(&registry);
        recorder.set_tap(Box::new(move |sample| {
            let name = registry.definition(sample.metric).name.to_string();
            POINTS.with_borrow_mut(|points| points.push((name, sample.value)));
        }));
    })
}

impl Measured {
    fn tick(&mut self, tick: Tick, journal: Option<&Disk>, files: &Files, watch: &mut JournalWatch) {
        self.timeline.tick(&tick, None);
        tick.snapshots.into_iter().for_each(|snapshot| self.aggregate.merge(snapshot));
        let Some(disk) = journal else { return };
        let length = std::fs::metadata(disk.folder().join(FILE_NAME)).map_or(0, |metadata| metadata.len());
        watch.is_broken |= self.timeline.journal_problem().is_some();
        let is_wanted = match files.disk_bytes {
            Some(_) => !watch.is_broken,
            None => watch.ticks <= files.killed_at,
        };
        if is_wanted {
            // A tick without anything is no interval.
            if length > watch.length || watch.totals.is_none() {
                watch.totals = Some(digest(&self.aggregate.results(self.timeline.load(), false)));
            }
            watch.length = length;
        } else if files.disk_bytes.is_none() && length > watch.length {
            watch.next_length.get_or_insert(length);
        }
        watch.ticks += 1;
    }
}

impl JournalWatch {
    /// A disk that is full leaves what was whole; a kill, what was whole before it.
    fn judge(&self, disk: &Disk, files: &Files, world: &World) -> Result<(), String> {
        let totals = self.totals.as_deref();
        if files.disk_bytes.is_some() {
            // A disk that is full where a frame ends leaves nothing that is not whole.
            let length = std::fs::metadata(disk.folder().join(FILE_NAME)).map_or(0, |metadata| metadata.len());
            return check_journal(disk.folder(), &Expected { totals, is_damaged: length > self.length });
        }
        let Some(next) = self.next_length else {
            return check_journal(disk.folder(), &Expected { totals, is_damaged: false });
        };
        let at = world.draw(|random| random.u64(self.length..next));
        let is_cut = world.draw(fastrand::Rng::bool);
        spoil(disk.folder(), at, is_cut)?;
        let is_damaged = at > self.length || !is_cut;
        check_journal(disk.folder(), &Expected { totals, is_damaged })
    }
}

fn judge_outputs(disk: &Disk, files: &Files, told: &[String]) -> Result<(), String> {
    let read = |name: &str| {
        let bytes = std::fs::read(disk.folder().join(name)).map_err(|error| format!("{name}: {error}"))?;
        Ok::<String, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let lost = |name: &str| {
        let line = told.iter().find_map(|line| line.strip_prefix(&format!("output {name} lost ")));
        line.and_then(|line| line.split(' ').next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    if files.disk_bytes.is_none() && !told.is_empty() {
        return Err(format!("outputs lost something on a disk that is not full: {told:?}"));
    }
    POINTS.with_borrow(|all| {
        Samples { all, lost: lost("json") }.check_json(&read("samples.json")?)?;
        Samples { all, lost: lost("csv") }.check_csv(&read("samples.csv")?)
    })
}
