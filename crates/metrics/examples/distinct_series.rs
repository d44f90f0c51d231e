//! How long a worker stands still when requests have ever new tags: the longest resolution of nine series among 100,000
//! distinct URLs.
//!
//! ```text
//! cargo run --release -p onrush-metrics --example distinct_series
//! ```

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "measures and prints")]

use std::time::{Duration, Instant};

use onrush_metrics::{Recorder, Registry, TagSet, builtin};

fn main() {
    let recorder = Recorder::new(Registry::new());
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
    ];
    let mut times: Vec<(Duration, usize)> = Vec::new();
    for number in 0..100_000 {
        let tags = TagSet::new([("url", format!("http://127.0.0.1/users/{number}")), ("method", "GET".to_owned())]);
        let begun = Instant::now();
        for metric in metrics {
            recorder.add(recorder.series(metric, &tags), 1.0, 0);
        }
        times.push((begun.elapsed(), number));
    }
    times.sort_unstable();
    println!("median {:?}", times[times.len() / 2].0);
    for (time, number) in times.iter().rev().take(5) {
        println!("{time:?} at the {number}th URL");
    }
}
