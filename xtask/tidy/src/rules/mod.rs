//! The rules, one file a subject. Each reads the workspace and returns what it finds; nothing is printed here.

mod boundaries;
mod circles;
mod cover;
mod lengths;
mod names;
mod repository;
mod shape;
mod unsafe_code;
mod unused;

pub use circles::Circles;

use crate::finding::Finding;
use crate::workspace::Workspace;

/// Everything that is found, before the allow-list.
pub fn findings(workspace: &Workspace, circles: &Circles) -> Vec<Finding> {
    let mut findings = circles.findings(workspace);
    findings.extend(boundaries::findings(workspace, circles));
    findings.extend(lengths::findings(workspace));
    findings.extend(names::findings(workspace));
    findings.extend(unused::findings(workspace));
    findings.extend(unsafe_code::findings(workspace));
    findings.extend(cover::findings(workspace));
    findings.extend(repository::findings(workspace));
    findings.extend(shape::findings(workspace));
    findings.sort_by(|a, b| (a.rule, &a.subject).cmp(&(b.rule, &b.subject)));
    findings
}

pub use names::duplicates;
