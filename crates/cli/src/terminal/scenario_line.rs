//! One scenario in the progress: how far it is, how many users, how much time, in k6's words for each executor.

use std::time::Duration;

use engine::RunState;
use engine::scenario::{Executor, Scenario};
use units::Span;
use units::show::clock;

use crate::live::ScenarioLine;

/// The line of a scenario at this time of the run's clock.
pub fn scenario_line(index: usize, scenario: &Scenario, state: &RunState, now: Duration, over: bool) -> ScenarioLine {
    let counts = state.scenario_counts(index);
    let progress = state.progress(index, now);
    let time = state.scenario_time(index);
    let elapsed = state.scenario_start(index).map_or(Duration::ZERO, |start| now.saturating_sub(start)).min(time);
    let times = format!("{}/{}", clock(elapsed), whole(time));
    let right = match &scenario.executor {
        Executor::SharedIterations { vus, iterations, .. } => {
            format!("{vus} VUs  {times}  {}/{iterations} shared iters", counts.completed + counts.interrupted)
        }
        Executor::PerVuIterations { vus, iterations, .. } => {
            let all = state.scenario_iterations(index).unwrap_or(vus * iterations);
            format!("{vus} VUs  {times}  {}/{all} iters, {iterations} per VU", counts.completed + counts.interrupted)
        }
        Executor::ConstantVus { vus, .. } if !state.has_changed(index) => format!("{vus} VUs  {times}"),
        Executor::ConstantVus { .. } | Executor::RampingVus { .. } => format!("{} VUs  {times}", counts.active),
        Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } | Executor::Trace { .. } => {
            let rate = counts.started as f64 / elapsed.as_secs_f64().max(1e-3);
            let rate = if elapsed.is_zero() { 0.0 } else { rate };
            let dropped = if counts.dropped > 0 { format!("  {} dropped", counts.dropped) } else { String::new() };
            format!("{:03} VUs  {times}  {rate:.2} iters/s{dropped}", counts.active)
        }
    };
    // An iteration that was cut short did not end as planned, whatever the clock says.
    let ended = over.then_some(progress >= 1.0 && counts.interrupted == 0);
    let has_iterations = state.scenario_iterations(index).is_some();
    let left = ended.is_none().then(|| left(scenario.start_time + time, progress, (state, now), has_iterations));
    ScenarioLine { name: scenario.name.clone(), progress, right, left, ended }
}

/// Until the plan's end; until the last iteration, where they are counted and end earlier if they go on as they did.
fn left(end: Duration, progress: f64, (state, now): (&RunState, Duration), has_iterations: bool) -> Duration {
    /// Less says too little of the rest.
    const LEAST_PROGRESS: f64 = 0.02;
    let Some(started) = state.started() else { return end };
    let elapsed = now.saturating_sub(started);
    let by_plan = end.saturating_sub(elapsed);
    match has_iterations && progress >= LEAST_PROGRESS {
        true => by_plan.min(elapsed.mul_f64((1.0 - progress) / progress)),
        false => by_plan,
    }
}

fn whole(time: Duration) -> String {
    Span::from(time).to_string()
}
