//! A running test at one second, as plain values. Times are milliseconds unless their type says more; what nobody has
//! measured is absent, never 0.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};
use units::show::{grouped, percent, time};

/// The run as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Glance {
    /// `running`.
    pub what: &'static str,
    /// Since the scenarios began.
    #[serde(rename = "elapsed_s", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// How long the plan has left; none where nobody knows.
    #[serde(rename = "left_s", serialize_with = "seconds_left")]
    pub left: Option<Duration>,
    /// Virtual users.
    pub users: UserCounts,
    /// Iterations so far.
    pub iterations: IterationCounts,
    /// Requests so far.
    pub requests: RequestCounts,
    /// The last second; none when nothing ended in it.
    pub pace: Option<Pace>,
    /// Figures of the last second, each for a chart.
    pub charts: Vec<Chart>,
    /// What went wrong so far, the most frequent first.
    pub errors: Vec<ErrorLine>,
    /// Checks in the order the script made them.
    pub checks: Vec<CheckLine>,
    /// Thresholds in the order of the option.
    pub thresholds: Vec<ThresholdLine>,
    /// The generator's own state; none where agents judge themselves.
    pub trust: Option<Trust>,
    /// One each.
    pub scenarios: Vec<ScenarioLine>,
}

/// Virtual users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct UserCounts {
    /// In an iteration.
    pub active: u64,
    /// That exist.
    pub total: u64,
}

/// Iterations so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct IterationCounts {
    /// Ended by themselves.
    pub complete: u64,
    /// Cut short.
    pub interrupted: u64,
    /// Planned, and never begun.
    pub dropped: u64,
}

/// Requests so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RequestCounts {
    /// All.
    pub count: u64,
    /// Those whose answer was not the expected one.
    pub failed: u64,
}

/// How fast the test went in the last second, by requests; by iterations where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pace {
    /// `requests` or `iterations`.
    pub what: &'static str,
    /// So many a second.
    pub per_second: f64,
    /// Their 50th, 95th and 99th percentile.
    pub percentiles: [f64; 3],
    /// Share of requests that failed.
    pub failed: Option<f64>,
}

/// Figures of one metric in the last second.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Chart {
    /// The metric.
    pub name: String,
    /// `ms`, `B/s`, `/s`, or nothing for plain numbers.
    pub unit: &'static str,
    /// Names and values of its lines, the highest first.
    pub lines: Vec<(&'static str, f64)>,
}

/// One kind of error.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ErrorLine {
    /// What went wrong.
    pub what: String,
    /// How often.
    pub count: u64,
}

/// One check.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckLine {
    /// As the script names it.
    pub name: String,
    /// Times it held.
    pub passes: u64,
    /// Times it did not.
    pub fails: u64,
}

/// One threshold.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThresholdLine {
    /// What it is set on.
    pub metric: String,
    /// As written: `p(95)<500`.
    pub source: String,
    /// Its left side, as people read it; none before it was judged.
    pub left: Option<String>,
    /// Whether it held.
    pub ok: bool,
    /// Share of the limit that is left; negative beyond it.
    pub margin: Option<f64>,
}

/// What the figures are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Word {
    /// One iteration of one user tests no load.
    #[default]
    #[serde(rename = "not judged")]
    NotJudged,
    /// Nothing was found.
    Trusted,
    /// Some figures are in doubt.
    Suspect,
    /// The figures are no evidence.
    Invalid,
}

/// How the generator fares. The verdict of the whole run is made at its end, of all of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trust {
    /// Of the last two seconds.
    pub now: Word,
    /// What it is made of, the worst first.
    pub doubts: Vec<Doubt>,
    /// Seconds so far that were SUSPECT.
    pub suspect_s: u64,
    /// Seconds so far that were INVALID.
    pub invalid_s: u64,
}

/// Something that is wrong with the generator now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Doubt {
    /// `late starts`.
    pub title: String,
    /// `5 ms`.
    pub figure: String,
    /// What to do about it.
    pub advice: String,
}

/// One scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScenarioLine {
    /// Name.
    pub name: String,
    /// 0 to 1.
    pub progress: f64,
    /// What is right of the bar: `2 VUs  1.0s/2s`.
    pub right: String,
    /// Until its plan ends at the latest; none once it has ended.
    #[serde(rename = "left_s", serialize_with = "seconds_left")]
    pub left: Option<Duration>,
    /// Ended, and whether as planned.
    pub ended: Option<bool>,
}

impl Glance {
    /// Whether all scenarios have ended.
    pub fn is_last(&self) -> bool {
        self.scenarios.iter().all(|scenario| scenario.ended.is_some())
    }
}

impl Pace {
    /// `7,775 requests/s`.
    pub fn rate(&self) -> String {
        let Pace { what, per_second, .. } = self;
        let rate = if *per_second < 10.0 { format!("{per_second:.1}") } else { grouped(per_second.round() as u64) };
        format!("{rate} {what}/s")
    }

    /// `0.10 % failed`.
    pub fn failures(&self) -> Option<String> {
        self.failed.map(|share| format!("{} failed", percent(share, 2)))
    }
}

/// `7,775 requests/s, p(95) 477µs, 0.10 % failed`.
impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, p(95) {}", self.rate(), time(self.percentiles[1]))?;
        self.failures().map_or(Ok(()), |failures| write!(f, ", {failures}"))
    }
}

impl Word {
    /// As every output has it.
    pub fn text(self) -> &'static str {
        match self {
            Word::NotJudged => "not judged",
            Word::Trusted => "TRUSTED",
            Word::Suspect => "SUSPECT",
            Word::Invalid => "INVALID",
        }
    }
}

fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((time.as_secs_f64() * 1e3).round() / 1e3)
}

fn seconds_left<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => seconds(time, to),
        None => to.serialize_none(),
    }
}
