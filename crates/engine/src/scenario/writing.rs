//! From a scenario to the JSON that `exec.test.options` and `inspect` show: as k6 does, with null for what was left out
//! and is the default.

use std::time::Duration;

use serde_json::{Map, Value, json};
use units::Span;

use super::config::{Executor, GRACE, MAX_DURATION, SECOND, Scenario, Stage};

impl Scenario {
    pub(super) fn to_json(&self) -> Value {
        let mut all = Map::new();
        all.insert("executor".into(), self.executor.name().into());
        all.insert("startTime".into(), span(self.start_time));
        all.insert("gracefulStop".into(), span(self.graceful_stop));
        all.insert("env".into(), json!(self.env));
        all.insert("exec".into(), json!(self.exec));
        all.insert("tags".into(), json!(self.tags));
        if let Some(options) = &self.options {
            all.insert("options".into(), options.clone());
        }
        if let Some(network) = &self.network {
            all.insert("network".into(), network.clone());
        }
        if let Some(http2) = &self.http2 {
            all.insert("http2".into(), http2.clone());
        }
        if let Some(resumption) = &self.tls_resumption {
            all.insert("tlsResumption".into(), resumption.clone());
        }
        if let Value::Object(own) = self.executor.to_json() {
            all.extend(own);
        }
        self.leave_out_defaults(&mut all);
        Value::Object(all)
    }

    /// Puts null in place of a field that has its default and that nobody wrote.
    fn leave_out_defaults(&self, all: &mut Map<String, Value>) {
        let of_users = all.get("preAllocatedVUs").cloned().unwrap_or_default();
        let spans = [
            ("startTime", Duration::ZERO),
            ("gracefulStop", GRACE),
            ("timeUnit", SECOND),
            ("maxDuration", MAX_DURATION),
            ("gracefulRampDown", GRACE),
        ];
        let others = [("env", json!({})), ("tags", json!({})), ("exec", json!("default")), ("startRate", json!(0))];
        // Of a scenario that a flag made, counts of users and iterations are always told.
        let counts = ["vus", "iterations", "startVUs"].map(|name| (name, json!(1)));
        let counts = counts.into_iter().filter(|_| self.written.0.is_some());
        let defaults = spans.map(|(name, time)| (name, span(time))).into_iter().chain(others).chain(counts);
        for (name, default) in defaults.chain([("maxVUs", of_users)]) {
            let is_written = self.written.has(name);
            match all.get_mut(name) {
                Some(value) if !is_written && *value == default => *value = Value::Null,
                _ => {}
            }
        }
    }
}

impl Executor {
    fn to_json(&self) -> Value {
        let list = |stages: &[Stage]| -> Vec<Value> {
            stages.iter().map(|stage| json!({ "duration": span(stage.duration), "target": stage.target })).collect()
        };
        match self {
            Executor::SharedIterations { vus, iterations, max_duration }
            | Executor::PerVuIterations { vus, iterations, max_duration } => {
                json!({ "vus": vus, "iterations": iterations, "maxDuration": span(*max_duration) })
            }
            Executor::ConstantVus { vus, duration } => json!({ "vus": vus, "duration": span(*duration) }),
            Executor::RampingVus { start_vus, stages, graceful_ramp_down } => json!({
                "startVUs": start_vus, "stages": list(stages),
                "gracefulRampDown": span(*graceful_ramp_down),
            }),
            Executor::ConstantArrivalRate { rate, time_unit, duration, spacing, pre_allocated_vus, max_vus } => {
                let own = json!({
                    "rate": rate, "timeUnit": span(*time_unit), "duration": span(*duration),
                });
                joined([own, spacing.to_json(), users(*pre_allocated_vus, *max_vus)])
            }
            Executor::RampingArrivalRate { start_rate, time_unit, stages, spacing, pre_allocated_vus, max_vus } => {
                let own = json!({
                    "startRate": start_rate, "timeUnit": span(*time_unit), "stages": list(stages),
                });
                joined([own, spacing.to_json(), users(*pre_allocated_vus, *max_vus)])
            }
            Executor::Trace { file, speed, pre_allocated_vus, max_vus, .. } => {
                joined([json!({ "file": file, "speed": speed.number() }), users(*pre_allocated_vus, *max_vus)])
            }
        }
    }
}

/// The users of an arrival rate.
fn users(pre_allocated: u64, max: u64) -> Value {
    json!({ "preAllocatedVUs": pre_allocated, "maxVUs": max })
}

/// The fields of several objects in one.
fn joined(objects: impl IntoIterator<Item = Value>) -> Value {
    let fields = objects.into_iter().filter_map(|object| match object {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    Value::Object(fields.flatten().collect())
}

fn span(time: Duration) -> Value {
    Span::from(time).to_string().into()
}
