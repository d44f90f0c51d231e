//! Summaries of a run: text as k6 lays it out, JSON exports, the data of handleSummary.
//!
//! Everything here is a pure function of `metrics::Results`: nothing is measured, read or printed. Layout, names and
//! number formats are those of k6 2.2, so that people and tools which read its summaries can read these; where we
//! differ on purpose the reason is at the place.

pub mod capacity;
pub mod ci;
pub mod compare;
pub mod confidence;
pub mod document;
pub mod errors;
pub mod export;
pub mod format;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod history;
pub mod html;
mod input;
mod junit;
pub mod laws;
pub mod limit;
pub mod machine;
mod markdown;
pub mod matrix;
pub mod one_sided;
pub mod options;
mod section;
pub mod stats;
pub mod steadiness;
pub mod text;
pub mod threshold_counts;
pub mod timing_error;
pub mod visible;
pub mod witness;

pub use document::Document;
pub use errors::Errors;
pub use export::{RunState, export_json, handle_summary_data, pretty};
pub use machine::{RunConfig, machine_readable};
pub use options::{SummaryMode, SummaryOptions, TimeUnit, TrendStat, parse_trend_stats, trend_stats_of};
pub use text::{text, verdict};
pub use visible::{visible, visible_lines};
