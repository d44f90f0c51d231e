//! What an output is told of the run when it is opened.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use metrics::{Registry, SystemTags, ThresholdSpecs};

/// Tells the user something while the run goes on.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// What outputs need to know of the run.
pub struct Setup<'a> {
    /// The run's metrics; scripts may still define some.
    pub registry: Arc<Registry>,
    /// The option `thresholds`.
    pub thresholds: &'a ThresholdSpecs,
    /// The tags that Onrush itself puts on samples.
    pub system_tags: SystemTags,
    /// The environment, for `K6_` variables.
    pub env: &'a BTreeMap<String, String>,
    /// Standard output, for an output that writes there.
    pub stdout: &'a dyn Fn() -> io::Result<File>,
    /// For what the user should know at once.
    pub tell: Tell,
}

impl Setup<'_> {
    /// Tells that a setting changes nothing, and why.
    pub(crate) fn note_unused(&self, output: &str, name: &str, value: &str, why: &str) {
        (self.tell)(&format!("output {output}: {name}={value} changes nothing: {why}"));
    }
}
