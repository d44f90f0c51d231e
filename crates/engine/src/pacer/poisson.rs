//! When the k-th visitor of a Poisson process comes, in visitors: sums of exponential gaps with a mean of one.
//!
//! The gaps are drawn by number, not one from the last, so every worker and machine finds the same times from the same
//! seed. A rate that changes needs nothing of its own: the schedule starts a visitor where the integral of its rate
//! reaches the sum. Sums are whole numbers of 2^-32 visitors, so that nothing drifts.

/// Digits behind the point of a sum.
pub(super) const FRACTION_BITS: u32 = 32;

/// The sums in order. Going back begins anew.
#[derive(Clone, Debug)]
pub(super) struct Visitors {
    seed: u64,
    /// How many gaps the sum has.
    gaps: u64,
    sum: u128,
}

impl Visitors {
    pub(super) fn new(seed: u64) -> Visitors {
        Visitors { seed, gaps: 0, sum: 0 }
    }

    /// The sum up to visitor `k`, counted from 0.
    pub(super) fn until(&mut self, k: u64) -> u128 {
        if k < self.gaps.saturating_sub(1) {
            *self = Visitors::new(self.seed);
        }
        while self.gaps <= k {
            self.sum += u128::from(gap(self.seed, self.gaps));
            self.gaps += 1;
        }
        debug_assert_eq!(self.gaps, k + 1, "the sum is that of visitor {k}");
        self.sum
    }
}

/// The gap before visitor `k`: −ln of a number drawn from (0, 1].
fn gap(seed: u64, k: u64) -> u64 {
    let drawn = (mixed(seed ^ mixed(k)) >> 11) + 1;
    let uniform = drawn as f64 / (1u64 << 53) as f64;
    debug_assert!(uniform > 0.0 && uniform <= 1.0, "{uniform} has no finite logarithm");
    (-uniform.ln() * (1u64 << FRACTION_BITS) as f64).round() as u64
}

/// Spreads a number over all bits: the finaliser of SplitMix64 (Steele, Lea and Flood 2014) behind its constant.
fn mixed(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: f64 = (1u64 << FRACTION_BITS) as f64;

    #[test]
    fn sums_are_found_in_any_order_and_differ_by_seed() {
        let mut all = Visitors::new(7);
        let sums: Vec<u128> = (0..100).map(|k| all.until(k)).collect();
        assert!(sums.is_sorted());
        let mut every_third = Visitors::new(7);
        assert!((0..100).step_by(3).all(|k| every_third.until(k) == sums[k as usize]));
        assert_eq!(every_third.until(50), sums[50], "back again");
        assert_ne!(Visitors::new(8).until(99), sums[99]);
    }

    /// The largest distance between the distribution of the gaps and the exponential one: 1.63 / √n is exceeded by
    /// one sample in a hundred.
    #[test]
    fn gaps_are_exponential_and_independent() {
        const COUNT: u64 = 100_000;
        for seed in [0, 1, 42] {
            let mut gaps: Vec<f64> = (0..COUNT).map(|k| gap(seed, k) as f64 / ONE).collect();
            let mean = gaps.iter().sum::<f64>() / COUNT as f64;
            let neighbours = gaps.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            assert!((neighbours / variance).abs() < 3.0 / (COUNT as f64).sqrt(), "{seed}: neighbours are related");
            gaps.sort_by(f64::total_cmp);
            let distance = gaps.iter().enumerate().map(|(at, gap)| {
                let expected = 1.0 - (-gap).exp();
                (expected - at as f64 / COUNT as f64).abs().max((at as f64 + 1.0) / COUNT as f64 - expected)
            });
            assert!(distance.fold(0.0, f64::max) < 1.63 / (COUNT as f64).sqrt(), "{seed}");
        }
    }

    /// Anderson and Darling's distance to the exponential distribution, which weighs short and long gaps more than
    /// Kolmogorov's does. One sample in a hundred is beyond 3.857.
    fn anderson_darling(mut gaps: Vec<f64>) -> f64 {
        gaps.sort_by(f64::total_cmp);
        let count = gaps.len() as f64;
        let terms = gaps.iter().zip(gaps.iter().rev()).enumerate().map(|(at, (low, high))| {
            // ln F of the one and ln (1 − F) of the other.
            (2.0 * at as f64 + 1.0) * ((-(-low).exp_m1()).ln() - high)
        });
        -count - terms.sum::<f64>() / count
    }

    #[test]
    fn starts_of_a_hundred_seeds_pass_anderson_and_darling() {
        let passes = |seed: u64| {
            let gaps = (0..10_000).map(|k| gap(seed, k) as f64 / ONE).collect();
            anderson_darling(gaps) < 3.857
        };
        let passed = (0..100).filter(|seed| passes(*seed)).count();
        assert!(passed >= 97, "{passed} of 100");
        // The distance sees what it should: evenly spaced starts are far away.
        assert!(anderson_darling(vec![1.0; 1000]) > 100.0);
    }
}
