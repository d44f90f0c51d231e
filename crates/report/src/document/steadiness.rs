//! Whether a run was steady while the same load was planned: stretches between changes, the longest of them, a drift.
//!
//! `crate::steadiness` finds it. Totals hold all of a run; what is told here stands beside them. Times are seconds
//! since the start of the scenarios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::percentile::PercentileFigure;

/// How steady a run was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steadiness {
    /// The Trend whose medians, second by second, were looked at: what users wait for.
    pub metric: String,
    /// Whether the rate was looked at as well: it is one of the target's where users wait for answers.
    pub by_rate: bool,
    /// The time that was looked at, in order, parted where something changed: the plan asks for the same load in all of
    /// it.
    pub stretches: Vec<Stretch>,
    /// Which of them is steady, from 0: the longest, if it takes a third of the time; null without one.
    pub steady: Option<usize>,
    /// What was measured in the steady stretch, where it is not all of the time; null otherwise.
    #[serde(default)]
    pub figures: Option<StretchFigures>,
    /// A movement in one direction all the time; null without one.
    pub drift: Option<Drift>,
}

impl Steadiness {
    /// From when to when it was not as in the steady stretch; nothing without one.
    pub fn unsteady(&self) -> Vec<(f64, f64)> {
        let Some(steady) = self.steady else { return Vec::new() };
        let others = self.stretches.iter().enumerate().filter(|(at, _)| *at != steady);
        others.map(|(_, stretch)| (stretch.from_s, stretch.to_s)).collect()
    }
}

/// A time in which nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// Its start.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// The median of its seconds' medians.
    pub med: f64,
    /// Requests per second, or iterations without any.
    pub per_second: f64,
}

/// What was measured in a stretch, from all of its samples. Of a run of more than two minutes it may be a few seconds
/// shorter than the stretch, because histograms of a long run are kept for several seconds together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StretchFigures {
    /// Its start.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// Samples of the Trend.
    pub samples: u64,
    /// Samples per second.
    pub per_second: f64,
    /// Their mean.
    pub avg: f64,
    /// The largest.
    pub max: f64,
    /// Median, p(90), p(95), p(99), each with how sure it is.
    pub percentiles: Vec<PercentileFigure>,
}

/// A movement of the medians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// From when on.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// By how much the medians rose in that time, in percent; below 0 where they fell.
    pub percent: f64,
    /// The same a minute.
    pub percent_per_minute: f64,
}
