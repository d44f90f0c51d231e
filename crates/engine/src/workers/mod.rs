//! Workers and their users: who is free, who waits, who is resumed next, and what a user of a scenario does.

pub(crate) mod idle_users;
pub(crate) mod lane;
pub(crate) mod lane_user;
pub(crate) mod pool;
pub(crate) mod run_queue;
pub(crate) mod turns;
pub(crate) mod worker;
