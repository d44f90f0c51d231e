//! What all users of a test have in common, on all machines: its clock, and the mark that it failed.

pub mod test_clock;
pub mod test_mark;
