//! A binary with everything that packages are made of, and what they all say of it: name, version, terms.
//!
//! Nothing here knows a package: each has a file beside this one.

use std::path::Path;

use super::contents::Contents;
use super::elf::Needs;
use super::names::Names;
use crate::image::libraries::architecture;

pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const LICENSE: &str = env!("CARGO_PKG_LICENSE");
pub(super) const SUMMARY: &str = "A load-testing tool that runs k6 scripts";
pub(super) const DESCRIPTION: &str = "Onrush runs k6 scripts at several times the speed of k6, tests URLs with curl's \
                                      flags, serves a target, and compares results by evidence.";

/// The program with everything that packages are made of.
pub(super) struct Release {
    /// The binary, with the list of its dependencies inside.
    pub(super) program: Vec<u8>,
    pub(super) contents: Contents,
    pub(super) needs: Needs,
    /// Who hands it out, and where.
    pub(super) names: Names,
    /// As images and Debian call the processor: `amd64`.
    pub(super) architecture: &'static str,
}

impl Release {
    /// Gathers what belongs to a binary; `program` is what is handed out of it.
    pub(super) fn prepare(binary: &Path, root: &Path, program: Vec<u8>) -> Result<Release, String> {
        let architecture = architecture(&program)
            .ok_or_else(|| format!("{} is no program for x86-64 or arm64 Linux", binary.display()))?;
        let (needs, names) = (Needs::of(binary)?, Names::of_workspace(root)?);
        Ok(Release { program, contents: Contents::gather(binary, root)?, needs, names, architecture })
    }

    /// The size, and what it needs.
    pub(super) fn told(&self) -> String {
        let megabytes = self.program.len() as f64 / 1e6;
        format!("{megabytes:.1} MB for {}, needs {}", self.architecture, self.needs)
    }

    /// The processor as Rust, Python and the kernel call it.
    pub(super) fn machine(&self) -> &'static str {
        if self.architecture == "amd64" { "x86_64" } else { "aarch64" }
    }

    /// The archive: the program in `bin/`, pages and completions in `share/`, as below /usr/local.
    pub(super) fn archive(&self) -> Result<(String, Vec<u8>), String> {
        let name = format!("onrush-{VERSION}-{}-unknown-linux-gnu", self.machine());
        let layer = self.contents.layer(&self.program, &name);
        Ok((format!("{name}.tar.gz"), layer.pack()?.bytes))
    }
}
