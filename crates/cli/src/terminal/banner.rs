//! What a run is about to do, said before it starts: script, scenarios, how many users and how long, in k6's words.

use std::time::Duration;

use engine::scenario::{Executor, Scenario, Spacing, Stage};
use report::visible;
use unicode_width::UnicodeWidthStr;
use units::Span;

/// The lines before the progress.
pub fn banner(
    (script, place): (&str, &str),
    share: f64,
    scenarios: &[&Scenario],
    max_vus: u64,
    longest: Duration,
) -> String {
    let script = visible(script);
    let mut text = format!(
        "\n     execution: {place}\n        script: {script}\n        output: -\n\n     scenarios: ({:.2}%) {} \
         scenario{}, {max_vus} max VUs, {} max duration (incl. graceful stop):\n",
        share * 100.0,
        scenarios.len(),
        if scenarios.len() == 1 { "" } else { "s" },
        span(longest),
    );
    for scenario in scenarios {
        text.push_str(&format!("              * {}: {}\n", visible(&scenario.name), describe(scenario)));
    }
    text
}

/// The banner in a window of this many columns: what is too long continues in the next line, below its beginning.
pub fn fit(banner: &str, columns: usize) -> String {
    // The last column is left free: some terminals wrap there.
    banner.split_inclusive('\n').map(|line| wrap(line, columns.saturating_sub(1))).collect()
}

/// Where the text of a line begins.
const INDENT: usize = 16;

fn wrap(line: &str, columns: usize) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in line.split_inclusive(' ') {
        let needed = word.trim_end().width();
        if width > INDENT && width + needed > columns && columns > 2 * INDENT {
            text.truncate(text.trim_end().len());
            text.push_str(&format!("\n{}", " ".repeat(INDENT)));
            width = INDENT;
        }
        text.push_str(word);
        width += word.width();
    }
    text
}

/// `2 looping VUs for 2s (exec: browse, gracefulStop: 30s)`
fn describe(scenario: &Scenario) -> String {
    let mut notes = Vec::new();
    let what = match &scenario.executor {
        Executor::SharedIterations { vus, iterations, max_duration } => {
            notes.push(format!("maxDuration: {}", span(*max_duration)));
            format!("{iterations} iterations shared among {vus} VUs")
        }
        Executor::PerVuIterations { vus, iterations, max_duration } => {
            notes.push(format!("maxDuration: {}", span(*max_duration)));
            format!("{iterations} iterations for each of {vus} VUs")
        }
        Executor::ConstantVus { vus, duration } => format!("{vus} looping VUs for {}", span(*duration)),
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            notes.push(format!("gracefulRampDown: {}", span(*graceful_ramp_down)));
            format!("Up to {} looping VUs for {}", highest(*start_vus, stages), over(stages))
        }
        Executor::ConstantArrivalRate { rate, time_unit, duration, spacing, pre_allocated_vus, max_vus } => {
            notes.extend(drawn(*spacing));
            notes.push(users(*pre_allocated_vus, *max_vus));
            format!("{:.2} iterations/s for {}", per_second(*rate, *time_unit), span(*duration))
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, spacing, pre_allocated_vus, max_vus } => {
            notes.extend(drawn(*spacing));
            notes.push(users(*pre_allocated_vus, *max_vus));
            format!(
                "Up to {:.2} iterations/s for {}",
                per_second(highest(*start_rate, stages), *time_unit),
                over(stages)
            )
        }
        Executor::Trace { file, speed, times, pre_allocated_vus, max_vus } => {
            notes.push(users(*pre_allocated_vus, *max_vus));
            let time = span(scenario.executor.time());
            format!("{} iterations over {time} as in {} at {} x", times.len(), visible(file), speed.number())
        }
    };
    if scenario.exec != "default" {
        notes.push(format!("exec: {}", scenario.exec));
    }
    if !scenario.start_time.is_zero() {
        notes.push(format!("startTime: {}", span(scenario.start_time)));
    }
    notes.push(format!("gracefulStop: {}", span(scenario.graceful_stop)));
    format!("{what} ({})", notes.join(", "))
}

fn users(pre_allocated: u64, max: u64) -> String {
    if max > pre_allocated { format!("maxVUs: {pre_allocated}-{max}") } else { format!("maxVUs: {max}") }
}

/// What is said of starts that are not evenly spaced.
fn drawn(spacing: Spacing) -> Option<String> {
    match spacing {
        Spacing::Even => None,
        Spacing::Poisson { seed } => Some(format!("Poisson arrivals, seed: {seed}")),
    }
}

fn over(stages: &[Stage]) -> String {
    let time = stages.iter().map(|stage| stage.duration).sum();
    format!("{} over {} stages", span(time), stages.len())
}

fn highest(start: u64, stages: &[Stage]) -> u64 {
    stages.iter().map(|stage| stage.target).max().unwrap_or(0).max(start)
}

fn per_second(rate: u64, unit: Duration) -> f64 {
    rate as f64 / unit.as_secs_f64()
}

fn span(time: Duration) -> String {
    Span::from(time).to_string()
}

#[cfg(test)]
mod tests {
    use engine::scenario::Speed;

    use super::*;

    #[test]
    fn long_lines_go_on_below_their_beginning() {
        let second = Duration::from_secs(1);
        let scenario = Scenario::new("browse", Executor::ConstantVus { vus: 2, duration: second });
        let text = banner(("script.js", "local"), 1.0, &[&scenario], 2, second * 31);
        assert_eq!(
            fit(&text, 60),
            "
     execution: local
        script: script.js
        output: -

     scenarios: (100.00%) 1 scenario, 2 max VUs, 31s max
                duration (incl. graceful stop):
              * browse: 2 looping VUs for 1s (gracefulStop:
                30s)
"
        );
        assert_eq!(fit(&text, 120), text);
        assert!(fit(&text, 10) == text, "no room to wrap in");
    }

    #[test]
    fn every_executor_is_told_in_k6s_words() {
        let second = Duration::from_secs(1);
        let stages = vec![Stage { duration: second * 60, target: 5 }, Stage { duration: second * 5, target: 0 }];
        let table = [
            (
                Executor::SharedIterations { vus: 2, iterations: 9, max_duration: second * 600 },
                "9 iterations shared among 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)",
            ),
            (
                Executor::PerVuIterations { vus: 2, iterations: 9, max_duration: second * 600 },
                "9 iterations for each of 2 VUs (maxDuration: 10m0s, gracefulStop: 30s)",
            ),
            (Executor::ConstantVus { vus: 2, duration: second }, "2 looping VUs for 1s (gracefulStop: 30s)"),
            (
                Executor::RampingVus { start_vus: 1, stages: stages.clone(), graceful_ramp_down: second },
                "Up to 5 looping VUs for 1m5s over 2 stages (gracefulRampDown: 1s, gracefulStop: 30s)",
            ),
            (
                Executor::ConstantArrivalRate {
                    rate: 30,
                    time_unit: second * 60,
                    duration: second,
                    spacing: Spacing::Poisson { seed: 7 },
                    pre_allocated_vus: 2,
                    max_vus: 4,
                },
                "0.50 iterations/s for 1s (Poisson arrivals, seed: 7, maxVUs: 2-4, gracefulStop: 30s)",
            ),
            (
                Executor::RampingArrivalRate {
                    start_rate: 7,
                    time_unit: second,
                    stages,
                    spacing: Spacing::Even,
                    pre_allocated_vus: 2,
                    max_vus: 2,
                },
                "Up to 7.00 iterations/s for 1m5s over 2 stages (maxVUs: 2, gracefulStop: 30s)",
            ),
            (
                Executor::Trace {
                    file: "a.csv".to_owned(),
                    speed: Speed::ONE,
                    times: [Duration::ZERO, second * 90].into(),
                    pre_allocated_vus: 2,
                    max_vus: 2,
                },
                "2 iterations over 1m30s as in a.csv at 1 x (maxVUs: 2, gracefulStop: 30s)",
            ),
        ];
        for (executor, expected) in table {
            assert_eq!(describe(&Scenario::new("a", executor)), expected);
        }
    }
}
