//! The result document of journals: of a run that did not come to its end, or of agents without their coordinator.
//!
//! What the journals come to is the crate `journal`'s to say. Here it is judged, masked and given an exit code.

use engine::Health;
use journal::{Cause, JournalHead, JournalReader, MergedParts, MergedTest};
use report::document::{AgentFigures, Document, Exit, Generator, SampledTrace};
use wire::mask::Mask;

use crate::commands::run::facts::generator::{Circumstances, Judged};
use crate::commands::run::saved::load_changes::kept_changes;
use crate::commands::run::saved::save::{self, Facts, Figures};
use crate::exit_code::ExitCode;

/// The result of a run in one process, up to its last whole interval.
pub fn of_run(head: JournalHead, journal: JournalReader) -> Result<Document, String> {
    let (test, damage) = journal::rebuild(head, journal)?;
    let ended = format!("the run did not come to its end; rebuilt from its journal of {:?}", test.duration);
    let notes = [Some(ended.clone()), damage].into_iter().flatten().collect();
    let generator = Generator { too_short: true, notes, ..Generator::default() };
    let code = if test.is_crossed { ExitCode::ThresholdsFailed } else { ExitCode::Generic };
    let exit = Exit { code: code as u8, reason: Some(ended) };
    Ok(Document { exit, ..document(test, generator, Vec::new(), code) })
}

/// The result of the parts of a test, and a line that says whose they are.
pub fn of_parts(parts: MergedParts) -> (Document, String) {
    let code = exit_code(&parts);
    let MergedParts { test, agents, health, .. } = parts;
    // Agents have judged themselves: here remain counts and samples of all together.
    let of_all = Health { workers: Vec::new(), process_cores: 0.0, ..health.clone() };
    let judged = Judged::new(&of_all, &test.stats, &test.results, &Circumstances::default()).and(&agents);
    let whose = whose(&agents.figures);
    let notes = [whose.clone()].into_iter().chain(agents.notes);
    let generator = Generator {
        agents: agents.figures,
        start_bound_ms: Some(agents.start_bound_ms),
        stamps_apart_ms: agents.stamps_apart_ms,
        ..judged.document(&health, notes)
    };
    (document(test, generator, agents.traces, code), whose)
}

fn document(test: MergedTest, generator: Generator, traces: Vec<SampledTrace>, code: ExitCode) -> Document {
    let MergedTest { head, stats, results, details, over_time, duration, load_changes, .. } = test;
    save::document(Facts {
        head: save::masked_head(head, &Mask::standard()),
        stats: &stats,
        duration,
        figures: Figures { results: &results, details, over_time },
        generator,
        load_changes: kept_changes(&load_changes),
        messages: None,
        traces,
        code,
        reason: None,
    })
}

/// How the run ended, as far as its agents know.
fn exit_code(MergedParts { test, members, agents, .. }: &MergedParts) -> ExitCode {
    match () {
        () if members.ends().any(|end| matches!(end.cause, Some(Cause::Script(_)))) => ExitCode::ScriptAborted,
        () if agents.is_marked_failed => ExitCode::MarkedFailed,
        () if test.is_crossed => ExitCode::ThresholdsFailed,
        () if members.outcomes().any(|part| part.lost_users + part.stuck_workers > 0) => ExitCode::UserStuck,
        () if agents.has_lost() => ExitCode::AgentsLost,
        () => ExitCode::Ok,
    }
}

/// Whose journals these are, for people.
fn whose(agents: &[AgentFigures]) -> String {
    /// More names than this help nobody; the result has all.
    const NAMED: usize = 16;
    let there = agents.iter().filter(|agent| agent.lost.is_none());
    let names: Vec<String> = there.map(|agent| format!("{} ({})", agent.index, agent.name)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "made of the whole journals of {} of {} agents: {}{more}; what setup() and teardown() measured is not in them",
        names.len(),
        agents.len(),
        names[..names.len().min(NAMED)].join(", ")
    )
}
