//! An agent that measures iterations, writes its journal, and keeps what it would send.

use std::path::Path;
use std::time::Duration;

use engine::{Health, Outcome, RunState, Tick};
use metrics::{Recorder, Registry, TagSet, builtin};
use onrush_journal::{FrameStore, JournalHead, NoSecrets, PartCounts, PartEnd, PartJournal, TestPart};

use crate::support::head;

/// When the scenarios start, by the run's clock.
pub const START: Duration = Duration::from_secs(7);

/// A part that runs in a folder.
pub struct Agent {
    pub recorder: Recorder,
    pub journal: PartJournal,
    pub frames: FrameStore,
    pub closed: u64,
}

impl Agent {
    pub fn begin(dir: &Path, index: u32, of: u32) -> Agent {
        Agent::begin_as(dir, head(), part(index, of))
    }

    pub fn begin_as(dir: &Path, head: JournalHead, part: TestPart) -> Agent {
        let registry = Registry::new();
        let mut journal = PartJournal::begin(dir, head, part, registry.clone(), Box::new(NoSecrets));
        journal.start(START);
        let frames = FrameStore::default();
        frames.in_journal(journal.path());
        Agent { recorder: Recorder::new(registry), journal, frames, closed: 0 }
    }

    /// So many iterations end in the second that is closed at this time.
    pub fn tick(&mut self, elapsed: Duration, iterations: u64) {
        let series = self.recorder.series(builtin::ITERATIONS, &TagSet::new([("scenario", "a")]));
        self.recorder.add(series, iterations as f64, 0);
        let now = START + elapsed;
        let (snapshots, lately) = (vec![self.recorder.take()], Health::default());
        let second = self.journal.add(&Tick { now, cut: now, elapsed, snapshots, is_last: false, lately });
        self.closed += self.frames.add(&PartCounts { initialised: 3, ..PartCounts::default() }, second);
    }

    pub fn end(&mut self, elapsed: Duration) {
        self.journal.end(end(elapsed, elapsed, &RunState::default()).to_bytes());
    }

    pub fn sent(&self) -> Vec<Vec<u8>> {
        let frame = |number| self.frames.frame(number).expect("it is kept");
        assert_eq!((self.frames.frame(0), self.frames.frame(self.closed + 1)), (None, None));
        (1..=self.closed).map(frame).collect()
    }
}

/// A part of a test.
pub fn part(index: u32, of: u32) -> TestPart {
    let (run, name) = (String::from("run"), format!("agent-{index}"));
    TestPart { run, index, of, name, incarnation: 1, bound_ns: 2_000_000, is_on_its_own: false }
}

/// The end of a part, so long after its start.
pub fn end(loaded_until: Duration, ended: Duration, state: &RunState) -> PartEnd {
    let outcome = Outcome {
        stopped: None,
        started: Some(START),
        ended: START + ended,
        loaded_until: START + loaded_until,
        health: Health::default(),
        lost_users: 0,
        stuck_workers: Vec::new(),
    };
    PartEnd::of(&outcome, state, 2)
}
