//! How a run went: what the exit code is made of, and how it is explained.

use engine::{StopCause, Stopper, Verdict};
use metrics::threshold;
use script::ScriptError;
use script::log::Level;

use crate::exit_code::ExitCode;
use crate::log::Logger;

/// What the exit code is made of.
pub struct Findings<'a> {
    /// Of `setup()` and of `teardown()`.
    pub errors: [Option<&'a ScriptError>; 2],
    /// The thresholds.
    pub verdict: &'a threshold::Verdict,
    /// Those that nothing was measured for and that fail the run for that: with `--strict` all, else those of flags.
    pub without_samples: Vec<&'a str>,
    /// Whether a virtual user could not be stopped.
    pub is_somebody_stuck: bool,
    /// Limits of `--fail-on` that there was more than.
    pub over: Vec<String>,
    /// Why a quick run is no success.
    pub nothing: Option<String>,
    /// Whether all messages are in the result that could be.
    pub are_messages_whole: bool,
    /// Whether agents of a fleet were lost.
    pub are_agents_lost: bool,
    /// What the figures are worth, with `--strict`.
    pub trust: Option<Verdict>,
}

impl Findings<'_> {
    /// Why the run failed, where its exit code alone does not tell.
    pub fn reason(&self) -> Option<String> {
        let own: Vec<&str> = self.over.iter().chain(&self.nothing).map(String::as_str).collect();
        (self.verdict.crossed.is_empty() && !own.is_empty()).then(|| own.join("; "))
    }

    /// The one place where the ways a run can end become an exit code. What stopped the run counts before thresholds.
    pub fn exit_code(&self, stopper: &Stopper, is_marked_failed: bool) -> ExitCode {
        if let Some(error) = self.errors.into_iter().flatten().next() {
            return ExitCode::of_script(error.exit_code);
        }
        match stopper.cause() {
            Some(StopCause::Script(_)) => return ExitCode::ScriptAborted,
            Some(StopCause::Signal(_)) => return ExitCode::Signal,
            Some(StopCause::Threshold(_)) => return ExitCode::ThresholdsFailed,
            Some(StopCause::Api) => return ExitCode::StoppedByApi,
            Some(StopCause::Requested) | None => {}
        }
        match self {
            _ if is_marked_failed => ExitCode::MarkedFailed,
            Findings { verdict, over, without_samples, .. }
                if !verdict.crossed.is_empty() || !over.is_empty() || !without_samples.is_empty() =>
            {
                ExitCode::ThresholdsFailed
            }
            Findings { is_somebody_stuck: true, .. } => ExitCode::UserStuck,
            // A URL of which no request succeeded is no success, whatever the script that stands for it has to say.
            Findings { nothing: Some(_), .. } => ExitCode::NothingSucceeded,
            Findings { are_messages_whole: false, .. } => ExitCode::ResultNotWritten,
            Findings { are_agents_lost: true, .. } => ExitCode::AgentsLost,
            Findings { trust: Some(Verdict::Invalid), .. } => ExitCode::Invalid,
            Findings { trust: Some(Verdict::Suspect), .. } => ExitCode::Suspect,
            _ => ExitCode::Ok,
        }
    }

    /// Says what the exit code is made of.
    pub fn explain(&self, stopper: &Stopper, log: &Logger) {
        if !self.verdict.crossed.is_empty() {
            let names = self.verdict.crossed.join(", ");
            let early = match stopper.cause() {
                Some(StopCause::Threshold(_)) => {
                    "; at least one of them has abortOnFail, so the test was stopped early"
                }
                _ => "",
            };
            log.write(Level::Error, &format!("thresholds on metrics '{names}' have been crossed{early}"), &[]);
        }
        if !self.without_samples.is_empty() {
            let names = self.without_samples.join(", ");
            let text = format!("thresholds on metrics '{names}' were not judged: they have no sample");
            log.write(Level::Error, &text, &[]);
        }
        for error in self.errors.into_iter().flatten() {
            log.write(Level::Error, &error.with_stack(), &EXCEPTION);
        }
        match stopper.cause() {
            Some(StopCause::Script(message)) => log.write(Level::Error, message, &[]),
            Some(StopCause::Signal(name)) => {
                log.write(Level::Error, &format!("the test was stopped by {name}"), &[]);
            }
            Some(StopCause::Api) => log.write(Level::Error, "the test was stopped by the REST API", &[]),
            _ => {}
        }
        self.over.iter().chain(&self.nothing).for_each(|why| log.write(Level::Error, why, &[]));
    }
}

/// What an exception of the script is logged with.
pub const EXCEPTION: [(&str, &str); 2] = [("hint", "script exception"), ("source", "stacktrace")];
