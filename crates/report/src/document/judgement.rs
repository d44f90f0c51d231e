//! Whether a result can be trusted, in words and figures that every output repeats.
//!
//! The engine judges (`engine::judgement`, which knows the causes); this is what is kept of it and how a line of it
//! reads.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::show::grouped;

use super::limit::{LimitName, RunLimit};
use super::one_sided::OneSided;
use super::timing_error::TimingError;

/// The verdict on a run and what it is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// In one word.
    pub verdict: Trust,
    /// The worst first.
    #[serde(default)]
    pub causes: Vec<Finding>,
    /// How the generator fared, in one line; empty where it was not judged.
    #[serde(default)]
    pub basis: String,
    /// What became of the planned iterations.
    #[serde(default)]
    pub iterations: Iterations,
    /// Who was the limit; absent where nothing was judged, and of an older result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<RunLimit>,
    /// How far response times are from the truth; absent for a run without HTTP requests, and of an older result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing_error: Option<TimingError>,
    /// Figures that the run knows from one side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_sided: Vec<OneSided>,
}

/// What a run's figures are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Trust {
    /// The run was too short, or one iteration.
    #[serde(rename = "NOT JUDGED")]
    NotJudged,
    /// Nothing was found.
    #[serde(rename = "TRUSTED")]
    Trusted,
    /// Some figures are in doubt.
    #[serde(rename = "SUSPECT")]
    Suspect,
    /// The run is no evidence about its target under the planned load.
    #[serde(rename = "INVALID")]
    Invalid,
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trust::NotJudged => "NOT JUDGED",
            Trust::Trusted => "TRUSTED",
            Trust::Suspect => "SUSPECT",
            Trust::Invalid => "INVALID",
        })
    }
}

/// How much a cause matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It touched nothing that was measured.
    Note,
    /// Some figures hold it.
    Suspect,
    /// It makes the run no evidence.
    Invalid,
}

/// One cause with its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its name, such as `run_queue`; docs/guides/trust.md has each.
    pub cause: String,
    /// As people read it.
    pub title: String,
    /// How much it matters.
    pub severity: Severity,
    /// Its figure, in few words.
    pub figure: String,
    /// What happened and what it means.
    pub text: String,
    /// What to do about it.
    pub advice: String,
}

/// What became of the planned iterations: `planned` is the sum of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Iterations {
    /// Iterations that should have run by the end.
    pub planned: u64,
    /// Ran to their end.
    pub ended: u64,
    /// Never began.
    pub dropped: u64,
    /// Began, and were cut short.
    pub interrupted: u64,
}

impl Judgement {
    /// What the verdict is made of, without notes.
    pub fn doubts(&self) -> impl Iterator<Item = &Finding> {
        self.causes.iter().filter(|finding| finding.severity > Severity::Note)
    }

    /// Trust, causes by name and figures in one line; none where nothing was judged.
    pub fn line(&self, is_accepted: bool) -> Option<String> {
        let causes: Vec<String> = self.doubts().map(|found| format!("{} ({})", found.title, found.figure)).collect();
        let text = if causes.is_empty() { self.basis.clone() } else { causes.join("; ") };
        let accepted = if is_accepted { ", accepted (--accept-late)" } else { "" };
        (self.verdict != Trust::NotJudged).then(|| format!("{}{accepted}: {text}", self.verdict))
    }
}

impl Judgement {
    /// Who was the limit, where the verdict does not say it already.
    pub fn limit_line(&self) -> Option<String> {
        let is_told = |limit: &&RunLimit| !matches!(limit.name, LimitName::Nothing | LimitName::Generator);
        let limit = self.limit.as_ref().filter(is_told)?;
        let is_said = self.doubts().any(|finding| finding.text == limit.evidence);
        (!is_said).then(|| format!("limit: {}", limit.line()))
    }

    /// How far response times are from the truth, where the run was long enough to be judged.
    pub fn timing_line(&self) -> Option<String> {
        self.timing_error.as_ref().filter(|_| self.verdict != Trust::NotJudged)?.line()
    }
}

impl Iterations {
    /// The sum in one line, where it has more than one part.
    pub fn line(&self) -> Option<String> {
        let Iterations { planned, ended, dropped, interrupted } = *self;
        (dropped + interrupted > 0).then(|| {
            format!(
                "planned iterations: {} = {} ended + {} dropped + {} interrupted",
                grouped(planned),
                grouped(ended),
                grouped(dropped),
                grouped(interrupted)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(title: &str, severity: Severity) -> Finding {
        Finding {
            cause: String::from("cause"),
            title: title.to_owned(),
            severity,
            figure: String::from("7 times"),
            text: String::new(),
            advice: String::new(),
        }
    }

    fn judgement(verdict: Trust, causes: Vec<Finding>) -> Judgement {
        Judgement {
            verdict,
            causes,
            basis: String::from("busiest worker 1 %"),
            iterations: Iterations::default(),
            limit: None,
            timing_error: None,
            one_sided: Vec::new(),
        }
    }

    #[test]
    fn the_line_has_verdict_causes_and_figures_but_no_notes() {
        let trusted = judgement(Trust::Trusted, vec![finding("a note", Severity::Note)]);
        assert_eq!(trusted.line(false).as_deref(), Some("TRUSTED: busiest worker 1 %"));
        let causes = vec![finding("CPU limit", Severity::Invalid), finding("late starts", Severity::Suspect)];
        let invalid = judgement(Trust::Invalid, causes);
        assert_eq!(invalid.line(false).as_deref(), Some("INVALID: CPU limit (7 times); late starts (7 times)"));
        assert!(invalid.line(true).is_some_and(|line| line.starts_with("INVALID, accepted (--accept-late): CPU")));
        assert_eq!(judgement(Trust::NotJudged, Vec::new()).line(false), None);
    }

    #[test]
    fn the_limit_has_a_line_where_the_verdict_does_not_say_it() {
        let of = |name: LimitName, evidence: &str| {
            let limit = Some(RunLimit { name, between: Vec::new(), evidence: evidence.to_owned() });
            let causes = vec![Finding { text: String::from("said"), ..finding("late starts", Severity::Suspect) }];
            Judgement { limit, ..judgement(Trust::Suspect, causes) }.limit_line()
        };
        assert_eq!(of(LimitName::TargetCpu, "full").as_deref(), Some("limit: the target's CPU: full"));
        assert_eq!(
            [of(LimitName::Nothing, ""), of(LimitName::Machine, "said"), of(LimitName::Generator, "")],
            [None, None, None]
        );
    }

    #[test]
    fn iterations_have_a_line_when_some_did_not_end() {
        let whole = Iterations { planned: 5, ended: 5, dropped: 0, interrupted: 0 };
        assert_eq!(whole.line(), None);
        let cut = Iterations { planned: 5000, ended: 4900, dropped: 80, interrupted: 20 };
        let expected = "planned iterations: 5,000 = 4,900 ended + 80 dropped + 20 interrupted";
        assert_eq!(cut.line().as_deref(), Some(expected));
    }
}
