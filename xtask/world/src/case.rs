//! What a seed stands for: a plan of scenarios, the weather of the network, and what happens to the machine.
//!
//! Worlds are small, a few virtual seconds and users, so that a hundred thousand of them are minutes. One in four has a
//! network without faults, where each request has to succeed.

use std::time::Duration;

use serde_json::{Value, json};

/// Until when a dial that is not answered goes on.
pub(crate) const DIAL_LIMIT: Duration = Duration::from_millis(1_700);

/// How the network and the server behave.
#[derive(Clone, Debug)]
pub(crate) struct Weather {
    /// One way, in microseconds: the least and what may come on top.
    pub(crate) latency_us: (u64, u64),
    /// Bytes travel in pieces of at most this size, cut anywhere.
    pub(crate) cut: usize,
    /// Bytes that one side takes before the other has read them.
    pub(crate) window: usize,
    /// Bytes of the largest body.
    pub(crate) largest: usize,
    /// Chances of a fault in a thousand connections, and in a thousand answers.
    pub(crate) of_connection: u32,
    pub(crate) of_answer: u32,
    /// Servers send answers to nothing. Then none redirects, because who takes such an answer for another one is led
    /// astray.
    pub(crate) has_ghosts: bool,
    /// The kernel stamps arrivals.
    pub(crate) has_stamps: bool,
    /// Reads come up to so many microseconds after the arrival, because the event loop was busy.
    pub(crate) lag_us: u64,
}

/// What happens to what the run writes.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    /// The run keeps a journal.
    pub(crate) has_journal: bool,
    /// Its samples go to JSON and CSV.
    pub(crate) has_outputs: bool,
    /// The disk takes no more than so many bytes of each file.
    pub(crate) disk_bytes: Option<u64>,
    /// After this tick the process is killed, as far as the journal is concerned.
    pub(crate) killed_at: usize,
}

/// What a seed stands for.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) scenarios: Value,
    pub(crate) workers: usize,
    pub(crate) weather: Weather,
    /// The wall clock jumps by so many nanoseconds at this time.
    pub(crate) steps: Vec<(Duration, i64)>,
    /// Signals stop the test at this time.
    pub(crate) stopped_at: Option<Duration>,
    /// The script of this user ends the test in this iteration.
    pub(crate) aborted_by: Option<(u64, u64)>,
    pub(crate) files: Files,
    /// The limit of one step, `write` and `read` of the settings.
    pub(crate) step_limit: Option<Duration>,
    pub(crate) reuses_connections: bool,
}

impl Case {
    /// The case of a seed.
    pub(crate) fn of(seed: u64) -> Case {
        let mut random = fastrand::Rng::with_seed(seed);
        let is_fair = random.u32(..4) == 0;
        let weather = weather(&mut random, is_fair);
        let count = random.usize(1..=2);
        let scenarios = (0..count).map(|at| (format!("s{at}"), scenario(&mut random))).collect();
        let jump = |random: &mut fastrand::Rng| {
            let by_ms = [5, 50, 400, 3_000, 86_400_000][random.usize(..5)];
            (Duration::from_micros(random.u64(..6_000_000)), random.i64(-by_ms..=by_ms) * 1_000_000)
        };
        let steps = (0..[0, 0, 0, 1, 2][random.usize(..5)]).map(|_| jump(&mut random)).collect();
        let disk_bytes = (random.u32(..6) == 0).then(|| magnitude(&mut random, 6..18));
        Case {
            seed,
            scenarios: Value::Object(scenarios),
            workers: random.usize(1..=3),
            weather,
            steps,
            stopped_at: (random.u32(..8) == 0).then(|| Duration::from_micros(random.u64(..4_000_000))),
            aborted_by: (random.u32(..8) == 0).then(|| (random.u64(1..5), random.u64(..4))),
            files: Files {
                has_journal: random.u32(..3) == 0,
                has_outputs: random.u32(..12) == 0,
                disk_bytes,
                killed_at: random.usize(..6),
            },
            step_limit: (!is_fair && random.u32(..10) == 0).then(|| Duration::from_millis(random.u64(50..1500))),
            reuses_connections: random.u32(..10) > 0,
        }
    }
}

/// A number below a power of two, whose exponent is drawn first: small ones are as likely as large ones.
pub(crate) fn magnitude(random: &mut fastrand::Rng, exponents: std::ops::Range<u32>) -> u64 {
    let most = 1 << random.u32(exponents);
    random.u64(1..most)
}

fn weather(random: &mut fastrand::Rng, is_fair: bool) -> Weather {
    let cut = [random.usize(1..16), random.usize(16..600), 1460, 64 << 10][random.usize(..4)];
    let chance = |random: &mut fastrand::Rng, most: u32| if is_fair { 0 } else { random.u32(..most) };
    let least = [0, 30, 500, 20_000][random.usize(..4)];
    Weather {
        latency_us: (least, random.u64(..least * 2 + 100)),
        cut,
        window: cut.max(magnitude(random, 7..18) as usize),
        largest: (cut * 40).min(magnitude(random, 3..17) as usize),
        of_connection: chance(random, 250),
        of_answer: chance(random, 250),
        has_ghosts: random.u32(..4) == 0,
        has_stamps: random.u32(..4) > 0,
        lag_us: if random.u32(..4) == 0 { random.u64(..20_000) } else { 0 },
    }
}

/// One of each executor, short. Rates and stages are whole, so that planned starts can be counted by hand.
fn scenario(random: &mut fastrand::Rng) -> Value {
    let seconds = |random: &mut fastrand::Rng| format!("{}s", random.u64(1..=3));
    let mut scenario = match random.u32(..6) {
        0 => json!({ "executor": "constant-vus", "vus": random.u64(1..=5), "duration": seconds(random) }),
        1 => json!({ "executor": "ramping-vus", "startVUs": random.u64(..4), "stages": [
            { "duration": seconds(random), "target": random.u64(..6) },
            { "duration": seconds(random), "target": random.u64(1..6) },
        ], "gracefulRampDown": format!("{}ms", random.u64(..900)) }),
        2 => json!({ "executor": "per-vu-iterations", "vus": random.u64(1..=5), "iterations": random.u64(1..=8),
            "maxDuration": seconds(random) }),
        3 => json!({ "executor": "shared-iterations", "vus": random.u64(1..=4), "iterations": random.u64(4..=25),
            "maxDuration": seconds(random) }),
        4 => json!({ "executor": "constant-arrival-rate", "rate": random.u64(1..=25), "duration": seconds(random),
            "preAllocatedVUs": random.u64(1..=5), "maxVUs": random.u64(5..=9) }),
        _ => json!({ "executor": "ramping-arrival-rate", "startRate": random.u64(..20), "stages": [
            { "duration": seconds(random), "target": random.u64(..25) },
            { "duration": seconds(random), "target": random.u64(..25) },
        ], "preAllocatedVUs": random.u64(1..=5), "maxVUs": random.u64(5..=9) }),
    };
    scenario["gracefulStop"] = format!("{}ms", [0, random.u64(..500), 2_000][random.usize(..3)]).into();
    scenario["startTime"] = format!("{}ms", [0, random.u64(..700)][random.usize(..2)]).into();
    scenario
}
