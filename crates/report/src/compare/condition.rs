//! `--fail-on 'p(95) +5%'`: a change that must not be, given with its sign.
//!
//! The rule, in three outcomes as everywhere: the condition *fails* when the change is proven to be beyond the bound,
//! it *holds* when it is proven to be on this side of it, and otherwise nobody can tell. Proven means the signed-rank
//! test of the pairs against the bound at 5 %, Holm over all conditions, and an interval that leaves the bound out. So
//! a gate neither fails by noise, nor passes because there was too little of evidence.

use super::measure::{ComparedValue, Wanted};
use crate::document::Document;
use crate::options::TrendStat;

/// A condition as a user gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As written.
    pub text: String,
    /// What it is about.
    pub wanted: Wanted,
    /// The change that is too much, with its sign.
    pub bound: Bound,
}

/// A size of change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Of A's value, as 0.05; percentage points for shares, as 0.05 too.
    Relative(f64),
    /// In the metric's own unit.
    Absolute(f64),
}

/// How a condition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionOutcome {
    /// Proven to be beyond the bound.
    Fails,
    /// Proven to be on this side.
    Holds,
    /// Neither.
    CannotTell,
}

impl ConditionOutcome {
    /// As reports write it.
    pub const fn name(self) -> &'static str {
        match self {
            ConditionOutcome::Fails => "fails",
            ConditionOutcome::Holds => "holds",
            ConditionOutcome::CannotTell => "cannot tell",
        }
    }
}

impl Condition {
    /// Reads `[METRIC[:STATISTIC]] CHANGE`, or a statistic of `http_req_duration` alone: `p(95) +5%`, `http_reqs -3%`.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let refuse = || {
            format!(
                "found '{text}', expected a metric or a statistic of http_req_duration and a change with its sign, as \
                 in 'p(95) +5%', 'http_reqs -3%' or 'http_req_duration:avg +20'"
            )
        };
        let at = text.rfind(['+', '-']).ok_or_else(refuse)?;
        let (left, change) = (text[..at].trim(), text[at..].trim());
        let (number, relative) = change.strip_suffix('%').map_or((change, false), |number| (number, true));
        let size = number.trim().parse::<f64>().ok().filter(|size| size.is_finite()).ok_or_else(refuse)?;
        let bound = if relative { Bound::Relative(size / 100.0) } else { Bound::Absolute(size) };
        if bound == Bound::Relative(-1.0) || (relative && size < -100.0) {
            return Err(format!("'{text}': nothing falls by 100 % or more"));
        }
        let wanted = match left {
            "" => return Err(refuse()),
            stat if stat.parse::<TrendStat>().is_ok() => Wanted::of("http_req_duration", stat),
            metric => Wanted::parse(metric)?,
        };
        Ok(Condition { text: text.trim().to_owned(), wanted, bound })
    }

    /// The one measure it is about.
    pub fn measure(&self, documents: &[&Document]) -> Result<ComparedValue, String> {
        let mut measures = self.wanted.resolve(documents)?;
        match measures.len() {
            1 => Ok(measures.remove(0)),
            _ => Err(format!("'{}': which statistic, as in {}:p(95)?", self.text, self.wanted.text)),
        }
    }

    /// Whether the bound is a rise.
    pub fn is_rise(&self) -> bool {
        match self.bound {
            Bound::Relative(size) | Bound::Absolute(size) => size.is_sign_positive(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let bound = |text: &str| Condition::parse(text).map(|c| (c.wanted.text, c.bound));
        assert_eq!(bound("p(95) +5%"), Ok((String::from("p(95)"), Bound::Relative(0.05))));
        assert_eq!(bound("http_reqs -3%"), Ok((String::from("http_reqs"), Bound::Relative(-0.03))));
        assert_eq!(bound("http_reqs-3%"), Ok((String::from("http_reqs"), Bound::Relative(-0.03))));
        assert_eq!(bound(" avg  +20 "), Ok((String::from("avg"), Bound::Absolute(20.0))));
        let sub = "http_req_duration{name:a-b}:p(99) +1.5 %";
        assert_eq!(bound(sub), Ok((String::from("http_req_duration{name:a-b}:p(99)"), Bound::Relative(0.015))));
        assert!(Condition::parse("p(95) +0%").is_ok_and(|c| c.is_rise()));
        assert!(Condition::parse("p(95) -0%").is_ok_and(|c| !c.is_rise()));
    }

    #[test]
    fn what_is_no_condition_is_told_what_is_one() {
        for bad in ["p(95)", "p(95) 5%", "+5%", "p(95) +x%", "", "p(95) +inf"] {
            let message = Condition::parse(bad).expect_err(bad);
            assert!(message.starts_with(&format!("found '{bad}', expected a metric or a statistic")), "{message}");
        }
        assert_eq!(
            Condition::parse("p(95) -100%").expect_err("refused"),
            "'p(95) -100%': nothing falls by 100 % or more"
        );
    }
}
