//! Thread groups as scenarios: threads are users, loops iterations, the ramp-up stages.

use serde_json::{Value, json};

use super::plan::Plan;
use super::xml::Element;

impl Plan<'_> {
    /// The scenario of a thread group.
    pub(super) fn scenario(&mut self, group: &Element, function: &str) -> Value {
        let place = format!("line {}", group.line);
        let (threads, ramp) =
            (self.number(group, "ThreadGroup.num_threads", 1), self.number(group, "ThreadGroup.ramp_time", 0));
        let threads = threads.max(1);
        let is_timed = group.is("ThreadGroup.scheduler");
        let duration = if is_timed { self.number(group, "ThreadGroup.duration", 0) } else { 0 };
        let delay = if is_timed { self.number(group, "ThreadGroup.delay", 0) } else { 0 };
        let loops = group.property("ThreadGroup.main_controller").and_then(|controller| {
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
