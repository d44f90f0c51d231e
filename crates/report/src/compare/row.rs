//! A line of a comparison: one measure over the pairs, or over the seconds of a few runs, what the statistics say, and
//! conditions on it.

use super::condition::{Bound, Condition, ConditionOutcome};
use super::evidence::Pair;
use super::measure::ComparedValue;
use super::seconds::FewRuns;
use crate::document::{Contains, Document};
use crate::stats::within::{RUN_TO_RUN, RUN_TO_RUN_POINTS, answer_with, spread};
use crate::stats::{self, CONFIDENCE, Estimate, Looks, Question, Verdict};

/// Shares that differ by less than this count as the same: a tenth of a percentage point.
const SHARE_MARGIN: f64 = 0.001;

/// On which scale A and B are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// B / A, as logarithms.
    Ratio,
    /// B - A of shares, 0 to 1.
    Points,
    /// B - A in the metric's unit, where a ratio would divide by 0.
    Plain,
}

impl Scale {
    /// A size on this scale as programs are told it: the fraction by which B differs, or the difference itself.
    pub(crate) fn shown(self, size: f64) -> f64 {
        if self == Scale::Ratio { size.exp_m1() } else { size }
    }
}

/// What A and B are compared by.
#[derive(Clone, Copy)]
pub(super) struct Basis<'a> {
    /// The pairs of runs.
    pub pairs: &'a [Pair<'a>],
    /// Their seconds, where those are what is compared.
    pub seconds: Option<&'a FewRuns<'a>>,
    /// At most so many pairs, where they are looked at after each one.
    pub most_pairs: Option<usize>,
}

/// One measure over the pairs.
#[derive(Clone, Debug)]
pub struct ComparedMetric {
    /// What it is of.
    pub measure: ComparedValue,
    /// What its values are.
    pub contains: Contains,
    /// Scale of the estimate and the interval.
    pub scale: Scale,
    /// A's and B's value of each pair that has both, or of each block of seconds.
    pub values: Vec<(f64, f64)>,
    /// Medians of A's and of B's values; none over different cells, where they would mean nothing. The values of single
    /// runs.
    pub medians: Option<(f64, f64)>,
    /// What the statistics are asked about: a difference for each value.
    differences: Vec<f64>,
    /// Changes that runs of the same program may show; none where pairs are compared.
    allowance: (f64, f64),
    /// Why the seconds have no answer.
    pub lack: Option<String>,
    /// What the pairs say.
    pub estimate: Estimate,
    /// The p-value after Holm; none for what is only shown.
    pub adjusted_p: Option<f64>,
    /// The verdict; none for what is only shown.
    pub verdict: Option<Verdict>,
    /// About how many pairs it takes to tell, with noise as it is.
    pub pairs_to_tell: Option<usize>,
}

/// A condition and how it ended.
#[derive(Clone, Debug)]
pub struct JudgedCondition {
    /// As given.
    pub condition: Condition,
    /// Scale of the estimate.
    pub scale: Scale,
    /// The change, not the distance to the bound.
    pub estimate: Estimate,
    /// The p-value of the distance to the bound, after Holm.
    pub adjusted_p: f64,
    /// How it ended.
    pub outcome: ConditionOutcome,
}

impl ComparedMetric {
    /// Whether its pairs differ at all: the others are no tests.
    pub fn is_test(&self) -> bool {
        self.values.iter().any(|(a, b)| a != b)
    }
}

/// Rows with verdicts, judged together.
pub(super) fn judged(measures: &[ComparedValue], basis: Basis<'_>, margin: f64, one_cell: bool) -> Vec<ComparedMetric> {
    let mut rows: Vec<ComparedMetric> =
        measures.iter().map(|measure| row(measure, basis, measures.len(), one_cell)).collect();
    let questions: Vec<Question> = rows.iter().map(|row| question(row, margin)).collect();
    let allowances: Vec<(f64, f64)> = rows.iter().map(|row| row.allowance).collect();
    let answers = match (basis.seconds, basis.most_pairs) {
        (Some(_), _) => answer_with(&questions, &allowances),
        (None, Some(most)) => stats::answer_so_far(&questions, most),
        (None, None) => stats::answer(&questions),
    };
    for ((row, question), answer) in rows.iter_mut().zip(&questions).zip(answers) {
        row.adjusted_p = Some(answer.adjusted_p);
        row.verdict = Some(answer.verdict);
        if answer.verdict == Verdict::CannotTell && basis.seconds.is_none() {
            row.pairs_to_tell = pairs_to_tell(&answer.estimate, question.margin);
        }
    }
    rows
}

/// Rows without verdicts.
pub(super) fn shown(measures: &[ComparedValue], basis: Basis<'_>, one_cell: bool) -> Vec<ComparedMetric> {
    let basis = Basis { seconds: None, ..basis };
    measures.iter().map(|measure| row(measure, basis, 1, one_cell)).collect()
}

fn row(measure: &ComparedValue, basis: Basis<'_>, tests: usize, one_cell: bool) -> ComparedMetric {
    let of_runs = of_pairs(measure, basis.pairs);
    let medians = medians(&of_runs).filter(|_| one_cell);
    let Sample { values, scale, differences, lack } = sample(measure, basis, of_runs, false);
    ComparedMetric {
        contains: basis.pairs.first().map_or(Contains::Default, |pair| measure.contains(pair.a)),
        estimate: basis.estimate(&differences, tests),
        measure: measure.clone(),
        scale,
        values,
        allowance: basis.allowance(scale, medians),
        medians,
        differences,
        lack,
        adjusted_p: None,
        verdict: None,
        pairs_to_tell: None,
    }
}

fn question(row: &ComparedMetric, margin: f64) -> Question {
    let margin = match row.scale {
        Scale::Ratio => ((1.0 - margin).ln(), (1.0 + margin).ln()),
        Scale::Points if margin > 0.0 => (-SHARE_MARGIN, SHARE_MARGIN),
        Scale::Points | Scale::Plain => (0.0, 0.0),
    };
    Question { differences: row.differences.clone(), direction: row.measure.direction, margin }
}

fn of_pairs(measure: &ComparedValue, pairs: &[Pair<'_>]) -> Vec<(f64, f64)> {
    pairs.iter().filter_map(|pair| Some((measure.of(pair.a)?, measure.of(pair.b)?))).collect()
}

/// What is known of a measure.
struct Sample {
    values: Vec<(f64, f64)>,
    scale: Scale,
    differences: Vec<f64>,
    lack: Option<String>,
}

/// Values and differences of the pairs, or of blocks of seconds. `plain`: in the metric's own unit, whatever the values
/// are.
fn sample(measure: &ComparedValue, basis: Basis<'_>, of_runs: Vec<(f64, f64)>, plain: bool) -> Sample {
    let scale = |values: &[(f64, f64)]| if plain { Scale::Plain } else { scale(measure, values) };
    let Some(few) = basis.seconds else {
        let scale = scale(&of_runs);
        return Sample { differences: differences(&of_runs, scale), values: of_runs, scale, lack: None };
    };
    match few.by_block(measure) {
        Ok(values) => {
            let scale = scale(&values);
            let mut seconds = few.by_second(measure);
            // A ratio needs two numbers: seconds in which nothing came in are in their block all the same.
            seconds.retain(|(a, b)| scale != Scale::Ratio || (*a > 0.0 && *b > 0.0));
            let differences = spread(&differences(&values, scale), &self::differences(&seconds, scale));
            Sample { values, scale, differences, lack: None }
        }
        Err(lack) => {
            let scale = scale(&of_runs);
            Sample { values: Vec::new(), scale, differences: Vec::new(), lack: Some(lack) }
        }
    }
}

impl Basis<'_> {
    /// Of one of so many tests, with an interval and a p-value that hold at this look or at every one.
    fn estimate(&self, differences: &[f64], tests: usize) -> Estimate {
        match self.most_pairs {
            Some(most_pairs) => Looks { most_pairs, tests }.estimate(differences),
            None => stats::estimate(differences),
        }
    }

    /// By how much runs of the same program may differ. Enough pairs tell that themselves, a few cannot.
    fn allowance(&self, scale: Scale, of_runs: Option<(f64, f64)>) -> (f64, f64) {
        if self.seconds.is_none() {
            return (0.0, 0.0);
        }
        match scale {
            Scale::Ratio => ((1.0 - RUN_TO_RUN).ln(), (1.0 + RUN_TO_RUN).ln()),
            Scale::Points => (-RUN_TO_RUN_POINTS, RUN_TO_RUN_POINTS),
            Scale::Plain => {
                let size = of_runs.map_or(0.0, |(a, b)| RUN_TO_RUN * a.abs().max(b.abs()));
                (-size, size)
            }
        }
    }
}

fn scale(measure: &ComparedValue, values: &[(f64, f64)]) -> Scale {
    match measure.is_share() {
        true => Scale::Points,
        false if values.iter().all(|(a, b)| *a > 0.0 && *b > 0.0) => Scale::Ratio,
        false => Scale::Plain,
    }
}

fn differences(values: &[(f64, f64)], scale: Scale) -> Vec<f64> {
    let difference = |(a, b): &(f64, f64)| match scale {
        Scale::Ratio => (b / a).ln(),
        Scale::Points | Scale::Plain => b - a,
    };
    values.iter().map(difference).collect()
}

fn medians(values: &[(f64, f64)]) -> Option<(f64, f64)> {
    stats::median(values.iter().map(|v| v.0)).zip(stats::median(values.iter().map(|v| v.1)))
}

/// Intervals shrink with the root of the number of pairs: how many until this one is off zero or within the margin.
fn pairs_to_tell(estimate: &Estimate, margin: (f64, f64)) -> Option<usize> {
    let (low, high) = estimate.interval?;
    let half = (high - low) / 2.0;
    let room = estimate.center.abs().max((margin.1 - estimate.center).min(estimate.center - margin.0));
    let pairs = (estimate.pairs as f64 * (half / room).powi(2)).ceil();
    // Where it is Holm that stands in the way the interval may be narrow enough already.
    pairs.is_finite().then(|| (pairs as usize).max(estimate.pairs + 1))
}

/// Judges all conditions together.
pub(super) fn judge_conditions(conditions: &[Condition], basis: Basis<'_>) -> Result<Vec<JudgedCondition>, String> {
    let documents: Vec<&Document> = basis.pairs.iter().flat_map(|pair| [pair.a, pair.b]).collect();
    let judged = conditions.iter().map(|condition| distance(condition, basis, conditions.len(), &documents));
    let distances = judged.collect::<Result<Vec<_>, String>>()?;
    let p_values: Vec<f64> = distances.iter().map(|distance| distance.from_bound.p).collect();
    let adjusted = stats::adjust(&p_values);
    Ok(distances.into_iter().zip(adjusted).map(|(distance, p)| distance.judged(p)).collect())
}

/// How far a change is from its bound.
struct Distance {
    condition: Condition,
    scale: Scale,
    change: Estimate,
    from_bound: Estimate,
    allowance: (f64, f64),
}

fn distance(
    condition: &Condition,
    basis: Basis<'_>,
    tests: usize,
    documents: &[&Document],
) -> Result<Distance, String> {
    // Without any evidence there is nothing to look the metric up in.
    let measure = if documents.is_empty() { None } else { Some(condition.measure(documents)?) };
    let of_runs = measure.as_ref().map_or(Vec::new(), |measure| of_pairs(measure, basis.pairs));
    let medians = medians(&of_runs);
    let plain = matches!(condition.bound, Bound::Absolute(_));
    let Sample { scale, differences: change, .. } = match &measure {
        Some(measure) => sample(measure, basis, of_runs, plain),
        None => Sample { values: Vec::new(), scale: Scale::Plain, differences: Vec::new(), lack: None },
    };
    let bound = match (condition.bound, scale) {
        (Bound::Relative(size), Scale::Ratio) => Some((1.0 + size).ln()),
        (Bound::Relative(size), Scale::Points) | (Bound::Absolute(size), _) => Some(size),
        // A share of nothing.
        (Bound::Relative(_), Scale::Plain) => None,
    };
    let from_bound: Vec<f64> = bound.map_or(Vec::new(), |bound| change.iter().map(|change| change - bound).collect());
    Ok(Distance {
        condition: condition.clone(),
        scale,
        change: basis.estimate(&change, tests),
        from_bound: basis.estimate(&from_bound, tests),
        // Where nothing differs at all there is nothing to allow for.
        allowance: match change.iter().all(|change| *change == 0.0) {
            true => (0.0, 0.0),
            false => basis.allowance(scale, medians),
        },
    })
}

impl Distance {
    fn judged(self, adjusted_p: f64) -> JudgedCondition {
        let rise = self.condition.is_rise();
        let outcome = match self.from_bound.interval {
            Some(_) if adjusted_p > 1.0 - CONFIDENCE => ConditionOutcome::CannotTell,
            Some((low, _)) if low > self.allowance.1 => {
                if rise {
                    ConditionOutcome::Fails
                } else {
                    ConditionOutcome::Holds
                }
            }
            Some((_, high)) if high < self.allowance.0 => {
                if rise {
                    ConditionOutcome::Holds
                } else {
                    ConditionOutcome::Fails
                }
            }
            _ => ConditionOutcome::CannotTell,
        };
        let Distance { condition, scale, change, .. } = self;
        JudgedCondition { condition, scale, estimate: change, adjusted_p, outcome }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_to_tell_grow_with_the_square_of_the_noise() {
        let of = |center: f64, interval: Option<(f64, f64)>| {
            pairs_to_tell(&Estimate { pairs: 8, center, interval, p: 1.0 }, (-0.25, 0.25))
        };
        // Off zero by 1, within four times as much: sixteen times as many.
        assert_eq!(of(1.0, Some((-3.0, 5.0))), Some(128));
        assert_eq!(of(-1.0, Some((-5.0, 3.0))), Some(128));
        // In the middle of the margin the room is what is left of that, on either side.
        assert_eq!(of(0.0, Some((-0.5, 0.5))), Some(32));
        assert_eq!(of(0.0625, Some((-0.3125, 0.4375))), Some(32));
        // Narrow enough already: one more at least, because something stood in the way.
        assert_eq!(of(1.0, Some((0.875, 1.125))), Some(9));
        assert_eq!(of(1.0, None), None);
    }
}
