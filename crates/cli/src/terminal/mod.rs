//! What a command prints for people beside its result: banners, progress, tables.

pub(crate) mod banner;
pub(crate) mod fold;
pub(crate) mod progress;
pub(crate) mod scenario_line;
pub(crate) mod tables;
