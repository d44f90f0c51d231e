//! What is wrong with the generator while the test runs, said as it happens: who waits an hour for a verdict wants to
//! know in its first minute.
//!
//! Once a second the last two are judged as the whole run is at its end. A cause is said when it comes up, and again
//! only after it was gone for a while. It is a warning of the log, like any other.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use engine::judgement::SaidMeanwhile;
use engine::{Cause, Finding, Severity, Tick};

use crate::commands::run::drive::pace;
use crate::commands::run::facts::generator::{Circumstances, facts};
use crate::commands::run::facts::samples::Samples;
use crate::live::{Doubt, Pace, Trust, Word};
use crate::process::machine::{self, Meanwhile, Moment};

/// A cause that was gone for so long is said again.
const FORGOTTEN: Duration = Duration::from_secs(10);

/// Counters of the whole run at one tick.
#[derive(Clone)]
struct Mark {
    machine: Moment,
    unstamped: u64,
}

/// The last two seconds.
pub struct Watch {
    is_smoke: bool,
    allowed_cores: usize,
    /// At the last two ticks, or at the start.
    marks: VecDeque<Mark>,
    /// What came in at the last tick.
    samples: Samples,
    /// Until when it came in, by the run's clock.
    cut: Duration,
    /// How much the wall clock stepped at the last tick, in ms.
    clock_step_ms: f64,
    /// How often each cause was found, of so many seconds.
    meanwhile: HashMap<Cause, SaidMeanwhile>,
    judged_s: u64,
    /// When each cause was found last.
    found: HashMap<Cause, Duration>,
    /// How fast it goes.
    pace: Option<Pace>,
    trust: Trust,
}

impl Watch {
    /// From the start of the scenarios on, by the run's clock.
    pub fn starting(start: Duration, is_smoke: bool) -> Watch {
        Watch {
            is_smoke,
            allowed_cores: machine::allowed_cores(),
            marks: VecDeque::from([Mark { machine: Moment::now(), unstamped: 0 }]),
            samples: Samples::default(),
            cut: start,
            clock_step_ms: 0.0,
            meanwhile: HashMap::new(),
            judged_s: 0,
            found: HashMap::new(),
            pace: None,
            trust: Trust::default(),
        }
    }

    /// What there is to say at this tick. `unstamped` requests there were in the whole run, `clock_step_ms` is that of
    /// the last second.
    pub fn look(&mut self, tick: &Tick, unstamped: u64, is_target_here: bool, clock_step_ms: f64) -> Option<String> {
        let fresh = Samples::of_second(&tick.snapshots);
        let samples = std::mem::replace(&mut self.samples, fresh.clone()).and(&fresh);
        self.look_at_pace(tick);
        let step = std::mem::replace(&mut self.clock_step_ms, clock_step_ms);
        let mark = Mark { machine: Moment::now(), unstamped };
        let before = self.marks.front().cloned().unwrap_or_else(|| mark.clone());
        self.marks.push_back(mark.clone());
        while self.marks.len() > 2 {
            self.marks.pop_front();
        }
        let around = Circumstances {
            is_smoke: self.is_smoke,
            clock_step_ms: if step.abs() > clock_step_ms.abs() { step } else { clock_step_ms },
            unstamped: unstamped - before.unstamped,
            bias: None,
            is_target_here,
            allowed_cores: self.allowed_cores,
            machine: Meanwhile::between(&before.machine, &mark.machine),
            lost: Vec::new(),
            accept_late: false,
            meanwhile: Vec::new(),
            closed_users: None,
            checked: Vec::new(),
        };
        let doubts = engine::doubts_lately(&tick.lately, &facts(&samples, &around));
        self.judge(&doubts);
        self.say(tick.elapsed, &doubts)
    }

    /// Of a generator that is elsewhere.
    pub fn look_at_pace(&mut self, tick: &Tick) {
        self.pace = pace::pace(&tick.snapshots, tick.cut.saturating_sub(self.cut));
        self.cut = tick.cut;
    }

    /// How fast the test went in the last second.
    pub fn pace(&self) -> Option<Pace> {
        self.pace
    }

    /// What the figures of the last two seconds are worth, and how it was before.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// What was found of single seconds.
    pub fn meanwhile(&self) -> Vec<SaidMeanwhile> {
        let said = self.meanwhile.values();
        said.map(|said| SaidMeanwhile { of: self.judged_s, ..said.clone() }).collect()
    }

    fn judge(&mut self, doubts: &[Finding]) {
        self.judged_s += 1;
        for doubt in doubts {
            let said = self.meanwhile.entry(doubt.cause).or_insert_with(|| SaidMeanwhile {
                cause: doubt.cause,
                figure: doubt.figure.clone(),
                advice: doubt.advice.clone(),
                seconds: 0,
                of: 0,
            });
            said.seconds += 1;
        }
        let is_invalid = doubts.iter().any(|doubt| doubt.severity == Severity::Invalid);
        self.trust.now = match is_invalid {
            _ if self.is_smoke => Word::NotJudged,
            true => Word::Invalid,
            false if doubts.is_empty() => Word::Trusted,
            false => Word::Suspect,
        };
        self.trust.invalid_s += u64::from(self.trust.now == Word::Invalid);
        self.trust.suspect_s += u64::from(self.trust.now == Word::Suspect);
        let shown = |doubt: &Finding| Doubt {
            title: doubt.cause.title().to_owned(),
            figure: doubt.figure.clone(),
            advice: doubt.advice.clone(),
        };
        self.trust.doubts = doubts.iter().map(shown).collect();
    }

    /// One line with all that is new.
    fn say(&mut self, now: Duration, doubts: &[Finding]) -> Option<String> {
        let is_known = |at: &Duration| now.saturating_sub(*at) < FORGOTTEN;
        let is_new = |doubt: &&Finding| !self.found.get(&doubt.cause).is_some_and(is_known);
        let new: Vec<&Finding> = doubts.iter().filter(is_new).collect();
        let line = new.first().map(|worst| {
            let word = if worst.severity == Severity::Invalid { "INVALID" } else { "SUSPECT" };
            let what = |doubt: &&Finding| format!("{} ({})", doubt.cause.title(), doubt.figure);
            let found: Vec<String> = new.iter().map(what).collect();
            format!("{word} from here on: {}; {}", found.join(", "), worst.advice)
        });
        self.found.extend(doubts.iter().map(|doubt| (doubt.cause, now)));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(cause: Cause, severity: Severity) -> Finding {
        let (figure, text) = (String::from("5 ms"), String::from("it is so"));
        Finding { cause, severity, figure, text, advice: String::from("do this") }
    }

    #[test]
    fn a_cause_is_said_when_it_comes_up_and_when_it_comes_back() {
        let mut watch = Watch::starting(Duration::ZERO, false);
        let mut at = |s: u64, doubts: &[Finding]| watch.say(Duration::from_secs(s), doubts);
        let (late, full) = (doubt(Cause::LateStarts, Severity::Suspect), doubt(Cause::Cpu, Severity::Invalid));
        assert_eq!(at(1, &[]), None);
        let first = "SUSPECT from here on: late starts (5 ms); do this";
        assert_eq!(at(2, std::slice::from_ref(&late)).as_deref(), Some(first));
        assert_eq!(at(3, std::slice::from_ref(&late)), None);
        let second = "INVALID from here on: CPU (5 ms); do this";
        assert_eq!(at(4, &[full, late.clone()]).as_deref(), Some(second));
        assert_eq!(at(13, std::slice::from_ref(&late)), None, "it was there nine seconds ago");
        assert_eq!(at(23, &[late]).as_deref(), Some(first));
    }

    #[test]
    fn seconds_of_doubt_are_counted() {
        let mut watch = Watch::starting(Duration::ZERO, false);
        let (late, full) = (doubt(Cause::LateStarts, Severity::Suspect), doubt(Cause::Cpu, Severity::Invalid));
        watch.judge(std::slice::from_ref(&late));
        watch.judge(&[full, late]);
        let Trust { now, doubts, suspect_s, invalid_s } = watch.trust().clone();
        assert_eq!((now, suspect_s, invalid_s), (Word::Invalid, 1, 1));
        assert_eq!(doubts.iter().map(|doubt| doubt.title.as_str()).collect::<Vec<_>>(), ["CPU", "late starts"]);
        watch.judge(&[]);
        assert_eq!((watch.trust().now, watch.trust().suspect_s), (Word::Trusted, 1));
        let mut said: Vec<_> = watch.meanwhile().into_iter().map(|said| (said.cause, said.seconds, said.of)).collect();
        said.sort();
        assert_eq!(said, [(Cause::Cpu, 1, 3), (Cause::LateStarts, 2, 3)]);
        let mut smoke = Watch::starting(Duration::ZERO, true);
        smoke.judge(&[]);
        assert_eq!(smoke.trust().now, Word::NotJudged);
    }
}
