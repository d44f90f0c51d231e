//! `onrush run`, from the flags to the exit code, top to bottom: load, plan, run, drain, judge, summarise.

mod drive;
mod finish;
mod flags;
mod load;
mod plan;
pub mod quick;
mod save;
mod timeline;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ArgMatches;
use engine::Stopper;
use metrics::{Aggregate, Registry};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;
use crate::messages::Messages;
use crate::progress::Screen;
use crate::{banner, descriptors, signals};

use flags::Flags;
pub use load::script_failure;
use quick::Quick;

/// Runs a test: a script, or what a URL stands for.
pub fn main(matches: &ArgMatches, quick: Option<Quick>) -> Result<ExitCode, Failure> {
    let flags = Flags::read(matches, quick)?;
    let log = Arc::new(Logger::new(&flags.log)?);
    let saving = flags.save.as_deref().map(|dir| save::Saving::prepare(dir, &log)).transpose()?;
    let can_log = flags.save_messages && saving.as_ref().is_some_and(save::Saving::is_writable);
    let logged = flags.save.as_deref().filter(|_| can_log);
    let messages = logged.map(|dir| Messages::prepare(dir, log.clone())).transpose()?;
    let stopper = Stopper::new();
    let begun = Arc::new(AtomicBool::new(false));
    hear_signals(stopper.clone(), begun.clone())?;
    let beside = flags.serve.as_ref().map(|serve| load::start_target(serve, &flags, &log)).transpose()?;
    let target = beside.as_ref().map(|beside| &beside.server);
    let registry = Registry::new();
    if let Some(quick) = &flags.quick {
        quick.prepare(&registry, &log);
    }
    let layers = load::Layers::read(&flags, matches, target, &log)?;
    let script = load::script(&flags, target, layers.without_script(), log.clone(), registry.clone())?;
    messages.iter().for_each(|messages| script.program.log_messages(messages.clone()));
    let options = layers.with_script(&script, &log)?;
    let planned = plan::plan(&flags, options, &script, &registry, &log)?;
    descriptors::check(planned.plan.requirements().max_vus, if target.is_some() { 2 } else { 1 })?;
    let mut screen = Screen::new(flags.quiet, flags.color());
    let needs = planned.plan.requirements();
    let scenarios: Vec<_> = planned.plan.scenarios().collect();
    screen.say(&banner::banner(&flags.script, planned.share, &scenarios, needs.max_vus, needs.duration));
    let aggregate = Aggregate::new(registry.clone(), planned.thresholds.clone());
    let run = drive::Drive { script: &script, log: &log, stopper, registry, screen, keeps_seconds: saving.is_some() };
    begun.store(true, Ordering::SeqCst);
    let ran = run.finish_scenarios(planned, aggregate)?;
    let kept = finish::Kept { saving: saving.as_ref(), messages: messages.as_deref() };
    finish::finish(&flags, &script, &log, ran, kept)
}

/// The first signal ends the test as gracefully as there is time for, the second the process. So does the first before the test
/// has begun: init code may wait for ever, and there is nothing yet to be summarised.
fn hear_signals(stopper: Stopper, begun: Arc<AtomicBool>) -> Result<(), Failure> {
    let mut heard = 0;
    signals::listen(move |name| {
        heard += 1;
        let is_loading = !begun.load(Ordering::SeqCst);
        if is_loading {
            eprintln!("error: {name} came while the script was being loaded; nothing has run");
        }
        if heard > 1 || is_loading {
            // Nothing is waited for: that is what the second one means.
            std::process::exit(ExitCode::Signal as i32);
        }
        stopper.stop(engine::StopCause::Signal(name));
        true
    })
}
