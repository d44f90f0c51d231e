//! Simulated targets whose capacity is known: what a probe's seconds would look like.
//!
//! One queue with one server whose service time may vary, grow with the queue, or remember an overload; or a bucket of
//! tokens that refuses. Requests come evenly, as an arrival rate starts them.

use fastrand::Rng;
use report::capacity::{Objective, ObjectiveTally, ProbeSecond};

use super::noise::normal;

/// How a target serves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Refuses what is above its rate.
    Bucket,
    /// Serves at a fixed time each.
    Queue,
    /// The same, with times as long as chance has them (exponential).
    Chance,
    /// A fixed time that grows with the queue.
    Collapse,
    /// A fixed time that is double for some seconds after an overload.
    Memory,
    /// A time that is 20 % off for each request.
    Noisy,
    /// A time that is 20 % off for a tenth of a second each.
    Wavering,
}

/// A target that has been asked for some time.
pub struct Target {
    kind: Kind,
    service_s: f64,
    random: Rng,
    /// Of a queue: when it has served all so far. Of a bucket: tokens.
    level: f64,
    now: f64,
    /// Until when it is slow.
    slow_until: f64,
    factor: (f64, f64),
}

/// A bucket holds the tokens of so many seconds.
const BURST_S: f64 = 0.05;
/// A request takes so long beside its service.
const PATH_S: f64 = 0.001;
/// A queue of so many seconds is an overload that is remembered.
const OVERLOAD_S: f64 = 0.1;
/// A target that collapses serves down to a quarter of its capacity.
const MOST_COLLAPSED: f64 = 3.0;
/// Clients that have gone away leave at most so many seconds of work behind.
const LEFT_BEHIND_S: f64 = 1.0;
/// For so long.
const REMEMBERED_S: f64 = 3.0;

impl Target {
    /// One that serves so many requests a second.
    pub fn new(kind: Kind, capacity: f64, seed: u64) -> Target {
        let level = if kind == Kind::Bucket { capacity * BURST_S } else { 0.0 };
        Target {
            kind,
            service_s: 1.0 / capacity,
            random: Rng::with_seed(seed),
            level,
            now: 0.0,
            slow_until: 0.0,
            factor: (0.0, 1.0),
        }
    }

    /// Nothing is asked of it for a while.
    pub fn rest(&mut self, seconds: f64) {
        if self.kind != Kind::Bucket {
            self.level = self.level.min(self.now + LEFT_BEHIND_S);
        }
        self.now += seconds;
        if self.kind == Kind::Bucket {
            let capacity = 1.0 / self.service_s;
            self.level = (self.level + seconds * capacity).min(capacity * BURST_S);
        }
    }

    /// A second at this rate: what each objective sees of it, and how many answers are out at its end.
    pub fn second(&mut self, rate: f64, probe: &mut ProbeState, objectives: &[Objective]) -> ProbeSecond {
        let end = self.now + 1.0;
        while probe.next < end {
            let at = probe.next;
            probe.next += 1.0 / rate;
            let (done, failed) = self.serve(at);
            probe.under_way.push((done, at, failed));
        }
        self.now = end;
        let mut ended: Vec<(f64, bool)> = Vec::new();
        probe.under_way.retain(|(done, at, failed)| {
            if *done <= end {
                ended.push(((done - at) * 1e3, *failed));
                probe.latencies_ms.push((done - at) * 1e3);
            }
            *done > end
        });
        let tally = |objective: &Objective| {
            let is_failure = objective.key == "http_req_failed";
            let limit = objective.expression.limit;
            let broken = ended.iter().filter(|(ms, failed)| if is_failure { *failed } else { *ms >= limit }).count();
            let samples = ended.len() as f64;
            (samples > 0.0).then_some(ObjectiveTally { samples, amount: broken as f64, squares: broken as f64 })
        };
        ProbeSecond {
            seconds: 1.0,
            open: Some(probe.under_way.len() as f64),
            tallies: objectives.iter().map(tally).collect(),
        }
    }

    /// When a request that comes now is answered, and whether that is a refusal.
    fn serve(&mut self, at: f64) -> (f64, bool) {
        if self.kind == Kind::Bucket {
            let capacity = 1.0 / self.service_s;
            self.level = (self.level + (at - self.factor.0) * capacity).min(capacity * BURST_S);
            self.factor.0 = at;
            let is_served = self.level >= 1.0;
            self.level -= f64::from(u8::from(is_served));
            return (at + PATH_S, !is_served);
        }
        let waiting = (self.level - at).max(0.0);
        let service = self.service_s
            * match self.kind {
                Kind::Bucket | Kind::Queue => 1.0,
                Kind::Chance => -(1.0 - self.random.f64()).ln(),
                Kind::Collapse => 1.0 + (waiting / (20.0 * self.service_s).max(0.02)).min(MOST_COLLAPSED),
                Kind::Memory => {
                    if waiting > OVERLOAD_S {
                        self.slow_until = at + REMEMBERED_S;
                    }
                    if at < self.slow_until { 2.0 } else { 1.0 }
                }
                Kind::Noisy => (1.0 + 0.2 * normal(&mut self.random)).max(0.1),
                Kind::Wavering => {
                    if at > self.factor.0 {
                        self.factor = (at + 0.1, (1.0 + 0.2 * normal(&mut self.random)).max(0.3));
                    }
                    self.factor.1
                }
            };
        self.level = self.level.max(at) + service;
        (self.level + PATH_S, false)
    }
}

/// What a probe has under way.
pub struct ProbeState {
    next: f64,
    under_way: Vec<(f64, f64, bool)>,
    latencies_ms: Vec<f64>,
}

impl ProbeState {
    /// A probe that begins now.
    pub fn new(target: &Target) -> ProbeState {
        ProbeState { next: target.now, under_way: Vec::new(), latencies_ms: Vec::new() }
    }

    /// The median latency of all that has ended, in ms.
    pub fn p50(&mut self) -> Option<f64> {
        self.latencies_ms.sort_by(f64::total_cmp);
        self.latencies_ms.get(self.latencies_ms.len() / 2).copied()
    }
}
