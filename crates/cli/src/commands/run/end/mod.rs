//! After the last iteration: the result, the summary, the exit code.

pub mod agents_report;
pub mod findings;
pub mod finish;
pub mod planned_starts;
pub mod plateau;
pub mod restore;
pub mod save;
pub mod summary;
pub mod timeline;
