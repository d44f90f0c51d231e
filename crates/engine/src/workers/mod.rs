//! Workers and their users: who is free, who waits, who is resumed next, and what a user of a scenario does.

pub(crate) mod changing_users;
pub(crate) mod idle_users;
pub(crate) mod lane;
mod lane_changing;
mod lane_starting;
mod lane_taking;
pub(crate) mod lane_user;
pub(crate) mod open_users;
pub(crate) mod pool;
pub(crate) mod run_queue;
pub(crate) mod turns;
pub(crate) mod worker;
