//! What a CI is told of a run or of a comparison: one value, and the formats that GitHub, GitLab and others read.
//!
//! Pure: `of_run` and `of_comparison` gather, `github` and `gitlab` render, and JUnit is `crate::junit`. Nothing here
//! decides anything: exit codes do, and every format says what they say. No format has links or placeholders.

mod comment;
mod digest;
mod github;
mod gitlab;
mod of_comparison;
mod of_run;
mod place;

use crate::junit::JunitSuite;

pub use digest::{Digest, DigestThreshold, digest};
pub use of_comparison::{of_comparison, of_refusal};
pub use of_run::of_run;
pub use place::{CiScript, Place};

/// What there is to tell.
#[derive(Clone, Debug)]
pub struct CiReport {
    suite: JunitSuite,
    /// The verdict first.
    markdown: String,
    notices: Vec<Notice>,
    figures: Vec<CiFigure>,
}

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Notice {
    level: NoticeLevel,
    /// What kind of thing it is: `threshold`.
    check: &'static str,
    /// What it is about; the same in the next run.
    subject: String,
    /// What was found.
    message: String,
    /// Where in the script.
    place: Option<Place>,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NoticeLevel {
    /// It is no evidence.
    Invalid,
    /// It failed.
    Failed,
    /// It may be wrong.
    Doubtful,
}

/// One number with a name that stays.
#[derive(Clone, Debug, PartialEq)]
struct CiFigure {
    /// Letters, digits and underscores, unit last.
    name: String,
    /// What tells it from others of its name.
    labels: Vec<(&'static str, String)>,
    value: f64,
}

impl CiReport {
    /// JUnit XML.
    pub fn junit(&self) -> String {
        self.suite.xml()
    }

    /// A comment of a pull request, or the summary of a job. It begins with a mark that people do not see, by which a
    /// job finds the comment it wrote before.
    pub fn comment(&self) -> String {
        format!("<!-- {} -->\n{}", self.suite.program, self.markdown)
    }

    /// Workflow commands of GitHub, a line each.
    pub fn github_annotations(&self) -> String {
        github::annotations(&self.notices)
    }

    /// GitLab's report of metrics, in the format of OpenMetrics.
    pub fn gitlab_metrics(&self) -> String {
        gitlab::metrics(&self.figures)
    }

    /// GitLab's report of code quality. A place needs a file; `script` is that of notices without one.
    pub fn code_quality(&self, script: &str) -> String {
        gitlab::code_quality(&self.notices, script)
    }
}
