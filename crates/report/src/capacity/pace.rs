//! How long a probe may go on, and how far the next one may reach.

use std::time::Duration;

use super::judge::Standing;
use super::search::Purpose;

/// How long a probe may go on, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// So many count before it is held.
    pub least: usize,
    /// After so many it ends, decided or not.
    pub most: usize,
    /// At the start, which do not count.
    pub skipped: usize,
}

/// What a probe takes beside its load: a process starts, makes users, and writes its result.
pub const A_PROBE: Duration = Duration::from_millis(800);
/// A load is calm while the 95th percentile is below this share of its limit.
const CALM_SHARE: f64 = 0.1;
/// From this load on none is calm: the first that breaks would be a flood.
const CALM_MOST: f64 = 1000.0;

/// A light load sees the latency of before when its median is within this share, and so many ms.
const RECOVERED: (f64, f64) = (1.2, 0.05);
/// So often a light load is tried before the target is said not to recover.
pub const RECOVERIES: usize = 5;

impl Length {
    /// Of the next probe, when so much of the budget is left and an iteration takes so many seconds at a light load;
    /// none where there is no room for one.
    pub fn of(purpose: Purpose, left: Duration, iteration_s: f64) -> Option<Length> {
        let (least, most) = match purpose {
            Purpose::Reaching => (3, 4),
            Purpose::Narrowing => (5, 12),
            Purpose::Repeating => (12, 24),
        };
        // Connections are made in the first second; nothing ends before the first iterations do.
        let skipped = 1 + Length::filling(iteration_s);
        let left = left.saturating_sub(A_PROBE).as_secs() as usize;
        let room = left.checked_sub(skipped).filter(|room| *room >= least)?;
        Some(Length { least, most: most.min(room), skipped })
    }

    /// Of a light load that only sees whether the target has recovered.
    pub fn light(iteration_s: f64) -> Length {
        Length { least: 1, most: 1, skipped: Length::filling(iteration_s) }
    }

    fn filling(iteration_s: f64) -> usize {
        if iteration_s < 0.2 { 0 } else { (1.5 * iteration_s).ceil() as usize }
    }

    /// Of its load at most: a second more than what counts.
    pub fn seconds(self) -> usize {
        self.skipped + self.most + 1
    }
}

/// Whether the next load may be four times this one. `slowest` is the limit of the percentile that is shown.
pub fn is_calm(standing: Standing, load: f64, slowest: Option<f64>, p95: Option<f64>) -> bool {
    let is_fast = slowest.zip(p95).is_some_and(|(slowest, p95)| p95 < CALM_SHARE * slowest);
    standing == Standing::Held && is_fast && load < CALM_MOST
}

/// Whether a light load sees the median of before.
pub fn has_recovered(now: Option<f64>, before: Option<f64>) -> bool {
    now.zip(before).is_none_or(|(now, before)| now <= RECOVERED.0 * before + RECOVERED.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_as_long_as_the_budget_allows() {
        let length =
            |seconds: u64, iteration_s: f64| Length::of(Purpose::Narrowing, Duration::from_secs(seconds), iteration_s);
        assert_eq!(length(100, 0.01), Some(Length { least: 5, most: 12, skipped: 1 }));
        assert_eq!(length(9, 0.01), Some(Length { least: 5, most: 7, skipped: 1 }));
        assert_eq!(length(6, 0.01), None);
        assert_eq!(length(100, 2.0).map(|length| (length.skipped, length.seconds())), Some((4, 17)));
    }

    #[test]
    fn a_target_has_recovered_when_a_light_load_is_as_fast_as_before() {
        assert!(has_recovered(Some(1.2), Some(1.0)) && has_recovered(None, Some(1.0)));
        assert!(!has_recovered(Some(1.5), Some(1.0)) && has_recovered(Some(0.1), Some(0.06)));
    }

    #[test]
    fn a_load_is_calm_far_below_its_limit() {
        let calm = |standing, load, p95| is_calm(standing, load, Some(200.0), Some(p95));
        assert!(calm(Standing::Held, 100.0, 5.0));
        assert!(!calm(Standing::Held, 100.0, 25.0) && !calm(Standing::Held, 2000.0, 5.0));
        assert!(!calm(Standing::LeansHeld, 100.0, 5.0) && !is_calm(Standing::Held, 100.0, None, Some(5.0)));
    }
}
