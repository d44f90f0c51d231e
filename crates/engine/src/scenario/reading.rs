//! From the JSON of a scenario to a checked one. Every problem is noted before giving up, with the scenario and the
//! field.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::config::{Executor, GRACE, MAX_DURATION, SECOND, Scenario, Stage, Written};
use super::executor_kind::ExecutorKind;
use super::fields::Fields;
use super::spacing::{read_spacing, read_speed};

pub(super) fn read_scenario(name: &str, value: &Value) -> Result<Scenario, Vec<String>> {
    let place = format!("scenario '{name}'");
    let Value::Object(values) = value else {
        return Err(vec![format!("{place} is {value}, expected an object with an executor")]);
    };
    let mut fields = Fields::new(place.clone(), values);
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        fields.problem("its name has other characters than letters, digits, '_' and '-'");
    }
    // The other fields cannot be judged without knowing the executor.
    let kind = fields.text("executor");
    let kind = ExecutorKind::read(&place, kind.as_deref()).map_err(|problem| vec![problem])?;
    let written = values.iter().filter(|(_, value)| !value.is_null());
    let scenario = Scenario {
        name: name.to_owned(),
        start_time: fields.duration("startTime", Duration::ZERO, Some(Duration::ZERO)),
        graceful_stop: fields.duration("gracefulStop", Duration::ZERO, Some(GRACE)),
        exec: fields.text("exec").filter(|exec| !exec.is_empty()).unwrap_or_else(|| "default".into()),
        env: fields.texts("env"),
        tags: fields.texts("tags"),
        options: fields.value("options").cloned(),
        network: fields.value("network").cloned(),
        http2: fields.value("http2").cloned(),
        tls_resumption: fields.value("tlsResumption").cloned(),
        most_workers: None,
        written: Written(Some(written.map(|(name, _)| name.clone()).collect())),
        executor: read_executor(kind, &mut fields, &place),
    };
    let problems = fields.finish();
    if problems.is_empty() { Ok(scenario) } else { Err(problems) }
}

fn read_executor(kind: ExecutorKind, fields: &mut Fields<'_>, place: &str) -> Executor {
    match kind {
        ExecutorKind::SharedIterations => {
            let vus = fields.count("vus", 1, Some(1));
            let iterations = fields.count("iterations", 1, Some(1));
            if iterations < vus {
                fields.problem(format_args!("iterations is {iterations}, expected at least as many as vus ({vus})"));
            }
            let max_duration = fields.duration("maxDuration", SECOND, Some(MAX_DURATION));
            Executor::SharedIterations { vus, iterations, max_duration }
        }
        ExecutorKind::PerVuIterations => Executor::PerVuIterations {
            vus: fields.count("vus", 1, Some(1)),
            iterations: fields.count("iterations", 1, Some(1)),
            max_duration: fields.duration("maxDuration", SECOND, Some(MAX_DURATION)),
        },
        ExecutorKind::ConstantVus => Executor::ConstantVus {
            vus: fields.count("vus", 1, Some(1)),
            duration: fields.duration("duration", SECOND, None),
        },
        ExecutorKind::RampingVus => {
            let start_vus = fields.count("startVUs", 0, Some(1));
            let stages = read_stages(fields, place);
            if start_vus == 0 && !stages.is_empty() && stages.iter().all(|stage| stage.target == 0) {
                fields.problem("startVUs and all targets are 0, expected one above 0");
            }
            let graceful_ramp_down = fields.duration("gracefulRampDown", Duration::ZERO, Some(GRACE));
            Executor::RampingVus { start_vus, stages, graceful_ramp_down }
        }
        ExecutorKind::ConstantArrivalRate => {
            let rate = fields.count("rate", 1, None);
            let time_unit = read_time_unit(fields);
            let duration = fields.duration("duration", SECOND, None);
            let spacing = read_spacing(fields, place);
            let (pre_allocated_vus, max_vus) = read_vus(fields);
            Executor::ConstantArrivalRate { rate, time_unit, duration, spacing, pre_allocated_vus, max_vus }
        }
        ExecutorKind::RampingArrivalRate => {
            let start_rate = fields.count("startRate", 0, Some(0));
            let time_unit = read_time_unit(fields);
            let stages = read_stages(fields, place);
            let spacing = read_spacing(fields, place);
            let (pre_allocated_vus, max_vus) = read_vus(fields);
            Executor::RampingArrivalRate { start_rate, time_unit, stages, spacing, pre_allocated_vus, max_vus }
        }
        ExecutorKind::Trace => {
            let file = fields.text("file").unwrap_or_else(|| {
                fields.problem("file is missing, expected the name of a file with a start time in each line");
                String::new()
            });
            let speed = read_speed(fields);
            let (pre_allocated_vus, max_vus) = read_vus(fields);
            Executor::Trace { file, speed, times: Arc::from([]), pre_allocated_vus, max_vus }
        }
    }
}

fn read_time_unit(fields: &mut Fields<'_>) -> Duration {
    fields.duration("timeUnit", Duration::from_nanos(1), Some(SECOND))
}

fn read_vus(fields: &mut Fields<'_>) -> (u64, u64) {
    let pre_allocated = fields.count("preAllocatedVUs", 0, None);
    let max = fields.count("maxVUs", 0, Some(pre_allocated));
    if max < pre_allocated {
        fields.problem(format_args!("maxVUs is {max}, expected at least preAllocatedVUs ({pre_allocated})"));
    }
    (pre_allocated, max)
}

/// Reads the field `stages`; at least one is needed.
fn read_stages(fields: &mut Fields<'_>, place: &str) -> Vec<Stage> {
    match fields.value("stages") {
        Some(value) if value.as_array().is_none_or(|list| !list.is_empty()) => {
            let (stages, problems) = stages_from(&format!("{place}: stages"), value);
            fields.extend(problems);
            stages
        }
        _ => {
            fields.problem("stages is missing or empty, expected at least one {duration, target}");
            Vec::new()
        }
    }
}

/// Reads a list of stages and says what is wrong with each.
pub(super) fn stages_from(place: &str, value: &Value) -> (Vec<Stage>, Vec<String>) {
    let objects: Option<Vec<_>> = value.as_array().and_then(|list| list.iter().map(Value::as_object).collect());
    let Some(objects) = objects else {
        return (Vec::new(), vec![format!("{place} is {value}, expected a list of {{duration, target}}")]);
    };
    let (mut stages, mut problems) = (Vec::new(), Vec::new());
    for (index, object) in objects.into_iter().enumerate() {
        let mut fields = Fields::new(format!("{place}[{index}]"), object);
        let duration = fields.duration("duration", Duration::ZERO, None);
        stages.push(Stage { duration, target: fields.count("target", 0, None) });
        problems.extend(fields.finish());
    }
    (stages, problems)
}
