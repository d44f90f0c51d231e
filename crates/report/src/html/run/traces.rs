//! The traces that are worth a look: of the slowest sampled requests, and of some that failed.

use units::show;

use super::shown_run::ShownRun;
use super::tables::titled;
use crate::html::Table;
use crate::html::table::CellText;

/// Nothing where no request was in a sampled trace.
pub(super) fn table(run: &ShownRun<'_>) -> String {
    let traces = &run.document.requests.traces;
    if traces.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["trace", "request", "took"]).texts(2).named("Slowest and failed sampled traces");
    for trace in traces {
        let class = if trace.failed { "bad" } else { "" };
        let cells = [trace.trace_id.clone(), trace.request.clone(), show::time(trace.took_ms)];
        table.row_of(class, cells.into_iter().map(CellText::from));
    }
    titled("Traces", table.html())
}
