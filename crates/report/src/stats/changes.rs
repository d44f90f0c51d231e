//! Where the level of a series changed: binary segmentation by cumulated deviations, each split tested by permutation.
//!
//! Values become deviations from their median in units of their spread, cut at five, so that a slow second is no change
//! and the height of a first few slow ones still counts. The split is where the deviations cumulated so far are largest
//! for their number. It is a change when at most one in a hundred random orders of the same values has a split as
//! large. Each side is searched again.
//!
//! Random orders know nothing of neighbours that are alike. So each change that was found has to stand against what is
//! left when all levels are taken away, too: the step between its neighbours counts for less by as much as the
//! correlation of the rest asks for, at the upper end of what that may be. The weakest goes first, until all stand.
//!
//! Orders are drawn from a fixed seed, so that a result has one answer. The tests below simulate series with known
//! truths; `docs/guides/trust.md` has the figures.

use super::median::{median, median_of_sorted};
use super::within::correlation;

/// Of each test.
const LEVEL: f64 = 0.01;
/// Random orders beside the one that is.
const ORDERS: usize = 999;
/// Deviations beyond this many spreads are cut.
const MOST: f64 = 5.0;
/// Values on a side of a split, at least.
const FEWEST: usize = 2;
/// From a median absolute deviation to the standard deviation of the normal law.
const OF_NORMAL: f64 = 1.4826;
/// How far above the correlation that is found the true one may be, in its own spreads: one-sided 1 %.
const ABOVE: f64 = 2.326;
/// Correlations beyond this one are not told apart.
const MOST_ALIKE: f64 = 0.95;

/// The first places of each new level, ascending; none of a series without a change.
pub fn change_points(values: &[f64]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((from, to)) = open.pop() {
        if let Some(split) = split(&values[from..to]) {
            debug_assert!((FEWEST..=to - from - FEWEST).contains(&split), "a split at {split} of {from} to {to}");
            found.push(from + split);
            open.push((from, from + split));
            open.push((from + split, to));
        }
    }
    found.sort_unstable();
    standing(values, found)
}

/// Where the level of these changes most, if it does.
fn split(values: &[f64]) -> Option<usize> {
    if values.len() < 2 * FEWEST + 2 {
        return None;
    }
    let mut deviations = deviations(values)?;
    let (at, size) = largest(&deviations);
    is_rare(&mut deviations, size).then_some(at)
}

/// The changes that stand although neighbours are alike.
fn standing(values: &[f64], mut changes: Vec<usize>) -> Vec<usize> {
    debug_assert!(changes.is_sorted_by(|a, b| a < b), "each change once, in order: {changes:?}");
    debug_assert!(changes.iter().all(|at| (1..values.len()).contains(at)), "{changes:?} of {}", values.len());
    while !changes.is_empty() {
        let edges = edges(&changes, values.len());
        let rest: Vec<f64> = edges.windows(2).flat_map(|edge| without_level(&values[edge[0]..edge[1]])).collect();
        let alike = correlation(&rest);
        let alike = (alike + ABOVE * ((1.0 - alike * alike) / values.len() as f64).sqrt()).min(MOST_ALIKE);
        let damping = ((1.0 - alike) / (1.0 + alike)).sqrt();
        let size = |at: usize| {
            let (from, change, to) = (edges[at], edges[at + 1], edges[at + 2]);
            step(&values[from..change], &values[change..to], &rest[from..to]) * damping
        };
        let Some((weakest, size)) = (0..changes.len()).map(|at| (at, size(at))).min_by(|a, b| a.1.total_cmp(&b.1))
        else {
            break;
        };
        let Some(mut around) = deviations(&rest[edges[weakest]..edges[weakest + 2]]) else { break };
        if is_rare(&mut around, size) {
            break;
        }
        changes.remove(weakest);
    }
    changes
}

/// How large the step between two neighbours is for their lengths, in spreads of what is left of them.
fn step(before: &[f64], after: &[f64], rest: &[f64]) -> f64 {
    let level = |values: &[f64]| median(values.iter().copied()).unwrap_or(0.0);
    let (some, others) = (before.len() as f64, after.len() as f64);
    let size = (level(before) - level(after)).abs() * (some * others / (some + others)).sqrt();
    if size > 0.0 { size / spread(rest, 0.0).max(f64::MIN_POSITIVE) } else { 0.0 }
}

/// Whether at most one in a hundred random orders of these has a split of this size. Leaves them in another order.
fn is_rare(deviations: &mut [f64], size: f64) -> bool {
    let mut order = OrderSeed(deviations.len() as u64);
    let mut reaching = 1;
    for _ in 0..ORDERS {
        order.shuffle(deviations);
        reaching += usize::from(largest(deviations).1 >= size);
        if reaching as f64 > LEVEL * (ORDERS + 1) as f64 {
            return false;
        }
    }
    true
}

fn edges(changes: &[usize], length: usize) -> Vec<usize> {
    [0].into_iter().chain(changes.iter().copied()).chain([length]).collect()
}

fn without_level(values: &[f64]) -> Vec<f64> {
    let level = median(values.iter().copied()).unwrap_or(0.0);
    values.iter().map(|value| value - level).collect()
}

/// How far values are from their center: from the median distance, or the mean one where more than half are the same.
fn spread(values: &[f64], center: f64) -> f64 {
    let distances = || values.iter().map(|value| (value - center).abs());
    let usual = median(distances()).unwrap_or(0.0) * OF_NORMAL;
    if usual > 0.0 { usual } else { distances().sum::<f64>() / values.len().max(1) as f64 }
}

/// From the median, in spreads; none where all values are the same.
fn deviations(values: &[f64]) -> Option<Vec<f64>> {
    let center = median(values.iter().copied())?;
    let spread = spread(values, center);
    let cut: Vec<f64> = values.iter().map(|value| ((value - center) / spread).clamp(-MOST, MOST)).collect();
    (spread > 0.0).then(|| {
        let mean = cut.iter().sum::<f64>() / cut.len() as f64;
        cut.into_iter().map(|value| value - mean).collect()
    })
}

/// Where the cumulated deviations are largest for their number, and how large.
fn largest(deviations: &[f64]) -> (usize, f64) {
    let n = deviations.len();
    let (mut sum, mut found) = (0.0, (0, 0.0));
    for (at, deviation) in deviations.iter().enumerate().take(n - FEWEST) {
        sum += deviation;
        let before = at + 1;
        if before < FEWEST {
            continue;
        }
        // Squares: a root for each place would cost more than all the rest.
        let size = sum * sum * n as f64 / (before * (n - before)) as f64;
        if size > found.1 {
            found = (before, size);
        }
    }
    (found.0, found.1.sqrt())
}

/// How far the values are from the median of their stretch, on average.
pub(super) fn mean_distance(values: &[f64], changes: &[usize]) -> f64 {
    let distance = |stretch: &[f64]| {
        let mut sorted = stretch.to_vec();
        sorted.sort_by(f64::total_cmp);
        let level = median_of_sorted(&sorted).unwrap_or(0.0);
        stretch.iter().map(|value| (value - level).abs()).sum::<f64>()
    };
    edges(changes, values.len()).windows(2).map(|edge| distance(&values[edge[0]..edge[1]])).sum::<f64>()
        / values.len().max(1) as f64
}

/// SplitMix64.
struct OrderSeed(u64);

impl OrderSeed {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn shuffle(&mut self, values: &mut [f64]) {
        for at in (1..values.len()).rev() {
            let other = ((u128::from(self.bits()) * (at as u128 + 1)) >> 64) as usize;
            values.swap(at, other);
        }
    }
}

#[cfg(test)]
pub(super) mod simulated {
    //! Series with known truths.

    use super::OrderSeed;

    pub struct Noise(OrderSeed, f64);

    impl Noise {
        pub fn new(seed: u64) -> Noise {
            Noise(OrderSeed(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)), 0.0)
        }

        fn unit(&mut self) -> f64 {
            ((self.0.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        }

        /// Of the normal law (Box and Muller).
        pub fn normal(&mut self) -> f64 {
            (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
        }

        /// As alike to the one before as `alike` says, with a spread of 1.
        pub fn next(&mut self, alike: f64) -> f64 {
            self.1 = alike * self.1 + (1.0 - alike * alike).sqrt() * self.normal();
            self.1
        }

        /// Mostly small, now and then ten times as large.
        pub fn spiky(&mut self) -> f64 {
            let factor = if self.unit() < 0.05 { 10.0 } else { 1.0 };
            self.normal().abs() * factor
        }
    }
}

#[cfg(test)]
mod tests {
    use super::simulated::Noise;
    use super::*;

    fn alarms(of: impl Fn(&mut Noise) -> Vec<f64>) -> usize {
        (0..200).filter(|seed| !change_points(&of(&mut Noise::new(seed + 1))).is_empty()).count()
    }

    #[test]
    fn flat_noise_has_changes_as_rarely_as_the_level_says() {
        let plain = alarms(|noise| (0..60).map(|_| noise.normal()).collect());
        let short = alarms(|noise| (0..12).map(|_| noise.normal()).collect());
        let spiky = alarms(|noise| (0..60).map(|_| noise.spiky()).collect());
        let alike = alarms(|noise| (0..120).map(|_| noise.next(0.5)).collect());
        let very_alike = alarms(|noise| (0..120).map(|_| noise.next(0.8)).collect());
        let found = [plain, short, spiky, alike];
        assert!(found.iter().all(|alarms| *alarms <= 10), "of 200 each: {found:?}");
        assert!(very_alike <= 16, "of 200, where neighbours are nearly the same: {very_alike}");
        assert_eq!(change_points(&[5.0; 40]), [0; 0]);
        let ties: Vec<f64> = (0..40).map(|at| f64::from(u8::from(at % 7 == 0))).collect();
        assert_eq!(change_points(&ties), [0; 0]);
    }

    /// Of 40 series that fall to less than half, how many have a change within a second of the true one.
    fn found(seconds: usize, at: usize, alike: f64) -> usize {
        let near = |seed: u64| {
            let mut noise = Noise::new(seed + 1);
            let level = |second: usize| if second < at { 0.8 } else { 0.0 };
            let values: Vec<f64> = (0..seconds).map(|second| level(second) + 0.1 * noise.next(alike)).collect();
            change_points(&values).iter().any(|found| found.abs_diff(at) <= 1)
        };
        (0..40).filter(|seed| near(*seed)).count()
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        for (seconds, at) in [(60, 12), (60, 4), (120, 60), (300, 10)] {
            assert_eq!(found(seconds, at, 0.0), 40, "at {at} of {seconds}");
        }
        assert!(found(60, 55, 0.0) >= 38 && found(60, 2, 0.0) >= 38, "at the edges");
        assert!(found(20, 6, 0.0) >= 38 && found(60, 12, 0.5) >= 38 && found(120, 60, 0.5) >= 38);
    }

    #[test]
    fn one_slow_second_is_no_change_and_a_hill_is_two() {
        let mut noise = Noise::new(7);
        let mut values: Vec<f64> = (0..60).map(|_| 0.05 * noise.normal()).collect();
        values[30] = 3.0;
        assert_eq!(change_points(&values), [0; 0]);
        let is_found = |seed: u64| {
            let mut noise = Noise::new(seed);
            let hill = |at: u32| f64::from(u8::from((30..60).contains(&at))) + 0.05 * noise.normal();
            change_points(&(0..90).map(hill).collect::<Vec<f64>>()) == [30, 60]
        };
        let found = (1..=40).filter(|seed| is_found(*seed)).count();
        assert!(found >= 38, "{found} of 40");
    }
}
