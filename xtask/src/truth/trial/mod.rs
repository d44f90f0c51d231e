//! A run of Onrush against a referee, and what is held against what: everything below the cases.

pub mod account;
pub mod bench;
pub mod busy;
pub mod claim;
pub mod cores;
pub mod evidence;
pub mod load;
pub mod referee;
pub mod statistics;
