//! In the place of `shards.rs` where Onrush is built without the feature `objects`: everything says so.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{Judgement, Outcome, RunState, Stopper, Tick};
use metrics::Registry;
use metrics::results::Results;
use script::options::Options;

use super::flags::Flags;
use crate::exit_code::ExitCode;
use crate::failure::Failure;

const MISSING: &str = "this Onrush was built without object stores: build it with the feature 'objects'";

/// Is never there.
pub struct Shards(Infallible);

/// Is never there.
pub struct ShippedPart(Infallible);

/// Is never there.
pub struct FetchedParts {
    /// None.
    pub dirs: Vec<PathBuf>,
}

impl Shards {
    /// Says what is missing.
    pub fn open(_: &str, _: &Options) -> Result<Shards, Failure> {
        Err(Failure::new(ExitCode::Generic, format!("--shards: {MISSING}")))
    }

    /// Never called.
    pub fn begin(&self, _: &Flags, _: &Options, _: Duration, _: Arc<Registry>) -> ShippedPart {
        match self.0 {}
    }
}

impl ShippedPart {
    /// Never called.
    pub fn tick(&mut self, _: &Tick) -> Option<String> {
        match self.0 {}
    }

    /// Never called.
    pub fn over(&mut self, _: &Outcome, _: &RunState) {
        match self.0 {}
    }

    /// Never called.
    pub fn finish(self, _: (&Judgement, &Results), _: &Stopper, _: bool) -> Result<(), String> {
        match self.0 {}
    }
}

/// Whether what a report is to be made of is a store.
pub fn is_store(given: &Path) -> bool {
    given.to_str().is_some_and(|text| text.contains("://"))
}

/// Says what is missing.
pub fn fetch(url: &str) -> Result<FetchedParts, String> {
    Err(format!("{url}: {MISSING}"))
}
