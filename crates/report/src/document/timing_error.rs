//! How far the response times of a run are from the truth. What measures it is `crate::timing_error`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::show::{grouped, time};

/// The error of response times, as the run measured it: they are too long by at most `within_ms`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimingError {
    /// Requests that were checked with the kernel's transmit stamps.
    pub checked: u64,
    /// Of 100 requests, for how many the bound holds; absent where too few were checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_100: Option<f64>,
    /// The bound, in ms: the upper end of the 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ms: Option<f64>,
    /// The error's median, in ms; absent where none was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub med_ms: Option<f64>,
    /// The share of requests that can be checked, 0 to 1: not those over HTTP/2, unix sockets or a link, and not those
    /// with bodies above 16 KiB.
    pub checkable_share: f64,
}

/// From this share on what can be checked is all that there is.
const NEARLY_ALL: f64 = 0.9;

impl TimingError {
    /// In one line.
    pub fn line(&self) -> Option<String> {
        let checked = grouped(self.checked);
        let Some((of_100, within)) = self.of_100.zip(self.within_ms) else {
            let why = match self.checked {
                0 => String::from("no request could be checked (HTTP/1.1 over TCP, without a link, 16 KiB at most)"),
                _ => format!("{checked} requests checked are too few"),
            };
            return Some(format!("response times: error not measured, {why}"));
        };
        let requests =
            if self.checkable_share < NEARLY_ALL { "of the requests that can be checked" } else { "requests" };
        let within = time(within);
        Some(format!("response times are right within {within} for {of_100} of 100 {requests} ({checked} checked)"))
    }
}
