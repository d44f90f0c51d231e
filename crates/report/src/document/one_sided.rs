//! Figures of which a run knows one side: at least, or at most. What finds them is `crate::one_sided`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// On which side of the printed figure the true one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnownSide {
    /// The figure is as large as is printed, or larger.
    AtLeast,
    /// The figure is as large as is printed, or smaller.
    AtMost,
}

impl KnownSide {
    /// As a line says it.
    pub const fn text(self) -> &'static str {
        match self {
            KnownSide::AtLeast => "at least",
            KnownSide::AtMost => "at most",
        }
    }
}

/// A figure that is known from one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneSided {
    /// The name of the metric.
    pub metric: String,
    /// Of a Trend, the percentiles from this one on, 0 to 100; absent where it is the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_percentile: Option<f64>,
    /// Where the true figure is.
    pub side: KnownSide,
    /// Why no more is known.
    pub why: String,
}

impl OneSided {
    /// In one line, without the figures.
    pub fn sentence(&self) -> String {
        let OneSided { metric, from_percentile, side, why } = self;
        let what = match from_percentile {
            Some(0.0) => format!("all of {metric} is"),
            Some(from) => format!("{metric} from p({from}) on is"),
            None => format!("the rate of {metric} is"),
        };
        format!("{what} {} what is shown: {why}", side.text())
    }
}
