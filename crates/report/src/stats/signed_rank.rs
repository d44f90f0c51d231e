//! Wilcoxon's signed-rank test, exact: the law of the statistic is counted out over all signs, with ties as they are.
//!
//! Under the hypothesis each difference is as likely to have the other sign. So every one of the 2ⁿ ways to sign the
//! ranks has the same probability, and adding one difference at a time gives the whole law in n²·n steps: no normal
//! approximation, and nothing to choose for small samples. Zeros say nothing about the sign and are left out; tied
//! magnitudes share the mean of their ranks, which doubled is a whole number.
//!
//! Refused: nothing; a caller with more than `MOST_PAIRS` pairs waits long.

/// More pairs than this are refused by `compare`: counting takes time with their third power, here some seconds.
pub const MOST_PAIRS: usize = 1000;

/// Two-sided p-value of the hypothesis that the differences are symmetric about 0. 1 when none differs from 0.
pub fn p_value(differences: &[f64]) -> f64 {
    let mut values: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = doubled_ranks(&values);
    let total: usize = ranks.iter().sum();
    debug_assert_eq!(total, values.len() * (values.len() + 1), "ranks that are shared add up as others do");
    let positive: usize = ranks.iter().zip(&values).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum();
    // The law is symmetric: the smaller side's tail is enough.
    let tail: f64 = law(&ranks, positive.min(total - positive)).iter().sum();
    (2.0 * tail).min(1.0)
}

/// Which Walsh average from either end bounds the interval of at least this `confidence` for `pairs` differences: 1 is
/// the outermost. None when even the whole range covers less, as with fewer than six pairs and 0.95.
pub fn critical_position(pairs: usize, confidence: f64) -> Option<usize> {
    let ranks: Vec<usize> = (1..=pairs).map(|rank| 2 * rank).collect();
    let allowed = (1.0 - confidence) / 2.0;
    let (mut tail, mut position) = (0.0, 0);
    for chance in law(&ranks, pairs * (pairs + 1) / 2).into_iter().step_by(2) {
        tail += chance;
        if tail > allowed {
            break;
        }
        position += 1;
    }
    Some(position).filter(|position| *position > 0)
}

/// Twice the rank of each of the values, which are sorted by magnitude; equal magnitudes share a mean rank.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    while ranks.len() < sorted.len() {
        let first = ranks.len();
        let tied = sorted[first..].iter().take_while(|d| d.abs() == sorted[first].abs()).count();
        ranks.extend(std::iter::repeat_n(2 * first + tied + 1, tied));
    }
    ranks
}

/// The probability of each sum from 0 to `most` when every rank is taken or not with probability 1/2.
fn law(ranks: &[usize], most: usize) -> Vec<f64> {
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached = (reached + rank).min(most);
        for sum in (0..=reached).rev() {
            let taken = if sum >= *rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = (chances[sum] + taken) / 2.0;
        }
    }
    debug_assert!(chances.iter().sum::<f64>() <= 1.0 + 1e-9, "parts of one law");
    chances
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts over all signs, as the definition says.
    fn by_enumeration(differences: &[f64]) -> f64 {
        let values: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        let rank = |v: f64| {
            let smaller = values.iter().filter(|o| o.abs() < v.abs()).count();
            let equal = values.iter().filter(|o| o.abs() == v.abs()).count();
            smaller as f64 + (equal as f64 + 1.0) / 2.0
        };
        let ranks: Vec<f64> = values.iter().map(|v| rank(*v)).collect();
        let total: f64 = ranks.iter().sum();
        let observed: f64 = ranks.iter().zip(&values).filter(|(_, v)| **v > 0.0).map(|(r, _)| r).sum();
        let far = (observed - total / 2.0).abs();
        let ways = 1_u32 << values.len();
        let as_far = (0..ways).filter(|signs| {
            let sum: f64 = ranks.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1).map(|(_, r)| r).sum();
            (sum - total / 2.0).abs() >= far - 1e-9
        });
        as_far.count() as f64 / f64::from(ways)
    }

    #[test]
    fn equals_counting_over_all_signs() {
        let sets: [&[f64]; 6] = [
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            &[1.0, -2.0, 3.0, 4.0, -5.0, 6.0, 7.5],
            &[0.0, 1.0, -1.0, 2.0, 2.0, 2.0, -3.0],
            &[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, -0.5],
            &[-4.0, -3.0, 0.0, 0.0, -3.0, 1.0],
            &[0.1],
        ];
        for set in sets {
            assert!((p_value(set) - by_enumeration(set)).abs() < 1e-12, "{set:?}");
        }
        assert_eq!(p_value(&[]), 1.0);
        assert_eq!(p_value(&[0.0, 0.0]), 1.0);
    }

    #[test]
    fn many_pairs_agree_with_the_normal_law() {
        // Mean n(n+1)/4, variance n(n+1)(2n+1)/24; 1.96 deviations cut off 2.5 %.
        let n = 200.0_f64;
        let expected = n * (n + 1.0) / 4.0 - 1.96 * (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let found = critical_position(200, 0.95).unwrap() as f64;
        assert!((found - expected).abs() < 3.0, "{found} {expected}");
    }

    #[test]
    fn critical_positions_are_those_of_the_tables() {
        // Published tables give the largest rank sum still significant at 5 %, two-sided: one less than the position.
        let tables = [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25), (20, 52), (25, 89), (50, 434)];
        for (pairs, rank_sum) in tables {
            assert_eq!(critical_position(pairs, 0.95), Some(rank_sum + 1), "{pairs}");
        }
        assert_eq!(critical_position(5, 0.95), None);
        assert_eq!(critical_position(0, 0.95), None);
    }
}
