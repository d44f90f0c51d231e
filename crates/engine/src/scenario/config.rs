//! The scenarios of a test with every default filled in, read from the JSON of the option `scenarios`.
//!
//! What k6 refuses is refused here, with the scenario and the field in the message. A value of these types has been
//! checked: durations are long enough, there is at least one stage, maxVUs is not below preAllocatedVUs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::executor_kind::ExecutorKind;
use super::fields::ConfigError;
use super::reading::read_scenario;
use super::spacing::{Spacing, Speed};
use super::trace;

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const GRACE: Duration = Duration::from_secs(30);
pub(super) const MAX_DURATION: Duration = Duration::from_secs(600);

/// One scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its key in the option `scenarios`.
    pub name: String,
    /// How its iterations are started.
    pub executor: Executor,
    /// After the start of the test.
    pub start_time: Duration,
    /// How long iterations may go on after the regular end.
    pub graceful_stop: Duration,
    /// Exported function to call.
    pub exec: String,
    /// Added to `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Added to every sample.
    pub tags: BTreeMap<String, String>,
    /// The field `options` as it was given (`browser`).
    pub options: Option<Value>,
    /// The field `network` as it was given: the link each virtual user gets (ours, unknown to k6).
    pub network: Option<Value>,
    /// The field `http2` as it was given: connections that users share (ours, unknown to k6).
    pub http2: Option<Value>,
    /// The field `tlsResumption` as it was given: whether its users resume their TLS sessions (ours, unknown to k6).
    pub tls_resumption: Option<Value>,
    /// Workers that its users are on at most, where these share what cannot be split further. No field.
    pub most_workers: Option<usize>,
    /// The fields that a script wrote, for a scenario that is one of a script's option `scenarios`.
    pub(super) written: Written,
}

/// Names of fields. No part of what a scenario is: all are equal.
#[derive(Clone, Debug)]
pub(super) struct Written(pub(super) Option<Vec<String>>);

impl PartialEq for Written {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Written {
    pub(super) fn has(&self, field: &str) -> bool {
        self.0.as_ref().is_some_and(|fields| fields.iter().any(|written| written.eq_ignore_ascii_case(field)))
    }
}

/// A part of a ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// How long it takes to get there.
    pub duration: Duration,
    /// Virtual users, or iterations per time unit, at its end.
    pub target: u64,
}

/// The executors and their fields: k6's six, and traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// A fixed number of iterations, taken by the first free user.
    SharedIterations {
        /// Virtual users.
        vus: u64,
        /// Iterations of all together.
        iterations: u64,
        /// No iteration starts after it.
        max_duration: Duration,
    },
    /// A fixed number of iterations for each virtual user.
    PerVuIterations {
        /// Virtual users.
        vus: u64,
        /// Iterations of each.
        iterations: u64,
        /// No iteration starts after it.
        max_duration: Duration,
    },
    /// As many iterations as fit into a time.
    ConstantVus {
        /// Virtual users.
        vus: u64,
        /// No iteration starts after it.
        duration: Duration,
    },
    /// A number of virtual users that follows stages.
    RampingVus {
        /// Virtual users at the start.
        start_vus: u64,
        /// Where to go from there.
        stages: Vec<Stage>,
        /// How long a virtual user that is no longer wanted may finish its iteration.
        graceful_ramp_down: Duration,
    },
    /// Iterations that start at a fixed rate, however long they take.
    ConstantArrivalRate {
        /// Iterations per time unit.
        rate: u64,
        /// What the rate is per.
        time_unit: Duration,
        /// No iteration starts after it.
        duration: Duration,
        /// How the starts follow each other.
        spacing: Spacing,
        /// Virtual users made before the start.
        pre_allocated_vus: u64,
        /// Virtual users at most.
        max_vus: u64,
    },
    /// Iterations that start at a rate that follows stages.
    RampingArrivalRate {
        /// Iterations per time unit at the start.
        start_rate: u64,
        /// What the rates are per.
        time_unit: Duration,
        /// Where to go from there.
        stages: Vec<Stage>,
        /// How the starts follow each other.
        spacing: Spacing,
        /// Virtual users made before the start.
        pre_allocated_vus: u64,
        /// Virtual users at most.
        max_vus: u64,
    },
    /// Iterations that start at the times of a file (ours, unknown to k6).
    Trace {
        /// The file as the script names it.
        file: String,
        /// How many times faster than recorded.
        speed: Speed,
        /// When iterations start; empty until `Scenarios::read_traces`.
        times: Arc<[Duration]>,
        /// Virtual users made before the start.
        pre_allocated_vus: u64,
        /// Virtual users at most.
        max_vus: u64,
    },
}

/// The checked scenarios of a test, in the order in which they were given; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenarios(pub(super) Vec<Scenario>);

impl Scenarios {
    /// One scenario alone.
    pub fn single(scenario: Scenario) -> Self {
        Scenarios(vec![scenario])
    }

    /// The same with other executors.
    pub(crate) fn with_executors(&self, executor: impl Fn(&Scenario) -> Executor) -> Scenarios {
        let changed = |scenario: &Scenario| Scenario { executor: executor(scenario), ..scenario.clone() };
        Scenarios(self.0.iter().map(changed).collect())
    }

    /// Reads the option `scenarios`: an object of scenarios by name, not empty (k6 takes an empty one as absent).
    pub fn from_json(value: &Value) -> Result<Self, ConfigError> {
        let Value::Object(entries) = value else {
            return Err(format!("scenarios is {value}, expected an object of scenarios by name").into());
        };
        let (mut scenarios, mut problems) = (Vec::new(), Vec::new());
        for (name, value) in entries {
            match read_scenario(name, value) {
                Ok(scenario) => scenarios.push(scenario),
                Err(found) => problems.extend(found),
            }
        }
        if entries.is_empty() {
            problems.push("scenarios is empty, expected at least one scenario".to_owned());
        }
        if problems.is_empty() { Ok(Scenarios(scenarios)) } else { Err(ConfigError { problems }) }
    }

    /// The option `scenarios` as `exec.test.options` shows it in k6: by name, with null for what is as it would be if
    /// the script had left it out, and was left out.
    pub fn to_json(&self) -> Value {
        let mut all: Vec<_> = self.0.iter().map(|scenario| (scenario.name.clone(), scenario.to_json())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Value::Object(all.into_iter().collect())
    }

    /// Reads the files of traces: `read` gives the text of one, or says why there is none.
    pub fn read_traces(&mut self, mut read: impl FnMut(&str) -> Result<String, String>) -> Result<(), ConfigError> {
        let mut problems = Vec::new();
        for scenario in &mut self.0 {
            let Executor::Trace { file, speed, times, .. } = &mut scenario.executor else { continue };
            match read(file).and_then(|text| trace::read(&text).map_err(|problem| format!("{file}: {problem}"))) {
                Ok(found) => *times = found.into_iter().map(|time| speed.of(time)).collect(),
                Err(problem) => problems.push(format!("scenario '{}': {problem}", scenario.name)),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(ConfigError { problems }) }
    }

    /// The scenarios in order, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Scenario> {
        self.0.iter_mut()
    }

    /// The scenarios in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Scenario> {
        self.0.iter()
    }
}

impl Scenario {
    /// A scenario with this executor and every other field at its default.
    pub fn new(name: impl Into<String>, executor: Executor) -> Self {
        Scenario {
            name: name.into(),
            executor,
            start_time: Duration::ZERO,
            graceful_stop: GRACE,
            exec: "default".into(),
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
            options: None,
            network: None,
            http2: None,
            tls_resumption: None,
            most_workers: None,
            written: Written(None),
        }
    }
}

impl Executor {
    /// k6's name: `constant-vus`.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Users that begin again when they have ended, at most; none where a plan gives the starts.
    pub fn users(&self) -> Option<u64> {
        let highest = |start: u64, stages: &[Stage]| stages.iter().map(|stage| stage.target).fold(start, u64::max);
        match self {
            Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. }
            | Executor::ConstantVus { vus, .. } => Some(*vus),
            Executor::RampingVus { start_vus, stages, .. } => Some(highest(*start_vus, stages)),
            Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } | Executor::Trace { .. } => None,
        }
    }

    fn kind(&self) -> ExecutorKind {
        match self {
            Executor::SharedIterations { .. } => ExecutorKind::SharedIterations,
            Executor::PerVuIterations { .. } => ExecutorKind::PerVuIterations,
            Executor::ConstantVus { .. } => ExecutorKind::ConstantVus,
            Executor::RampingVus { .. } => ExecutorKind::RampingVus,
            Executor::ConstantArrivalRate { .. } => ExecutorKind::ConstantArrivalRate,
            Executor::RampingArrivalRate { .. } => ExecutorKind::RampingArrivalRate,
            Executor::Trace { .. } => ExecutorKind::Trace,
        }
    }

    /// Regular time, without graceful stop; for executors that count iterations the most they may take.
    pub fn time(&self) -> Duration {
        match self {
            Executor::SharedIterations { max_duration, .. } | Executor::PerVuIterations { max_duration, .. } => {
                *max_duration
            }
            Executor::ConstantVus { duration, .. } | Executor::ConstantArrivalRate { duration, .. } => *duration,
            Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
                stages.iter().map(|stage| stage.duration).sum()
            }
            Executor::Trace { times, .. } => times.last().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Scenario, Vec<String>> {
        Scenarios::from_json(&json!({ "a": value })).map(|all| all.0[0].clone()).map_err(|error| error.problems)
    }

    fn problems(value: Value) -> Vec<String> {
        read(value).unwrap_err()
    }

    #[test]
    fn defaults_are_those_of_k6() {
        let scenario = read(json!({ "executor": "constant-vus", "duration": "10s", "vus": null })).unwrap();
        assert_eq!(scenario, Scenario::new("a", Executor::ConstantVus { vus: 1, duration: Duration::from_secs(10) }));
        let ramp = read(json!({ "executor": "ramping-vus", "stages": [{ "duration": 500, "target": "3" }] })).unwrap();
        let stages = vec![Stage { duration: Duration::from_millis(500), target: 3 }];
        assert_eq!(ramp.executor, Executor::RampingVus { start_vus: 1, stages, graceful_ramp_down: GRACE });
        let given = json!({ "executor": "constant-arrival-rate", "rate": 9, "duration": "1m", "preAllocatedVUs": 4 });
        let expected = Executor::ConstantArrivalRate {
            rate: 9,
            time_unit: SECOND,
            duration: Duration::from_secs(60),
            spacing: Spacing::Even,
            pre_allocated_vus: 4,
            max_vus: 4,
        };
        assert_eq!(read(given).unwrap().executor, expected);
    }

    #[test]
    fn writes_what_it_reads() {
        let given = json!({ "a": {
            "executor": "ramping-arrival-rate", "startTime": "1m0s", "gracefulStop": "5s", "env": { "K": "v" },
            "exec": "f",
            "tags": { "t": "1" }, "options": { "browser": { "type": "chromium" } }, "network": { "latency": "10ms" },
            "http2": { "connections": 2 }, "tlsResumption": true, "startRate": 5, "timeUnit": "1m0s",
            "stages": [{ "duration": "2s", "target": 7 }], "preAllocatedVUs": 1,
            "maxVUs": 2,
        }});
        assert_eq!(Scenarios::from_json(&given).unwrap().to_json(), given);
    }

    #[test]
    fn every_problem_is_named_with_its_scenario_and_field() {
        let found = problems(json!({
            "executor": "constant-arrival-rate", "rate": 0, "timeUnit": "0s", "duration": "100ms", "preAllocatedVUs": 5,
            "maxVUs": 2, "startTime": "-5s", "exec": 7,
        }));
        let expected = [
            "scenario 'a': startTime is -5s, expected 0s or more",
            "scenario 'a': exec is 7, expected a text",
            "scenario 'a': rate is 0, expected at least 1",
            "scenario 'a': timeUnit is 0s, expected at least 1ns",
            "scenario 'a': duration is 100ms, expected at least 1s",
            "scenario 'a': maxVUs is 2, expected at least preAllocatedVUs (5)",
        ];
        assert_eq!(found, expected);
        let found = problems(json!({ "executor": "constant-arrival-rate", "rate": 1.5 }));
        let expected = [
            "scenario 'a': rate is 1.5, expected a whole number",
            "scenario 'a': duration is missing, expected a duration like 30s",
            "scenario 'a': preAllocatedVUs is missing, expected a whole number",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn case_makes_no_difference() {
        let stages = json!([{ "Duration": "1s", "target": 3 }]);
        let odd = json!({ "EXECUTOR": "ramping-vus", "startvus": 2, "Stages": stages, "gracefulRampdown": "5s" });
        let usual = json!({ "executor": "ramping-vus", "startVUs": 2, "stages": stages, "gracefulRampDown": "5s" });
        assert_eq!(read(odd).unwrap(), read(usual).unwrap());
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let found = problems(json!({ "executor": "constant-vus", "vuss": 3, "duration": "1s" }));
        let expected = "scenario 'a': unknown field 'vuss'; did you mean 'vus'? (expected any of executor, startTime, \
             gracefulStop, exec, env, tags, options, network, http2, tlsResumption, vus, duration)";
        assert_eq!(found, [expected]);
        let found = problems(json!({ "executor": "constant-vu" }));
        let expected = "scenario 'a': unknown executor 'constant-vu'; did you mean 'constant-vus'? (expected any of \
             shared-iterations, per-vu-iterations, constant-vus, ramping-vus, constant-arrival-rate, \
             ramping-arrival-rate, trace)";
        assert_eq!(found, [expected]);
    }

    fn rate(more: Value) -> Value {
        let mut all = json!({ "executor": "constant-arrival-rate", "rate": 9, "duration": "1m", "preAllocatedVUs": 4 });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    }

    fn spacing(value: &Value) -> Spacing {
        let read = Scenarios::from_json(value).unwrap();
        let Executor::ConstantArrivalRate { spacing, .. } = read.0[0].executor else { panic!() };
        spacing
    }

    #[test]
    fn poisson_starts_have_a_seed_given_or_of_the_name() {
        let poisson = rate(json!({ "arrivals": "poisson" }));
        assert_eq!(spacing(&json!({ "a": rate(json!({ "arrivals": "even" })) })), Spacing::Even);
        let seeded = json!({ "a": rate(json!({ "arrivals": "poisson", "seed": 7 })) });
        assert_eq!(spacing(&seeded), Spacing::Poisson { seed: 7 });
        let (a, b) = (spacing(&json!({ "a": poisson })), spacing(&json!({ "b": poisson })));
        assert!(a != b && a == spacing(&json!({ "a": poisson })));
        let told = Scenarios::from_json(&seeded).unwrap().to_json();
        assert_eq!((&told["a"]["arrivals"], &told["a"]["seed"]), (&json!("poisson"), &json!(7)));
        assert_eq!(
            problems(rate(json!({ "arrivals": "random", "seed": 1 }))),
            ["scenario 'a': arrivals is 'random', expected 'even' or 'poisson'"]
        );
        let expected = "scenario 'a': seed has a meaning with arrivals: 'poisson' alone";
        assert_eq!(problems(rate(json!({ "seed": 1 }))), [expected]);
    }

    #[test]
    fn a_trace_is_read_at_its_speed() {
        let given = json!({ "a": { "executor": "trace", "file": "t.csv", "speed": 2, "preAllocatedVUs": 1 } });
        let mut read = Scenarios::from_json(&given).unwrap();
        read.read_traces(|file| if file == "t.csv" { Ok("3\n4\n6".to_owned()) } else { Err("?".to_owned()) }).unwrap();
        assert_eq!(read.0[0].executor.time(), Duration::from_millis(1500));
        let problem = read.read_traces(|_| Ok("soon".to_owned())).unwrap_err().to_string();
        assert!(problem.starts_with("scenario 'a': t.csv: line 1: found \"soon\", expected seconds"), "{problem}");
        let problem = read.read_traces(|file| Err(format!("{file}: no such file"))).unwrap_err().to_string();
        assert_eq!(problem, "scenario 'a': t.csv: no such file");
        let wrong = json!({ "executor": "trace", "speed": 0, "preAllocatedVUs": 1 });
        let expected = [
            "scenario 'a': file is missing, expected the name of a file with a start time in each line",
            "scenario 'a': speed is 0, expected a number between 0.000001 and 1000000",
        ];
        assert_eq!(problems(wrong), expected);
    }
}
