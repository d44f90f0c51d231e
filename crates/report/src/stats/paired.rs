//! How far apart two variants are that were measured in pairs: Hodges and Lehmann's estimate with the interval of the
//! signed-rank test.
//!
//! Differences go in, of logarithms where a ratio is asked for. The estimate is the median of all Walsh averages (means
//! of two differences, a difference with itself included): nearly as precise as the mean for normal noise, and a run
//! spoiled by a neighbour moves it little. The interval keeps what the test does not reject, so its coverage is exact
//! for differences with a continuous symmetric law, whichever it is, and higher with ties. What both runs of a pair
//! share, such as a machine that became slower, is not in their difference.

use super::median_of_sorted;
use super::signed_rank::{critical_position, p_value};

/// Confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// What pairs of measurements say about the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Pairs it comes from.
    pub pairs: usize,
    /// Hodges-Lehmann estimate of the difference; 0 of no pairs.
    pub center: f64,
    /// The 95 % interval; none under six pairs, as no interval of theirs covers so much.
    pub interval: Option<(f64, f64)>,
    /// Two-sided exact p-value of no difference.
    pub p: f64,
}

/// Estimates from finite differences, one a pair.
pub fn estimate(differences: &[f64]) -> Estimate {
    let pairs = differences.len();
    let walsh = walsh_averages(differences);
    let position = critical_position(pairs, CONFIDENCE);
    debug_assert_eq!(walsh.len(), pairs * (pairs + 1) / 2, "each pair of differences has its mean");
    assert!(position.is_none_or(|position| 2 * position <= walsh.len() + 1), "{position:?} from either end of {pairs}");
    Estimate {
        pairs,
        center: median_of_sorted(&walsh).unwrap_or(0.0),
        interval: position.map(|position| (walsh[position - 1], walsh[walsh.len() - position])),
        p: p_value(differences),
    }
}

/// The fewest pairs with which `tests` tests at once (Holm) can show anything at the 5 % level.
pub fn pairs_needed(tests: usize) -> usize {
    let smallest_p = |pairs: usize| 2.0_f64.powi(1 - i32::try_from(pairs).unwrap_or(i32::MAX));
    (1..)
        .find(|pairs| smallest_p(*pairs) * tests.max(1) as f64 <= 1.0 - CONFIDENCE)
        .expect("the p-value halves each time")
}

/// Sorted means of all pairs of differences, each with itself too.
fn walsh_averages(differences: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (at, first) in differences.iter().enumerate() {
        averages.extend(differences[at..].iter().map(|second| first / 2.0 + second / 2.0));
    }
    averages.sort_by(f64::total_cmp);
    averages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_pairs_are_bounded_by_their_extremes() {
        let found = estimate(&[1.0, 3.0, 2.0, 5.0, 4.0, 12.0]);
        assert_eq!(found.interval, Some((1.0, 12.0)));
        assert_eq!(found.p, 2.0 / 64.0);
        assert_eq!(found.center, 3.5);
    }

    #[test]
    fn one_spoiled_pair_moves_the_estimate_little() {
        let mut differences = vec![0.049, 0.051, 0.050, 0.052, 0.048, 0.0505, 0.0495, 0.051, 0.049, 0.05];
        let clean = estimate(&differences).center;
        differences[3] = 3.0;
        let spoiled = estimate(&differences);
        assert!((spoiled.center - clean).abs() < 0.001, "{spoiled:?}");
        let (low, high) = spoiled.interval.unwrap();
        assert!(low > 0.045 && high < 2.0, "{spoiled:?}");
    }

    #[test]
    fn too_few_pairs_have_an_estimate_and_no_interval() {
        let found = estimate(&[0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!((found.center, found.interval), (0.3, None));
        assert_eq!(estimate(&[]), Estimate { pairs: 0, center: 0.0, interval: None, p: 1.0 });
    }

    #[test]
    fn pairs_needed_grow_with_the_tests() {
        assert_eq!([1, 2, 3, 5, 6, 7, 13].map(pairs_needed), [6, 7, 7, 8, 8, 9, 10]);
    }
}
