//! Values that nobody measured, and of which only one thing is known: they would have been larger than all others.
//!
//! A visitor whom nobody served waited for longer than any who was. Leaving such values out makes a server that turns
//! most visitors away look fast.

use super::Trend;

impl Trend {
    /// Adds this many values that were never measured and would have been larger than all others, such as the waiting
    /// of visitors whom nobody served. Percentiles count them, and are infinite where they are reached; number, sum,
    /// mean and extremes are those of what was measured.
    pub fn add_censored(&mut self, count: u64) {
        self.censored += count;
    }

    /// How many values were never measured.
    pub fn censored(&self) -> u64 {
        self.censored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_measured_is_beyond_all_percentiles_that_reach_it() {
        let mut some = Trend::default();
        [1.0, 2.0, 3.0].into_iter().for_each(|value| some.add(value));
        some.add_censored(7);
        assert_eq!((some.count(), some.censored(), some.max(), some.avg()), (3, 7, 3.0, 2.0));
        // Ranks 0 to 9: the median is between 4 and 5, and a tenth between 0 and 1.
        assert_eq!(some.percentiles([0.0, 10.0, 50.0, 99.0]), [1.0, 1.9, f64::INFINITY, f64::INFINITY]);
        let mut all = Trend::default();
        all.merge(&some);
        assert_eq!((all.censored(), all.percentile(25.0)), (7, f64::INFINITY));
        assert_eq!(all.percentile(22.0), 2.98);
        let mut none = Trend::default();
        none.add_censored(1);
        assert_eq!(none.percentile(1.0), f64::INFINITY);
    }
}
