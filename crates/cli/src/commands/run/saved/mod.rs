//! What is kept of a run: the result document, made at its end or of its journals; and where a part of a test sends its
//! seconds that somebody else merges. The journal itself is the crate `journal`.

pub mod load_changes;
pub mod of_journals;
pub mod save;
pub mod shards;
pub mod upload;
