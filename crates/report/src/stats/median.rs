//! The median: the middle value, or the mean of the two in the middle.

/// Of values in any order; none of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    median_of_sorted(&values)
}

/// Of values in order. Halves are added because a sum of two values may be too large for a number.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    debug_assert!(sorted.is_sorted_by(|a, b| a.total_cmp(b).is_le()), "the middle of values that are in order");
    let low = sorted.get(sorted.len().checked_sub(1)? / 2)?;
    let high = sorted.get(sorted.len() / 2)?;
    Some(low / 2.0 + high / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_one_or_the_mean_of_two() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0]), Some(3.0));
        assert_eq!(median([9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([9.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median([f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median_of_sorted(&[1.0, 2.0, 9.0]), Some(2.0));
    }
}
