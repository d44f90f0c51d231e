//! What every case needs, and what a case is.

use std::path::{Path, PathBuf};

use super::claim::Claim;
use super::referee::Programs;

/// Where things are, and how large the samples shall be.
pub struct Bench<'a> {
    /// The program.
    pub onrush: &'a Path,
    /// The suite's own, in C.
    pub programs: Programs,
    /// For files of a run.
    pub folder: PathBuf,
    /// Whether samples are as large as the aims want them.
    pub is_full: bool,
}

impl Bench<'_> {
    /// One size or the other.
    pub fn size<T>(&self, usual: T, full: T) -> T {
        if self.is_full { full } else { usual }
    }
}

type Run = dyn Fn(&Bench<'_>) -> Result<Vec<Claim>, String>;

/// A case by name.
pub struct Case {
    /// As the table has it.
    pub name: String,
    /// What is claimed after it.
    pub run: Box<Run>,
}

impl Case {
    /// A name and what it does.
    pub fn new(name: impl Into<String>, run: impl Fn(&Bench<'_>) -> Result<Vec<Claim>, String> + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run) }
    }
}
