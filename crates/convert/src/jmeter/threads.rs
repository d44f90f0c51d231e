//! Thread groups as scenarios: threads are users, loops iterations, the ramp-up stages. Those of setUp and tearDown are
//! the functions `setup` and `teardown`, which one user runs.

use serde_json::{Value, json};

use super::plan::Plan;
use super::scope::Scope;
use super::xml::Element;
use super::{Function, Step, group_name, identifier, requests_mut};

impl Plan<'_> {
    /// A thread group with what is below it.
    pub(super) fn group(&mut self, element: &Element, below: &[Element], scope: &Scope) {
        self.is_in_group = true;
        self.is_once = element.tag != "ThreadGroup";
        let mut steps = self.inner(below, scope);
        self.is_in_group = false;
        if !self.cookies.is_empty() {
            steps.insert(0, self.cookie_step(self.cookies.clone()));
        }
        self.name_errors(element);
        match element.tag.as_str() {
            "SetupThreadGroup" => self.once("setup", element, steps),
            "PostThreadGroup" => self.once("teardown", element, steps),
            _ => {
                let base = identifier(element.attribute("testname"));
                let base = if ["setup", "teardown"].contains(&base.as_str()) { format!("{base}_") } else { base };
                let is_free =
                    |name: &String| self.test.functions.iter().all(|function| function.name.as_ref() != Some(name));
                let mut numbered = (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}{n}") });
                let function = numbered.find(is_free).unwrap_or_default();
                let scenario = self.scenario(element, &function);
                self.scenarios.insert(function.clone(), scenario);
                if !self.declarations.rows.is_empty() {
                    steps.insert(0, Step::Code(self.declarations.rows.clone()));
                }
                self.test.functions.push(Function { name: Some(function), steps });
            }
        }
    }

    /// A thread group that runs before the others, or behind them. Several are one function.
    fn once(&mut self, function: &str, element: &Element, mut steps: Vec<Step>) {
        let place = format!("line {}", element.line);
        let scenario = self.scenario(element, function);
        let (users, loops) = (scenario["vus"].as_u64().unwrap_or(1), scenario["iterations"].as_u64());
        if users > 1 {
            self.notes.add(place.as_str(), format!("{function}() is run by one user, not by {users}"));
        }
        if scenario["executor"] != "per-vu-iterations" || scenario["maxDuration"] != "24h" {
            self.notes.add(place.as_str(), format!("{function}() runs once, for as long as it takes"));
        }
        if let Some(loops) = loops.filter(|loops| *loops > 1) {
            steps = vec![Step::Block(format!("for (let i = 0; i < {loops}; i++)"), steps)];
        }
        let known = self.test.functions.iter_mut().find(|known| known.name.as_deref() == Some(function));
        match known {
            Some(known) => {
                self.notes.add(place, format!("thread groups of {function}() run one after the other"));
                known.steps.push(Step::Group(group_name(element.attribute("testname")), steps));
            }
            None => {
                if !self.declarations.first_rows.is_empty() {
                    self.notes.add(place, format!("{function}() has the first row of each file"));
                    steps.insert(0, Step::Code(self.declarations.first_rows.clone()));
                }
                self.test.functions.push(Function { name: Some(function.to_owned()), steps });
            }
        }
    }

    /// What JMeter does after an error.
    fn name_errors(&mut self, group: &Element) {
        let action = match group.text_of("ThreadGroup.on_sample_error").trim() {
            "" | "continue" => return,
            "startnextloop" => "begins the next loop",
            "stopthread" => "ends the thread",
            "stoptest" => "ends the test",
            "stoptestnow" => "ends the test at once",
            other => other,
        };
        let why = format!("after an error of a sampler JMeter {action}; the script goes on");
        self.notes.add(format!("line {}", group.line), why);
    }

    /// Scenarios into the options; one after the other where the plan says so.
    pub(super) fn finish_groups(&mut self) {
        let mut end = Some(0);
        let mut before: Option<String> = None;
        for (name, scenario) in self.scenarios.iter_mut().filter(|_| self.declarations.is_serial) {
            match (end, &before) {
                (Some(end_s), _) if end_s > 0 => {
                    let delay = seconds(scenario.get("startTime")).unwrap_or(0);
                    scenario["startTime"] = json!(format!("{}s", end_s + delay));
                }
                (None, Some(before)) => {
                    let why = format!(
                        "thread groups run one after the other in JMeter (consecutive); '{before}' ends when its loops \
                         do, so '{name}' starts at once: give it a startTime"
                    );
                    self.notes.add("", why);
                }
                _ => {}
            }
            end = end.and_then(|_| Some(seconds(scenario.get("startTime")).unwrap_or(0) + length(scenario)?));
            before = Some(name.clone());
        }
        if !self.scenarios.is_empty() {
            let scenarios = Value::Object(std::mem::take(&mut self.scenarios));
            self.test.option("scenarios", &scenarios);
        }
    }

    /// What concerns connections and cookies of the whole test.
    pub(super) fn finish_connections(&mut self) {
        if !self.hosts.is_empty() {
            let hosts = super::source::object(&std::mem::take(&mut self.hosts), 2);
            self.test.option_code("hosts", hosts);
        }
        if !self.keep_alive.is_empty() && !self.declarations.has_cookies {
            let why = "the plan has no Cookie Manager, so JMeter keeps no cookies; a user of the script keeps those of \
                       an iteration";
            self.notes.add("", why);
        }
        if self.declarations.has_new_users {
            self.test.option_code("noVUConnectionReuse", String::from("true"));
        }
        if self.keep_alive.is_empty() || self.keep_alive.contains(&true) {
            if self.keep_alive.contains(&false) {
                let why = "keep-alive is off for some samplers: their requests say 'Connection: close'";
                self.notes.add("", why);
            }
            return;
        }
        self.test.option_code("noConnectionReuse", String::from("true"));
        for function in &mut self.test.functions {
            requests_mut(&mut function.steps, &mut |request| {
                request.headers.retain(|(name, value)| name != "Connection" || value.as_text() != Some("close"));
            });
        }
    }

    /// The scenario of a thread group.
    pub(super) fn scenario(&mut self, group: &Element, function: &str) -> Value {
        let place = format!("line {}", group.line);
        let (threads, ramp) =
            (self.number(group, "ThreadGroup.num_threads", 1), self.number(group, "ThreadGroup.ramp_time", 0));
        let threads = threads.max(1);
        let is_timed = group.is("ThreadGroup.scheduler");
        // Without the scheduler they say nothing.
        let _ = ["ThreadGroup.duration", "ThreadGroup.delay"].map(|name| group.text_of(name));
        let duration = if is_timed { self.number(group, "ThreadGroup.duration", 0) } else { 0 };
        let delay = if is_timed { self.number(group, "ThreadGroup.delay", 0) } else { 0 };
        let loops = group.property("ThreadGroup.main_controller").and_then(|controller| {
            controller.visit();
            let text = controller.text_of("LoopController.loops").trim();
            let forever = controller.is("LoopController.continue_forever") && text.is_empty() || text == "-1";
            if forever { None } else { Some(self.variables.number(text).unwrap_or(1).max(1)) }
        });
        let mut scenario = match (duration, loops) {
            // Whichever comes first ends a thread.
            (duration, Some(loops)) => {
                if ramp > 0 && threads > 1 {
                    self.notes.add(
                        place.as_str(),
                        format!("the ramp-up of {ramp} s: users with a number of iterations all start at once"),
                    );
                }
                let longest = if duration == 0 { String::from("24h") } else { format!("{duration}s") };
                json!({ "executor": "per-vu-iterations", "vus": threads, "iterations": loops, "maxDuration": longest })
            }
            (duration, None) => {
                if duration == 0 {
                    self.notes.add(place.as_str(), "the thread group never ends: the script takes an hour");
                }
                timed(threads, ramp, if duration == 0 { 3600 } else { duration })
            }
        };
        if delay > 0 {
            scenario["startTime"] = json!(format!("{delay}s"));
        }
        scenario["exec"] = json!(function);
        scenario
    }

    fn number(&mut self, element: &Element, name: &str, default: u64) -> u64 {
        let text = element.text_of(name);
        if text.trim().is_empty() {
            return default;
        }
        let number = self.variables.number(text);
        if number.is_none() {
            self.notes
                .add(format!("line {}", element.line), format!("{name}: '{text}' is no number; {default} is written"));
        } else if text.contains("${") {
            self.notes
                .add(format!("line {}", element.line), format!("{name}: {text} is written as its value in the plan"));
        }
        number.unwrap_or(default)
    }
}

/// `5s` of a scenario.
fn seconds(value: Option<&Value>) -> Option<u64> {
    value?.as_str()?.strip_suffix('s')?.parse().ok()
}

/// How long a scenario takes, where that is known.
fn length(scenario: &Value) -> Option<u64> {
    if let Some(duration) = scenario.get("duration") {
        return seconds(Some(duration));
    }
    let stages = scenario.get("stages")?.as_array()?;
    stages.iter().map(|stage| seconds(stage.get("duration"))).sum()
}

fn timed(threads: u64, ramp: u64, duration: u64) -> Value {
    if ramp == 0 {
        return json!({ "executor": "constant-vus", "vus": threads, "duration": format!("{duration}s") });
    }
    let ramp = ramp.min(duration);
    let mut stages = vec![json!({ "duration": format!("{ramp}s"), "target": threads })];
    if duration > ramp {
        stages.push(json!({ "duration": format!("{}s", duration - ramp), "target": threads }));
    }
    json!({ "executor": "ramping-vus", "startVUs": 0, "stages": stages })
}
