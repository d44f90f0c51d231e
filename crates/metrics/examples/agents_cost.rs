//! What a second of many agents costs whoever collects it:
//! `cargo run --release -p onrush-metrics --example agents_cost`.
//!
//! Each agent sends all metrics of a request, times in whole nanoseconds spread over three magnitudes. Prints bytes of
//! a shard, and milliseconds of a core for a second of 1,000 agents: from bytes to shards, to samples, put together,
//! added to the totals.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use onrush_metrics::{
    AgentUsers, Aggregate, Blocks, Recorder, Registry, SecondOfAgents, Seconds, Shard, ShardReader, ShardWriter,
    TagSet, Thresholds, builtin,
};

const AGENTS: u32 = 1_000;

struct Agent {
    recorder: Recorder,
    writer: ShardWriter,
}

impl Agent {
    fn new() -> Agent {
        let registry = Registry::new();
        Agent { recorder: Recorder::new(registry.clone()), writer: ShardWriter::new(registry) }
    }

    fn second(&self, samples: u32, seed: u32) {
        let tags = TagSet::new([("expected_response", "true"), ("scenario", "default"), ("group", "")]);
        let series = |metric| self.recorder.series(metric, &tags);
        for n in 0..samples {
            let spread = f64::from((n + seed).wrapping_mul(2_654_435_761)) / f64::from(u32::MAX);
            let ms = (50_000.0 * (spread * 7.0).exp()).round() / 1e6;
            for metric in [
                builtin::HTTP_REQ_DURATION,
                builtin::HTTP_REQ_BLOCKED,
                builtin::HTTP_REQ_SENDING,
                builtin::HTTP_REQ_WAITING,
                builtin::HTTP_REQ_RECEIVING,
                builtin::ITERATION_DURATION,
                builtin::ITERATION_LAG,
                builtin::ITERATION_DURATION_FROM_PLAN,
            ] {
                self.recorder.add(series(metric), ms, 0);
            }
            for (metric, value) in [
                (builtin::HTTP_REQS, 1.0),
                (builtin::ITERATIONS, 1.0),
                (builtin::DATA_SENT, 99.0),
                (builtin::DATA_RECEIVED, 1_234.0),
                (builtin::HTTP_REQ_CONNECTING, 0.0),
                (builtin::HTTP_REQ_TLS_HANDSHAKING, 0.0),
                (builtin::HTTP_REQ_FAILED, 0.0),
            ] {
                self.recorder.add(series(metric), value, 0);
            }
            for check in ["status is 200", "body is there"] {
                let check = TagSet::new([("check", check), ("group", "")]);
                self.recorder.add(self.recorder.series(builtin::CHECKS, &check), 1.0, 0);
            }
        }
        for metric in [builtin::VUS, builtin::VUS_MAX] {
            self.recorder.add(series(metric), 10.0, 0);
        }
    }
}

fn main() {
    println!("samples a metric  bytes: first, next, with names   ms: decode    read    join  totals");
    for samples in [10, 100, 1_000, 10_000] {
        measure(samples);
    }
}

fn measure(samples: u32) {
    // A few shapes are enough: the collecting side does not know that agents resemble each other.
    let mut shapes: Vec<[Vec<u8>; 2]> = Vec::new();
    let mut with_names = 0;
    for seed in 0..10 {
        let mut agent = Agent::new();
        let mut bytes = |names: bool| {
            agent.second(samples, seed * 7_919);
            let taken = [agent.recorder.take()];
            let shard = if names { agent.writer.shard_with_names(&taken) } else { agent.writer.shard(&taken) };
            postcard::to_allocvec(&shard).expect("plain data")
        };
        shapes.push([bytes(false), bytes(false)]);
        with_names = bytes(true).len();
    }
    let registry = Registry::new();
    let mut readers: Vec<ShardReader> =
        (0..AGENTS).map(|agent| ShardReader::into_registry(registry.clone(), agent)).collect();
    let mut totals =
        (Aggregate::new(registry.clone(), Thresholds::default()), Seconds::new(registry.clone()), Blocks::default());
    let (mut times, mut users) = ([Duration::ZERO; 4], AgentUsers::default());
    for (second, _) in shapes[0].iter().enumerate() {
        // Each goes on as soon as it is there, as it comes from a network.
        let (mut all, mut spent) = (SecondOfAgents::new(registry.clone()), [Duration::ZERO; 3]);
        for (agent, reader) in readers.iter_mut().enumerate() {
            let bytes = &shapes[agent % shapes.len()][second];
            let (shard, decode) = timed(|| decoded(bytes));
            let (shard, read) = timed(|| reader.read(shard).expect("it can be read"));
            let ((), join) = timed(|| all.add(agent as u32, shard));
            spent.iter_mut().zip([decode, read, join]).for_each(|(all, one)| *all += one);
        }
        let all = all.into_snapshot(&mut users);
        let ((), total) = timed(|| {
            totals.1.add(Duration::ZERO, Duration::from_secs(1), std::slice::from_ref(&all));
            totals.2.add(Duration::ZERO, Duration::from_secs(1), std::slice::from_ref(&all));
            totals.0.merge(all);
        });
        times = [spent[0], spent[1], spent[2], total];
    }
    let [first, next] = [shapes[0][0].len(), shapes[0][1].len()];
    let ms = times.iter().map(|time| format!("{:7.1}", time.as_secs_f64() * 1e3));
    println!("{samples:16}  {first:12} {next:5} {with_names:11}      {}", ms.collect::<Vec<String>>().join(" "));
}

fn decoded(bytes: &[u8]) -> Shard {
    postcard::from_bytes(black_box(bytes)).expect("what was written")
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (work(), began.elapsed())
}
