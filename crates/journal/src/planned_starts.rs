//! How many iterations a plan starts within a stretch of time: what a report draws beside what was done.
//!
//! Only arrival rates and traces plan starts. Users that go on when they are ready plan none, and a test of them alone
//! has no planned rate. By the rate's integral, not by its starts: an hour may have a hundred million.

use std::time::Duration;

use engine::scenario::{Executor, Scenario, Stage};

/// Starts from `from` to `to` since the scenarios began; none where no scenario plans any then, or where one runs that
/// plans none: the iterations of all together are then no measure of the plan.
pub fn planned_starts(scenarios: &[&Scenario], from: Duration, to: Duration) -> Option<f64> {
    let is_free = |scenario: &Scenario| {
        let is_planned = of_scenario(scenario, Duration::ZERO, Duration::MAX).is_some();
        let end = scenario.start_time + scenario.executor.time();
        !is_planned && scenario.start_time < to && from < end
    };
    if scenarios.iter().any(|scenario| is_free(scenario)) {
        return None;
    }
    scenarios.iter().filter_map(|scenario| of_scenario(scenario, from, to)).reduce(|a, b| a + b)
}

fn of_scenario(scenario: &Scenario, from: Duration, to: Duration) -> Option<f64> {
    let start = scenario.start_time;
    let (from, to) = (from.max(start) - start, to.max(start) - start);
    let sum = match &scenario.executor {
        Executor::ConstantArrivalRate { rate, time_unit, duration, .. } => {
            let stages = [Stage { duration: *duration, target: *rate }];
            integral(*rate, &stages, from, to) / time_unit.as_secs_f64()
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, .. } => {
            integral(*start_rate, stages, from, to) / time_unit.as_secs_f64()
        }
        Executor::Trace { times, .. } => {
            let before = |time: Duration| times.partition_point(|start| *start < time);
            (before(to) - before(from)) as f64
        }
        _ => return None,
    };
    (to > from).then_some(sum)
}

/// The area below a rate that goes from stage to stage in straight lines.
fn integral(first: u64, stages: &[Stage], from: Duration, to: Duration) -> f64 {
    let (mut at, mut height, mut area) = (0.0, first as f64, 0.0);
    let (from, to) = (from.as_secs_f64(), to.as_secs_f64());
    for Stage { duration, target } in stages {
        let (length, target) = (duration.as_secs_f64(), *target as f64);
        let (low, high) = (from.clamp(at, at + length) - at, to.clamp(at, at + length) - at);
        if high > low {
            let middle = height + (target - height) * (low + high) / 2.0 / length;
            area += middle * (high - low);
        }
        (at, height) = (at + length, target);
    }
    debug_assert!(area.is_finite() && area >= 0.0, "a rate is not below 0: {area} starts");
    area
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::scenario::Scenarios;

    fn planned(scenarios: serde_json::Value, from: u64, to: u64) -> Option<f64> {
        let scenarios = Scenarios::from_json(&scenarios).expect("a plan");
        let all: Vec<&Scenario> = scenarios.iter().collect();
        planned_starts(&all, Duration::from_secs(from), Duration::from_secs(to))
    }

    #[test]
    fn rates_are_added_up_while_they_last() {
        let plan = serde_json::json!({
            "flat": { "executor": "constant-arrival-rate", "rate": 120, "timeUnit": "1m", "duration": "10s",
                "preAllocatedVUs": 1, "startTime": "5s" },
            "ramp": { "executor": "ramping-arrival-rate", "startRate": 0, "preAllocatedVUs": 1,
                "stages": [{ "target": 10, "duration": "10s" }, { "target": 10, "duration": "5s" }] },
            "users": { "executor": "constant-vus", "vus": 1, "duration": "10s", "startTime": "30s" },
        });
        assert_eq!(planned(plan.clone(), 0, 10), Some(50.0 + 2.0 * 5.0));
        assert_eq!(planned(plan.clone(), 4, 6), Some(10.0 + 2.0));
        assert_eq!(planned(plan.clone(), 15, 20), Some(0.0));
        assert_eq!(planned(plan, 29, 31), None, "users who go on when they are ready");
        let users = serde_json::json!({ "users": { "executor": "constant-vus", "vus": 1, "duration": "1m" } });
        assert_eq!(planned(users, 0, 1), None);
    }
}
