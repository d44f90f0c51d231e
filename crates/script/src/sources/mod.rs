//! Where scripts and the files they name come from.

pub mod disk;
pub mod files;
pub mod source_kind;
