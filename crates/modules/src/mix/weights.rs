//! Names that are drawn by weight.

/// Names and how far each one's share of the whole reaches.
pub struct Weights {
    /// In order; the second is the sum of the weights up to and including this one.
    reach: Vec<(String, f64)>,
}

impl Weights {
    /// `None` when nothing could be drawn: no name, or none with a weight above 0.
    pub fn new(list: Vec<(String, f64)>) -> Option<Weights> {
        let mut sum = 0.0;
        let weighty = list.into_iter().filter(|(_, weight)| *weight > 0.0);
        let reach: Vec<_> = weighty
            .map(|(name, weight)| {
                sum += weight;
                (name, sum)
            })
            .collect();
        debug_assert!(reach.is_sorted_by(|before, after| before.1 <= after.1), "who weighs nothing was left out");
        (!reach.is_empty() && sum.is_finite()).then_some(Weights { reach })
    }

    /// The name that a number from 0 up to 1, not included, falls on.
    pub fn draw(&self, number: f64) -> &str {
        let (last, sum) = self.reach.last().expect("there is at least one");
        let at = number * sum;
        let index = self.reach.partition_point(|(_, reach)| *reach <= at);
        self.reach.get(index).map_or(last, |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_weights() {
        let list = [("a", 40.0), ("none", 0.0), ("b", 59.5), ("c", 0.5)];
        let weights = Weights::new(list.map(|(name, weight)| (name.to_owned(), weight)).to_vec()).unwrap();
        let of = |wanted: &str| (0..10_000).filter(|n| weights.draw(f64::from(*n) / 10_000.0) == wanted).count();
        assert_eq!((of("a"), of("none"), of("b"), of("c")), (4000, 0, 5950, 50));
        assert_eq!(weights.draw(1.0), "c", "what rounding may make of the largest number");
    }

    #[test]
    fn nothing_to_draw_is_none() {
        for list in [vec![], vec![0.0], vec![f64::MAX, f64::MAX]] {
            assert!(Weights::new(list.into_iter().map(|weight| (String::new(), weight)).collect()).is_none());
        }
    }
}
