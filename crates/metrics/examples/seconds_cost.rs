//! What a second of a saved run costs the gathering thread:
//! `cargo run --release -p onrush-metrics --example seconds_cost`.
//!
//! Each tick brings the snapshots of two workers with all metrics of a request, samples spread over three magnitudes.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use onrush_metrics::{Recorder, Registry, Seconds, TagSet, builtin};

const TICKS: u32 = 50;
const SAMPLES: u32 = 10_000;

fn main() {
    let registry = Registry::new();
    let workers = [Recorder::new(registry.clone()), Recorder::new(registry.clone())];
    let tags = TagSet::new([("expected_response", "true"), ("status", "200")]);
    let metrics = [
        builtin::HTTP_REQS,
        builtin::HTTP_REQ_FAILED,
        builtin::HTTP_REQ_DURATION,
        builtin::HTTP_REQ_BLOCKED,
        builtin::HTTP_REQ_CONNECTING,
        builtin::HTTP_REQ_TLS_HANDSHAKING,
        builtin::HTTP_REQ_SENDING,
        builtin::HTTP_REQ_WAITING,
        builtin::HTTP_REQ_RECEIVING,
        builtin::ITERATION_DURATION,
        builtin::ITERATIONS,
        builtin::DATA_SENT,
        builtin::DATA_RECEIVED,
    ];
    let mut seconds = Seconds::new(registry);
    let mut spent = Duration::ZERO;
    for tick in 0..TICKS {
        for worker in &workers {
            for metric in metrics {
                let series = worker.series(metric, &tags);
                for n in 0..SAMPLES {
                    let spread = f64::from(n.wrapping_mul(2_654_435_761)) / f64::from(u32::MAX);
                    worker.add(series, 0.05 * (spread * 7.0).exp(), 0);
                }
            }
        }
        let snapshots = workers.each_ref().map(Recorder::take);
        let start = Duration::from_secs(u64::from(tick));
        let began = Instant::now();
        seconds.add(start, start + Duration::from_secs(1), black_box(&snapshots));
        spent += began.elapsed();
    }
    black_box(seconds.into_series());
    println!("{:.0} µs a second of the run", spent.as_secs_f64() * 1e6 / f64::from(TICKS));
}
