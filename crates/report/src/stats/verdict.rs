//! From pairs to verdicts: several questions asked of the same pairs, answered together.
//!
//! *Same* is a statement of its own, never the absence of a difference: the whole interval has to lie within the
//! margin. A difference that is proven but as small as that counts as same too. *Better* and *worse* need Holm's
//! p-value at or under 5 % and an interval that leaves 0 out. Everything else, and anything under six pairs, is *cannot
//! tell*.
//!
//! Questions whose pairs do not differ at all (no request failed anywhere) are not tests: no choice of signs could make
//! them significant, so leaving them out of Holm's count costs no false alarm (Tarone's argument) and saves power.

use super::holm;
use super::paired::{CONFIDENCE, Estimate, estimate};
use super::sequential::Looks;

/// Which way is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better, as requests/s.
    Higher,
    /// Less is better, as a response time.
    Lower,
    /// Nobody said.
    Unknown,
}

/// What the pairs say about a metric of B beside A's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proven to have changed in the good direction.
    Better,
    /// Proven to have changed in the bad direction.
    Worse,
    /// Proven to have changed; which way is good is not known.
    Different,
    /// Within the margin.
    Same,
    /// Not enough evidence for any of these.
    CannotTell,
}

impl Verdict {
    /// As reports write it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Different => "different",
            Verdict::Same => "same",
            Verdict::CannotTell => "cannot tell",
        }
    }

    /// Whether it says that something changed.
    pub const fn is_change(self) -> bool {
        matches!(self, Verdict::Better | Verdict::Worse | Verdict::Different)
    }
}

/// One metric: its differences, B less A, one a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Differences of logarithms or of values, finite.
    pub differences: Vec<f64>,
    /// Which way is good.
    pub direction: Direction,
    /// Differences from the first to the second count as none.
    pub margin: (f64, f64),
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Estimate, interval and the p-value of this test alone.
    pub estimate: Estimate,
    /// The p-value after Holm.
    pub adjusted_p: f64,
    /// The verdict.
    pub verdict: Verdict,
}

/// Answers all questions together.
pub fn answer(questions: &[Question]) -> Vec<Answer> {
    let estimates: Vec<Estimate> = questions.iter().map(|question| estimate(&question.differences)).collect();
    let adjusted = adjusted_p(questions, &estimates);
    together(questions, estimates, adjusted)
}

/// Answers all questions together, after whichever pair of at most so many they are asked again. Questions without any
/// difference count as tests here: which ones have none is not known before the last look.
pub fn answer_so_far(questions: &[Question], most_pairs: usize) -> Vec<Answer> {
    let looks = Looks { most_pairs, tests: questions.len() };
    let estimates: Vec<Estimate> = questions.iter().map(|question| looks.estimate(&question.differences)).collect();
    let adjusted = holm::adjust(&estimates.iter().map(|estimate| estimate.p).collect::<Vec<_>>());
    together(questions, estimates, adjusted)
}

fn together(questions: &[Question], estimates: Vec<Estimate>, adjusted: Vec<f64>) -> Vec<Answer> {
    assert_eq!(adjusted.len(), questions.len(), "each question has its answer");
    let triples = questions.iter().zip(estimates).zip(adjusted);
    triples
        .map(|((question, estimate), adjusted_p)| {
            let verdict = judge(&estimate, adjusted_p, question);
            Answer { estimate, adjusted_p, verdict }
        })
        .collect()
}

/// Whether there is a difference to test.
fn is_test(question: &Question) -> bool {
    question.differences.iter().any(|difference| *difference != 0.0)
}

fn adjusted_p(questions: &[Question], estimates: &[Estimate]) -> Vec<f64> {
    let tested: Vec<usize> = (0..questions.len()).filter(|at| is_test(&questions[*at])).collect();
    let raw: Vec<f64> = tested.iter().map(|at| estimates[*at].p).collect();
    let mut adjusted = vec![1.0; questions.len()];
    for (at, p) in tested.into_iter().zip(holm::adjust(&raw)) {
        adjusted[at] = p;
    }
    adjusted
}

fn judge(estimate: &Estimate, adjusted_p: f64, question: &Question) -> Verdict {
    let Some((low, high)) = estimate.interval else { return Verdict::CannotTell };
    if question.margin.0 <= low && high <= question.margin.1 {
        return Verdict::Same;
    }
    // With ties the interval may touch 0 while the test rejects it: both must say so.
    if adjusted_p > 1.0 - CONFIDENCE || (low <= 0.0 && high >= 0.0) {
        return Verdict::CannotTell;
    }
    match (question.direction, low > 0.0) {
        (Direction::Unknown, _) => Verdict::Different,
        (Direction::Higher, true) | (Direction::Lower, false) => Verdict::Better,
        (Direction::Higher, false) | (Direction::Lower, true) => Verdict::Worse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(differences: &[f64], direction: Direction) -> Question {
        Question { differences: differences.to_vec(), direction, margin: (-0.02, 0.02) }
    }

    fn verdict(differences: &[f64], direction: Direction) -> Verdict {
        answer(&[question(differences, direction)])[0].verdict
    }

    const UP: [f64; 6] = [0.05, 0.06, 0.04, 0.055, 0.05, 0.045];

    #[test]
    fn direction_decides_between_better_and_worse() {
        let down = UP.map(|d| -d);
        assert_eq!(verdict(&UP, Direction::Higher), Verdict::Better);
        assert_eq!(verdict(&UP, Direction::Lower), Verdict::Worse);
        assert_eq!(verdict(&down, Direction::Higher), Verdict::Worse);
        assert_eq!(verdict(&down, Direction::Lower), Verdict::Better);
        assert_eq!(verdict(&down, Direction::Unknown), Verdict::Different);
    }

    #[test]
    fn same_needs_the_whole_interval_within_the_margin() {
        assert_eq!(verdict(&[0.01, -0.01, 0.0, 0.015, -0.019, 0.0], Direction::Lower), Verdict::Same);
        assert_eq!(verdict(&[0.01, -0.01, 0.0, 0.021, -0.019, 0.0], Direction::Lower), Verdict::CannotTell);
        // Proven, and too small to matter.
        assert_eq!(verdict(&[0.01, 0.011, 0.012, 0.009, 0.01, 0.01], Direction::Lower), Verdict::Same);
        assert_eq!(verdict(&[0.0; 6], Direction::Lower), Verdict::Same);
    }

    #[test]
    fn five_pairs_have_no_verdict() {
        assert_eq!(verdict(&UP[..5], Direction::Lower), Verdict::CannotTell);
        assert_eq!(verdict(&[0.0; 5], Direction::Lower), Verdict::CannotTell);
        assert_eq!(verdict(&[], Direction::Lower), Verdict::CannotTell);
    }

    #[test]
    fn further_tests_cost_power_and_empty_ones_do_not() {
        let (up, still) = (question(&UP, Direction::Lower), question(&[0.0; 6], Direction::Lower));
        let verdicts = |questions: &[Question]| answer(questions).iter().map(|a| a.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(&[up.clone(), still.clone()]), [Verdict::Worse, Verdict::Same]);
        let noise = question(&[0.1, -0.2, 0.3, -0.4, 0.5, -0.6], Direction::Lower);
        assert_eq!(verdicts(&[up, still, noise]), [Verdict::CannotTell, Verdict::Same, Verdict::CannotTell]);
    }

    #[test]
    fn looks_tell_as_soon_as_all_metrics_do_and_keep_to_it() {
        let up: Vec<f64> = (0..20).map(|at| 0.05 + 0.001 * f64::from(at % 5)).collect();
        let of = |pairs: usize| {
            let still: Vec<f64> = (0..pairs).map(|at| [0.001, -0.002, 0.003][at % 3]).collect();
            let questions = [question(&up[..pairs], Direction::Lower), question(&still, Direction::Lower)];
            answer_so_far(&questions, 20).iter().map(|answer| answer.verdict).collect::<Vec<_>>()
        };
        assert_eq!(of(5), [Verdict::CannotTell; 2]);
        let first = (1..=20).find(|pairs| !of(*pairs).contains(&Verdict::CannotTell));
        assert_eq!(first, Some(8));
        assert!((8..=20).all(|pairs| of(pairs) == [Verdict::Worse, Verdict::Same]));
    }

    /// At or under 5 %, and an interval that leaves 0 out.
    #[test]
    fn a_verdict_needs_the_p_value_and_the_interval() {
        let level = 1.0 - CONFIDENCE;
        let of = |interval: (f64, f64), p: f64| {
            judge(&Estimate { pairs: 8, center: 0.0, interval: Some(interval), p }, p, &question(&UP, Direction::Lower))
        };
        assert_eq!(of((0.03, 0.05), level), Verdict::Worse);
        assert_eq!(of((0.03, 0.05), level.next_up()), Verdict::CannotTell);
        assert_eq!([of((0.0, 0.05), level), of((-0.05, 0.0), level)], [Verdict::CannotTell; 2]);
        assert_eq!(of((-0.05, -0.03), level), Verdict::Better);
        assert_eq!([of((-0.02, 0.02), 1.0), of((-0.02, 0.021), 1.0)], [Verdict::Same, Verdict::CannotTell]);
    }
}
