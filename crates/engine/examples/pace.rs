//! Measures how punctual arrival rates are: `pace [rate] [seconds] [workers] [busy µs]`.
//!
//! Users do nothing, or compute for so many µs. Prints iteration_lag, the error of the rate, what was dropped, and CPU.
//! With a rate of 0 it measures 10,000 users who sleep for random times instead: how late they wake, and what that
//! costs.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metrics::{Aggregate, Registry, Thresholds};
use onrush_engine::clock::Clock;
use onrush_engine::scenario::Scenarios;
use onrush_engine::segment::Stripes;
use onrush_engine::{CreateError, Event, Iteration, IterationEnd, Plan, RunConfig, Users, VuContext, run};
use serde_json::json;

#[path = "../tests/by_future/mod.rs"]
mod by_future;

use by_future::{ByFuture, Iterate};

struct Busy {
    work: Duration,
    sleeps: bool,
}

struct BusyUser {
    work: Duration,
    sleeps: bool,
    seat: VuContext,
    late: metrics::Series,
}

impl Users for Busy {
    type User = ByFuture<BusyUser>;

    async fn create(&self, seat: VuContext) -> Result<ByFuture<BusyUser>, CreateError> {
        let late = seat.recorder.series(metrics::builtin::GROUP_DURATION, &metrics::TagSet::empty());
        Ok(ByFuture::new(BusyUser { work: self.work, sleeps: self.sleeps, seat, late }))
    }
}

impl Iterate for BusyUser {
    async fn iterate(self: Rc<Self>, iteration: Iteration) -> IterationEnd {
        let clock = &self.seat.clock;
        let began = clock.now();
        if self.sleeps {
            let spread = 1000 + self.seat.id_in_instance * 7919 % 1000 + iteration.in_scenario * 13 % 50;
            let due = began + Duration::from_micros(spread * 1000);
            clock.sleep_until(due).await;
            let now = clock.now();
            self.seat.recorder.add(self.late, (now - due).as_secs_f64() * 1e3, clock.epoch_ns(now));
        }
        while clock.now() - began < self.work {
            std::hint::spin_loop();
        }
        IterationEnd::Completed
    }
}

fn main() {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let arg = |at: usize, default| args.get(at).copied().unwrap_or(default);
    let (rate, seconds, workers, busy) = (arg(0, 10_000), arg(1, 10), arg(2, 2), arg(3, 0));
    let scenario = if rate == 0 {
        json!({ "executor": "constant-vus", "vus": 10_000, "duration": format!("{seconds}s") })
    } else {
        json!({
            "executor": "constant-arrival-rate", "rate": rate, "duration": format!("{seconds}s"),
            "preAllocatedVUs": 200,
        })
    };
    let scenarios = Scenarios::from_json(&json!({ "pace": scenario })).expect("valid scenarios");
    let plan = Plan::new(&scenarios, &Stripes::whole(), workers as usize).expect("a rate that can be computed");
    let (registry, state) = (Registry::new(), plan.state());
    let mut aggregate = Aggregate::new(Arc::clone(&registry), Thresholds::default());
    let users = Arc::new(Busy { work: Duration::from_micros(busy), sleeps: rate == 0 });
    let outcome = run(plan, users, RunConfig::new(registry, Arc::clone(&state)), |event| {
        if let Event::Tick(tick) = event {
            tick.snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
        }
    });
    let outcome = outcome.expect("users that do nothing can be made");
    let counts = state.counts();
    let planned = (rate * seconds + 1) as f64;
    println!(
        "started {} dropped {} rate error {:.4} %",
        counts.started,
        counts.dropped,
        (counts.started as f64 / planned - 1.0) * 100.0
    );
    println!("process {:.3} cores", outcome.health.process_cores);
    for worker in &outcome.health.workers {
        let (cpu, p50, p99, max) = (worker.cpu_share, worker.lag_p50_ms, worker.lag_p99_ms, worker.lag_max_ms);
        println!("worker cpu {:.1} % loop lag p50 {p50:.3} p99 {p99:.3} max {max:.3} ms", cpu * 100.0);
    }
    let results = aggregate.results(outcome.ended, false);
    for metric in results.metrics {
        if let metrics::results::Value::Trend(trend) = metric.value {
            let at = |percent| trend.percentile(percent);
            println!(
                "{} n {} p50 {:.4} p90 {:.4} p99 {:.4} p99.9 {:.4} max {:.4} ms",
                metric.name,
                trend.count(),
                at(50.0),
                at(90.0),
                at(99.0),
                at(99.9),
                trend.max()
            );
        }
    }
}
