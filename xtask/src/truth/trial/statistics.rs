//! What the suite calculates of samples: quantiles, distances of distributions, a plan's starts.

/// The value below which this share (0 to 1) of ascending values lies, between two ranks where it falls between them,
/// as k6 has it.
pub fn quantile(ascending: &[f64], share: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return f64::NAN };
    let rank = share * last as f64;
    let (low, part) = (rank.floor() as usize, rank.fract());
    ascending[low] + part * (ascending[(low + 1).min(last)] - ascending[low])
}

/// In ascending order.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The largest difference between the distributions of two samples, both ascending, where values may move by `slack`
/// before they differ: a constant has no distribution but its noise.
pub fn kolmogorov_smirnov(a: &[f64], b: &[f64], slack: f64) -> f64 {
    above(a, b, slack).max(above(b, a, slack))
}

/// By how much the share of `a` that is no larger than a value exceeds that of `b` for the value and `slack`.
fn above(a: &[f64], b: &[f64], slack: f64) -> f64 {
    let (mut j, mut most) = (0, 0.0_f64);
    for (i, value) in a.iter().enumerate() {
        // Of equal values the last one counts.
        if a.get(i + 1) == Some(value) {
            continue;
        }
        while j < b.len() && b[j] <= value + slack {
            j += 1;
        }
        most = most.max((i + 1) as f64 / a.len() as f64 - j as f64 / b.len() as f64);
    }
    most
}

/// The statistic of Anderson and Darling for the claim that ascending values, in units of their known mean, are
/// exponential. `ANDERSON_DARLING_1_PERCENT` is exceeded by one true sample in a hundred.
pub fn anderson_darling(ascending: &[f64]) -> f64 {
    let count = ascending.len();
    let n = count as f64;
    let term = |(at, value): (usize, &f64)| {
        // Zero gaps have no logarithm; a nanosecond is none.
        let below = (-(-value.max(1e-9)).exp_m1()).ln();
        let above = -ascending[count - 1 - at];
        (2.0 * at as f64 + 1.0) * (below + above)
    };
    -n - ascending.iter().enumerate().map(term).sum::<f64>() / n
}

/// For a distribution without a parameter to estimate (Stephens 1974).
pub const ANDERSON_DARLING_1_PERCENT: f64 = 3.857;

/// When a plan of `rate` starts a second began, by the arrivals of its starts, numbered from 0, in ns: each came at its
/// planned time or later, so the earliest one, by its own plan, says it.
pub fn origin_ns(arrivals: impl Iterator<Item = (u64, i64)>, rate: f64) -> Option<f64> {
    let origin = |(number, arrived): (u64, i64)| arrived as f64 - number as f64 * 1e9 / rate;
    arrivals.map(origin).reduce(f64::min)
}

/// The rate of arrivals, numbered from 0, by a straight line through them.
pub fn rate_of(arrivals: &[(u64, i64)]) -> f64 {
    let Some(&(_, first)) = arrivals.first() else { return f64::NAN };
    let n = arrivals.len() as f64;
    let seconds = |arrived: i64| (arrived - first) as f64 / 1e9;
    let (mean_x, mean_y) = arrivals
        .iter()
        .fold((0.0, 0.0), |(x, y), &(number, arrived)| (x + number as f64 / n, y + seconds(arrived) / n));
    let (xy, xx) = arrivals.iter().fold((0.0, 0.0), |(xy, xx), &(number, arrived)| {
        let x = number as f64 - mean_x;
        (xy + x * (seconds(arrived) - mean_y), xx + x * x)
    });
    xx / xy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_ranks() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.0, 0.5, 0.75, 1.0].map(|share| quantile(&values, share)), [1.0, 2.5, 3.25, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn distributions_differ_by_their_largest_gap() {
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0], &[1.0, 2.0], 0.0), 0.0);
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0], &[3.0, 4.0], 0.0), 1.0);
        assert_eq!(kolmogorov_smirnov(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 5.0, 6.0], 0.0), 0.5);
        assert_eq!(kolmogorov_smirnov(&[1.0, 1.0], &[1.1, 1.1], 0.2), 0.0);
        assert_eq!(kolmogorov_smirnov(&[1.0, 1.0], &[1.3, 1.3], 0.2), 1.0);
    }

    #[test]
    fn exponential_values_pass_and_even_ones_do_not() {
        let n = 2000;
        let exact = sorted((0..n).map(|k| -((f64::from(k) + 0.5) / f64::from(n)).ln()).collect());
        assert!(anderson_darling(&exact) < 0.1);
        let slower: Vec<f64> = exact.iter().map(|value| value * 1.2).collect();
        assert!(anderson_darling(&slower) > ANDERSON_DARLING_1_PERCENT);
        let even = sorted((0..n).map(|k| f64::from(k) * 2.0 / f64::from(n)).collect());
        assert!(anderson_darling(&even) > ANDERSON_DARLING_1_PERCENT);
    }

    #[test]
    fn a_plan_is_found_behind_late_starts() {
        let late = [5_000, 900, 0, 70_000];
        let arrivals: Vec<(u64, i64)> = (0..4).map(|k| (k, 1_000 + k as i64 * 500_000 + late[k as usize])).collect();
        assert_eq!(origin_ns(arrivals.iter().copied(), 2000.0), Some(1_000.0));
        let even: Vec<(u64, i64)> = (0..100).map(|k| (k, 7 + k as i64 * 500_000)).collect();
        assert!((rate_of(&even) - 2000.0).abs() < 1e-6);
    }
}
