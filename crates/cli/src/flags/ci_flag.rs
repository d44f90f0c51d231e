//! What `onrush run`, `onrush compare` and `onrush report` write for a CI: one list of flags for all three.
//!
//! They have no variables of their own. A job of GitHub is recognised by what it sets, and `none` switches that off.

use super::RunFlag;
use super::run_flag::run_flag;

/// Files for a CI, and what is printed for one.
pub static CI_FLAGS: &[RunFlag] = &[
    run_flag(
        "junit",
        None,
        Some("FILE"),
        "Write JUnit XML for a CI: a case for each threshold, each check and the verdict",
    ),
    run_flag("comment", None, Some("FILE"), "Write Markdown for a comment of a pull request, the verdict first"),
    run_flag(
        "job-summary",
        None,
        Some("FILE|none"),
        "Append that Markdown to the summary of a job [default: $GITHUB_STEP_SUMMARY where it is set]",
    ),
    run_flag(
        "annotations",
        None,
        Some("github|none"),
        "Print what failed as commands that GitHub shows beside the lines of the script [default: github where \
         GITHUB_ACTIONS is true]",
    ),
    run_flag("gitlab-metrics", None, Some("FILE"), "Write the figures for GitLab's report of metrics"),
    run_flag("code-quality", None, Some("FILE"), "Write what failed for GitLab's report of code quality, as JSON"),
];
