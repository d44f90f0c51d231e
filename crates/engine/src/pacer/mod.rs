//! When the next iteration may start: pure functions of elapsed time, without clock, virtual user or loop.
//!
//! `arrival` knows the k-th start of an arrival rate, `poisson` draws when visitors come, `ramp` knows when each
//! virtual user of a ramp comes and goes, `shared_iterations` gives out a fixed number of iterations, `closed` answers
//! a virtual user that asks after each iteration what to do next. Arithmetic is in whole nanoseconds, so that nothing
//! drifts over hours.

mod arrival;
mod closed;
mod poisson;
mod ramp;
mod shared_iterations;

pub use arrival::{Arrivals, Rate, Starts, TooFast};
pub use closed::{Looping, Next, Pace, Ramping, Turn};
pub use ramp::{ActiveSpan, Ramp};
pub use shared_iterations::{IterationShare, SharedIterations};
