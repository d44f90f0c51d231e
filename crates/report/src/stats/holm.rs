//! Holm's correction: p-values of several tests, raised so that the chance of any false alarm among them stays at the
//! level.
//!
//! Step down: the smallest p-value is multiplied by the number of tests, the next by one less, and none comes out below
//! a smaller one's result. It assumes nothing about how the tests hang together, which matters here: requests/s and the
//! percentiles of the same run say nearly the same thing.

/// The adjusted p-values, in the order of the given ones.
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    assert!(p_values.iter().all(|p| (0.0..=1.0).contains(p)), "probabilities: {p_values:?}");
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (step, at) in order.into_iter().enumerate() {
        highest = highest.max(p_values[at] * (p_values.len() - step) as f64).min(1.0);
        adjusted[at] = highest;
    }
    assert!(
        p_values.iter().zip(&adjusted).all(|(p, adjusted)| p <= adjusted),
        "nothing becomes rarer by being adjusted"
    );
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjust;

    #[test]
    fn steps_down_and_never_below_a_smaller_one() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            found.iter().zip(expected).for_each(|(f, e)| assert!((f - e).abs() < 1e-12, "{found:?} {expected:?}"));
        };
        close(adjust(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(adjust(&[0.04]), &[0.04]);
        close(adjust(&[0.9, 0.8]), &[1.0, 1.0]);
        close(adjust(&[]), &[]);
    }
}
