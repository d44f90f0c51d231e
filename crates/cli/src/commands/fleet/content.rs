//! What an agent and its coordinator say that only they understand: settings and seconds. How a part ended is in
//! `run/part.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::run::part::PartCounts;

/// How agents run an archive, beside the options that are in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// `--no-thresholds`.
    pub no_thresholds: bool,
    /// Whether metrics are kept by scenario and group.
    pub breakdown: bool,
    /// Whether a report wants more of them.
    pub details: bool,
    /// `--features`.
    pub features: Vec<String>,
    /// The certificate of a target beside the test.
    pub trusted_pem: Option<String>,
    /// `--accept-late`.
    pub accept_late: bool,
    /// `--out`.
    pub outputs: Vec<String>,
    /// The variables of outputs, as the coordinator has them.
    pub output_env: BTreeMap<String, String>,
}

/// A second of a part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Second {
    /// Users and iterations at its end.
    pub live: PartCounts,
    /// The interval as the journal has it; empty where the part stood still and nothing was measured.
    #[serde(with = "serde_bytes")]
    pub interval: Vec<u8>,
}
