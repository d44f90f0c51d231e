//! What can be chosen about a summary: mode, statistics of Trends, unit of times, colour.
//!
//! Words are those of k6's options `summaryTrendStats`, `summaryTimeUnit` and `--summary-mode`.

use std::fmt;
use std::str::FromStr;

use metrics::results::TrendValue;
use units::suggest;

use crate::document::Judgement;

/// How a summary is made.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryOptions {
    /// How much of it.
    pub mode: SummaryMode,
    /// The statistics of Trends, in this order.
    pub trend_stats: Vec<TrendStat>,
    /// The unit of all times; each its own when none.
    pub time_unit: Option<TimeUnit>,
    /// Whether the text has terminal colours.
    pub color: bool,
    /// Columns that the text may take; k6's own layout, as wide as it comes, when none.
    pub width: Option<usize>,
    /// Whether errors have a block of their own. A quick run names them in its headline.
    pub errors: bool,
    /// Lines about warm-up and drift.
    pub steadiness: Vec<String>,
    /// Lines about the generator itself, such as that it was the bottleneck.
    pub health: Vec<String>,
    /// What was changed of the load while it ran.
    pub load: Vec<String>,
    /// Whether the figures can be trusted; none where nobody judged.
    pub judgement: Option<Judgement>,
    /// Whether somebody overruled that (`--accept-late`).
    pub late_accepted: bool,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        SummaryOptions {
            mode: SummaryMode::Compact,
            trend_stats: TrendStat::defaults(),
            time_unit: None,
            color: false,
            width: None,
            errors: true,
            steadiness: Vec::new(),
            health: Vec::new(),
            load: Vec::new(),
            judgement: None,
            late_accepted: false,
        }
    }
}

/// How much a text summary tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryMode {
    /// The run as a whole, without the phases of a request.
    #[default]
    Compact,
    /// With the phases of a request, and per scenario and group.
    Full,
}

impl FromStr for SummaryMode {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "compact" => Ok(SummaryMode::Compact),
            "full" => Ok(SummaryMode::Full),
            other => Err(OptionError::new("summary mode", other, &["compact", "full"])),
        }
    }
}

/// The unit of all times of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
}

impl TimeUnit {
    /// As options write it: `s`, `ms`, `us`.
    pub const fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
        }
    }
}

impl FromStr for TimeUnit {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        match text {
            "s" => Ok(TimeUnit::Seconds),
            "ms" => Ok(TimeUnit::Milliseconds),
            "us" => Ok(TimeUnit::Microseconds),
            other => Err(OptionError::new("summary time unit", other, &["s", "ms", "us"])),
        }
    }
}

/// One statistic of a Trend.
#[derive(Clone, Debug, PartialEq)]
pub enum TrendStat {
    /// Mean.
    Avg,
    /// Lowest.
    Min,
    /// Median.
    Med,
    /// Highest.
    Max,
    /// Number of samples.
    Count,
    /// A percentile.
    Percentile {
        /// As written, `p(99.9)`: the key in exports.
        label: String,
        /// 0-100.
        percent: f64,
    },
}

const NAMES: [&str; 6] = ["avg", "min", "med", "max", "count", "p(N)"];

impl TrendStat {
    /// avg, min, med, max, p(90), p(95).
    pub fn defaults() -> Vec<TrendStat> {
        use TrendStat::{Avg, Max, Med, Min, Percentile};
        let percentile = |percent: f64| Percentile { label: format!("p({percent})"), percent };
        vec![Avg, Min, Med, Max, percentile(90.0), percentile(95.0)]
    }

    /// As written: `avg`, `p(95)`.
    pub fn label(&self) -> &str {
        match self {
            TrendStat::Avg => "avg",
            TrendStat::Min => "min",
            TrendStat::Med => "med",
            TrendStat::Max => "max",
            TrendStat::Count => "count",
            TrendStat::Percentile { label, .. } => label,
        }
    }

    /// 0-100, of a percentile and of the median.
    pub fn percent(&self) -> Option<f64> {
        match self {
            TrendStat::Med => Some(50.0),
            TrendStat::Percentile { percent, .. } => Some(*percent),
            TrendStat::Avg | TrendStat::Min | TrendStat::Max | TrendStat::Count => None,
        }
    }

    /// The percentiles among these statistics, ascending, each once.
    pub fn percents(stats: &[TrendStat]) -> Vec<f64> {
        let mut percents: Vec<f64> = stats.iter().filter_map(TrendStat::percent).collect();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        percents
    }

    /// What it comes to for a Trend.
    pub fn of(&self, trend: &TrendValue) -> f64 {
        match self {
            TrendStat::Avg => trend.avg(),
            TrendStat::Min => trend.min(),
            TrendStat::Med => trend.percentile(50.0),
            TrendStat::Max => trend.max(),
            TrendStat::Count => trend.count() as f64,
            TrendStat::Percentile { percent, .. } => trend.percentile(*percent),
        }
    }
}

impl FromStr for TrendStat {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let simple = [TrendStat::Avg, TrendStat::Min, TrendStat::Med, TrendStat::Max, TrendStat::Count];
        if let Some(stat) = simple.into_iter().find(|stat| stat.label() == text) {
            return Ok(stat);
        }
        let inside = text.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
        let percent = inside.and_then(|number| number.parse().ok()).filter(|p| (0.0..=100.0).contains(p));
        match percent {
            Some(percent) => Ok(TrendStat::Percentile { label: text.to_owned(), percent }),
            None => Err(OptionError::new("trend statistic", text, &NAMES)),
        }
    }
}

/// Reads `summaryTrendStats`. Spaces around the words do not count.
pub fn parse_trend_stats<S: AsRef<str>>(words: &[S]) -> Result<Vec<TrendStat>, OptionError> {
    words.iter().map(|word| word.as_ref().trim()).filter(|word| !word.is_empty()).map(str::parse).collect()
}

/// `summaryTrendStats` as the options of a result have it; none when it was not set, or is no list of statistics.
pub fn trend_stats_of(options: &serde_json::Value) -> Option<Vec<TrendStat>> {
    let names: Vec<&str> = options["summaryTrendStats"].as_array()?.iter().filter_map(|name| name.as_str()).collect();
    parse_trend_stats(&names).ok().filter(|stats| !stats.is_empty())
}

/// A word that an option does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    what: &'static str,
    found: String,
    expected: &'static [&'static str],
}

impl OptionError {
    fn new(what: &'static str, found: &str, expected: &'static [&'static str]) -> Self {
        OptionError { what, found: found.to_owned(), expected }
    }
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OptionError { what, found, expected } = self;
        let hint = match found.strip_prefix('p').filter(|rest| rest.parse::<f64>().is_ok()) {
            Some(number) if expected.contains(&"p(N)") => format!("; did you mean 'p({number})'?"),
            _ => suggest::hint(found, expected.iter().copied().filter(|word| *word != "p(N)")),
        };
        let range = if expected.contains(&"p(N)") { " with N from 0 to 100" } else { "" };
        write!(f, "unknown {what} '{found}'{hint} (expected any of {}{range})", expected.join(", "))
    }
}

impl std::error::Error for OptionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trend_stats_are_read() {
        let stats = parse_trend_stats(&["avg", " min", "p(99.90)", "count", ""]).unwrap();
        let labels: Vec<_> = stats.iter().map(TrendStat::label).collect();
        assert_eq!(labels, ["avg", "min", "p(99.90)", "count"]);
        assert_eq!(stats[2], TrendStat::Percentile { label: "p(99.90)".to_owned(), percent: 99.9 });
        let defaults: Vec<_> = TrendStat::defaults().iter().map(|s| s.label().to_owned()).collect();
        assert_eq!(defaults, ["avg", "min", "med", "max", "p(90)", "p(95)"]);
    }

    #[test]
    fn unknown_words_are_named() {
        let error = |word: &str| parse_trend_stats(&[word]).unwrap_err().to_string();
        let expected = "(expected any of avg, min, med, max, count, p(N) with N from 0 to 100)";
        assert_eq!(error("agv"), format!("unknown trend statistic 'agv'; did you mean 'avg'? {expected}"));
        assert_eq!(error("p95"), format!("unknown trend statistic 'p95'; did you mean 'p(95)'? {expected}"));
        assert_eq!(error("p(101)"), format!("unknown trend statistic 'p(101)' {expected}"));
        assert_eq!(error("p(-1)"), format!("unknown trend statistic 'p(-1)' {expected}"));
        assert_eq!(
            "h".parse::<TimeUnit>().unwrap_err().to_string(),
            "unknown summary time unit 'h'; did you mean 's'? (expected any of s, ms, us)"
        );
        assert_eq!(
            "ful".parse::<SummaryMode>().unwrap_err().to_string(),
            "unknown summary mode 'ful'; did you mean 'full'? (expected any of compact, full)"
        );
    }
}
