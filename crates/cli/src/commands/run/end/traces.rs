//! The traces of the slowest sampled requests and of some that failed: in the log, and in the result. Those of a fleet
//! are its agents', with what `setup()` and `teardown()` sent here.

use journal::{AgentsReport, named_of_all};
use report::document::SampledTrace;
use script::Program;
use script::log::Level;
use script::traces::SampledRequest;

use crate::log::Logger;

/// A line of the log for each.
pub fn tell(traces: &[SampledTrace], log: &Logger) {
    lines(traces).for_each(|line| log.write(Level::Info, &line, &[]));
}

/// Lines that name them.
pub fn lines(traces: &[SampledTrace]) -> impl Iterator<Item = String> {
    traces.iter().map(|trace| {
        let SampledTrace { trace_id, request, took_ms, failed } = trace;
        let what = if *failed { "failed" } else { "slow" };
        format!("{what} sampled request: {request}, {took_ms:.1} ms, trace {trace_id}")
    })
}

/// Those of this process, as the result has them.
pub fn named(program: &Program) -> Vec<SampledTrace> {
    let traces = program.traces();
    let named = |failed: bool| {
        move |SampledRequest { trace_id, took_ns, line }| SampledTrace {
            trace_id: format!("{trace_id:032x}"),
            request: line,
            took_ms: took_ns as f64 / 1e6,
            failed,
        }
    };
    traces.slowest().into_iter().map(named(false)).chain(traces.failed().into_iter().map(named(true))).collect()
}

/// Those of the whole test, which are in the log from here on.
pub fn told(program: &Program, agents: Option<&AgentsReport>, log: &Logger) -> Vec<SampledTrace> {
    let own = named(program);
    let all = match agents {
        None => own,
        Some(agents) => named_of_all(own.into_iter().chain(agents.traces.iter().cloned())),
    };
    tell(&all, log);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_a_line() {
        let trace = |failed| SampledTrace {
            trace_id: String::from("0a"),
            request: String::from("GET http://h/"),
            took_ms: 9.04,
            failed,
        };
        let lines: Vec<String> = lines(&[trace(false), trace(true)]).collect();
        let expected =
            ["slow", "failed"].map(|what| format!("{what} sampled request: GET http://h/, 9.0 ms, trace 0a"));
        assert_eq!(lines, expected);
    }
}
