//! A run that waits: before it begins, for a client of the REST API, and after its end, for a signal.
//!
//! In both cases clients may call `setup()` and `teardown()`, as the operator of k6 does for a test whose parts run on
//! many machines. What these measure is no part of the test.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use engine::Stopper;
use metrics::{Recorder, Registry};
use script::log::Level;

use crate::api::{Board, Stage, Wish};
use crate::commands::run::drive::phases::Phases;
use crate::commands::run::start::load::Script;
use crate::commands::run::start::plan::Planned;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

/// Refuses a run that nobody could resume; tells the board of one that will wait.
pub fn announce(planned: &Planned, board: Option<&Board>) -> Result<(), Failure> {
    let is_paused = planned.options.paused == Some(true);
    if is_paused && board.is_none() {
        let text = "the option 'paused': nobody could resume the test; give --address HOST:PORT as well, for the REST \
                    API, or leave it out";
        return Err(Failure::new(ExitCode::InvalidConfig, text));
    }
    if let Some(board) = board {
        let mut seen = board.seen();
        seen.max_vus = planned.plan.requirements().max_vus;
        seen.is_paused = is_paused;
    }
    Ok(())
}

/// Waits until a paused run is resumed or stopped. Its users are made, so that all parts of a distributed test begin
/// when they are told to, and not a script's init code later.
pub fn wait(board: &Board, service: &Service<'_>, stopped: impl Future<Output = ()>) {
    {
        let mut seen = board.seen();
        // Somebody may have resumed it before it got here; that wish is the next one then.
        seen.stage = if seen.is_paused { Stage::Paused } else { seen.stage };
    }
    service.serve(board, stopped);
    let mut seen = board.seen();
    seen.is_paused = false;
    seen.stage = Stage::Made;
}

/// Waits for a signal, unless one has ended the test: who does that wants the process to end, and a container gets one.
pub fn linger(phases: &Phases, stopper: &Stopper, board: Option<&Board>, service: &Service<'_>) {
    let Some(signal) = phases.linger(stopper) else { return };
    let text = "the test has ended; --linger keeps the process until a signal such as Ctrl+C comes";
    service.log.write(Level::Info, text, &[]);
    match board {
        Some(board) => {
            board.seen().lingers = true;
            service.serve(board, signal);
        }
        None => service.script.runtime.block_on(signal),
    }
}

/// Does what clients ask for while nothing else runs.
pub struct Service<'a> {
    /// Whose functions are called.
    pub script: &'a Script,
    /// The metrics that they may write to.
    pub registry: &'a Arc<Registry>,
    /// For their errors.
    pub log: &'a Logger,
}

impl Service<'_> {
    /// Until the run is resumed, or `end` comes, which ends a function too.
    fn serve(&self, board: &Board, end: impl Future<Output = ()>) {
        let recorder = Rc::new(Recorder::new(self.registry.clone()));
        let Script { program, runtime, .. } = self.script;
        let is_over = Cell::new(false);
        let mut end = std::pin::pin!(async {
            end.await;
            is_over.set(true);
        });
        while !is_over.get() {
            let wish = runtime.block_on(async {
                tokio::select! {
                    () = &mut end => Wish::Resume,
                    wish = board.next() => wish,
                }
            });
            let (reply, what, result) = match wish {
                Wish::Resume => return,
                Wish::SetUp(reply) => (reply, "setup", runtime.block_on(program.run_setup(&recorder, &mut end))),
                Wish::TearDown(reply) => {
                    (reply, "teardown", runtime.block_on(program.run_teardown(&recorder, &mut end)))
                }
                Wish::KeepSetup(json, reply) => {
                    program.set_setup_data(json.as_deref());
                    (reply, "setup", Ok(()))
                }
            };
            board.seen().setup = program.setup_data().and_then(|data| serde_json::from_str(&data).ok());
            let result = result.map_err(|error| error.message);
            if let Err(why) = &result {
                self.log.write(Level::Error, &format!("Error executing {what}"), &[("error", why)]);
            }
            let _client_is_there = reply.send(result);
        }
    }
}
