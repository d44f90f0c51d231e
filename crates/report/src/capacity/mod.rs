//! How much a target holds: which loads to try, when a probe is decided, what the probes say together.
//!
//! Pure: `onrush capacity` runs the probes and asks here. `objective` reads what has to hold, `judge` looks at the
//! seconds of a probe while it runs, `search` chooses the loads and brackets the answer, `pace` says how long each goes
//! on, `answer` is what is told and kept.
//! `cargo xtask stats capacity` proves by simulated targets of known capacity that the interval covers the truth.

mod answer;
mod judge;
mod objective;
mod pace;
mod search;

pub use answer::{CapacityAnswer, FILE_NAME, KIND, LoadUnit, ProbeFigures, ProbeSaid, SCHEMA};
pub use judge::{Breach, Judge, ProbeSecond, Standing};
pub use objective::{Objective, ObjectiveTally};
pub use pace::{A_PROBE, Length, RECOVERIES, has_recovered, is_calm};
pub use search::{Aim, Bracket, NextProbe, Purpose, Said, Search, Tried};
