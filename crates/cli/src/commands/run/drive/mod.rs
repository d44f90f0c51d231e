//! While the test runs: what drives it, watches it, and shows it.

pub mod generator_watch;
pub mod lifecycle;
pub mod observer;
pub mod pace;
pub mod pause;
pub mod phases;
pub mod progress;
pub mod referee;
pub mod run_samples;
pub mod wall_clock;
pub mod watch;
