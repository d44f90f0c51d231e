//! Which scenarios run, and by their plan or once: `--scenario` and `--once`, as in k6 2.3. Pure.
//!
//! Both are for a look at a part of a script. So what a scenario does stays (function, variables, tags, network), and
//! when it does it does not: once, every scenario starts at once, with one user and one iteration.

use std::time::Duration;

use super::config::{Executor, GRACE, MAX_DURATION, Scenario, Scenarios, Written};
use super::fields::ConfigError;

/// What of a script runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Names of scenarios; none: all of them.
    pub names: Vec<String>,
    /// Whether each scenario has one user and one iteration.
    pub is_once: bool,
    /// For how long that iteration may run; none: as long as k6 lets it.
    pub once_for: Option<Duration>,
}

impl Selection {
    /// What is left of these scenarios, in their order. The error names the scenarios that there are.
    pub fn of(&self, scenarios: Scenarios) -> Result<Scenarios, ConfigError> {
        let known: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        let unknown = self.names.iter().filter(|name| !known.contains(&name.as_str()));
        let problems: Vec<String> = unknown.map(|name| problem(name, &known)).collect();
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        let is_wanted = |scenario: &Scenario| self.names.is_empty() || self.names.contains(&scenario.name);
        let wanted = scenarios.0.into_iter().filter(is_wanted);
        Ok(Scenarios(
            wanted.map(|scenario| if self.is_once { once(scenario, self.once_for) } else { scenario }).collect(),
        ))
    }
}

fn problem(name: &str, known: &[&str]) -> String {
    let hint = units::suggest::hint(name, known.iter().copied());
    format!("found no scenario '{name}', expected some of {}{hint}", known.join(", "))
}

/// One user, one iteration, now, for so long at most.
fn once(scenario: Scenario, at_most: Option<Duration>) -> Scenario {
    let max_duration = at_most.unwrap_or(MAX_DURATION);
    Scenario {
        executor: Executor::PerVuIterations { vus: 1, iterations: 1, max_duration },
        start_time: Duration::ZERO,
        graceful_stop: GRACE,
        written: Written(None),
        ..scenario
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scenarios() -> Scenarios {
        let all = json!({
            "browse": { "executor": "constant-vus", "vus": 7, "duration": "1h", "exec": "browse", "startTime": "5m",
                        "env": { "A": "1" }, "tags": { "kind": "b" } },
            "buy": { "executor": "constant-arrival-rate", "rate": 90, "duration": "1m", "preAllocatedVUs": 5 },
            "look": { "executor": "shared-iterations", "iterations": 9 },
        });
        Scenarios::from_json(&all).unwrap()
    }

    fn selected(names: &[&str], is_once: bool) -> Result<Scenarios, ConfigError> {
        Selection { names: names.iter().map(|name| (*name).to_owned()).collect(), is_once, once_for: None }
            .of(scenarios())
    }

    #[test]
    fn named_scenarios_are_left_as_they_are() {
        assert_eq!(selected(&[], false), Ok(scenarios()));
        let some = selected(&["look", "browse"], false).unwrap();
        let wanted: Vec<Scenario> = scenarios().iter().filter(|scenario| scenario.name != "buy").cloned().collect();
        assert_eq!(some.iter().cloned().collect::<Vec<_>>(), wanted, "in the order of the script");
    }

    #[test]
    fn once_is_one_iteration_of_the_same_function_at_once() {
        let all = selected(&["browse", "buy"], true).unwrap();
        let one = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: MAX_DURATION };
        assert!(all.iter().all(|scenario| scenario.executor == one && scenario.start_time.is_zero()));
        let browse = all.iter().next().unwrap();
        assert_eq!((browse.name.as_str(), browse.exec.as_str()), ("browse", "browse"));
        assert_eq!((browse.env["A"].as_str(), browse.tags["kind"].as_str()), ("1", "b"));
    }

    #[test]
    fn unknown_scenarios_are_named_with_those_that_there_are() {
        let error = selected(&["brows", "look", "pay"], false).unwrap_err();
        let known = "expected some of browse, buy, look";
        let near = format!("found no scenario 'brows', {known}; did you mean 'browse'?");
        assert_eq!(error.problems, [near, format!("found no scenario 'pay', {known}")]);
    }
}
