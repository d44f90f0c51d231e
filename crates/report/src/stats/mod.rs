//! Statistics for comparing runs: exact, rank-based, over paired rounds.
//!
//! Single runs, which have no pairs, are compared by their seconds (`within`), which is weaker and says so.
//!
//! Everything here is a pure function of numbers and knows no metric and no file. The assumption is one: within a pair
//! the two variants ran by turns, so that without a difference between them either sign of their difference is as
//! likely. Nothing is assumed about the law of the noise. What that promises, 5 % false alarms and 95 % coverage, is
//! simulated by `cargo xtask stats` and, shorter, by its tests.
//!
//! Pairs that are looked at after each one have a test of their own (`sequential`), with the same promise over all
//! looks.
//!
//! `changes` and `drift` look into one run: where its level changed, and whether it moved all the time.
//!
//! Our own, because the promise is exact for six pairs as for sixty; libraries approximate the test by a normal law.

mod changes;
mod drift;
mod holm;
mod median;
mod paired;
mod sequential;
mod signed_rank;
mod verdict;
pub mod within;

pub use changes::change_points;
pub use drift::{Line, line};
pub use holm::adjust;
pub use median::{median, median_of_sorted};
pub use paired::{CONFIDENCE, Estimate, estimate, pairs_needed};
pub use sequential::Looks;
pub use signed_rank::{MOST_PAIRS, critical_position, p_value};
pub use verdict::{Answer, Direction, Question, Verdict, answer, answer_so_far};
