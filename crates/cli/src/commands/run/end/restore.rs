//! A run whose load another process has measured to its end before it was killed: the coordinator of a fleet, in
//! `teardown()` or later.
//!
//! The journal has every second as it was put together, so nothing of the agents is needed. What follows the load
//! (`teardown()`, the last judgement, the result, the summary) follows as ever.

use journal::EndedLoad;
use metrics::ShardReader;

use crate::commands::run::drive::progress::Progress;
use crate::exit_code::ExitCode;
use crate::failure::Failure;

impl Progress<'_> {
    /// Takes in what was measured, as if it had just been.
    pub fn restore(&mut self, before: &EndedLoad) -> Result<(), Failure> {
        self.take_in(before).map_err(|why| Failure::new(ExitCode::Generic, format!("--resume: {why}")))
    }

    fn take_in(&mut self, before: &EndedLoad) -> Result<(), String> {
        let saving = self.drive.saving.ok_or("there is no --save DIR")?;
        let (head, mut journal) = saving.load_before(before.journal)?;
        self.lifecycle.started_at = head.started_at;
        self.lifecycle.is_torn_down = before.is_torn_down;
        if let Some(data) = &self.lifecycle.setup_before {
            self.drive.script.program.set_setup_data(data.as_deref());
        }
        let mut reader = ShardReader::into_registry(self.drive.registry.clone(), 0);
        while let Some(entry) = journal.next_interval()? {
            let samples = reader.snapshot(entry.samples).map_err(|why| journal.damage(&why))?;
            self.samples.restore(entry.times, samples);
        }
        let from = self.samples.timeline.as_ref().map_or(before.started, |timeline| timeline.scenarios().0);
        self.lifecycle.made = Some(self.lifecycle.origin + before.started.saturating_sub(from));
        Ok(())
    }
}
