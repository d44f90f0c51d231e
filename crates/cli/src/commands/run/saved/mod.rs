//! What is kept of a run: its journal while it goes on, series over time, the result document; and the parts of a test
//! that somebody else merges.

pub mod frames;
pub mod journal;
pub mod part;
pub mod part_journal;
pub mod planned_starts;
pub mod plateau;
pub mod reader;
pub mod rebuild;
pub mod save;
pub mod shards;
pub mod timeline;
pub mod upload;
