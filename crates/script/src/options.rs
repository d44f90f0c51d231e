//! The options of a test, composed from the parts that the engine, the metrics and the wire obey.

use std::collections::BTreeSet;
use std::sync::Arc;

/// Consolidated options, after all layers have been applied.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Tags of every sample.
    pub tags: Option<std::collections::BTreeMap<String, String>>,
    /// Whether what is only a warning by default throws.
    pub throw: Option<bool>,
}

impl Options {
    /// JavaScript memory of one user in bytes.
    pub fn memory_limit(&self) -> usize {
        crate::host::runtime::DEFAULT_MEMORY_LIMIT
    }

    /// What the wire obeys.
    pub fn network_settings(&self) -> wire::Settings {
        wire::Settings::default()
    }

    /// Tags of every sample of the run.
    pub fn run_tags(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let tags = self.tags.iter().flatten();
        tags.map(|(name, value)| (Arc::from(name.as_str()), Arc::from(value.as_str()))).collect()
    }

    /// System tags that are on.
    pub fn system_tags(&self) -> BTreeSet<&'static str> {
        BTreeSet::from(["scenario", "group", "check"])
    }
}
