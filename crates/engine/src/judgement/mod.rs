//! Whether a run's figures can be trusted, judged from recorded facts: TRUSTED, SUSPECT or INVALID, with named causes.
//!
//! Pure: facts come in, findings come out. A late event loop alone spoils nothing. The kernel stamps when bytes
//! arrived, so a worker that came late to read them reports true timings all the same. Lateness counts when it touched
//! what was measured: late starts, requests without stamps, users that lost a good part of their time, a loop that
//! stood still. Otherwise it is a note. A run of less than a second has no shares, and one user's one iteration tests
//! no load.
//!
//! `cause` has the names, `facts` are what comes in, `lateness` judges the generator's time, `load` what was planned
//! and what happened.

mod cause;
mod facts;
mod lateness;
mod load;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::show::{grouped, percent, time};

pub use cause::Cause;
pub use facts::{
    ClosedLoop, Facts, IterationLag, MachineFacts, Outputs, Percentile, Pressure, SaidMeanwhile, Throttling,
};

use crate::health::Health;

/// A cause that was found in so much of the time is told of the whole run.
const NOTABLE_SHARE_OF_TIME: f64 = 0.1;
/// But not of a moment.
const FEWEST_SECONDS: u64 = 3;
/// Shares of a shorter run say nothing: starting up is most of it.
const SHORTEST_JUDGED: Duration = Duration::from_secs(1);

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// It touched nothing that was measured.
    Note,
    /// Some figures hold it.
    Suspect,
    /// The figures say more about the generator, or another load, than about the target under the planned one.
    Invalid,
}

/// One cause with its figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// By name.
    pub cause: Cause,
    /// How much it matters.
    pub severity: Severity,
    /// The figure, for a line that has room for little.
    pub figure: String,
    /// What happened and what it means.
    pub text: String,
    /// What to do about it.
    pub advice: String,
}

/// What a run's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// Too short, or one iteration: nobody can say.
    NotJudged,
    /// Nothing was found.
    Trusted,
    /// Some figures are in doubt.
    Suspect,
    /// The run is no evidence.
    Invalid,
}

/// The verdict on a run, with what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// In one word.
    pub verdict: Verdict,
    /// The worst first.
    pub findings: Vec<Finding>,
    /// How the generator fared, in figures.
    pub basis: String,
}

impl Judgement {
    /// What the verdict is made of, without notes.
    pub fn doubts(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity > Severity::Note)
    }
}

/// Judges a run.
pub fn judge(health: &Health, facts: &Facts) -> Judgement {
    let not_judged = Judgement { verdict: Verdict::NotJudged, findings: Vec::new(), basis: String::new() };
    if facts.is_smoke {
        return not_judged;
    }
    let is_long = health.wall >= SHORTEST_JUDGED;
    let findings = found(health, facts, is_long);
    debug_assert!(findings.is_sorted_by(|a, b| a.severity >= b.severity), "the worst first");
    let verdict = match findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Invalid) => Verdict::Invalid,
        Some(Severity::Suspect) => Verdict::Suspect,
        Some(Severity::Note) | None if is_long => Verdict::Trusted,
        Some(Severity::Note) | None => {
            debug_assert!(findings.is_empty(), "notes are about runs that are judged: {findings:?}");
            return not_judged;
        }
    };
    Judgement { verdict, findings, basis: if is_long { basis(health, facts) } else { String::new() } }
}

/// What is wrong now, from the health and the facts of a few seconds of a run that goes on: the worst first, no notes.
pub fn doubts_lately(health: &Health, facts: &Facts) -> Vec<Finding> {
    if facts.is_smoke {
        return Vec::new();
    }
    let mut findings = found(health, facts, true);
    findings.retain(|finding| finding.severity > Severity::Note);
    findings
}

/// The worst first, each cause once.
fn found(health: &Health, facts: &Facts, is_long: bool) -> Vec<Finding> {
    let mut findings = load::findings(health, facts, is_long);
    if is_long {
        findings.extend(lateness::findings(health, facts));
    }
    let known: Vec<Cause> = findings.iter().map(|finding| finding.cause).collect();
    findings.extend(facts.meanwhile.iter().filter(|said| !known.contains(&said.cause)).filter_map(meanwhile));
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.cause.cmp(&b.cause)));
    let mut seen = Vec::new();
    findings.retain(|finding| {
        !seen.contains(&finding.cause) && {
            seen.push(finding.cause);
            true
        }
    });
    findings
}

/// What single seconds showed and the whole run does not: in doubt where those seconds are a good part of it.
fn meanwhile(said: &SaidMeanwhile) -> Option<Finding> {
    let share = said.seconds as f64 / said.of.max(1) as f64;
    let is_notable = share >= NOTABLE_SHARE_OF_TIME && said.seconds >= FEWEST_SECONDS;
    is_notable.then(|| Finding {
        cause: said.cause,
        severity: Severity::Suspect,
        figure: format!("in {} of {} seconds, {}", said.seconds, said.of, said.figure),
        text: format!(
            "{} was found in {} of the {} seconds that were looked at, at worst {}: the whole run does not show it, \
             its slowest requests and latest starts may",
            said.cause.title(),
            said.seconds,
            said.of,
            said.figure
        ),
        advice: said.advice.clone(),
    })
}

/// What a run that is trusted is trusted for.
fn basis(health: &Health, facts: &Facts) -> String {
    let gap = health.worst_gap().length.as_secs_f64() * 1e3;
    let starts = facts.iteration_lag.map(|lag| format!(", starts {} late (p99)", time(lag.p99_ms)));
    format!(
        "busiest worker {} of a core, event loop {} late (p99), {} at most{}",
        percent(health.busiest_cpu_share(), 0),
        time(health.worst_lag_p99_ms()),
        time(gap),
        starts.unwrap_or_default()
    )
}

/// `12 of 5,000`.
fn of(part: u64, all: u64) -> String {
    format!("{} of {}", grouped(part), grouped(all))
}
