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
    /// Concurrent requests of one batch.
    pub batch: Option<u32>,
    /// Concurrent requests of one batch to the same host.
    pub batch_per_host: Option<u32>,
    /// Bodies are read and dropped unless a request says otherwise.
    pub discard_response_bodies: Option<bool>,
    /// Redirects to follow.
    pub max_redirects: Option<u32>,
    /// Cookies outlive the iteration.
    pub no_cookies_reset: Option<bool>,
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
        BTreeSet::from([
            "proto",
            "subproto",
            "status",
            "method",
            "url",
            "name",
            "group",
            "check",
            "error",
            "error_code",
            "tls_version",
            "scenario",
            "service",
            "expected_response",
        ])
    }
}
