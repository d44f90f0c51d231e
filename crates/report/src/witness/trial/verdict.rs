//! What is said of a tool: a verdict for each figure, with what the target saw and why.
//!
//! The document of `onrush witness --json` (docs/schema/trial-1.json); texts are printed from the same struct.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::witness::claims::ClaimFigure;

/// What `kind` says.
pub const TRIAL_KIND: &str = "onrush-trial";
/// Number of the schema.
pub const TRIAL_SCHEMA: u32 = 1;

/// What a tool printed, judged by what its target saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// `onrush-trial`, so that a file can be told from others.
    pub kind: String,
    /// Number of this schema: 1.
    pub schema: u32,
    /// The tool's name.
    pub tool: String,
    /// Its figures, in the order of its output.
    pub figures: Vec<JudgedFigure>,
    /// What concerns several of them.
    pub findings: Vec<TrialFinding>,
}

/// A figure with what the target saw of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedFigure {
    /// Which figure it is.
    pub figure: ClaimFigure,
    /// Its name in tables.
    pub name: String,
    /// As the tool printed it.
    pub printed: String,
    /// The same as a number: counts, bytes, per second, seconds for the duration, milliseconds for latencies.
    pub value: f64,
    /// The truth is this or more, as far as the target knows.
    pub least: Option<f64>,
    /// The truth is this or less.
    pub most: Option<f64>,
    /// What follows from them.
    pub verdict: ClaimVerdict,
    /// The figure is right within this, where it is true.
    pub within: Option<f64>,
    /// Why, in words.
    pub why: String,
    /// A latency: what a visitor on schedule waited at least, where stalls kept the tool from sending.
    pub on_schedule: Option<f64>,
}

/// What follows from what the target saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ClaimVerdict {
    /// The two agree.
    #[serde(rename = "true")]
    True,
    /// They contradict each other.
    #[serde(rename = "not true")]
    NotTrue,
    /// The target does not know.
    #[serde(rename = "cannot be told")]
    CannotBeTold,
}

impl ClaimVerdict {
    /// As tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            ClaimVerdict::True => "true",
            ClaimVerdict::NotTrue => "not true",
            ClaimVerdict::CannotBeTold => "cannot be told",
        }
    }
}

/// What was found of one figure.
pub(super) struct Ruling {
    pub(super) verdict: ClaimVerdict,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
    pub(super) within: Option<f64>,
    pub(super) why: String,
    pub(super) on_schedule: Option<f64>,
}

impl Ruling {
    pub(super) fn new(verdict: ClaimVerdict, why: impl Into<String>) -> Ruling {
        Ruling { verdict, least: None, most: None, within: None, why: why.into(), on_schedule: None }
    }

    pub(super) fn seen(self, value: f64) -> Ruling {
        self.between(Some(value), Some(value))
    }

    pub(super) fn between(self, least: Option<f64>, most: Option<f64>) -> Ruling {
        Ruling { least, most, ..self }
    }

    pub(super) fn within(self, within: f64) -> Ruling {
        Ruling { within: Some(within), ..self }
    }
}

/// Something that was found, by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialFinding {
    /// `coordinated_omission`, `stall`, `tool_paused`, `clock_stepped`, `stamps_missing`, `kept_plan`.
    pub name: String,
    /// What it is, in words.
    pub text: String,
}
