//! `--shards URL`: each second of a run goes to an object store, so that runs which divide a test by execution segments
//! make one result although nobody coordinates them (`onrush report URL`).
//!
//! The seconds are the journal of a part, in a folder of this process. A thread beside the run sends what has come to
//! it since it last looked. A store that is away for a while costs nothing; one that stays away is said, and the run
//! goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{Judgement, Outcome, RunState, Stopper, Tick};
use fleet::objects::{ShardPart, ShardStore};
use journal::{Cause, FILE_NAME, PartEnd, PartJournal, TestPart};
use metrics::Registry;
use metrics::results::Results;
use script::options::Options;

use crate::commands::run::saved::save;
use crate::commands::run::saved::upload::{self, Uploader};
use crate::commands::run::start::flags::Flags;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::machine;
use crate::process::private_folder::PrivateFolder;
use crate::secrets::hiding;

/// Where this run's part goes.
pub struct Shards {
    url: String,
    part: ShardPart,
    folder: PrivateFolder,
    store: ShardStore,
}

impl Shards {
    /// Finds out which part these options make of this run, and whether the store is one that can take it.
    pub fn open(url: &str, options: &Options) -> Result<Shards, Failure> {
        let failed = |why: String| Failure::new(ExitCode::Generic, format!("--shards: {why}"));
        let store = ShardStore::open(url).map_err(failed)?;
        let (index, of) = place(options).map_err(|why| Failure::new(ExitCode::InvalidConfig, why))?;
        let there = upload::runtime().and_then(|runtime| runtime.block_on(store.parts())).map_err(failed)?;
        if there.keys().any(|part| (part.index, part.of) == (index, of)) {
            return Err(failed(format!(
                "{url}: part {index} of {of} is there already, of a run that was started before or of another test: \
                 give each test a prefix of its own"
            )));
        }
        let incarnation = fleet::token::random_number().map_err(failed)?;
        let folder = PrivateFolder::make().map_err(|error| failed(error.to_string()))?;
        Ok(Shards { url: url.to_owned(), part: ShardPart { index, of, incarnation }, folder, store })
    }

    /// Begins when the scenarios do.
    pub fn begin(&self, flags: &Flags, options: &Options, start: Duration, registry: Arc<Registry>) -> ShippedPart {
        let head = save::journal_head(flags, options, &crate::log::rfc3339_ms_now());
        let ShardPart { index, of, incarnation } = self.part;
        let (run, name) = (self.url.clone(), machine::process_name());
        let part = TestPart { run, index, of, name, incarnation, bound_ns: 0, is_on_its_own: true };
        let secrets = hiding(&flags.test.secrets);
        let mut journal = PartJournal::begin(self.folder.path(), head, part, registry, secrets);
        journal.start(start);
        let uploader = Uploader::start(self.store.clone(), self.part.clone(), journal.path().to_owned());
        ShippedPart { journal, uploader, end: None }
    }
}

/// Which part of how many a run is: its segment's place in the sequence.
fn place(options: &Options) -> Result<(u32, u32), String> {
    let Some(own) = options.execution_segment.as_deref() else { return Ok((0, 1)) };
    let Some(sequence) = options.execution_segment_sequence.as_deref() else {
        return Err(String::from(
            "--shards needs to know the other parts: give --execution-segment-sequence beside --execution-segment",
        ));
    };
    let all = sequence.segments();
    let at = all.iter().position(|segment| segment == own);
    let place = at.and_then(|at| Some((u32::try_from(at).ok()?, u32::try_from(all.len()).ok()?)));
    place.ok_or_else(|| String::from("--shards: the execution segment is none of its sequence"))
}

/// A part that is on its way.
pub struct ShippedPart {
    journal: PartJournal,
    uploader: Uploader,
    end: Option<PartEnd>,
}

impl ShippedPart {
    /// Adds what a tick brought; a problem, once.
    pub fn tick(&mut self, tick: &Tick) -> Option<String> {
        let second = self.journal.add(tick);
        self.uploader.look();
        second.problem
    }

    /// The scenarios are over.
    pub fn over(&mut self, outcome: &Outcome, state: &RunState) {
        self.end = Some(PartEnd::of(outcome, state, machine::allowed_cores()));
    }

    /// Adds how it ended, and waits until the store has everything; why it has not.
    pub fn finish(
        mut self,
        (judgement, results): (&Judgement, &Results),
        stopper: &Stopper,
        is_marked_failed: bool,
    ) -> Result<(), String> {
        if let Some(end) = self.end.take() {
            let end = PartEnd { cause: Cause::own(stopper), is_marked_failed, ..end.judged(judgement, results) };
            self.journal.end(end.to_bytes());
        }
        self.uploader.finish()
    }
}

/// Journals that `onrush report URL` reads.
pub struct FetchedParts {
    _folder: PrivateFolder,
    /// A directory for each part.
    pub dirs: Vec<PathBuf>,
}

/// Whether what a report is to be made of is a store.
pub fn is_store(given: &Path) -> bool {
    given.to_str().is_some_and(|text| text.contains("://"))
}

/// Fetches what all parts have sent to this store.
pub fn fetch(url: &str) -> Result<FetchedParts, String> {
    let store = ShardStore::open(url)?;
    let runtime = upload::runtime()?;
    let parts = runtime.block_on(store.parts())?;
    if parts.is_empty() {
        return Err(format!("{url}: nothing is there that `onrush run --shards` has written"));
    }
    let folder = PrivateFolder::make().map_err(|error| error.to_string())?;
    let mut dirs: Vec<PathBuf> = Vec::new();
    for (part, pieces) in parts {
        let dir = folder.path().join(format!("part-{}-of-{}", part.index, part.of));
        if dirs.contains(&dir) {
            return Err(format!(
                "{url}: part {} of {} was written twice, by a run that was started again or by another test: give \
                 each test a prefix of its own",
                part.index, part.of
            ));
        }
        let journal = runtime.block_on(store.read(&part, pieces))?;
        let written = std::fs::create_dir(&dir).and_then(|()| std::fs::write(dir.join(FILE_NAME), journal));
        written.map_err(|error| format!("cannot write into {}: {error}", dir.display()))?;
        dirs.push(dir);
    }
    Ok(FetchedParts { _folder: folder, dirs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_segment_is_that_in_its_sequence() {
        let mut options = Options::default();
        assert_eq!(place(&options), Ok((0, 1)));
        options.set_part(1, 3);
        assert_eq!(place(&options), Ok((1, 3)));
        options.execution_segment_sequence = None;
        assert!(place(&options).unwrap_err().contains("give --execution-segment-sequence"));
    }
}
