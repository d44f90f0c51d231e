//! A test in one file, in k6's layout, so that k6 runs what Onrush packs and the other way round.
//!
//! A tar file with `metadata.json` (options, variables, where the script was), `data` (the script), and the files of
//! init code below `file/` and `https/`, by path and address. The script's own place there is a link to `data`.

mod pack;
mod unpack;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use pack::{Packed, now, pack};
pub use unpack::{Unpacked, is_archive, unpack};

/// Where the parts of an archive are.
const METADATA: &str = "metadata.json";
const SCRIPT: &str = "data";
/// Its parts beside them, and the beginning of their modules' names.
const ROOTS: [(&str, &str); 2] = [("file/", "file:///"), ("https/", "https://")];

/// `metadata.json`. Fields that are not needed to run the test may be missing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metadata {
    #[serde(rename = "type", default)]
    kind: String,
    /// The options of the test, those of flags and variables included.
    #[serde(default)]
    pub options: Value,
    /// `file:///path/test.js`.
    filename: String,
    #[serde(default)]
    pwd: String,
    /// Variables of the script.
    #[serde(default)]
    pub env: Option<BTreeMap<String, String>>,
    #[serde(rename = "compatibilityMode", default)]
    compatibility_mode: String,
    #[serde(rename = "k6version", default)]
    k6_version: String,
    #[serde(default)]
    goos: String,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
}
