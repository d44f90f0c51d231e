//! How many thresholds held, in words that every view shares.

use units::show::counted;

/// Thresholds by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThresholdCounts {
    /// Those that held.
    pub held: usize,
    /// Those that did not.
    pub crossed: usize,
    /// Nothing was measured for them.
    pub without_samples: usize,
}

impl ThresholdCounts {
    /// Counts them: each with whether there was anything to judge, and whether it held.
    pub fn of(all: impl Iterator<Item = (bool, bool)>) -> ThresholdCounts {
        all.fold(ThresholdCounts::default(), |mut counts, found| {
            match found {
                (false, _) => counts.without_samples += 1,
                (true, true) => counts.held += 1,
                (true, false) => counts.crossed += 1,
            }
            counts
        })
    }

    /// `3 thresholds held, 1 had no sample`, `1 of 3 thresholds did not hold`.
    pub fn text(&self) -> String {
        let ThresholdCounts { held, crossed, without_samples } = *self;
        let judged = match (held, crossed) {
            (0, 0) if without_samples == 0 => String::from("no thresholds were set"),
            (0, 0) => format!("no threshold was judged: {} had no sample", counted(without_samples, "threshold")),
            (held, 0) => format!("{} held", counted(held, "threshold")),
            (held, crossed) => format!("{crossed} of {} did not hold", counted(held + crossed, "threshold")),
        };
        match without_samples {
            0 => judged,
            _ if held + crossed == 0 => judged,
            some => format!("{judged}, {some} had no sample"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_judged_is_not_held() {
        let text = |held, crossed, without_samples| ThresholdCounts { held, crossed, without_samples }.text();
        assert_eq!(text(0, 0, 0), "no thresholds were set");
        assert_eq!(text(3, 0, 0), "3 thresholds held");
        assert_eq!(text(1, 0, 1), "1 threshold held, 1 had no sample");
        assert_eq!(text(2, 1, 0), "1 of 3 thresholds did not hold");
        assert_eq!(text(0, 0, 2), "no threshold was judged: 2 thresholds had no sample");
        let counts = ThresholdCounts::of([(true, true), (false, true), (true, false)].into_iter());
        assert_eq!(counts, ThresholdCounts { held: 1, crossed: 1, without_samples: 1 });
    }
}
