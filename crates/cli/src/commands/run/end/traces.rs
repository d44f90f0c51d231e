//! The traces of the slowest sampled requests and of some that failed: in the log, and in the result.

use report::document::SampledTrace;
use script::Program;
use script::log::Level;
use script::traces::SampledRequest;

use crate::log::Logger;

/// A line of the log for each.
pub fn tell(program: &Program, log: &Logger) {
    program.traces().lines().iter().for_each(|line| log.write(Level::Info, line, &[]));
}

/// As the result has them.
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
