//! `--out` and `--traces-output`: opens the outputs before the test, so that what is wrong with one is said before
//! anything runs.

use std::os::fd::AsFd;
use std::sync::Arc;

use engine::Prepare;
use metrics::{Recorder, Registry, ThresholdSpecs};
use outputs::{OutputError, Outputs, Setup};
use script::log::Level;

use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::load::Script;
use crate::commands::run::start::plan::Planned;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::Logger;

/// What gives them each recorder's samples.
pub fn tap(outputs: &Outputs) -> Option<Prepare> {
    let tap = (!outputs.is_empty()).then(|| outputs.tap());
    tap.map(|tap| Arc::new(move |_, recorder: &Recorder| tap(recorder)) as Prepare)
}

/// The lines that tell of lost samples. Spans measure nothing: without them a result is whole.
pub fn losses(told: &[String]) -> impl Iterator<Item = String> {
    let has_lost = |line: &&String| line.contains(" lost ") || line.contains(" has not got ");
    told.iter().filter(has_lost).filter(|line| !::outputs::is_about_spans(line)).cloned()
}

/// Opens what these name and starts their threads; tells the script's requests where their spans go.
pub fn open(
    flags: &Flags,
    script: &Script,
    planned: &Planned,
    registry: &Arc<Registry>,
    log: &Arc<Logger>,
) -> Result<Outputs, Failure> {
    let nothing = ThresholdSpecs::new();
    let thresholds = planned.options.thresholds.as_ref().unwrap_or(&nothing);
    let log = log.clone();
    let setup = Setup {
        registry: registry.clone(),
        thresholds,
        system_tags: planned.options.enabled_system_tags(),
        env: &flags.test.system_env,
        stdout: &|| std::io::stdout().as_fd().try_clone_to_owned().map(Into::into),
        tell: Arc::new(move |text| log.write(Level::Warning, text, &[])),
    };
    let fail = |error: OutputError| Failure::new(ExitCode::Generic, error.to_string());
    let mut outputs = Outputs::open(&flags.kept.outputs, &setup).map_err(fail)?;
    flags.kept.traces.iter().try_for_each(|wanted| outputs.open_traces(wanted, &setup)).map_err(fail)?;
    outputs.spans().into_iter().for_each(|sink| script.program.traces().send_to(sink));
    Ok(outputs)
}
