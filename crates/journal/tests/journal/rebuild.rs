//! The journal of one process: what a run writes into it, and what a run that was killed comes to.
//!
//! The series of a result that is made of a journal are those of the run itself; what is damaged is told and ends it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::health::WorkerHealth;
use engine::scenario::Scenarios;
use engine::{Health, Tick};
use metrics::{ErrorKind, Recorder, Registry, Shard, Snapshot, TagSet, builtin};
use onrush_journal::{
    FILE_NAME, IntervalTimes, Journal, JournalHead, JournalReader, MergedTest, NoSecrets, Record, Redact, TargetSecond,
    TestPart, Timeline, rebuild, remove, remove_set_aside, set_aside, setup_of,
};
use report::document::{GeneratorSeconds, Points, TargetSeconds};
use serde_json::{Value, json};

use crate::support::{SECOND, folder, head};

const MS: Duration = Duration::from_millis(1);
/// When the run's clock starts, by the engine's.
const BEGAN: Duration = Duration::from_secs(100);

/// A run that keeps its seconds and writes a journal.
struct Run {
    recorder: Recorder,
    timeline: Timeline,
}

impl Run {
    fn begin(dir: &Path, head: &JournalHead) -> Run {
        let mut run = Run::without_journal();
        let registry = Arc::clone(run.recorder.registry());
        run.timeline.keep(Journal::begin(dir, head, registry, Box::new(NoSecrets)));
        run
    }

    fn without_journal() -> Run {
        let registry = Registry::new();
        let mut timeline = Timeline::new(registry.clone(), true);
        timeline.begin(BEGAN);
        Run { recorder: Recorder::new(registry), timeline }
    }

    fn iterations(&self, count: u64) -> Snapshot {
        let series = self.recorder.series(builtin::ITERATIONS, &TagSet::new([("scenario", "a")]));
        self.recorder.add(series, count as f64, 0);
        self.recorder.take()
    }

    fn aside(&mut self, took: Duration, iterations: u64) {
        let snapshot = self.iterations(iterations);
        self.timeline.aside(took, &snapshot);
    }

    fn tick(&mut self, now: Duration, cut: Duration, snapshots: Vec<Snapshot>, lately: Health, target: Option<f64>) {
        let [now, cut] = [now, cut].map(|time| BEGAN + time);
        let target = target.map(|cores| TargetSecond { cores, ..Default::default() });
        self.timeline.tick(&Tick { now, cut, elapsed: now, snapshots, is_last: false, lately }, target);
    }

    /// A second that ends at this time of the run's clock.
    fn second(&mut self, at: Duration, iterations: u64) {
        let snapshots = vec![self.iterations(iterations)];
        self.tick(at, at, snapshots, Health::default(), None);
    }
}

fn run(dir: &Path, head: &JournalHead) -> Run {
    ran(Run::begin(dir, head))
}

/// Setup of half a second, three seconds, teardown of a quarter.
fn ran(mut run: Run) -> Run {
    run.aside(500 * MS, 40);
    run.timeline.start(BEGAN + SECOND);
    [(2, 20), (3, 30), (4, 1)].into_iter().for_each(|(at, count)| run.second(at * SECOND, count));
    run.aside(250 * MS, 50);
    run
}

fn reading(dir: &Path) -> (JournalHead, JournalReader) {
    JournalReader::open(dir).expect("it can be read").expect("it is there")
}

fn rebuilt(dir: &Path) -> (MergedTest, Option<String>) {
    let (head, journal) = reading(dir);
    rebuild(head, journal).expect("it has intervals")
}

/// The sums of the iterations, interval by interval.
fn sums(seconds: &report::document::Seconds) -> Vec<Option<f64>> {
    let found = seconds.series.iter().find(|series| series.name == "iterations").expect("it has samples");
    match &found.points {
        Points::Counter { sum } => sum.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_that_was_killed_comes_to_what_was_measured() {
    let dir = folder("killed");
    let run = run(&dir, &head());
    assert_eq!(run.timeline.scenarios(), (SECOND, 4 * SECOND));
    assert_eq!(run.timeline.load(), 3 * SECOND);
    let (test, damage) = rebuilt(&dir);
    assert_eq!((test.duration, damage), (4250 * MS, None));
    assert_eq!((test.results.count("iterations"), test.results.duration), (141, 3 * SECOND));
    assert!(!test.is_crossed, "141 are more than 100");
    let seconds = &test.over_time.seconds;
    assert_eq!(sums(seconds), [40.0, 20.0, 30.0, 1.0, 50.0].map(Some));
    assert_eq!(seconds.starts_s, [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(seconds.lengths_s, [0.5, 1.0, 1.0, 1.0, 0.25]);
    assert_eq!((seconds.scenarios_start_s, seconds.scenarios_end_s), (1.0, 4.0));
    assert_eq!(seconds, &run.timeline.finish(std::iter::empty(), None).seconds, "as the run itself has them");
    assert_eq!((test.head.script.as_str(), test.over_time.began), ("script.js", SECOND));
}

#[test]
fn series_that_only_the_journal_has_are_those_that_memory_would_have() {
    let seconds = |run: Run| {
        let over_time = run.timeline.finish(std::iter::empty(), None);
        assert_eq!(over_time.problem, None);
        over_time.seconds
    };
    let in_memory = seconds(ran(Run::without_journal()));
    assert_eq!(sums(&in_memory), [40.0, 20.0, 30.0, 1.0, 50.0].map(Some));
    assert_eq!(seconds(run(&folder("read-back"), &head())), in_memory);
}

#[test]
fn seconds_that_cannot_be_read_back_are_gaps_and_told() {
    let dir = folder("gone");
    let own = run(&dir, &head());
    let path = dir.join(FILE_NAME);
    let whole = std::fs::read(&path).expect("read");
    std::fs::write(&path, &whole[..whole.len() - 3]).expect("written");
    let over_time = own.timeline.finish(std::iter::empty(), None);
    assert_eq!(sums(&over_time.seconds), [Some(40.0), Some(20.0), Some(30.0), Some(1.0), None]);
    assert_eq!(over_time.seconds.lengths_s, [0.5, 1.0, 1.0, 1.0, 0.25]);
    let problem = over_time.problem.expect("it is told");
    let begins = "charts over time lack 1 of 5 intervals, which the journal had: interval 5 of the journal is damaged";
    assert!(problem.starts_with(begins), "{problem}");

    let own = run(&dir, &head());
    std::fs::remove_file(&path).expect("removed");
    let over_time = own.timeline.finish(std::iter::empty(), None);
    assert_eq!((over_time.seconds.lengths_s.len(), over_time.seconds.series.len()), (5, 0));
    let removed = format!("{} was removed while the test ran", path.display());
    let lacks = format!("charts over time lack 5 of 5 intervals, which the journal had: {removed}");
    assert_eq!(over_time.problem, Some(lacks));
}

#[test]
fn thresholds_are_judged_over_all_that_was_measured() {
    let crossed = |name: &str, limit: &str| {
        let (dir, mut head) = (folder(name), head());
        head.options = json!({ "thresholds": { "iterations": [limit] }, "summaryTrendStats": ["max", "p(42)"] });
        run(&dir, &head);
        let (test, _) = rebuilt(&dir);
        let stats: Vec<&str> = test.stats.iter().map(report::TrendStat::label).collect();
        assert_eq!(stats, ["max", "p(42)"]);
        test.is_crossed
    };
    assert_eq!((crossed("holds", "count<142"), crossed("crossed", "count<141")), (false, true));
    let (dir, mut head) = (folder("no-metric"), head());
    head.options = json!({ "thresholds": { "unknown": ["count<1"] } });
    run(&dir, &head);
    let (head, journal) = reading(&dir);
    let error = rebuild(head, journal).err().expect("no interval can be added");
    assert_eq!(
        error,
        format!("{}: it has no interval: the run was over before its first second was", dir.join(FILE_NAME).display())
    );
}

#[test]
fn what_is_damaged_ends_the_journal_and_is_told() {
    let dir = folder("damaged");
    run(&dir, &head());
    let path = dir.join(FILE_NAME);
    let whole = std::fs::read(&path).expect("read");
    std::fs::write(&path, &whole[..whole.len() - 3]).expect("written");
    let (test, damage) = rebuilt(&dir);
    assert_eq!((test.results.count("iterations"), test.duration), (91, 4 * SECOND));
    let damage = damage.expect("it is told");
    assert!(damage.starts_with("interval 5 of the journal is damaged and ends it: it ends after "), "{damage}");

    std::fs::write(&path, &whole).expect("written");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("opened");
    let end = postcard::to_allocvec(&Record::End(vec![1])).expect("plain data");
    write_frame(&mut file, &end);
    let (test, damage) = rebuilt(&dir);
    assert_eq!(test.results.count("iterations"), 141);
    let expected = "interval 6 of the journal is damaged and ends it: it ends as that of an agent does";
    assert_eq!(damage.as_deref(), Some(expected));
}

/// Length, checksum, content.
fn write_frame(file: &mut impl std::io::Write, content: &[u8]) {
    let head = [content.len() as u32, crc32fast::hash(content)].map(u32::to_le_bytes).concat();
    file.write_all(&[&head, content].concat()).expect("written");
}

#[test]
fn a_file_that_is_no_journal_says_what_was_expected() {
    let dir = folder("no-journal");
    assert!(JournalReader::open(&dir).expect("there is none").is_none());
    let path = dir.join(FILE_NAME);
    let problem = || JournalReader::open(&dir).err().expect("it is refused");
    std::fs::write(&path, "{}").expect("written");
    let begins = format!("{}: it does not begin as the journal of a run with --save does: ", path.display());
    assert_eq!(problem(), format!("{begins}it ends after 2 of the 8 bytes of a frame's head"));
    for (head, found) in [
        (JournalHead { schema: 4, ..head() }, "found onrush-journal of schema 4"),
        (JournalHead { kind: String::from("diary"), ..head() }, "found diary of schema 6"),
    ] {
        let mut file = std::fs::File::create(&path).expect("made");
        write_frame(&mut file, serde_json::to_string(&head).expect("plain data").as_bytes());
        let expected = "expected onrush-journal of schema 6: use the Onrush that wrote it";
        assert_eq!(problem(), format!("{}: {found}, {expected}", path.display()));
    }
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("made");
    assert!(problem().contains(&path.display().to_string()));
}

#[test]
fn setup_is_found_for_the_run_that_goes_on() {
    let dir = folder("setup");
    let registry = Registry::new();
    let setup = |dir: &Path| {
        setup_of(dir, &registry).map(|found| found.map(|(took, snapshot)| (took, snapshot.total(builtin::ITERATIONS))))
    };
    assert_eq!(setup(&dir), Err(format!("{} has no journal", dir.display())));
    let mut own = Run::begin(&dir, &head());
    assert_eq!(setup(&dir), Ok(None), "nothing was measured yet");
    own.timeline.aside(400 * MS, &own.recorder.take());
    assert_eq!(setup(&dir), Ok(None), "nothing was measured in setup");
    own.aside(500 * MS, 40);
    assert_eq!(setup(&dir), Ok(Some((500 * MS, (1, 40.0)))));
    let none = folder("no-setup");
    let mut own = Run::begin(&none, &head());
    own.timeline.start(BEGAN);
    own.second(SECOND, 3);
    assert_eq!(setup(&none), Ok(None));
}

#[test]
fn a_journal_that_was_kept_is_read_as_far_as_its_load() {
    let dir = folder("kept");
    let mut own = run(&dir, &head());
    let length = own.timeline.journal_length().expect("it is written");
    assert_eq!(length, std::fs::metadata(dir.join(FILE_NAME)).expect("it is there").len());
    own.aside(SECOND, 7);
    let iterations = |dir: &Path, length| {
        let (head, journal) = JournalReader::open_ended(dir, length)?.expect("it is there");
        rebuild(head, journal).map(|(test, damage)| (test.results.count("iterations"), damage))
    };
    assert_eq!(iterations(&dir, length), Ok((141, None)));
    let more = own.timeline.journal_length().expect("it is written");
    assert_eq!(iterations(&dir, more), Ok((148, None)));
    let path = dir.join(FILE_NAME).display().to_string();
    let cut = format!("{path} is cut: found {more} bytes, expected {}", more + 1);
    assert_eq!(iterations(&dir, more + 1), Err(cut));
    set_aside(&dir);
    assert!(JournalReader::open(&dir).expect("there is none").is_none(), "it is out of the way");
    assert_eq!(iterations(&dir, length), Ok((141, None)), "where it is by now");
    remove(&dir);
    assert_eq!(iterations(&dir, length), Ok((141, None)), "another file");
    remove_set_aside(&dir);
    assert!(JournalReader::open_ended(&dir, length).expect("there is none").is_none());
    let dir = folder("removed");
    run(&dir, &head());
    remove(&dir);
    assert!(JournalReader::open(&dir).expect("there is none").is_none());
}

#[test]
fn a_journal_that_cannot_be_written_is_told_once() {
    let dir = folder("full-disk");
    std::os::unix::fs::symlink("/dev/full", dir.join(FILE_NAME)).expect("made");
    let mut own = run(&dir, &head());
    let path = dir.join(FILE_NAME).display().to_string();
    let problem = own.timeline.journal_problem().expect("it is told");
    assert!(problem.starts_with(&format!("cannot write {path}: No space left on device")), "{problem}");
    assert!(problem.ends_with("; the run goes on, and is lost if the process is killed"), "{problem}");
    assert_eq!((own.timeline.journal_problem(), own.timeline.journal_length()), (None, None));
    assert_eq!(sums(&own.timeline.finish(std::iter::empty(), None).seconds).len(), 5, "the run has its seconds");
    let mut none = Timeline::new(Registry::new(), true);
    assert_eq!((none.journal_problem(), none.journal_length()), (None, None));
    let written = folder("written");
    assert_eq!(run(&written, &head()).timeline.journal_problem(), None);
}

/// Takes out what the head is called, and every sample.
struct Secrets;

impl Redact for Secrets {
    fn json(&self, mut head: Value) -> Value {
        head["script"] = Value::from("***");
        head
    }

    fn samples(&self, samples: &mut Shard) -> bool {
        *samples = metrics::ShardWriter::new(Registry::new()).shard([]);
        true
    }
}

#[test]
fn secrets_are_taken_out_before_anything_is_written() {
    let dir = folder("secrets");
    let registry = Registry::new();
    let mut journal = Journal::begin(&dir, &head(), registry.clone(), Box::new(Secrets));
    assert!(journal.is_written());
    assert_eq!(journal.path(), dir.join(FILE_NAME));
    let recorder = Recorder::new(registry);
    recorder.add(recorder.series(builtin::ITERATIONS, &TagSet::empty()), 1.0, 0);
    let times = IntervalTimes::new((Duration::ZERO, SECOND), (Duration::ZERO, SECOND));
    journal.add(None, times, &[recorder.take()]);
    let (head, journal) = reading(&dir);
    assert_eq!(head.script, "***");
    let (test, damage) = rebuild(head, journal).expect("it has an interval");
    assert_eq!((test.results.count("iterations"), test.duration, damage), (0, SECOND, None));
}

#[test]
fn series_with_a_secret_stay_in_memory_as_they_are() {
    let mut own = Run::without_journal();
    let registry = Arc::clone(own.recorder.registry());
    own.timeline.keep(Journal::begin(&folder("secret-series"), &head(), registry, Box::new(Secrets)));
    let over_time = ran(own).timeline.finish(std::iter::empty(), None);
    assert_eq!(sums(&over_time.seconds), [40.0, 20.0, 30.0, 1.0, 50.0].map(Some));
    assert_eq!(over_time.problem, None);
}

#[test]
fn an_interval_is_of_the_load_until_the_scenarios_are_over() {
    let times = |from, to, end| IntervalTimes::new((from * SECOND, to * SECOND), (SECOND, end * SECOND));
    assert_eq!(times(1, 2, 2).interval(), (SECOND, 2 * SECOND));
    assert_eq!(times(3, 4, 5).scenarios(), (SECOND, 5 * SECOND));
    assert_eq!([times(1, 2, 2), times(2, 3, 2), times(3, 4, 2)].map(|times| times.is_load()), [true, false, false]);
    let setup = IntervalTimes::new((Duration::ZERO, SECOND), (Duration::ZERO, Duration::ZERO));
    assert!(!setup.is_load());
}

fn fared(cpu_shares: &[f64], cores: f64) -> Health {
    let worker = |share: &f64| WorkerHealth { cpu_share: *share, lag_p99_ms: 10.0 * share, ..WorkerHealth::default() };
    Health { workers: cpu_shares.iter().map(worker).collect(), process_cores: cores, ..Health::default() }
}

fn plan() -> Scenarios {
    let plan = json!({ "a": { "executor": "constant-arrival-rate", "rate": 90, "timeUnit": "1m", "duration": "3s",
                              "preAllocatedVUs": 1 } });
    Scenarios::from_json(&plan).expect("a plan")
}

#[test]
fn the_generator_stands_beside_the_seconds() {
    let dir = folder("generator");
    let mut own = Run::begin(&dir, &head());
    own.aside(SECOND, 1);
    own.timeline.start(BEGAN + SECOND);
    let snapshots = vec![own.iterations(1)];
    own.tick(2 * SECOND, 2 * SECOND, snapshots, fared(&[0.25, 0.5], 0.75), Some(0.123_456));
    let snapshots = vec![own.iterations(2)];
    own.tick(3 * SECOND, 3 * SECOND, snapshots, fared(&[], 0.0), None);
    own.tick(5 * SECOND, 5 * SECOND, Vec::new(), fared(&[0.333_333], 0.333_333), None);
    let over_time = own.timeline.finish(plan().iter(), Some("the target"));
    let generator = GeneratorSeconds {
        cores: vec![None, Some(0.75), None, Some(0.3333)],
        busiest_share: vec![None, Some(0.5), None, Some(0.3333)],
        lag_p99_ms: vec![None, Some(5.0), None, Some(3.333)],
        planned_per_second: vec![None, Some(1.5), Some(1.5), Some(0.75)],
        target: Some(TargetSeconds {
            name: "the target".to_owned(),
            cores: vec![None, Some(0.1235), None, None],
            ..Default::default()
        }),
    };
    assert_eq!(over_time.generator, Some(generator));
    assert!(over_time.requests.is_some());
}

#[test]
fn nothing_of_the_generator_where_nothing_was_seen_or_nobody_keeps_it() {
    let dir = folder("no-generator");
    let none = run(&dir, &head()).timeline.finish(std::iter::empty(), Some("the target"));
    assert_eq!(none.generator, None);
    let planned = run(&dir, &head()).timeline.finish(plan().iter(), Some("the target")).generator.expect("a plan");
    assert_eq!((planned.cores, planned.target), (vec![None; 5], None));

    let registry = Registry::new();
    let mut timeline = Timeline::new(Arc::clone(&registry), false);
    timeline.begin(BEGAN);
    timeline.start(BEGAN);
    let recorder = Recorder::new(registry);
    for metric in [builtin::ITERATIONS, builtin::DATA_SENT, builtin::VUS] {
        recorder.add(recorder.series(metric, &TagSet::empty()), 1.0, 0);
    }
    let (now, snapshots, lately) = (BEGAN + SECOND, vec![recorder.take()], fared(&[0.5], 0.5));
    timeline.tick(&Tick { now, cut: now, elapsed: SECOND, snapshots, is_last: true, lately }, Some(Default::default()));
    let over_time = timeline.finish(plan().iter(), Some("the target"));
    assert_eq!((over_time.generator, over_time.requests.is_none()), (None, true));
    let names: Vec<&str> = over_time.seconds.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["iterations", "vus"], "what tells how steady it was");
}

#[test]
fn what_comes_behind_the_last_cut_has_an_interval_of_its_own() {
    let dir = folder("stuck");
    let mut own = Run::begin(&dir, &head());
    own.timeline.start(BEGAN + SECOND);
    own.second(2 * SECOND, 1);
    // Nothing new: no interval.
    own.tick(3 * SECOND, 2 * SECOND, Vec::new(), Health::default(), None);
    own.tick(2 * SECOND, 2 * SECOND, vec![own.recorder.take()], Health::default(), None);
    assert_eq!(own.timeline.load(), 2 * SECOND);
    // A stuck worker's samples, handed over when the cut is long past.
    let snapshots = vec![own.iterations(5)];
    own.tick(3500 * MS, 2 * SECOND, snapshots, Health::default(), None);
    // Handed over in the same moment: an interval without a length.
    let snapshots = vec![own.iterations(7)];
    own.tick(3 * SECOND, 2 * SECOND, snapshots, Health::default(), None);
    assert_eq!(own.timeline.scenarios(), (SECOND, 3500 * MS));
    let seconds = own.timeline.finish(std::iter::empty(), None).seconds;
    assert_eq!(seconds.starts_s, [1.0, 2.0, 3.0, 3.5]);
    assert_eq!(seconds.lengths_s, [1.0, 1.0, 0.5, 0.0]);
    assert_eq!(sums(&seconds), [Some(1.0), None, Some(5.0), Some(7.0)]);
}

#[test]
fn times_are_told_to_a_tenth_of_a_millisecond() {
    let dir = folder("rounded");
    let mut own = Run::begin(&dir, &head());
    own.timeline.start(BEGAN + Duration::from_micros(1_234_560));
    own.second(Duration::from_micros(2_345_640), 1);
    let seconds = own.timeline.finish(std::iter::empty(), None).seconds;
    assert_eq!((seconds.starts_s, seconds.lengths_s), (vec![1.2346], vec![1.1111]));
    assert_eq!((seconds.scenarios_start_s, seconds.scenarios_end_s), (1.2346, 2.3456));
}

#[test]
fn an_error_is_told_with_its_first_and_last_second() {
    let dir = folder("errors");
    let mut own = Run::begin(&dir, &head());
    own.timeline.start(BEGAN + SECOND);
    let kind = ErrorKind::Exception("it broke".into());
    for (at, count) in [(2, 1), (3, 0), (4, 2), (5, 0)] {
        (0..count).for_each(|_| own.recorder.count_error(&kind));
        own.second(at * SECOND, 1);
    }
    let over_time = own.timeline.finish(std::iter::empty(), None);
    assert_eq!(over_time.times_of_error(&kind), Some((0.0, 3.0)));
    assert_eq!(over_time.times_of_error(&ErrorKind::Exception("another".into())), None);
}

#[test]
fn the_steady_stretch_of_a_run_that_warmed_up_has_figures_of_its_own() {
    let dir = folder("steady");
    let mut own = Run::begin(&dir, &head());
    own.timeline.start(BEGAN + 2 * SECOND);
    let durations = own.recorder.series(builtin::ITERATION_DURATION, &TagSet::new([("scenario", "a")]));
    for second in 1..=40 {
        // Ten seconds of warming up, then four answers a second, in the middle 10 ms.
        let ms = if second <= 10 { 100.0 } else { 10.0 };
        [ms - 2.0, ms, ms, ms + 4.0].into_iter().for_each(|ms| own.recorder.add(durations, ms, 0));
        own.second((2 + second) * SECOND, 4);
    }
    let plan = json!({ "a": { "executor": "constant-vus", "vus": 4, "duration": "40s" } });
    let plan = Scenarios::from_json(&plan).expect("a plan");
    let steadiness = own.timeline.finish(plan.iter(), None).steadiness.expect("40 seconds at one load");
    let stretches: Vec<(f64, f64)> =
        steadiness.stretches.iter().map(|stretch| (stretch.from_s, stretch.to_s)).collect();
    assert_eq!((stretches, steadiness.steady), (vec![(0.0, 10.0), (10.0, 40.0)], Some(1)));
    let figures = steadiness.figures.expect("one of two stretches");
    assert_eq!((figures.from_s, figures.to_s, figures.samples, figures.per_second), (10.0, 40.0, 120, 4.0));
    assert_eq!((figures.avg, figures.max), (10.5, 14.0));
    let percents: Vec<f64> = figures.percentiles.iter().map(|figure| figure.percent).collect();
    assert_eq!(percents, [50.0, 90.0, 95.0, 99.0]);
}

#[test]
fn the_journal_of_a_part_is_no_run_of_its_own() {
    let dir = folder("of-part");
    let part = TestPart {
        run: String::from("run"),
        index: 0,
        of: 2,
        name: String::from("host"),
        incarnation: 1,
        bound_ns: 0,
        is_on_its_own: false,
    };
    run(&dir, &JournalHead { part: Some(part.clone()), ..head() });
    assert_eq!(reading(&dir).0.part, Some(part));
}
