//! The journal of a run: what was measured, second by second, in a file that grows.
//!
//! It is written while the run goes on, and read when the run did not come to its end. Agents send the same bytes to
//! their coordinator. No flag, no socket and no script: who writes a journal says what hides secrets ([`Redact`]), who
//! sends its frames asks for them by number ([`FrameStore`]).
//!
//! # The way of a second
//!
//! ```text
//!  one process   Tick ─ Timeline::tick ─ Journal::add ─ frames::write
//!                Timeline::finish ─ JournalReader ─────────► OverTime            series, read back at the end
//!
//!  an agent      Tick ─ PartJournal::add ─ Journal::add ─ frames::write          samples are encoded here, once
//!                  └─ FrameStore::add ·· FrameStore::frame ─► AgentFrame          what is sent carries these bytes
//!  coordinator   AgentFrame ─ Members::take ─ Record::read ·· Members::pass_on ─► Tick, as of one process
//!
//!  afterwards    JournalReader ─ rebuild ──────────────────► MergedTest          of a run that was killed
//!                JournalReader ─ Members::add, pass_on ────► MergedParts         of agents without their coordinator
//! ```

mod agents_report;
mod ended_load;
mod frame_store;
mod frames;
mod load_order;
mod members;
mod merge;
mod part;
mod part_journal;
mod parts;
mod planned_starts;
mod plateau;
mod reader;
mod record;
mod second;
mod timeline;
mod writer;

pub use agents_report::{AgentsReport, named_of_all};
pub use ended_load::{EndedBy, EndedLoad};
pub use frame_store::FrameStore;
pub use load_order::LoadOrder;
pub use members::Members;
pub use merge::{MergedTest, rebuild, setup_of};
pub use part::{Cause, LoggedMessages, PartCounts, PartEnd, PartOutcome};
pub use part_journal::PartJournal;
pub use parts::{GivenJournal, MergedParts, all, join};
pub use reader::JournalReader;
pub use record::{
    FILE_NAME, IntervalTimes, JournalHead, KIND, Record, SCHEMA, TestPart, remove, remove_set_aside, set_aside,
};
pub use second::{AgentFrame, AgentSecond, MessagePiece};
pub use timeline::{OverTime, TargetSecond, Timeline};
pub use writer::{Journal, NoSecrets, Redact};
