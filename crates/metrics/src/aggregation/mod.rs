//! The samples of a whole run, merged: totals, intervals, kinds of requests and errors, results.

pub mod aggregate;
pub mod blocks;
pub mod request_blocks;
pub mod seconds;
pub mod threshold;
pub(crate) mod tree;
