//! The longest time in which a plan asks for the same load: only there a change is the target's, and not the plan's.
//!
//! Each scenario parts its time into pieces that are level or not. Where any of them begins, ends or turns, the load of
//! the whole test does.

use std::time::Duration;

use engine::scenario::{Executor, Scenario, Stage};
use report::steadiness::Plateau;

/// A part of a scenario's time, since the start of the scenarios.
#[derive(Clone, Copy, Debug)]
struct LoadPiece {
    from: Duration,
    to: Duration,
    is_level: bool,
    /// Whether it starts iterations at all.
    has_load: bool,
}

/// The longest plateau of a test; none when its load changes all the time.
pub fn plateau<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> Option<Plateau> {
    let scenarios: Vec<(&Scenario, Vec<LoadPiece>)> = scenarios.map(|scenario| (scenario, pieces(scenario))).collect();
    let pieces = || scenarios.iter().flat_map(|(_, pieces)| pieces);
    let mut edges: Vec<Duration> = pieces().flat_map(|piece| [piece.from, piece.to]).collect();
    edges.sort_unstable();
    edges.dedup();
    debug_assert!(pieces().all(|piece| piece.from <= piece.to), "pieces end after they begin");
    let at = |from: Duration, to: Duration| {
        let active = |(_, pieces): &&(&Scenario, Vec<LoadPiece>)| pieces.iter().any(|piece| covers(piece, from, to));
        let over = || pieces().filter(move |piece| covers(piece, from, to));
        let is_level = over().all(|piece| piece.is_level) && over().any(|piece| piece.has_load);
        let runs_out = scenarios.iter().filter(active).any(|(scenario, _)| runs_out(scenario));
        // Who else goes on when the iterations of one scenario are used up, nobody planned.
        let is_known = !runs_out || scenarios.len() == 1;
        (is_level && is_known).then(|| Plateau {
            from_s: from.as_secs_f64(),
            to_s: to.as_secs_f64(),
            is_closed: scenarios.iter().filter(active).all(|(scenario, _)| is_closed(scenario)),
            runs_out,
        })
    };
    let all = edges.windows(2).filter_map(|two| at(two[0], two[1]));
    all.reduce(|best, next| if next.to_s - next.from_s > best.to_s - best.from_s { next } else { best })
}

fn covers(piece: &LoadPiece, from: Duration, to: Duration) -> bool {
    piece.from <= from && to <= piece.to
}

fn pieces(scenario: &Scenario) -> Vec<LoadPiece> {
    let start = scenario.start_time;
    let one =
        |duration: Duration, is_level| vec![LoadPiece { from: start, to: start + duration, is_level, has_load: true }];
    match &scenario.executor {
        Executor::SharedIterations { max_duration, .. } | Executor::PerVuIterations { max_duration, .. } => {
            one(*max_duration, true)
        }
        Executor::ConstantVus { duration, .. } | Executor::ConstantArrivalRate { duration, .. } => one(*duration, true),
        Executor::RampingVus { start_vus: first, stages, .. }
        | Executor::RampingArrivalRate { start_rate: first, stages, .. } => ramp(start, *first, stages),
        Executor::Trace { times, .. } => one(times.last().copied().unwrap_or_default(), false),
    }
}

/// A piece a stage; stages that go on at the same height are one.
fn ramp(start: Duration, first: u64, stages: &[Stage]) -> Vec<LoadPiece> {
    let (mut at, mut height, mut has_jumped) = (start, first, false);
    let mut pieces: Vec<LoadPiece> = Vec::new();
    for Stage { duration, target } in stages {
        let (from, is_level) = (at, height == *target);
        (at, height) = (at + *duration, *target);
        match pieces.last_mut() {
            Some(last) if is_level && last.is_level && last.to == from && !has_jumped => last.to = at,
            _ if duration.is_zero() => has_jumped = true,
            _ => {
                has_jumped = false;
                pieces.push(LoadPiece { from, to: at, is_level, has_load: !is_level || height > 0 });
            }
        }
    }
    pieces
}

fn runs_out(scenario: &Scenario) -> bool {
    matches!(scenario.executor, Executor::SharedIterations { .. } | Executor::PerVuIterations { .. })
}

fn is_closed(scenario: &Scenario) -> bool {
    runs_out(scenario) || matches!(scenario.executor, Executor::ConstantVus { .. } | Executor::RampingVus { .. })
}

#[cfg(test)]
mod tests {
    use engine::scenario::Scenarios;
    use serde_json::json;

    use super::*;

    fn found(scenarios: serde_json::Value) -> Option<(f64, f64, bool)> {
        let scenarios = Scenarios::from_json(&scenarios).expect("scenarios");
        plateau(scenarios.iter()).map(|plateau| (plateau.from_s, plateau.to_s, plateau.is_closed))
    }

    #[test]
    fn a_constant_load_is_one_plateau_and_a_ramp_is_none() {
        let users = json!({ "a": { "executor": "constant-vus", "vus": 2, "duration": "60s", "startTime": "5s" } });
        assert_eq!(found(users), Some((5.0, 65.0, true)));
        let rate = json!({ "a": { "executor": "constant-arrival-rate", "rate": 9, "duration": "60s",
                                  "preAllocatedVUs": 1 } });
        assert_eq!(found(rate), Some((0.0, 60.0, false)));
        let ramp = json!({ "a": { "executor": "ramping-vus", "stages": [
            { "duration": "20s", "target": 9 }, { "duration": "20s", "target": 1 }] } });
        assert_eq!(found(ramp), None);
    }

    #[test]
    fn the_hold_between_ramps_is_a_plateau_and_a_pause_is_none() {
        let stages = |stages: &[(&str, u64)]| {
            let stages: Vec<_> = stages.iter().map(|(time, to)| json!({ "duration": time, "target": to })).collect();
            json!({ "a": { "executor": "ramping-vus", "startVUs": 0, "stages": stages } })
        };
        let hold = [("10s", 5), ("20s", 5), ("40s", 5), ("10s", 0), ("90s", 0)];
        assert_eq!(found(stages(&hold)), Some((10.0, 70.0, true)), "stages of one height are one hold");
        assert_eq!(found(stages(&[("0s", 5), ("30s", 5), ("0s", 9), ("20s", 9)])), Some((0.0, 30.0, true)));
    }

    #[test]
    fn scenarios_beside_each_other_part_the_time() {
        let two = json!({
            "a": { "executor": "constant-vus", "vus": 1, "duration": "60s" },
            "b": { "executor": "constant-arrival-rate", "rate": 1, "duration": "25s", "startTime": "20s",
                   "preAllocatedVUs": 1 } });
        assert_eq!(found(two), Some((20.0, 45.0, false)));
        let ramp = json!({
            "a": { "executor": "constant-vus", "vus": 1, "duration": "60s" },
            "b": { "executor": "ramping-vus", "startTime": "20s", "stages": [{ "duration": "40s", "target": 9 }] } });
        assert_eq!(found(ramp), Some((0.0, 20.0, true)));
        let counted = json!({ "a": { "executor": "shared-iterations", "vus": 1, "iterations": 9 } });
        assert_eq!(found(counted), Some((0.0, 600.0, true)));
    }

    #[test]
    fn iterations_that_run_out_leave_a_load_that_nobody_planned() {
        let plateau_of = |scenarios: serde_json::Value| {
            let scenarios = Scenarios::from_json(&scenarios).expect("scenarios");
            plateau(scenarios.iter())
        };
        let counted = json!({ "executor": "per-vu-iterations", "vus": 1, "iterations": 9, "maxDuration": "30s" });
        let alone = Plateau { from_s: 0.0, to_s: 30.0, is_closed: true, runs_out: true };
        assert_eq!(plateau_of(json!({ "a": counted })), Some(alone));
        let users = json!({ "executor": "constant-vus", "vus": 1, "duration": "40s" });
        let behind = Plateau { from_s: 30.0, to_s: 40.0, is_closed: true, runs_out: false };
        assert_eq!(plateau_of(json!({ "a": counted, "b": users })), Some(behind), "where the users are alone");
        let shared = json!({ "executor": "shared-iterations", "vus": 1, "iterations": 9, "maxDuration": "20s" });
        assert_eq!(plateau_of(json!({ "a": counted, "b": shared })), None);
        let alone = Plateau { to_s: 20.0, ..alone };
        assert_eq!(plateau_of(json!({ "b": shared })), Some(alone));
    }

    #[test]
    fn the_first_of_two_plateaus_of_one_length_and_else_the_longest() {
        let rate = |stages: &[(&str, u64)]| {
            let stages: Vec<_> = stages.iter().map(|(time, to)| json!({ "duration": time, "target": to })).collect();
            json!({ "a": { "executor": "ramping-arrival-rate", "startRate": 5, "preAllocatedVUs": 1, "startTime": "3s",
                           "stages": stages } })
        };
        assert_eq!(found(rate(&[("20s", 5), ("5s", 9), ("20s", 9)])), Some((3.0, 23.0, false)));
        assert_eq!(found(rate(&[("20s", 5), ("5s", 9), ("21s", 9)])), Some((28.0, 49.0, false)));
        assert_eq!(found(rate(&[("5s", 0), ("60s", 0)])), None, "nothing is started");
        assert_eq!(found(rate(&[("10s", 5), ("0s", 9), ("15s", 9), ("15s", 9)])), Some((13.0, 43.0, false)));
        assert_eq!(found(rate(&[("10s", 5), ("0s", 0), ("0s", 5), ("12s", 5)])), Some((13.0, 25.0, false)));
    }

    #[test]
    fn a_trace_is_no_plateau() {
        let plan = json!({ "a": { "executor": "trace", "file": "t", "preAllocatedVUs": 1 } });
        let mut scenarios = Scenarios::from_json(&plan).expect("scenarios");
        scenarios.read_traces(|_| Ok(String::from("0\n30"))).expect("times");
        assert_eq!(plateau(scenarios.iter()), None);
        let both = json!({ "a": { "executor": "trace", "file": "t", "preAllocatedVUs": 1 },
                           "b": { "executor": "constant-vus", "vus": 1, "duration": "50s" } });
        let mut scenarios = Scenarios::from_json(&both).expect("scenarios");
        scenarios.read_traces(|_| Ok(String::from("0\n30"))).expect("times");
        let behind = Plateau { from_s: 30.0, to_s: 50.0, is_closed: true, runs_out: false };
        assert_eq!(plateau(scenarios.iter()), Some(behind));
    }
}
