//! What the tests of journals share: folders, a head, and a script without secrets.

use std::path::{Path, PathBuf};
use std::time::Duration;

use onrush_journal::{JournalHead, KIND, SCHEMA};
use serde_json::json;

pub const SECOND: Duration = Duration::from_secs(1);

/// An empty folder of this name.
pub fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("made");
    dir
}

pub fn head() -> JournalHead {
    JournalHead {
        kind: KIND.to_owned(),
        schema: SCHEMA,
        started_at: String::from("2026-01-01T00:00:00Z"),
        script: String::from("script.js"),
        labels: Default::default(),
        options: json!({ "thresholds": { "iterations": ["count>100"] }, "executionSegment": "0:1/2" }),
        environment: Default::default(),
        part: None,
    }
}
