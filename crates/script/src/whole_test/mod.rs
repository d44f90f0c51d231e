//! What all users of a test have in common: its clock and the mark that it failed, on all machines; traces, in this
//! process.

pub mod test_clock;
pub mod test_mark;
pub mod traces;
