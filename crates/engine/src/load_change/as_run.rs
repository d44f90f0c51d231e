//! Scenarios as they ran: with what clients changed of their load written as stages, for what asks afterwards where the
//! plan was level and how much it started.
//!
//! The engine itself follows `RunState`. Rates become thousandths of their unit here, so that a ramp that was cut in
//! the middle of a stage is off by less than one iteration in a thousand units.

use std::time::Duration;

use super::{LoadChange, Quantity};
use crate::scenario::{Executor, Scenarios, Stage};

/// What rates are multiplied with, and their unit.
const FINE: u32 = 1000;

/// These scenarios with these changes, which are in order.
pub fn as_run(scenarios: &Scenarios, changes: &[LoadChange]) -> Scenarios {
    scenarios.with_executors(|scenario| {
        let own = changes.iter().filter(|change| change.scenario == scenario.name);
        own.fold(scenario.executor.clone(), |executor, change| {
            changed(&executor, change.at.saturating_sub(scenario.start_time), change)
        })
    })
}

fn changed(executor: &Executor, at: Duration, change: &LoadChange) -> Executor {
    match (executor, change.quantity) {
        (Executor::ConstantVus { vus, duration }, Quantity::Users) => {
            let stages = vec![Stage { duration: *duration, target: *vus }];
            let graceful_ramp_down = Duration::ZERO;
            changed(&Executor::RampingVus { start_vus: *vus, stages, graceful_ramp_down }, at, change)
        }
        (Executor::RampingVus { start_vus, stages, graceful_ramp_down }, Quantity::Users) => Executor::RampingVus {
            start_vus: *start_vus,
            stages: cut(*start_vus, stages, at, change.to as u64),
            graceful_ramp_down: *graceful_ramp_down,
        },
        (
            Executor::ConstantArrivalRate { rate, time_unit, duration, spacing, pre_allocated_vus, max_vus },
            Quantity::Rate,
        ) => {
            let ramping = Executor::RampingArrivalRate {
                start_rate: *rate,
                time_unit: *time_unit,
                stages: vec![Stage { duration: *duration, target: *rate }],
                spacing: *spacing,
                pre_allocated_vus: *pre_allocated_vus,
                max_vus: *max_vus,
            };
            changed(&ramping, at, change)
        }
        (
            Executor::RampingArrivalRate { start_rate, time_unit, stages, spacing, pre_allocated_vus, max_vus },
            Quantity::Rate,
        ) => {
            let fine = |rate: u64| rate.saturating_mul(u64::from(FINE));
            let stages: Vec<Stage> =
                stages.iter().map(|stage| Stage { target: fine(stage.target), ..*stage }).collect();
            let time_unit = time_unit.saturating_mul(FINE);
            let to = (change.to * time_unit.as_secs_f64()).round() as u64;
            Executor::RampingArrivalRate {
                start_rate: fine(*start_rate),
                time_unit,
                stages: cut(fine(*start_rate), &stages, at, to),
                spacing: *spacing,
                pre_allocated_vus: *pre_allocated_vus,
                max_vus: *max_vus,
            }
        }
        (other, _) => other.clone(),
    }
}

/// Stages up to a moment, then a jump, and a level to their end.
fn cut(start: u64, stages: &[Stage], at: Duration, to: u64) -> Vec<Stage> {
    let (mut begins, mut height, mut kept) = (Duration::ZERO, start, Vec::new());
    let end: Duration = stages.iter().map(|stage| stage.duration).sum();
    let at = at.min(end);
    for stage in stages {
        let ends = begins + stage.duration;
        if ends > at {
            let share = (at - begins).div_duration_f64(stage.duration);
            let target = height as f64 + (stage.target as f64 - height as f64) * share;
            kept.push(Stage { duration: at - begins, target: target.round() as u64 });
            break;
        }
        kept.push(*stage);
        (begins, height) = (ends, stage.target);
    }
    kept.extend([Stage { duration: Duration::ZERO, target: to }, Stage { duration: end - at, target: to }]);
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::load_change::ChangedBy;

    fn change(scenario: &str, at: u64, quantity: Quantity, to: f64) -> LoadChange {
        let (at, scenario, by) = (Duration::from_secs(at), scenario.to_owned(), ChangedBy::Rest);
        LoadChange { at, scenario, quantity, from: 0.0, to, by }
    }

    fn stages(executor: &Executor) -> Vec<(f64, f64)> {
        let (unit, stages) = match executor {
            Executor::RampingArrivalRate { time_unit, stages, .. } => (time_unit.as_secs_f64(), stages),
            Executor::RampingVus { stages, .. } => (1.0, stages),
            other => panic!("{other:?}"),
        };
        stages.iter().map(|stage| (stage.duration.as_secs_f64(), stage.target as f64 / unit)).collect()
    }

    #[test]
    fn changes_become_stages() {
        let all = json!({
            "users": { "executor": "constant-vus", "vus": 3, "duration": "20s", "startTime": "2s" },
            "ramp": { "executor": "ramping-vus", "startVUs": 0,
                      "stages": [{ "duration": "10s", "target": 10 }, { "duration": "10s", "target": 0 }] },
            "rate": { "executor": "constant-arrival-rate", "rate": 90, "timeUnit": "1m", "duration": "20s",
                      "preAllocatedVUs": 3 },
            "turns": { "executor": "ramping-arrival-rate", "startRate": 1, "preAllocatedVUs": 3,
                       "stages": [{ "duration": "10s", "target": 4 }] },
            "none": { "executor": "constant-vus", "vus": 3, "duration": "20s" },
        });
        let all = Scenarios::from_json(&all).unwrap();
        let changes = [
            change("users", 12, Quantity::Users, 7.0),
            change("users", 15, Quantity::Users, 0.0),
            change("ramp", 5, Quantity::Users, 2.0),
            change("rate", 5, Quantity::Rate, 2.5),
            change("rate", 6, Quantity::MostUsers, 9.0),
            change("turns", 5, Quantity::Rate, 30.0),
        ];
        let changed = as_run(&all, &changes);
        let executors: Vec<&Executor> = changed.iter().map(|scenario| &scenario.executor).collect();
        let of = |at: usize| stages(executors[at]);
        assert_eq!(of(0), [(10.0, 3.0), (0.0, 7.0), (3.0, 7.0), (0.0, 0.0), (7.0, 0.0)]);
        assert_eq!(of(1), [(5.0, 5.0), (0.0, 2.0), (15.0, 2.0)]);
        assert_eq!(of(2), [(5.0, 1.5), (0.0, 2.5), (15.0, 2.5)]);
        assert_eq!(of(3), [(5.0, 2.5), (0.0, 30.0), (5.0, 30.0)]);
        assert_eq!(changed.iter().nth(4), all.iter().nth(4));
        assert!(changed.iter().zip(all.iter()).all(|(new, old)| new.executor.time() == old.executor.time()));
    }
}
