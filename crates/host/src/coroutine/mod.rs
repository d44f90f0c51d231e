//! Users as coroutines: how they wait, give way, are interrupted and stop.

pub(crate) mod carrier;
pub(crate) mod computation;
pub(crate) mod engine_code;
pub(crate) mod fiber;
pub(crate) mod preemption;
pub(crate) mod stop;
pub(crate) mod switch;
pub mod watchdog;
