//! After the last iteration: the result, the summary, the exit code.

pub mod changes;
pub mod findings;
pub mod finish;
pub mod restore;
pub mod summary;
pub mod traces;
