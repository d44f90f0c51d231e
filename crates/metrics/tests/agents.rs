//! Many agents against one process: the same samples, dealt out among so many, come to the same results in every bit,
//! whatever arrives first.

mod told;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use onrush_metrics::errors::ErrorKind;
use onrush_metrics::metric::{Contains, Kind};
use onrush_metrics::threshold::{Moment, ThresholdSpec};
use onrush_metrics::{
    AgentUsers, Aggregate, MetricId, Recorder, Registry, SecondOfAgents, Seconds, Shard, ShardReader, ShardWriter,
    Snapshot, TagSet, Thresholds, builtin,
};
use told::told;

const SECOND: Duration = Duration::from_secs(1);
const SECONDS: u64 = 4;
const ITERATIONS: u64 = 400;

/// A process that runs the script.
struct Process {
    registry: Arc<Registry>,
    recorder: Recorder,
}

const OWN: [(&str, Kind); 3] = [("own_trend", Kind::Trend), ("own_counter", Kind::Counter), ("own_gauge", Kind::Gauge)];

impl Process {
    /// One that happens to define its metrics in an order of its own.
    fn new(agent: usize) -> Process {
        let registry = Registry::new();
        registry.set_breakdown(true);
        let mut own = OWN;
        own.rotate_left(agent % OWN.len());
        for (name, kind) in own {
            registry.define(name, kind, Contains::Time).expect("a new name");
        }
        registry.split(builtin::HTTP_REQS, &["status"]);
        Process { recorder: Recorder::new(registry.clone()), registry }
    }

    fn add(&self, metric: MetricId, tags: &[(&str, &str)], value: f64, at_ns: u64) {
        let scenario = [("scenario", "main")].into_iter().chain(tags.iter().copied());
        self.recorder.add(self.recorder.series(metric, &TagSet::new(scenario)), value, at_ns);
    }

    /// What the iteration of this number does, wherever it runs.
    fn iterate(&self, number: u64) {
        let mut rng = Rng::with_seed(number);
        let own = |at: usize| self.registry.find(OWN[at].0).expect("it is defined");
        let (at_ns, ms) = (number * 1_000, rng.u64(50_000..900_000_000) as f64 / 1e6);
        let status = *rng.choice(&["200", "200", "200", "404", "503"]).expect("some");
        for group in ["", "::sign in"] {
            let tags = [("group", group), ("status", status), ("expected_response", "true")];
            self.add(builtin::HTTP_REQS, &tags, 1.0, at_ns);
            self.add(builtin::HTTP_REQ_DURATION, &tags, ms, at_ns);
            self.add(builtin::CHECKS, &[("group", group), ("check", "is fine")], f64::from(status == "200"), at_ns);
        }
        self.add(builtin::DATA_RECEIVED, &[], rng.u32(100..9_000).into(), at_ns);
        self.add(builtin::GROUP_DURATION, &[("group", "::sign in")], ms + 0.1, at_ns);
        self.add(own(0), &[], (rng.f64() - 0.5) * 10_f64.powi(rng.i32(-300..300)), at_ns);
        self.add(own(1), &[], rng.f64() / 3.0, at_ns);
        self.add(own(2), &[], rng.f64() * 9.0, at_ns);
        if rng.u32(..40) == 0 {
            self.add(builtin::CHECKS, &[("group", "::rare"), ("check", "seldom")], 1.0, at_ns);
            self.recorder.count_error(&ErrorKind::Exception(format!("user {} is gone", rng.u32(..3)).into()));
            self.add(own(0), &[], f64::NAN, at_ns);
        }
    }

    fn users(&self, at_work: u64, initialised: u64, second: u64) {
        self.add(builtin::VUS, &[], at_work as f64, second * 1_000_000_000);
        self.add(builtin::VUS_MAX, &[], initialised as f64, second * 1_000_000_000);
    }
}

/// Which iterations are in a second.
fn iterations(second: u64) -> impl Iterator<Item = u64> {
    (0..ITERATIONS).filter(move |number| number % SECONDS == second)
}

/// What the collecting side has: the script's metrics, thresholds, and what came in.
struct Collected {
    registry: Arc<Registry>,
    aggregate: Aggregate,
    seconds: Seconds,
}

impl Collected {
    fn new(process: &Process) -> Collected {
        let registry = process.registry.clone();
        let spec = |text: &str| {
            vec![ThresholdSpec { threshold: text.to_owned(), abort_on_fail: false, delay_abort_eval: None }]
        };
        let specs = [("own_trend", "avg<1"), ("http_reqs{status:404}", "rate<3"), ("vus", "value==0")];
        let specs = specs.into_iter().map(|(key, text)| (key.to_owned(), spec(text))).collect();
        let thresholds = Thresholds::resolve(&specs, &registry).expect("valid thresholds");
        let aggregate = Aggregate::new(registry.clone(), thresholds);
        Collected { seconds: Seconds::new(registry.clone()), registry, aggregate }
    }

    fn add(&mut self, second: u64, snapshot: Snapshot) {
        let start = SECOND * second as u32;
        self.seconds.add(start, start + SECOND, std::slice::from_ref(&snapshot));
        if second == 0 { self.aggregate.merge_aside(snapshot) } else { self.aggregate.merge(snapshot) }
    }

    fn told(mut self) -> String {
        let verdict = self.aggregate.judge(SECOND * SECONDS as u32, Moment::End);
        let results = self.aggregate.results(SECOND * SECONDS as u32, true);
        let (refused, series) = (self.aggregate.refused(), self.seconds.into_series());
        format!("{verdict:?} {refused} {series:?}\n{}", told(&results))
    }
}

fn users(agent: u64) -> u64 {
    agent * 7 % 5 + 1
}

/// Some agents are at the end before the others, and then tell of no users; they have them still.
fn is_over(agent: u64, second: u64) -> bool {
    second == SECONDS - 1 && agent % 5 == 3
}

/// All in one process.
fn one_process(agents: u64) -> String {
    let process = Process::new(0);
    let mut collected = Collected::new(&process);
    for second in 0..SECONDS {
        iterations(second).for_each(|number| process.iterate(number));
        let at_work = (0..agents).filter(|agent| !is_over(*agent, second)).map(users).sum::<u64>();
        process.users(at_work, (0..agents).map(|agent| users(agent) + 1).sum(), second);
        collected.add(second, process.recorder.take());
    }
    collected.told()
}

/// The shards of each second, with the numbers of their agents, through bytes.
fn shards(agents: u64, rng: &mut Rng) -> Vec<Vec<(u32, Shard)>> {
    let processes: Vec<Process> = (0..agents).map(|agent| Process::new(agent as usize)).collect();
    let mut writers: Vec<ShardWriter> =
        processes.iter().map(|process| ShardWriter::new(process.registry.clone())).collect();
    let mut seconds = Vec::new();
    for second in 0..SECONDS {
        // Dealt out by chance, except that the first agent runs the first iteration, which meets all but the rare.
        for number in iterations(second) {
            processes[if number == 0 { 0 } else { rng.usize(..processes.len()) }].iterate(number);
        }
        let mut shards = Vec::new();
        for (agent, (process, writer)) in processes.iter().zip(&mut writers).enumerate() {
            if !is_over(agent as u64, second) {
                process.users(users(agent as u64), users(agent as u64) + 1, second);
            }
            let bytes = postcard::to_allocvec(&writer.shard([&process.recorder.take()])).expect("plain data");
            shards.push((agent as u32, postcard::from_bytes(&bytes).expect("what was written")));
        }
        seconds.push(shards);
    }
    seconds
}

fn all_at_one_place(agents: u64, rng: &mut Rng) -> String {
    let mut collected = Collected::new(&Process::new(1));
    let registry = collected.registry.clone();
    let (mut readers, mut users) = (BTreeMap::new(), AgentUsers::default());
    for (second, mut shards) in shards(agents, rng).into_iter().enumerate() {
        rng.shuffle(&mut shards);
        let mut all = SecondOfAgents::new(registry.clone());
        for (agent, shard) in shards {
            let reader = readers.entry(agent).or_insert_with(|| ShardReader::into_registry(registry.clone(), agent));
            all.add(agent, reader.read(shard).expect("a shard that can be read"));
        }
        collected.add(second as u64, all.into_snapshot(&mut users));
    }
    collected.told()
}

#[test]
fn agents_come_to_the_results_of_one_process() {
    for (seed, agents) in [1, 2, 7, 64].into_iter().enumerate() {
        let mut rng = Rng::with_seed(seed as u64);
        let expected = one_process(agents);
        assert!(expected.contains("::rare::seldom") && expected.contains("is gone") && expected.contains("status:503"));
        same(&all_at_one_place(agents, &mut rng), &expected, agents);
    }
}

/// Line by line, because a whole result is a long text.
fn same(found: &str, expected: &str, agents: u64) {
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "{agents} agents");
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}
