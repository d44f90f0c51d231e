//! A run that waits: before it begins, for a client of the REST API, and after its end, for a signal.

use std::rc::Rc;
use std::sync::Arc;

use engine::Stopper;
use metrics::{Recorder, Registry};
use script::log::Level;

use super::load::Script;
use super::phases::Phases;
use super::plan::Planned;
use crate::api::{Board, Wish};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

/// Waits until a paused run is resumed. What `setup()` and `teardown()` measure when a client calls them is no part of
/// the test.
pub fn wait(
    planned: &Planned,
    script: &Script,
    registry: &Arc<Registry>,
    board: Option<&Board>,
    stopper: &Stopper,
) -> Result<(), Failure> {
    board.iter().for_each(|board| board.seen().max_vus = planned.plan.requirements().max_vus);
    if planned.options.paused != Some(true) {
        return Ok(());
    }
    let Some(board) = board else {
        let text = "the option 'paused': nobody could resume the test; give --address HOST:PORT as well, for the REST \
                    API, or leave it out";
        return Err(Failure::new(ExitCode::InvalidConfig, text));
    };
    let recorder = Rc::new(Recorder::new(registry.clone()));
    let Script { program, runtime, .. } = script;
    let stopped = || async { stopper.stopped().await };
    board.wait(|wish| {
        let (reply, result) = match wish {
            Wish::Resume => return,
            Wish::SetUp(reply) => (reply, runtime.block_on(program.run_setup(&recorder, stopped()))),
            Wish::TearDown(reply) => (reply, runtime.block_on(program.run_teardown(&recorder, stopped()))),
            Wish::KeepSetup(json, reply) => {
                program.set_setup_data(&json);
                (reply, Ok(()))
            }
        };
        board.seen().setup = program.setup_data().and_then(|data| serde_json::from_str(&data).ok());
        let _client_is_there = reply.send(result.map_err(|error| error.message));
    });
    Ok(())
}

/// Waits for a signal.
pub fn linger(phases: &Phases, script: &Script, log: &Arc<Logger>) {
    phases.linger();
    log.write(Level::Info, "the test has ended; --linger keeps the process until a signal such as Ctrl+C comes", &[]);
    script.runtime.block_on(phases.another());
}
