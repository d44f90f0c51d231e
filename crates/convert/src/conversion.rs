//! What a conversion is asked for, and what comes of it.
//!
//! Below every format, so that each knows the settings and none knows another. Nothing is read or written here: a file
//! that a text names is read by whoever calls.

use crate::model::Test;
use crate::notes::Notes;
use crate::write::Style;

/// What is carried over.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Hosts whose requests are kept; empty: all.
    pub only: Vec<String>,
    /// Leaves images, style sheets, fonts and scripts out.
    pub skips_static: bool,
    /// Pauses and start times as they were recorded.
    pub keeps_timing: bool,
    /// See [`Style`].
    pub style: Style,
    /// Reads a file that the text names, when it can be read.
    pub read: fn(&str) -> Option<String>,
}

impl Settings {
    /// Everything is kept, nothing else is read.
    pub fn plain() -> Settings {
        Settings { only: Vec::new(), skips_static: false, keeps_timing: true, style: Style::default(), read: |_| None }
    }
}

/// A test and what has to be said of it.
#[derive(Debug, Default)]
pub struct Converted {
    /// The test.
    pub test: Test,
    /// What was not carried over.
    pub notes: Notes,
}
