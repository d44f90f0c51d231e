//! One steady load in place of the shape that a script has: `--hold`. Pure.
//!
//! `onrush capacity` asks again and again whether the target holds a load. So a scenario keeps what it does (function,
//! variables, tags, link) and loses its shape: it runs from the start, for one time, at one rate or with one number of
//! users: its share of one load for all scenarios.

use std::time::Duration;

use super::config::{Executor, Scenario, Scenarios, Stage, Written};
use super::fields::ConfigError;
use super::spacing::Spacing;

/// How much load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeldLoad {
    /// Iterations per second of all scenarios with an arrival rate together, in the proportions of their highest rates.
    /// The one scenario of a script without rates gets it alone.
    Rate(f64),
    /// Users of all scenarios without an arrival rate together, in the proportions of their highest numbers.
    Users(u64),
}

/// A steady load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// How much. Scenarios of the other kind have their highest load.
    pub load: HeldLoad,
    /// For how long.
    pub time: Duration,
    /// Users made before the start, in all, for an arrival rate; none: as many as the scenarios have.
    pub ready: Option<u64>,
    /// Users at most, likewise.
    pub most: Option<u64>,
}

/// Rates are whole numbers of iterations in this many seconds.
const PER_SECONDS: u64 = 100;
/// Iterations that go on when the time is over are cut soon: what they would tell comes from after it.
const SHORT_GRACE: Duration = Duration::from_secs(1);

impl Hold {
    /// Reads `rate=250/s,time=20s,ready=10,most=100` or `users=40,time=20s`.
    pub fn read(text: &str) -> Result<Hold, String> {
        let expected = "expected rate=N/s or users=N, and time=SECONDSs, with commas between them";
        let (mut load, mut time, mut ready, mut most) = (None, None, None, None);
        for part in text.split(',') {
            let refused = || format!("found '{part}', {expected}");
            let (name, value) = part.split_once('=').ok_or_else(refused)?;
            let number = |unit: &str| {
                let number: Option<f64> = value.trim().trim_end_matches(unit).parse().ok();
                number.filter(|number| (1e-6..1e9).contains(number)).ok_or_else(refused)
            };
            match name.trim() {
                "rate" => load = Some(HeldLoad::Rate(number("/s")?)),
                "users" => load = Some(HeldLoad::Users(number("")?.round().max(1.0) as u64)),
                "time" => time = Some(Duration::from_secs_f64(number("s")?.min(1e6))),
                "ready" => ready = Some(number("")?.ceil() as u64),
                "most" => most = Some(number("")?.ceil() as u64),
                _ => return Err(refused()),
            }
        }
        match (load, time) {
            (Some(load), Some(time)) if time >= Duration::from_secs(1) => Ok(Hold { load, time, ready, most }),
            (Some(_), Some(_)) => Err(format!("found '{text}', expected a time of at least 1s")),
            _ => Err(format!("found '{text}', {expected}")),
        }
    }

    /// The scenarios under this load.
    pub fn of(&self, scenarios: Scenarios) -> Result<Scenarios, ConfigError> {
        let rates: f64 =
            scenarios.iter().filter_map(|scenario| highest_rate(&scenario.executor)).map(|it| it.rate).sum();
        let closed: u64 = scenarios.iter().filter_map(|scenario| scenario.executor.users()).sum();
        let count = scenarios.iter().count();
        let problem = match self.load {
            HeldLoad::Rate(_) if rates == 0.0 && count > 1 => Some(format!(
                "found {count} scenarios and none with an arrival rate: give one a rate, or change the users \
                 (--by users)"
            )),
            HeldLoad::Users(_) if closed == 0 => {
                Some("found no scenario without an arrival rate: change the rate (--by rate)".to_owned())
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(problem.into());
        }
        let held = scenarios.0.into_iter().map(|scenario| Scenario {
            executor: self.executor(&scenario.executor, rates, closed),
            start_time: Duration::ZERO,
            graceful_stop: SHORT_GRACE,
            written: Written(None),
            ..scenario
        });
        Ok(Scenarios(held.collect()))
    }

    /// `rates` and `closed` are the highest loads of all scenarios together.
    fn executor(&self, shape: &Executor, rates: f64, closed: u64) -> Executor {
        let highest = highest_rate(shape);
        match (self.load, highest) {
            (HeldLoad::Rate(rate), Some(highest)) => {
                let share = highest.rate / rates;
                self.at_rate(rate * share, &highest, rate / rates, share)
            }
            (HeldLoad::Rate(rate), None) if rates == 0.0 => {
                let alone = HighestRate { rate, spacing: Spacing::Even, ready: 1, most: 1 };
                self.at_rate(rate, &alone, 1.0, 1.0)
            }
            (HeldLoad::Users(_), Some(highest)) => self.at_rate(highest.rate, &highest, 1.0, highest.rate / rates),
            (HeldLoad::Users(users), None) => {
                let share = shape.users().unwrap_or(1) as f64 / closed as f64;
                self.with_users((users as f64 * share).round() as u64)
            }
            (HeldLoad::Rate(_), None) => self.with_users(shape.users().unwrap_or(1)),
        }
    }

    fn with_users(&self, users: u64) -> Executor {
        Executor::ConstantVus { vus: users.max(1), duration: self.time }
    }

    /// `factor` is on the scenario's own users, `share` on those that were given.
    fn at_rate(&self, rate: f64, highest: &HighestRate, factor: f64, share: f64) -> Executor {
        let of = |given: Option<u64>, own: u64| {
            let users = given.map_or(own as f64 * factor, |given| given as f64 * share);
            users.ceil().max(1.0) as u64
        };
        let ready = of(self.ready, highest.ready);
        Executor::ConstantArrivalRate {
            rate: (rate * PER_SECONDS as f64).round().max(1.0) as u64,
            time_unit: Duration::from_secs(PER_SECONDS),
            duration: self.time,
            spacing: highest.spacing,
            pre_allocated_vus: ready,
            max_vus: of(self.most, highest.most).max(ready),
        }
    }
}

/// The highest rate of a scenario that has one.
struct HighestRate {
    /// Iterations per second.
    rate: f64,
    spacing: Spacing,
    /// Users made before the start.
    ready: u64,
    /// Users at most.
    most: u64,
}

fn highest_rate(shape: &Executor) -> Option<HighestRate> {
    match shape {
        Executor::ConstantArrivalRate { rate, time_unit, spacing, pre_allocated_vus, max_vus, .. } => {
            let rate = *rate as f64 / time_unit.as_secs_f64();
            Some(HighestRate { rate, spacing: *spacing, ready: *pre_allocated_vus, most: *max_vus })
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, spacing, pre_allocated_vus, max_vus } => {
            let rate = highest(*start_rate, stages) as f64 / time_unit.as_secs_f64();
            Some(HighestRate { rate, spacing: *spacing, ready: *pre_allocated_vus, most: *max_vus })
        }
        Executor::Trace { times, pre_allocated_vus, max_vus, .. } => {
            let time = times.last().map_or(1.0, Duration::as_secs_f64).max(1e-3);
            let rate = times.len() as f64 / time;
            Some(HighestRate { rate, spacing: Spacing::Even, ready: *pre_allocated_vus, most: *max_vus })
        }
        _ => None,
    }
}

fn highest(start: u64, stages: &[Stage]) -> u64 {
    stages.iter().map(|stage| stage.target).fold(start, u64::max)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn held(text: &str, scenarios: &serde_json::Value) -> Result<Vec<Executor>, Vec<String>> {
        let scenarios = Scenarios::from_json(scenarios).unwrap();
        let held = Hold::read(text).unwrap().of(scenarios).map_err(|error| error.problems)?;
        assert!(held.iter().all(|scenario| scenario.start_time.is_zero() && scenario.graceful_stop == SHORT_GRACE));
        Ok(held.iter().map(|scenario| scenario.executor.clone()).collect())
    }

    fn rate(rate: u64, time: u64, users: [u64; 2]) -> Executor {
        Executor::ConstantArrivalRate {
            rate,
            time_unit: Duration::from_secs(PER_SECONDS),
            duration: Duration::from_secs(time),
            spacing: Spacing::Even,
            pre_allocated_vus: users[0],
            max_vus: users[1],
        }
    }

    fn users(vus: u64, time: u64) -> Executor {
        Executor::ConstantVus { vus, duration: Duration::from_secs(time) }
    }

    #[test]
    fn a_script_without_a_rate_gets_one() {
        let one = json!({ "a": { "executor": "shared-iterations", "vus": 7, "iterations": 9, "startTime": "5s" } });
        let given = held("rate=250.5/s,time=20s,ready=10,most=100", &one);
        assert_eq!(given, Ok(vec![rate(25050, 20, [10, 100])]));
        assert_eq!(held("users=3,time=20s", &one), Ok(vec![users(3, 20)]));
        let two = json!({
            "a": { "executor": "constant-vus", "vus": 1, "duration": "1s" },
            "b": { "executor": "constant-vus", "vus": 3, "duration": "1s" },
        });
        let problem =
            "found 2 scenarios and none with an arrival rate: give one a rate, or change the users (--by users)";
        assert_eq!(held("rate=5,time=1s", &two), Err(vec![problem.to_owned()]));
        assert_eq!(held("users=8,time=1s", &two), Ok(vec![users(2, 1), users(6, 1)]));
        let open =
            json!({ "a": { "executor": "constant-arrival-rate", "rate": 9, "duration": "1m", "preAllocatedVUs": 4 } });
        let problem = "found no scenario without an arrival rate: change the rate (--by rate)";
        assert_eq!(held("users=8,time=1s", &open), Err(vec![problem.to_owned()]));
    }

    #[test]
    fn several_scenarios_keep_their_proportions() {
        let ramp = json!([{ "duration": "5s", "target": 120 }, { "duration": "5s", "target": 1 }]);
        let all = json!({
            "closed": { "executor": "ramping-vus", "startVUs": 3, "stages": [{ "duration": "5s", "target": 8 },
                        { "duration": "5s", "target": 0 }] },
            "two": { "executor": "ramping-arrival-rate", "timeUnit": "1m", "startRate": 6, "preAllocatedVUs": 3,
                     "maxVUs": 9, "stages": ramp },
            "six": { "executor": "constant-arrival-rate", "rate": 6, "duration": "1m", "preAllocatedVUs": 4 },
        });
        // Twice the eight a second that they have.
        assert_eq!(
            held("rate=16/s,time=3s", &all),
            Ok(vec![users(8, 3), rate(400, 3, [6, 18]), rate(1200, 3, [8, 8])])
        );
        assert_eq!(
            held("rate=16/s,time=3s,most=80", &all),
            Ok(vec![users(8, 3), rate(400, 3, [6, 20]), rate(1200, 3, [8, 60])])
        );
        assert_eq!(held("users=12,time=3s", &all), Ok(vec![users(12, 3), rate(200, 3, [3, 9]), rate(600, 3, [4, 4])]));
    }

    #[test]
    fn what_cannot_be_a_load_is_refused_with_what_could() {
        let refused = |text: &str| Hold::read(text).unwrap_err();
        assert!(refused("rate=0,time=2s").starts_with("found 'rate=0', expected rate=N/s"));
        assert!(refused("rate=5").starts_with("found 'rate=5', expected"));
        assert!(refused("time=5s").contains("users=N"));
        assert!(refused("speed=5,time=1s").starts_with("found 'speed=5'"));
        assert_eq!(refused("rate=5,time=0.5s"), "found 'rate=5,time=0.5s', expected a time of at least 1s");
    }
}
