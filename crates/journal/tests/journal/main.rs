//! Journals of one process and of many agents, written and read: the same bytes on all ways, the same result behind
//! them.

mod agent;
mod agents;
mod members;
mod parts;
mod rebuild;
mod support;
