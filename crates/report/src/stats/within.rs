//! How far apart two single runs are, from within them: their seconds in blocks.
//!
//! A block of B is beside the block of A from the same time of the test, as the runs of a pair do, so ramps and
//! warm-ups that both have cancel. The first tenth is left out; of what a longer warm-up spoils the ranks take little
//! notice. Neighbouring seconds are alike, which makes blocks more alike than independent ones: their differences are
//! spread by as much as the correlation from one second to the next asks for.
//!
//! What no run can tell about itself is how far it is from the next run of the same program. So verdicts need a change
//! beyond an allowance for that. `cargo xtask stats` simulates both: the interval's coverage, and what happens when
//! runs differ.

use std::ops::Range;

use super::verdict::{Answer, Question, Verdict, answer};

/// Blocks of a run: enough for a verdict on six metrics at once, few enough to be long.
pub const BLOCKS: usize = 8;
/// A run of fewer seconds has no blocks.
pub const FEWEST_SECONDS: usize = 10;
/// Runs of the same program are taken to differ by up to this share.
pub const RUN_TO_RUN: f64 = 0.05;
/// The same for shares: a percentage point.
pub const RUN_TO_RUN_POINTS: f64 = 0.01;

/// Correlations beyond this one are not told apart: a run of minutes would have a few independent moments.
const MOST_CORRELATED: f64 = 0.95;
/// Short series look less correlated than they are, by about `(1 + 4ρ) / n`.
const BIAS: f64 = 4.0;

/// Which seconds make each block; none under ten seconds. The first tenth belongs to none.
pub fn blocks(seconds: usize) -> Option<Vec<Range<usize>>> {
    let warm_up = warm_up(seconds);
    let rest = seconds - warm_up;
    let edge = |block: usize| warm_up + rest * block / BLOCKS;
    (seconds >= FEWEST_SECONDS).then(|| (0..BLOCKS).map(|block| edge(block)..edge(block + 1)).collect())
}

/// Seconds at the start that are left out.
pub fn warm_up(seconds: usize) -> usize {
    seconds.div_ceil(10)
}

/// The differences of blocks, moved away from their middle by as much as the correlation of `seconds` asks for.
/// `seconds` are the differences second by second, without the warm-up.
pub fn spread(blocks: &[f64], seconds: &[f64]) -> Vec<f64> {
    let center = super::estimate(blocks).center;
    let factor = inflation(blocks.len(), seconds).sqrt();
    if factor == 1.0 {
        return blocks.to_vec();
    }
    blocks.iter().map(|block| center + (block - center) * factor).collect()
}

/// Answers questions about differences of blocks. A change has to be beyond its allowance, and sameness has to hold
/// with it.
pub fn answer_with(questions: &[Question], allowances: &[(f64, f64)]) -> Vec<Answer> {
    let answers = answer(questions).into_iter().zip(questions).zip(allowances);
    answers
        .map(|((answer, question), allowance)| {
            let stands = answer.estimate.interval.is_some_and(|interval| match answer.verdict {
                // Where nothing differs at all, as failures that nobody had, there is nothing to allow for.
                Verdict::Same => interval == (0.0, 0.0) || within(widened(interval, *allowance), question.margin),
                _ => interval.0 > allowance.1 || interval.1 < allowance.0,
            });
            let verdict = if stands { answer.verdict } else { Verdict::CannotTell };
            Answer { verdict, ..answer }
        })
        .collect()
}

fn widened(interval: (f64, f64), by: (f64, f64)) -> (f64, f64) {
    (interval.0 + by.0, interval.1 + by.1)
}

fn within(interval: (f64, f64), margin: (f64, f64)) -> bool {
    margin.0 <= interval.0 && interval.1 <= margin.1
}

/// How much larger the variance of the mean is than blocks taken for independent would have it, when each second goes
/// by the one before (an autoregressive law).
fn inflation(blocks: usize, seconds: &[f64]) -> f64 {
    let (n, k) = (seconds.len() as f64, blocks as f64);
    let correlation = correlation(seconds);
    if blocks < 2 || correlation <= 0.0 {
        return 1.0;
    }
    // Variances of means over all seconds and over those of a block, in units of a second's.
    let mean_variance = |length: f64| {
        let tail = 2.0 * correlation * (1.0 - correlation.powf(length)) / (length * (1.0 - correlation).powi(2));
        ((1.0 + correlation) / (1.0 - correlation) - tail) / length
    };
    let (all, block) = (mean_variance(n), mean_variance(n / k));
    // What the blocks' sample variance leads one to expect is (block - all) / (k - 1).
    if block > all { (all * (k - 1.0) / (block - all)).max(1.0) } else { 1.0 }
}

/// From one second to the next, corrected for the length of the series; 0 for none.
pub(crate) fn correlation(seconds: &[f64]) -> f64 {
    let n = seconds.len() as f64;
    let mean = seconds.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = seconds.iter().map(|second| (second - mean).powi(2)).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = seconds.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
    let found = products / squares;
    (found + (1.0 + BIAS * found.max(0.0)) / n).clamp(0.0, MOST_CORRELATED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Direction, estimate};

    #[test]
    fn every_second_after_the_warm_up_is_in_one_block() {
        assert_eq!(blocks(9), None);
        for seconds in [10, 11, 30, 61, 3600] {
            let blocks = blocks(seconds).expect("long enough");
            assert_eq!((blocks.len(), blocks[0].start), (BLOCKS, seconds.div_ceil(10)));
            assert_eq!(blocks[BLOCKS - 1].end, seconds);
            assert!(blocks.windows(2).all(|two| two[0].end == two[1].start), "{blocks:?}");
            assert!(blocks.iter().all(|block| !block.is_empty()), "{blocks:?}");
        }
    }

    #[test]
    fn seconds_that_go_together_widen_the_interval() {
        let differences = [0.01, -0.02, 0.015, 0.0, -0.01, 0.02, -0.005, 0.005];
        let apart: Vec<f64> = (0..60).map(|at| if at % 2 == 0 { 0.01 } else { -0.01 }).collect();
        assert_eq!(spread(&differences, &apart), differences, "seconds that alternate");
        let slow: Vec<f64> = (0..60).map(|at| if at / 6 % 2 == 0 { 0.01 } else { -0.01 }).collect();
        let (plain, wide) = (estimate(&differences), estimate(&spread(&differences, &slow)));
        assert!((plain.center - wide.center).abs() < 1e-12);
        let width = |found: &crate::stats::Estimate| found.interval.map(|(low, high)| high - low).unwrap();
        assert!(width(&wide) > 1.3 * width(&plain), "{plain:?} {wide:?}");
    }

    #[test]
    fn a_change_within_the_allowance_is_no_change() {
        let verdict = |by: f64, margin: f64| {
            let differences = [-0.003, 0.002, 0.001, -0.001, 0.003, -0.002, 0.0015, -0.0015].map(|d| d + by).to_vec();
            let question = Question { differences, direction: Direction::Lower, margin: (-margin, margin) };
            answer_with(&[question], &[(-RUN_TO_RUN, RUN_TO_RUN)])[0].verdict
        };
        assert_eq!(
            [0.2, 0.056, 0.04, 0.0].map(|by| verdict(by, 0.02)),
            [Verdict::Worse, Verdict::Worse, Verdict::CannotTell, Verdict::CannotTell]
        );
        assert_eq!(verdict(-0.2, 0.02), Verdict::Better);
        assert_eq!([verdict(0.0, 0.06), verdict(0.03, 0.06)], [Verdict::Same, Verdict::CannotTell]);
    }

    #[test]
    fn a_correlation_costs_what_the_covariances_add_up_to() {
        // Of 1, 1, -1, -1 neighbours agree once and differ once less: 1 / 4, then (1 + 4 / 4) / 4 for the short series.
        let pairs = [1.0, 1.0, -1.0, -1.0];
        assert_eq!(correlation(&pairs), 0.75);
        assert_eq!(correlation(&[3.0, 3.0, 1.0, 1.0]), 0.75, "whatever the mean is");
        assert_eq!([correlation(&[1.0, -1.0, 1.0, -1.0]), correlation(&[2.0; 9]), correlation(&[])], [0.0; 3]);
        let halves: Vec<f64> = (0..40).map(|at| f64::from(at / 20)).collect();
        assert_eq!(correlation(&halves), MOST_CORRELATED);
        // Variances of a mean of four and of two, from the sums of 0.75 to the power of each distance.
        let (four, two) = (0.724_609_375, 0.875);
        assert!((inflation(2, &pairs) - four / (two - four)).abs() < 1e-9, "{}", inflation(2, &pairs));
        assert_eq!((inflation(1, &pairs), inflation(2, &[1.0, -1.0, 1.0, -1.0])), (1.0, 1.0));
    }
}
