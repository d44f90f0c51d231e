//! Does the interval of `onrush capacity` cover the truth? Whole searches, with their budget, of simulated targets.
//!
//! The truth of a target is the rate that its objective holds in the long run: found by a run of ten minutes at each
//! rate, with the target's own noise. A search may take three minutes of its time; its interval has to cover the truth
//! in 95 of 100, be no wider than ± 3 % in as many, and within the budget. One target, whose speed wavers by 20 % from
//! one tenth of a second to the next, is shown without a promise.

use std::time::Duration;

use report::capacity::{
    A_PROBE, Aim, Judge, Length, NextProbe, Objective, RECOVERIES, Said, Search, Standing, Tried, has_recovered,
    is_calm,
};

use super::targets::{Kind, ProbeState, Target};

/// Targets, their rates, and how many searches of each are made for one of the slowest.
const LINES: [(&str, Kind, f64, usize); 11] = [
    ("bucket", Kind::Bucket, 300.0, 1),
    ("bucket", Kind::Bucket, 2000.0, 4),
    ("bucket", Kind::Bucket, 15_000.0, 20),
    ("queue", Kind::Queue, 300.0, 1),
    ("queue", Kind::Queue, 2000.0, 4),
    ("queue", Kind::Queue, 15_000.0, 20),
    ("chance", Kind::Chance, 2000.0, 4),
    ("collapse", Kind::Collapse, 2000.0, 4),
    ("memory", Kind::Memory, 2000.0, 4),
    ("noisy", Kind::Noisy, 2000.0, 4),
    ("wavering", Kind::Wavering, 2000.0, 4),
];

const BUDGET_S: f64 = 180.0;
const PRECISION: f64 = 0.03;

/// Counts over the searches of a line.
#[derive(Default)]
struct Found {
    searches: usize,
    covered: usize,
    narrow: usize,
    seconds: f64,
    widths: f64,
}

/// Runs all lines; what broke its promise.
pub fn run(searches: usize, seed: u64) -> Vec<String> {
    println!("\ncapacity: {searches} searches of the fastest lines, within {BUDGET_S} s, ± {} %", PRECISION * 100.0);
    println!("target         rate    truth   covered   narrow     ± %  seconds");
    let mut broken = Vec::new();
    for (name, kind, capacity, rarer) in LINES {
        let objectives = objectives(kind);
        let truth = truth(kind, capacity, &objectives, seed);
        let mut found = Found::default();
        for number in 0..(searches / rarer).max(5) {
            found.add(&search(kind, capacity, &objectives, seed + 1 + number as u64), truth);
        }
        let share = |count: usize| 100.0 * count as f64 / found.searches as f64;
        let (covered, narrow) = (share(found.covered), share(found.narrow));
        let all = found.searches as f64;
        println!(
            "{name:<10} {capacity:>8.0} {truth:>8.1} {covered:>8.1}% {narrow:>7.1}% {:>7.2} {:>8.0}",
            100.0 * found.widths / all,
            found.seconds / all
        );
        // Three standard errors of chance.
        let chance = 3.0 * (95.0 * 5.0 / all).sqrt();
        // Noise that lasts longer than a probe's seconds is told and not promised: whole seconds are slow together.
        if kind == Kind::Wavering {
            continue;
        }
        if covered < 95.0 - chance {
            broken.push(format!(
                "capacity, {name} at {capacity}/s: covers the truth in {covered:.1} %, 95 % are promised"
            ));
        }
        if narrow < 95.0 - chance {
            broken.push(format!("capacity, {name} at {capacity}/s: ± 3 % in {narrow:.1} %, 95 % are wanted"));
        }
    }
    broken
}

impl Found {
    fn add(&mut self, outcome: &SearchOutcome, truth: f64) {
        let bracket = outcome.search.bracket();
        let half = bracket.half_width().unwrap_or(1.0);
        self.searches += 1;
        let is_above = bracket.low.is_none_or(|low| low <= truth);
        let is_below = bracket.high.is_none_or(|high| truth <= high);
        self.covered += usize::from(is_above && is_below);
        self.narrow += usize::from(half <= PRECISION + 1e-9);
        self.seconds += outcome.seconds;
        self.widths += half;
    }
}

fn objectives(kind: Kind) -> Vec<Objective> {
    let text = if kind == Kind::Bucket { "http_req_failed: rate<0.01" } else { "http_req_duration: p(95)<200" };
    vec![Objective::read(text).expect("it is known")]
}

/// The highest rate at which the objective holds over ten minutes, after one that does not count.
fn truth(kind: Kind, capacity: f64, objectives: &[Objective], seed: u64) -> f64 {
    let holds = |rate: f64| {
        let mut target = Target::new(kind, capacity, seed);
        let mut probe = ProbeState::new(&target);
        let limit = objectives[0].limit().expect("a share");
        let (mut samples, mut broken, mut open) = (0.0, 0.0, 0.0);
        let seconds = (6e6 / capacity).clamp(60.0, 600.0) as usize;
        for second in 0..seconds {
            let seen = target.second(rate, &mut probe, objectives);
            open = seen.open.unwrap_or_default();
            if second >= seconds / 10 {
                samples += seen.tallies[0].map_or(0.0, |tally| tally.samples);
                broken += seen.tallies[0].map_or(0.0, |tally| tally.amount);
            }
            // It has fallen behind for good.
            if open > 2.0 * rate {
                return false;
            }
        }
        broken < limit * samples && open < rate
    };
    let (mut low, mut high) = (capacity * 0.5, capacity * 1.2);
    for _ in 0..12 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

struct SearchOutcome {
    search: Search,
    seconds: f64,
}

/// One search, as the command makes it.
fn search(kind: Kind, capacity: f64, objectives: &[Objective], seed: u64) -> SearchOutcome {
    let mut target = Target::new(kind, capacity, seed);
    let mut search = Search::new(Aim { from: 20.0, most: None, precision: PRECISION, is_whole: false });
    let (mut seconds, mut light) = (0.0, None);
    while let NextProbe::Try(load, purpose) = search.next() {
        let left = Duration::from_secs_f64(f64::max(BUDGET_S - seconds, 0.0));
        let Some(length) = Length::of(purpose, left, 0.002) else { break };
        let SeenProbe { standing, sustained, took, p50 } = probe(&mut target, load, length, objectives);
        seconds += took;
        light = light.or(p50);
        let is_calm = is_calm(standing, load, Some(200.0), p50);
        search.add(Tried { load, said: Said::Target(standing), sustained, is_calm });
        if matches!(standing, Standing::Broken(_) | Standing::LeansBroken(_)) {
            seconds += recover(&mut target, objectives, light, BUDGET_S - seconds);
        }
    }
    SearchOutcome { search, seconds }
}

/// A probe that was seen.
struct SeenProbe {
    standing: Standing,
    sustained: f64,
    /// How long, in seconds.
    took: f64,
    /// The median latency, in ms.
    p50: Option<f64>,
}

fn probe(target: &mut Target, load: f64, length: Length, objectives: &[Objective]) -> SeenProbe {
    let mut judge = Judge::new(objectives, load, length.least, length.skipped);
    let mut state = ProbeState::new(target);
    let (mut standing, mut seconds) = (Standing::LeansHeld, 0.0);
    while standing.is_open() && judge.counted() < length.most {
        standing = judge.add(target.second(load, &mut state, objectives));
        seconds += 1.0;
    }
    let pause = A_PROBE.as_secs_f64();
    target.rest(pause);
    SeenProbe { standing, sustained: judge.sustained(), took: seconds + pause, p50: state.p50() }
}

/// Light loads until one sees the latency of before.
fn recover(target: &mut Target, objectives: &[Objective], light: Option<f64>, left: f64) -> f64 {
    let mut seconds = 0.0;
    for _ in 0..RECOVERIES {
        if seconds + 2.8 > left {
            break;
        }
        let SeenProbe { took, p50, .. } = probe(target, 20.0, Length::light(0.002), objectives);
        seconds += took;
        if has_recovered(p50, light) {
            break;
        }
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_covers_the_truth_of_known_targets() {
        for kind in [Kind::Bucket, Kind::Queue, Kind::Collapse, Kind::Memory] {
            let objectives = objectives(kind);
            let truth = if kind == Kind::Bucket { 300.0 / 0.99 } else { 300.0 };
            for seed in 0..5 {
                let outcome = search(kind, 300.0, &objectives, seed);
                let bracket = outcome.search.bracket();
                let (low, high) = (bracket.low.unwrap(), bracket.high.unwrap());
                assert!(low <= truth && truth <= high, "{kind:?}: {bracket:?}");
                assert!(
                    outcome.seconds <= BUDGET_S && high / low < 1.07,
                    "{kind:?}: {bracket:?}, {} s",
                    outcome.seconds
                );
            }
        }
    }
}
