//! What a signal does, by the phase of the run in which it comes.
//!
//! | phase | first signal | second |
//! |---|---|---|
//! | the script is loaded | the process ends: nothing has run | |
//! | users are made, `setup()`, scenarios | the test ends; `teardown()` and the summary follow | the process ends |
//! | `teardown()`, `handleSummary()` | the function ends; the summary follows | the process ends |
//! | only output is left | the process ends | |
//! | it lingers | the process ends with the code of the test | |
//!
//! When the scenarios have ended, "the process ends" leaves a moment for what takes none: the function is broken off
//! and the usual summary printed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use engine::{StopCause, Stopper};
use tokio::sync::watch;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;
use crate::process::signals;

/// How long the second signal waits for a summary that is nearly there.
const MOMENT: Duration = Duration::from_millis(100);

const LOADING: u8 = 0;
const RUNNING: u8 = 1;
const ENDING: u8 = 2;
const WRITTEN: u8 = 3;
const LINGERING: u8 = 4;

/// The phase of this run, and the signals that came in it.
pub struct Phases {
    phase: Arc<AtomicU8>,
    heard: watch::Receiver<u32>,
}

impl Phases {
    /// The script is being loaded. From now on signals are heard.
    pub fn listen(stopper: Stopper) -> Result<Phases, Failure> {
        let phase = Arc::new(AtomicU8::new(LOADING));
        let (count, heard) = watch::channel(0);
        let now = Arc::clone(&phase);
        signals::listen(move |name| {
            let before = *count.borrow();
            let phase = now.load(Ordering::SeqCst);
            let ends_the_test = before == 0 && matches!(phase, RUNNING | ENDING);
            if ends_the_test {
                // Before the count, because whoever waits for a signal reads its name next.
                stopper.stop(StopCause::Signal(name));
            }
            count.send_replace(before + 1);
            match phase {
                LOADING => {
                    let text = format!("error: {name} came while the script was being loaded; nothing has run\n");
                    output::stderr().print(text.as_bytes());
                    leave(Duration::ZERO)
                }
                _ if ends_the_test || phase == LINGERING => {}
                ENDING => leave(MOMENT),
                _ => leave(Duration::ZERO),
            }
            true
        })?;
        Ok(Phases { phase, heard })
    }

    /// The script is loaded: from now on there is a test to be ended, and something to be summarised.
    pub fn begin(&self) {
        self.phase.store(RUNNING, Ordering::SeqCst);
    }

    /// The scenarios have ended: the summary is near.
    pub fn wind_up(&self) {
        self.phase.store(ENDING, Ordering::SeqCst);
    }

    /// Everything is done and handed to its reader.
    pub fn end(&self) {
        self.phase.store(WRITTEN, Ordering::SeqCst);
    }

    /// There is nothing left to do but to wait for a signal, the future's end; `None` when one has ended the test.
    pub fn linger(&self, stopper: &Stopper) -> Option<impl Future<Output = ()> + use<>> {
        // Counted from before the look at what has stopped the test: a signal between the two is in one of them.
        let signal = self.another();
        if matches!(stopper.cause(), Some(StopCause::Signal(_))) {
            return None;
        }
        self.phase.store(LINGERING, Ordering::SeqCst);
        Some(signal)
    }

    /// Resolves with the next signal after this call. What came before the future is polled first counts too: the
    /// function it is to end may compute for a while before anybody looks here.
    pub fn another(&self) -> impl Future<Output = ()> + use<> {
        let mut heard = self.heard.clone();
        let before = *heard.borrow_and_update();
        async move {
            if heard.wait_for(|count| *count > before).await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Whether the process is about to be ended: there is no time for the script's own code any more.
    pub fn is_leaving(&self) -> bool {
        *self.heard.borrow() > 1
    }
}

fn leave(after: Duration) -> ! {
    std::thread::sleep(after);
    output::finish_at_once();
    std::process::exit(ExitCode::Signal as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_a_run_that_lingers_however_soon_it_comes() {
        let (count, heard) = watch::channel(0);
        let phases = Phases { phase: Arc::new(AtomicU8::new(WRITTEN)), heard };
        let stopper = Stopper::new();
        let signal = phases.linger(&stopper).expect("nothing has stopped the test");
        count.send_replace(1);
        let runtime = wire::event_loop().unwrap();
        let ended = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), signal).await });
        assert!(ended.is_ok(), "the signal came before anybody looked, and was lost");
        stopper.stop(StopCause::Signal("SIGINT"));
        assert!(phases.linger(&stopper).is_none());
    }
}
