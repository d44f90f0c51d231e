//! The execution shortcuts `vus`, `duration`, `iterations` and `stages`: how layers of options override each other, and
//! which scenario they stand for.
//!
//! The rules are k6 2.2's: a layer that says how to execute replaces what lower layers said, `vus` is kept; `vus`
//! without another shortcut replaces `scenarios`, with a warning. Pure.

use std::time::Duration;

use serde_json::Value;
use units::Span;

use super::config::{Executor, MAX_DURATION, Scenario, Scenarios, Stage};
use super::fields::ConfigError;
use super::reading::stages_from;

/// The options that say how to execute, of one layer or of all layers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shortcuts {
    /// `vus`.
    pub vus: Option<i64>,
    /// `duration`.
    pub duration: Option<Span>,
    /// `iterations`.
    pub iterations: Option<i64>,
    /// `stages`; an empty list is the same as none.
    pub stages: Option<Vec<Stage>>,
    /// Why `stages` could not be read; then the list is empty.
    pub stages_problem: Option<String>,
    /// `scenarios`; leave an empty object out.
    pub scenarios: Option<Scenarios>,
    /// An empty object was left out.
    pub has_empty_scenarios: bool,
}

/// What the shortcuts come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// What to run.
    pub scenarios: Scenarios,
    /// To be logged.
    pub warnings: Vec<String>,
}

impl Shortcuts {
    /// These options with a higher layer on top.
    pub fn overlaid(self, higher: Shortcuts) -> Shortcuts {
        let vus = higher.vus.or(self.vus);
        let says_how = higher.duration.is_some()
            || higher.iterations.is_some()
            || higher.stages.is_some()
            || higher.scenarios.is_some();
        let has_empty_scenarios = self.has_empty_scenarios || higher.has_empty_scenarios;
        let base = if says_how { higher } else { self };
        Shortcuts { vus, has_empty_scenarios, ..base }
    }

    /// Reads a JSON list of stages (`stages` in a script or configuration file). As in k6, one without a
    /// duration is left out here, and is an error in a scenario.
    pub fn stages_from_json(value: &Value) -> Result<Vec<Stage>, ConfigError> {
        let lasts = |stage: &Value| {
            stage.as_object().is_none_or(|fields| {
                fields.iter().any(|(name, value)| name.eq_ignore_ascii_case("duration") && !value.is_null())
            })
        };
        let lasting = value.as_array().map(|all| all.iter().filter(|stage| lasts(stage)).cloned().collect());
        let (stages, problems) = stages_from("stages", lasting.as_ref().unwrap_or(value));
        if problems.is_empty() { Ok(stages) } else { Err(ConfigError { problems }) }
    }

    /// The scenarios to run.
    pub fn derive(self) -> Result<Derived, ConfigError> {
        let others = self.iterations.is_some() || self.duration.is_some() || self.scenarios.is_some();
        if let Some(problem) = self.stages_problem.filter(|_| !others) {
            return Err(problem.into());
        }
        let is_empty = self.stages.as_ref().is_some_and(Vec::is_empty);
        let stages = self.stages.filter(|stages| !stages.is_empty());
        let given = [
            ("iterations", self.iterations.is_some()),
            ("duration", self.duration.is_some()),
            ("stages", stages.is_some()),
            ("scenarios", self.scenarios.is_some()),
        ];
        let given: Vec<&str> = given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect();
        // iterations with duration means "at most that long"; every other pair contradicts itself.
        if given.len() > 1 && given != ["iterations", "duration"] {
            return Err(format!("{} and {} are both given, expected one of them", given[0], given[1]).into());
        }
        let mut warnings = Vec::new();
        if self.has_empty_scenarios && given.is_empty() && self.vus.is_none() && !is_empty {
            warnings.push("`scenarios` is empty: running one iteration by one user".to_owned());
        }
        if is_empty && given.is_empty() {
            // One iteration even with `vus`, as k6 has it.
            warnings.push("`stages` has no stage with a duration: running one iteration by one user".to_owned());
            let executor = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION };
            return Ok(Derived { scenarios: Scenarios::single(Scenario::new("default", executor)), warnings });
        }
        if let Some(scenarios) = self.scenarios {
            let Some(vus) = self.vus else { return Ok(Derived { scenarios, warnings }) };
            warnings.push(format!("`vus={vus}` overrides scenarios configuration"));
        }
        let vus = count("vus", self.vus.unwrap_or(1), if stages.is_some() { 0 } else { 1 })?;
        let executor = match (self.iterations, self.duration, stages) {
            (Some(iterations), limit, _) => shared(vus, iterations, limit)?,
            (None, Some(duration), _) => Executor::ConstantVus { vus, duration: at_least_a_second(duration)? },
            (None, None, Some(stages)) => ramp(vus, stages)?,
            // `vus` alone is one iteration for each, but shared, as k6 has it; nothing at all is one iteration.
            (None, None, None) if self.vus.is_some() => {
                Executor::SharedIterations { vus, iterations: vus, max_duration: MAX_DURATION }
            }
            (None, None, None) => Executor::PerVuIterations { vus, iterations: 1, max_duration: MAX_DURATION },
        };
        Ok(Derived { scenarios: Scenarios::single(Scenario::new("default", executor)), warnings })
    }
}

fn shared(vus: u64, iterations: i64, limit: Option<Span>) -> Result<Executor, ConfigError> {
    let iterations = count("iterations", iterations, 1)?;
    if iterations < vus {
        return Err(format!("iterations is {iterations}, expected at least as many as vus ({vus})").into());
    }
    let max_duration = limit.map_or(Ok(MAX_DURATION), at_least_a_second)?;
    Ok(Executor::SharedIterations { vus, iterations, max_duration })
}

fn ramp(start_vus: u64, stages: Vec<Stage>) -> Result<Executor, ConfigError> {
    if start_vus == 0 && stages.iter().all(|stage| stage.target == 0) {
        return Err("vus and the targets of all stages are 0, expected one above 0".to_owned().into());
    }
    Ok(Executor::RampingVus { start_vus, stages, graceful_ramp_down: Duration::from_secs(30) })
}

fn count(name: &str, number: i64, least: i64) -> Result<u64, ConfigError> {
    if number < least {
        return Err(format!("{name} is {number}, expected at least {least}").into());
    }
    Ok(number.unsigned_abs())
}

fn at_least_a_second(span: Span) -> Result<Duration, ConfigError> {
    let time = span.to_duration().filter(|time| *time >= Duration::from_secs(1));
    time.ok_or_else(|| format!("duration is {span}, expected at least 1s").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str) -> Option<Span> {
        Some(Span::parse(text).unwrap())
    }

    fn executor(shortcuts: Shortcuts) -> Executor {
        let derived = shortcuts.derive().unwrap();
        let scenario = derived.scenarios.iter().next().unwrap();
        assert_eq!((scenario.name.as_str(), scenario.exec.as_str()), ("default", "default"));
        scenario.executor.clone()
    }

    fn refusal(shortcuts: Shortcuts) -> String {
        shortcuts.derive().unwrap_err().to_string()
    }

    fn some_scenarios() -> Option<Scenarios> {
        let executor = Executor::ConstantVus { vus: 5, duration: Duration::from_secs(5) };
        Some(Scenarios::single(Scenario::new("a", executor)))
    }

    #[test]
    fn each_shortcut_stands_for_its_executor() {
        let none = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION };
        assert_eq!(executor(Shortcuts::default()), none);
        let limited = Shortcuts { vus: Some(2), iterations: Some(9), duration: span("3s"), ..Default::default() };
        let max_duration = Duration::from_secs(3);
        assert_eq!(executor(limited), Executor::SharedIterations { vus: 2, iterations: 9, max_duration });
        let timed = Shortcuts { duration: span("90s"), ..Default::default() };
        assert_eq!(executor(timed), Executor::ConstantVus { vus: 1, duration: Duration::from_secs(90) });
        let stages = vec![Stage { duration: Duration::from_secs(10), target: 5 }];
        let staged = Shortcuts { vus: Some(0), stages: Some(stages.clone()), ..Default::default() };
        let graceful_ramp_down = Duration::from_secs(30);
        assert_eq!(executor(staged), Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down });
    }

    #[test]
    fn stages_without_a_duration_are_left_out() {
        let read = |value| Shortcuts::stages_from_json(&value).unwrap();
        let one = read(serde_json::json!([{ "target": 2 }, { "Duration": "1s", "target": 1 }, {}]));
        assert_eq!(one, [Stage { duration: Duration::from_secs(1), target: 1 }]);
        let none = read(serde_json::json!([{ "target": 2 }]));
        let derived = Shortcuts { vus: Some(2), stages: Some(none.clone()), ..Default::default() }.derive().unwrap();
        assert_eq!(derived.warnings, ["`stages` has no stage with a duration: running one iteration by one user"]);
        let once = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION };
        assert_eq!(derived.scenarios, Scenarios::single(Scenario::new("default", once)));
        let timed = Shortcuts { stages: Some(none), duration: span("1s"), ..Default::default() }.derive().unwrap();
        assert_eq!(timed.warnings, Vec::<String>::new());
        assert!(Shortcuts::stages_from_json(&serde_json::json!([{ "duration": "1s" }])).is_err());
    }

    #[test]
    fn scenarios_that_are_empty_are_told() {
        let empty = Shortcuts { has_empty_scenarios: true, ..Default::default() };
        let derived = empty.clone().derive().unwrap();
        assert_eq!(derived.warnings, ["`scenarios` is empty: running one iteration by one user"]);
        let timed = empty.overlaid(Shortcuts { duration: span("1s"), ..Default::default() });
        assert_eq!(timed.derive().unwrap().warnings, Vec::<String>::new());
    }

    #[test]
    fn vus_alone_overrides_scenarios_with_a_warning() {
        let derived = Shortcuts { vus: Some(2), scenarios: some_scenarios(), ..Default::default() }.derive().unwrap();
        assert_eq!(derived.warnings, ["`vus=2` overrides scenarios configuration"]);
        let shared = Executor::SharedIterations { vus: 2, iterations: 2, max_duration: MAX_DURATION };
        assert_eq!(derived.scenarios.iter().next().unwrap().executor, shared);
        let kept = Shortcuts { scenarios: some_scenarios(), ..Default::default() }.derive().unwrap();
        assert_eq!(Some(kept.scenarios), some_scenarios());
    }

    #[test]
    fn contradictions_and_nonsense_are_refused() {
        let stages = Some(vec![Stage { duration: Duration::ZERO, target: 0 }]);
        let both = Shortcuts { duration: span("1s"), stages: stages.clone(), ..Default::default() };
        assert_eq!(refusal(both), "duration and stages are both given, expected one of them");
        let both = Shortcuts { iterations: Some(5), scenarios: some_scenarios(), ..Default::default() };
        assert_eq!(refusal(both), "iterations and scenarios are both given, expected one of them");
        let few = Shortcuts { vus: Some(9), iterations: Some(5), ..Default::default() };
        assert_eq!(refusal(few), "iterations is 5, expected at least as many as vus (9)");
        let zero = Shortcuts { duration: span("0s"), ..Default::default() };
        assert_eq!(refusal(zero), "duration is 0s, expected at least 1s");
        let nobody = Shortcuts { vus: Some(0), ..Default::default() };
        assert_eq!(refusal(nobody), "vus is 0, expected at least 1");
        let flat = Shortcuts { vus: Some(0), stages, ..Default::default() };
        assert_eq!(refusal(flat), "vus and the targets of all stages are 0, expected one above 0");
    }

    #[test]
    fn a_layer_that_says_how_replaces_the_lower_one() {
        let script = Shortcuts { vus: Some(3), scenarios: some_scenarios(), ..Default::default() };
        let flags = Shortcuts { iterations: Some(7), ..Default::default() };
        let both = script.clone().overlaid(flags.clone());
        assert_eq!(both, Shortcuts { vus: Some(3), iterations: Some(7), ..Default::default() });
        let only_vus = Shortcuts { vus: Some(1), ..Default::default() };
        let kept = flags.overlaid(only_vus);
        assert_eq!(kept, Shortcuts { vus: Some(1), iterations: Some(7), ..Default::default() });
    }

    #[test]
    fn every_way_to_say_how_replaces_the_lower_layer() {
        let lower = Shortcuts { vus: Some(3), iterations: Some(7), ..Default::default() };
        let stages = Some(vec![Stage { duration: Duration::from_secs(1), target: 2 }]);
        for higher in [
            Shortcuts { duration: span("1s"), ..Default::default() },
            Shortcuts { iterations: Some(9), ..Default::default() },
            Shortcuts { stages, ..Default::default() },
            Shortcuts { scenarios: some_scenarios(), ..Default::default() },
        ] {
            assert_eq!(lower.clone().overlaid(higher.clone()), Shortcuts { vus: Some(3), ..higher });
        }
    }

    #[test]
    fn limits_of_shortcuts_count_from_their_own_value_on() {
        let equal = Shortcuts { vus: Some(5), iterations: Some(5), duration: span("1s"), ..Default::default() };
        let max_duration = Duration::from_secs(1);
        assert_eq!(executor(equal), Executor::SharedIterations { vus: 5, iterations: 5, max_duration });
        let short = Shortcuts { duration: span("999ms"), ..Default::default() };
        assert_eq!(refusal(short), "duration is 999ms, expected at least 1s");
        let one = |vus, target| Shortcuts {
            vus: Some(vus),
            stages: Some(vec![Stage { duration: max_duration, target }]),
            ..Default::default()
        };
        assert!(one(0, 1).derive().is_ok() && one(1, 0).derive().is_ok());
        assert_eq!(refusal(one(-1, 1)), "vus is -1, expected at least 0");
    }

    #[test]
    fn stages_are_read_and_checked() {
        let read = |value| Shortcuts::stages_from_json(&value).map_err(|error| error.to_string());
        let stages = read(serde_json::json!([{ "duration": "5s", "target": 3 }]));
        assert_eq!(stages, Ok(vec![Stage { duration: Duration::from_secs(5), target: 3 }]));
        assert_eq!(
            read(serde_json::json!([{ "duration": "5s" }])),
            Err("stages[0]: target is missing, expected a whole number".to_owned())
        );
        assert_eq!(read(serde_json::json!(7)), Err("stages is 7, expected a list of {duration, target}".to_owned()));
    }
}
