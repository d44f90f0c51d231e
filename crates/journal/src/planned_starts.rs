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
    debug_assert!(from <= to, "{from:?} to {to:?}");
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
            debug_assert!(times.is_sorted(), "starts of a trace are in order");
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

    #[test]
    fn a_rate_that_changes_is_the_area_below_its_line() {
        let plan = serde_json::json!({
            "ramp": { "executor": "ramping-arrival-rate", "startRate": 60, "timeUnit": "1m", "preAllocatedVUs": 1,
                "startTime": "10s", "stages": [{ "target": 300, "duration": "4s" }, { "target": 0, "duration": "0s" },
                    { "target": 120, "duration": "6s" }] },
        });
        assert_eq!(planned(plan.clone(), 10, 14), Some(12.0), "from 1 to 5 a second");
        assert_eq!(planned(plan.clone(), 11, 13), Some(6.0), "from 2 to 4");
        assert_eq!(planned(plan.clone(), 14, 20), Some(6.0), "from 0 to 2");
        assert_eq!(planned(plan.clone(), 17, 20), Some(4.5), "from 1 to 2");
        assert_eq!(planned(plan.clone(), 13, 17), Some(4.5 + 1.5), "over the jump");
        assert_eq!(planned(plan.clone(), 0, 60), Some(18.0));
        assert_eq!(planned(plan.clone(), 20, 30), Some(0.0), "it is over");
        assert_eq!((planned(plan.clone(), 0, 10), planned(plan, 12, 12)), (None, None), "not one moment of it");
    }

    #[test]
    fn a_trace_plans_the_starts_that_it_names() {
        let plan = serde_json::json!({
            "trace": { "executor": "trace", "file": "t", "preAllocatedVUs": 1, "startTime": "10s" },
        });
        let mut scenarios = Scenarios::from_json(&plan).expect("a plan");
        scenarios.read_traces(|_| Ok(String::from("0\n1\n1\n2\n4"))).expect("times");
        let all: Vec<&Scenario> = scenarios.iter().collect();
        let planned = |from, to| planned_starts(&all, Duration::from_secs(from), Duration::from_secs(to));
        assert_eq!([planned(10, 11), planned(11, 12), planned(12, 20), planned(0, 60)], [1.0, 2.0, 2.0, 5.0].map(Some));
        assert_eq!([planned(14, 15), planned(15, 16)], [1.0, 0.0].map(Some));
        assert_eq!((planned(0, 10), planned(11, 11)), (None, None));
    }

    #[test]
    fn users_who_plan_no_starts_count_while_they_run() {
        let plan = serde_json::json!({
            "rate": { "executor": "constant-arrival-rate", "rate": 2, "duration": "60s", "preAllocatedVUs": 1 },
            "users": { "executor": "constant-vus", "vus": 1, "duration": "10s", "startTime": "30s" },
        });
        assert_eq!(planned(plan.clone(), 29, 30), Some(2.0), "they begin when it ends");
        assert_eq!((planned(plan.clone(), 30, 31), planned(plan.clone(), 39, 41)), (None, None));
        assert_eq!(planned(plan, 40, 41), Some(2.0), "they ended when it begins");
        assert_eq!(planned_starts(&[], Duration::ZERO, Duration::MAX), None);
    }
}
