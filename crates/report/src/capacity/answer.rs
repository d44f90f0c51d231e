//! What `onrush capacity` says: how much is held, how sure that is, what broke first, who was the limit, and the curve.
//!
//! Kept as `capacity.json` (docs/schema/capacity-1.json) and printed from the same struct, so the two agree. Where the
//! search could say one side alone, one side is told: "at least", "at most".

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::show::{grouped, percent, time};

use super::search::Bracket;
use crate::document::RunLimit;

/// What `kind` says.
pub const KIND: &str = "onrush-capacity";
/// Number of the schema.
pub const SCHEMA: u32 = 1;
/// The file's name in the folder of `--save`.
pub const FILE_NAME: &str = "capacity.json";

/// The answer of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityAnswer {
    /// `onrush-capacity`, so that a file can be told from others.
    pub kind: String,
    /// Number of this schema: 1.
    pub schema: u32,
    /// Version of Onrush.
    pub onrush: String,
    /// The script or address.
    pub script: String,
    /// When it began: RFC 3339 in UTC.
    pub started_at: String,
    /// How long it took, in seconds.
    pub time_s: f64,
    /// What had to hold.
    pub objectives: Vec<String>,
    /// Whether these are the usual ones, because none were given.
    pub has_default_objectives: bool,
    /// What loads are.
    pub unit: LoadUnit,
    /// The highest load that is held lies above this one; null where no load was held.
    pub low: Option<f64>,
    /// And below this one; null where none broke.
    pub high: Option<f64>,
    /// Its middle; null where a side is open.
    pub estimate: Option<f64>,
    /// How often an interval made like this covers the truth: 0.95.
    pub confidence: f64,
    /// The precision that was asked for: 0.03 is ± 3 %.
    pub precision: f64,
    /// HTTP requests for each iteration, where that is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_iteration: Option<f64>,
    /// What broke first: an objective, or `falls behind`.
    pub broke_first: Option<String>,
    /// Who was the limit.
    pub limit: Option<RunLimit>,
    /// The highest held load whose p95 is below twice that of the lightest.
    pub knee: Option<f64>,
    /// The loads that were tried, in order.
    pub probes: Vec<ProbeFigures>,
    /// What else should be known.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What a load is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadUnit {
    /// Requests started per second.
    #[default]
    Requests,
    /// Iterations started per second.
    Iterations,
    /// Users that begin again when they have ended.
    Users,
}

/// What a probe said of its load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProbeSaid {
    /// All objectives hold, for certain.
    #[serde(rename = "held")]
    Held,
    /// One does not, for certain.
    #[serde(rename = "broken")]
    Broken,
    /// All hold by what there is, which is not enough.
    #[serde(rename = "leans held")]
    LeansHeld,
    /// One does not by what there is, which is not enough.
    #[serde(rename = "leans broken")]
    LeansBroken,
    /// Nothing: the generator did not make the load.
    #[default]
    #[serde(rename = "no evidence")]
    NoEvidence,
}

impl ProbeSaid {
    /// As JSON and tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            ProbeSaid::Held => "held",
            ProbeSaid::Broken => "broken",
            ProbeSaid::LeansHeld => "leans held",
            ProbeSaid::LeansBroken => "leans broken",
            ProbeSaid::NoEvidence => "no evidence",
        }
    }
}

/// What a probe measured, without its first second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeFigures {
    /// The load that was tried.
    pub load: f64,
    /// What the probe said.
    pub said: ProbeSaid,
    /// What broke, or why it is no evidence.
    pub why: Option<String>,
    /// Seconds that count.
    pub seconds: f64,
    /// Iterations that ended, per second.
    pub ended_per_second: f64,
    /// HTTP requests per second.
    pub requests_per_second: f64,
    /// The metric of the percentiles.
    pub metric: Option<String>,
    /// Its median, in the metric's unit.
    pub p50: Option<f64>,
    /// 95 of 100 values are no larger.
    pub p95: Option<f64>,
    /// 99 of 100.
    pub p99: Option<f64>,
    /// Share of HTTP requests that failed.
    pub failed: Option<f64>,
    /// CPU of the target, in cores, where it runs here.
    pub target_cores: Option<f64>,
}

impl LoadUnit {
    /// A load with its unit behind it.
    pub fn shown(self, load: f64) -> String {
        match self {
            LoadUnit::Requests | LoadUnit::Iterations => format!("{}/s", number(load)),
            LoadUnit::Users => format!("{} users", grouped(load.round() as u64)),
        }
    }

    fn amount(self, load: f64) -> String {
        match self {
            LoadUnit::Requests => format!("{} requests a second", number(load)),
            LoadUnit::Iterations => format!("{} iterations a second", number(load)),
            LoadUnit::Users => self.shown(load),
        }
    }
}

/// Four digits, with commas.
fn number(value: f64) -> String {
    match value {
        value if value >= 1000.0 => grouped(value.round() as u64),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

impl CapacityAnswer {
    /// Takes over what the probes say.
    pub fn set_bracket(&mut self, bracket: Bracket) {
        self.low = bracket.low;
        self.high = bracket.high;
        self.estimate = bracket.middle();
    }

    fn bracket(&self) -> Bracket {
        Bracket { low: self.low, high: self.high }
    }

    /// The answer in one sentence.
    pub fn headline(&self) -> String {
        let limit = self.limit.as_ref().map(|limit| format!("; {}", limit.name.sentence())).unwrap_or_default();
        let told = |side: &str, load: f64| format!("holds {side} {}{limit}", self.unit.amount(load));
        match (self.low, self.high, self.estimate) {
            (Some(low), Some(high), Some(estimate)) => {
                let half = self.bracket().half_width().unwrap_or_default();
                format!(
                    "holds {}, ± {} ({} to {}, 95 %){limit}",
                    self.unit.amount(estimate),
                    percent(half, if half < 0.1 { 1 } else { 0 }),
                    number(low),
                    number(high)
                )
            }
            (Some(low), ..) => told("at least", low),
            (None, Some(high), _) => told("at most", high),
            _ if self.probes.iter().any(|probe| probe.said != ProbeSaid::NoEvidence) => {
                String::from("nothing is certain yet: each side has to be shown twice")
            }
            _ => String::from("nothing can be said: no probe was evidence"),
        }
    }

    /// Everything for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("\n  {} {}\n\n", self.script, self.headline());
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "  {name:<13} {value}");
        };
        let default = if self.has_default_objectives { " (none was given: --objective)" } else { "" };
        line("objectives", &format!("{}{default}", self.objectives.join(" · ")));
        if let Some(broke) = &self.broke_first {
            line("breaks first", broke);
        }
        if let Some(limit) = &self.limit {
            line("limit", &limit.line());
        }
        if let Some(knee) = self.knee {
            line("knee", &format!("{}: above it p95 is more than twice that of a light load", self.unit.shown(knee)));
        }
        if let (Some(requests), Some(load)) = (self.requests_per_iteration, self.estimate.or(self.low))
            && self.unit == LoadUnit::Iterations
        {
            line("requests", &format!("{}/s, {} an iteration", number(load * requests), number(requests)));
        }
        self.notes.iter().for_each(|note| line("note", note));
        text.push('\n');
        text.push_str(&chart(self));
        text
    }

    /// Whether so much is held for certain.
    pub fn holds_at_least(&self, load: f64) -> bool {
        self.low.is_some_and(|low| low >= load)
    }
}

/// Cells of the longest bar.
const BAR: usize = 24;

/// The curve as a table, loads in order, with bars for p95 that grow with its logarithm.
fn chart(answer: &CapacityAnswer) -> String {
    let mut probes: Vec<&ProbeFigures> = answer.probes.iter().collect();
    probes.sort_by(|a, b| a.load.total_cmp(&b.load));
    let head = ["load", "ended/s", "p50", "p95", "p99", "failed", "target", "", ""];
    let highest = probes.iter().filter_map(|probe| probe.p95).fold(0.0, f64::max);
    let lowest = probes.iter().filter_map(|probe| probe.p95).fold(f64::INFINITY, f64::min);
    let in_ms = |probe: &ProbeFigures, value: Option<f64>| match (value, probe.metric.as_deref()) {
        (Some(value), Some(_)) => time(value),
        _ => String::from("-"),
    };
    let rows: Vec<[String; 9]> = probes
        .iter()
        .map(|probe| {
            let mark = match answer.knee {
                Some(knee) if (knee - probe.load).abs() < 1e-9 * knee => " knee",
                _ => "",
            };
            [
                answer.unit.shown(probe.load),
                number(probe.ended_per_second),
                in_ms(probe, probe.p50),
                in_ms(probe, probe.p95),
                in_ms(probe, probe.p99),
                probe.failed.map_or_else(|| String::from("-"), |failed| percent(failed, 1)),
                probe.target_cores.map_or_else(|| String::from("-"), |cores| format!("{cores:.2} cores")),
                format!("{}{mark}", probe.said.name()),
                probe.p95.map_or_else(String::new, |p95| bar(p95, lowest, highest)),
            ]
        })
        .collect();
    let width = |column: usize| {
        let longest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        longest.max(head[column].len())
    };
    let mut text = String::new();
    let mut add = |cells: [&str; 9]| {
        let mut line = String::from(" ");
        for (column, cell) in cells.iter().enumerate() {
            let width = width(column);
            // Numbers end below each other, words begin.
            let _ = if column < 7 { write!(line, " {cell:>width$} ") } else { write!(line, " {cell:<width$} ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    add(head);
    rows.iter().for_each(|row| add(std::array::from_fn(|column| row[column].as_str())));
    text
}

/// `lowest` has the shortest bar, `highest` the longest.
fn bar(value: f64, lowest: f64, highest: f64) -> String {
    let spread = (highest / lowest.max(1e-9)).ln().max(1e-9);
    let share = ((value / lowest.max(1e-9)).ln() / spread).clamp(0.0, 1.0);
    let eighths = 1 + (share * (BAR * 8 - 1) as f64).round() as usize;
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{part}", "█".repeat(eighths / 8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::LimitName;

    fn answer() -> CapacityAnswer {
        let probe = |load: f64, p95: f64, said: ProbeSaid| ProbeFigures {
            load,
            said,
            seconds: 4.0,
            ended_per_second: load,
            metric: Some(String::from("http_req_duration")),
            p50: Some(p95 / 2.0),
            p95: Some(p95),
            p99: Some(p95 * 2.0),
            failed: Some(0.0),
            target_cores: Some(0.5),
            ..ProbeFigures::default()
        };
        let limit =
            RunLimit { name: LimitName::TargetCpu, between: Vec::new(), evidence: String::from("a thread was full") };
        CapacityAnswer {
            script: String::from("http://a/"),
            objectives: vec![String::from("http_req_duration: p(95)<200")],
            low: Some(2080.0),
            high: Some(2200.0),
            estimate: Some(2140.0),
            limit: Some(limit),
            knee: Some(2080.0),
            broke_first: Some(String::from("http_req_duration: p(95)<200")),
            probes: vec![
                probe(2200.0, 400.0, ProbeSaid::Broken),
                probe(20.0, 2.0, ProbeSaid::Held),
                probe(2080.0, 4.0, ProbeSaid::Held),
            ],
            ..CapacityAnswer::default()
        }
    }

    #[test]
    fn the_answer_is_one_sentence() {
        let whole = answer();
        assert_eq!(
            whole.headline(),
            "holds 2,140 requests a second, ± 2.8 % (2,080 to 2,200, 95 %); its CPU is the limit"
        );
        assert!(whole.holds_at_least(2080.0) && !whole.holds_at_least(2081.0));
        let low = CapacityAnswer { high: None, estimate: None, ..answer() };
        assert_eq!(low.headline(), "holds at least 2,080 requests a second; its CPU is the limit");
        let high = CapacityAnswer { low: None, estimate: None, limit: None, ..answer() };
        assert_eq!(high.headline(), "holds at most 2,200 requests a second");
        assert!(!high.holds_at_least(1.0));
        let early = CapacityAnswer { low: None, high: None, estimate: None, ..answer() };
        assert_eq!(early.headline(), "nothing is certain yet: each side has to be shown twice");
        let none = CapacityAnswer { probes: Vec::new(), ..early };
        assert_eq!(none.headline(), "nothing can be said: no probe was evidence");
        let users = CapacityAnswer {
            unit: LoadUnit::Users,
            low: Some(140.0),
            high: Some(160.0),
            estimate: Some(150.0),
            ..answer()
        };
        assert!(users.headline().starts_with("holds 150 users, ± 6.7 % (140 to 160, 95 %)"), "{}", users.headline());
    }

    #[test]
    fn the_curve_is_in_order_and_marks_its_knee() {
        let text = answer().text();
        let lines: Vec<&str> = text.lines().collect();
        let at = |start: &str| lines.iter().position(|line| line.trim().starts_with(start)).unwrap();
        assert!(at("20.0/s") < at("2,080/s") && at("2,080/s") < at("2,200/s"), "{text}");
        assert!(lines[at("2,080/s")].contains("held knee") && lines[at("2,200/s")].contains("broken"), "{text}");
        let bar = |line: &str| line.chars().filter(|c| *c == '█').count();
        assert!(bar(lines[at("2,200/s")]) > bar(lines[at("2,080/s")]));
        assert!(text.contains("limit         the target's CPU: a thread was full"));
    }
}
