//! Whether a load is held, from the seconds of a probe, looked at after each of them.
//!
//! Two things break a load: an objective, or a target that falls behind, whose open requests grow second by second
//! until some objective must break. Each is a mean over seconds that is compared with its limit. How far off it has to
//! be goes by its spread over the seconds, which are taken as more alike than independent ones where neighbours go
//! together, and never by less than the law of chance leaves to so many values. The bound is wide enough for a look
//! after each second, and wider for few seconds.
//!
//! The first seconds are not counted: connections are made in them, and nothing has ended yet. Of a longer probe a
//! beginning that differs is left out, up to half of it, by the marginal standard error rule (White 1997).

use super::objective::{Objective, ObjectiveTally};
use crate::stats::within;

/// A second of a probe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeSecond {
    /// How long it was.
    pub seconds: f64,
    /// Iterations at its end that should have ended or are under way; none where users wait for each other's answers.
    pub open: Option<f64>,
    /// For each objective; none without samples.
    pub tallies: Vec<Option<ObjectiveTally>>,
}

/// What breaks a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// The objective with this number.
    Objective(usize),
    /// More iterations were planned than ended, second by second.
    FallsBehind,
}

/// What the seconds so far say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// All objectives hold.
    Held,
    /// One does not.
    Broken(Breach),
    /// Nothing certain yet; none breaks by what there is.
    LeansHeld,
    /// Nothing certain yet; this one breaks by what there is.
    LeansBroken(Breach),
}

impl Standing {
    /// Whether more seconds are needed.
    pub fn is_open(self) -> bool {
        matches!(self, Standing::LeansHeld | Standing::LeansBroken(_))
    }
}

/// Judges a probe.
#[derive(Debug)]
pub struct Judge<'a> {
    objectives: &'a [Objective],
    /// Iterations per second.
    rate: f64,
    /// Counted seconds before it is held.
    least: usize,
    /// Seconds at the start that are not counted.
    skipped: usize,
    seconds: Vec<ProbeSecond>,
}

/// So many counted seconds before an objective is broken.
const FEWEST_BROKEN: usize = 3;
/// From so many counted seconds on, a beginning that differs is looked for.
const ENOUGH_TO_CUT: usize = 6;
/// A growth of open iterations below this share of the rate breaks nothing within a probe.
const SLIGHT_GROWTH: f64 = 0.003;
/// Fewer steps are alike by chance.
const FEWEST_STEPS: usize = 4;
/// A growth by this share of the rate, and by so many times what chance does to that many requests, is a flood.
const FLOOD: f64 = 0.05;
const MANY: f64 = 5.0;
/// Open iterations are whole: the growth of a second is not known better than this.
const LEAST_SPREAD: f64 = 1.0;
/// A growth is possible that is so many standard errors above the one that was seen.
const MAYBE: f64 = 1.5;
/// A load is not held while a growth by this share of the rate is possible, or by so many requests a second.
const ALLOWED_GROWTH: f64 = 0.01;
const ALLOWED_REQUESTS: f64 = 3.0;

/// How many standard errors off a mean of so many seconds has to be.
fn bound(seconds: usize) -> f64 {
    2.6 + 4.0 / seconds as f64
}

/// The same for a growth, whose steps may be few.
fn growth_bound(steps: usize) -> f64 {
    2.6 + 12.0 / steps as f64
}

/// The same where the spread is known from the law of the values, not from the seconds.
const KNOWN_BOUND: f64 = 2.9;

impl<'a> Judge<'a> {
    /// `least`: so many seconds have to count before the load is held. `skipped`: so many at the start do not count.
    pub fn new(objectives: &'a [Objective], rate: f64, least: usize, skipped: usize) -> Judge<'a> {
        Judge { objectives, rate, least, skipped, seconds: Vec::new() }
    }

    /// Adds a second.
    pub fn add(&mut self, second: ProbeSecond) -> Standing {
        assert_eq!(second.tallies.len(), self.objectives.len(), "one for each objective");
        self.seconds.push(second);
        self.standing()
    }

    /// Seconds that count.
    pub fn counted(&self) -> usize {
        self.seconds.len().saturating_sub(self.skipped)
    }

    /// What the seconds so far say.
    pub fn standing(&self) -> Standing {
        let counted = self.seconds.get(self.skipped..).unwrap_or_default();
        let growth = self.growth();
        if growth.is_certain {
            return Standing::Broken(Breach::FallsBehind);
        }
        let (mut all_hold, mut worst) = (true, None);
        for (index, objective) in self.objectives.iter().enumerate() {
            let tallies: Vec<ObjectiveTally> = counted.iter().filter_map(|second| second.tallies[index]).collect();
            let Some(limit) = objective.limit() else {
                if tallies.iter().any(|tally| tally.amount > 0.0) {
                    return Standing::Broken(Breach::Objective(index));
                }
                all_hold &= !tallies.is_empty();
                continue;
            };
            let distance = MeanDistance::of(settled(&tallies, limit), limit, objective.is_share());
            // A slow beginning, of connections or of caches, is over when a second is good again.
            let is_over = tallies.last().is_some_and(|last| last.amount <= limit * last.samples);
            if distance.errors >= distance.bound && tallies.len() >= FEWEST_BROKEN && !is_over {
                return Standing::Broken(Breach::Objective(index));
            }
            all_hold &= distance.errors <= -distance.bound;
            if distance.errors > 0.0 && worst.is_none_or(|(errors, _)| distance.errors > errors) {
                worst = Some((distance.errors, index));
            }
        }
        if let Some((_, index)) = worst {
            return Standing::LeansBroken(Breach::Objective(index));
        }
        let is_growing = growth.possible > (ALLOWED_GROWTH * self.rate).max(ALLOWED_REQUESTS);
        match () {
            () if growth.is_likely => Standing::LeansBroken(Breach::FallsBehind),
            () if all_hold && !is_growing && counted.len() >= self.least => Standing::Held,
            () => Standing::LeansHeld,
        }
    }

    /// How the number of open iterations grows.
    fn growth(&self) -> Growth {
        // From the end of the last second that does not count.
        let seconds = self.seconds.get(self.skipped.saturating_sub(1)..).unwrap_or_default();
        let open: Vec<f64> = seconds.iter().filter_map(|second| second.open).collect();
        let steps: Vec<f64> = open.windows(2).map(|two| two[1] - two[0]).collect();
        if steps.len() < 2 {
            return Growth::default();
        }
        let (mean, variance) = mean_and_variance(&steps);
        let count = steps.len() as f64;
        let error = variance.sqrt().max(LEAST_SPREAD) / count.sqrt();
        let is_notable = mean >= SLIGHT_GROWTH * self.rate;
        // Two or three steps may be alike by chance: a flood is one all the same.
        let is_flood = mean >= FLOOD * self.rate && mean >= MANY * self.rate.sqrt() / count.sqrt();
        let is_clear = steps.len() >= FEWEST_STEPS && mean / error >= growth_bound(steps.len());
        Growth {
            is_certain: is_notable && (is_clear || is_flood),
            is_likely: is_notable && mean / error >= 2.0 * MAYBE,
            possible: (mean + MAYBE * error).max(0.0),
        }
    }

    /// The rate that was served for certain, if it was held: what the open iterations may have grown by is not.
    pub fn sustained(&self) -> f64 {
        (self.rate - self.growth().possible).max(0.0)
    }
}

#[derive(Default)]
struct Growth {
    is_certain: bool,
    is_likely: bool,
    /// By so many a second at most.
    possible: f64,
}

/// How far a mean is from its limit.
struct MeanDistance {
    /// In standard errors; below 0 is good.
    errors: f64,
    /// So far it has to be.
    bound: f64,
}

impl MeanDistance {
    fn of(tallies: &[ObjectiveTally], limit: f64, is_share: bool) -> MeanDistance {
        let seconds = tallies.len();
        let samples: f64 = tallies.iter().map(|tally| tally.samples).sum();
        if seconds < 2 || samples <= 0.0 {
            return MeanDistance { errors: 0.0, bound: 1.0 };
        }
        let beyond: Vec<f64> = tallies.iter().map(|tally| tally.amount - limit * tally.samples).collect();
        let (mean, variance) = mean_and_variance(&beyond);
        let correlation = within::correlation(&beyond);
        let by_seconds = variance * seconds as f64 * (1.0 + correlation) / (1.0 - correlation);
        let known = if is_share {
            samples * limit * (1.0 - limit)
        } else {
            let (amount, squares) = tallies
                .iter()
                .fold((0.0, 0.0), |(amount, squares), tally| (amount + tally.amount, squares + tally.squares));
            (squares - amount * amount / samples).max(0.0)
        };
        let total = mean * seconds as f64;
        let (spread, bound) =
            if by_seconds > known { (by_seconds.sqrt(), bound(seconds)) } else { (known.sqrt(), KNOWN_BOUND) };
        let errors = if spread > 0.0 { total / spread } else { total.signum() * f64::INFINITY };
        MeanDistance { errors, bound }
    }
}

/// Without a beginning that differs from the rest.
fn settled(tallies: &[ObjectiveTally], limit: f64) -> &[ObjectiveTally] {
    if tallies.len() < ENOUGH_TO_CUT {
        return tallies;
    }
    let beyond: Vec<f64> =
        tallies.iter().map(|tally| (tally.amount - limit * tally.samples) / tally.samples.max(1e-9)).collect();
    let error = |cut: usize| {
        let rest = &beyond[cut..];
        let (_, variance) = mean_and_variance(rest);
        variance / rest.len() as f64
    };
    let cut = (0..=tallies.len() / 2).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(0);
    &tallies[cut..]
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objectives() -> Vec<Objective> {
        vec![
            Objective::read("http_req_duration: p(95)<200").unwrap(),
            Objective::read("http_req_failed: rate<0.01").unwrap(),
        ]
    }

    /// A second with 300 requests of which so many are slow or failed.
    fn second(slow: f64, failed: f64, open: f64) -> ProbeSecond {
        let share = |amount: f64| Some(ObjectiveTally { samples: 300.0, amount, squares: amount });
        ProbeSecond { seconds: 1.0, open: Some(open), tallies: vec![share(slow), share(failed)] }
    }

    fn judged(seconds: &[ProbeSecond]) -> (usize, Standing) {
        let objectives = objectives();
        let mut judge = Judge::new(&objectives, 300.0, 3, 1);
        for second in seconds {
            let standing = judge.add(second.clone());
            if !standing.is_open() {
                return (judge.counted(), standing);
            }
        }
        (judge.counted(), judge.standing())
    }

    #[test]
    fn what_is_clear_is_soon_known() {
        let (seconds, standing) = judged(&vec![second(0.0, 0.0, 3.0); 9]);
        // Three failures in a thousand are no surprise with 1 %: the second objective takes longest.
        assert_eq!((seconds, standing), (3, Standing::Held));
        let slow: Vec<_> = (0..9).map(|at| second(if at == 0 { 0.0 } else { 200.0 }, 0.0, 3.0)).collect();
        assert_eq!(judged(&slow), (3, Standing::Broken(Breach::Objective(0))));
        assert_eq!(judged(&vec![second(0.0, 150.0, 3.0); 9]), (3, Standing::Broken(Breach::Objective(1))));
    }

    #[test]
    fn a_target_that_falls_behind_is_known_before_its_answers_are_slow() {
        let growing: Vec<_> = (0..9).map(|at| second(0.0, 0.0, 5.0 + 6.0 * f64::from(at))).collect();
        let (seconds, standing) = judged(&growing);
        assert_eq!(standing, Standing::Broken(Breach::FallsBehind));
        assert!(seconds <= 4, "{seconds}");
        let flood: Vec<_> = (0..9).map(|at| second(0.0, 0.0, 5.0 + 150.0 * f64::from(at))).collect();
        assert_eq!(judged(&flood), (2, Standing::Broken(Breach::FallsBehind)));
        let waves: Vec<_> = (0..19).map(|at| second(0.0, 0.0, [5.0, 9.0, 8.0][at % 3])).collect();
        assert_eq!(judged(&waves).1, Standing::Held);
        let wild: Vec<_> = (0..19).map(|at| second(0.0, 0.0, [5.0, 90.0, 40.0][at % 3])).collect();
        assert!(judged(&wild).1.is_open(), "so much noise hides a growth");
    }

    #[test]
    fn what_is_near_its_limit_stays_open() {
        let near: Vec<_> = (0..12).map(|at| second([13.0, 17.0, 14.5][at % 3], 0.0, 3.0)).collect();
        assert!(judged(&near).1.is_open());
        let above: Vec<_> = (0..12).map(|at| second([14.0, 18.0, 15.5][at % 3], 0.0, 3.0)).collect();
        assert_eq!(judged(&above).1, Standing::LeansBroken(Breach::Objective(0)));
    }

    #[test]
    fn seconds_that_go_together_count_for_less() {
        // 30 of 300 in bursts of six seconds are not 10 % for certain.
        let objectives = objectives();
        let mut judge = Judge::new(&objectives, 300.0, 3, 1);
        for at in 0..13 {
            let _open = judge.add(second(if at / 6 == 1 { 36.0 } else { 0.0 }, 0.0, 3.0));
        }
        assert!(judge.standing().is_open(), "{:?}", judge.standing());
    }

    #[test]
    fn a_beginning_that_differs_does_not_count() {
        let warming: Vec<_> = (0..14).map(|at| second(if at < 3 { 40.0 } else { 2.0 }, 0.0, 3.0)).collect();
        let (_, standing) = judged(&warming);
        assert_eq!(standing, Standing::Held);
    }

    #[test]
    fn one_value_is_enough_where_none_may_be() {
        let objectives = [Objective::read("checks: rate==1").unwrap()];
        let mut judge = Judge::new(&objectives, 10.0, 2, 1);
        let second = |amount: f64| ProbeSecond {
            seconds: 1.0,
            open: None,
            tallies: vec![Some(ObjectiveTally { samples: 10.0, amount, squares: amount })],
        };
        assert_eq!([judge.add(second(0.0)), judge.add(second(0.0))], [Standing::LeansHeld; 2]);
        assert_eq!(judge.add(second(0.0)), Standing::Held);
        assert_eq!(judge.add(second(1.0)), Standing::Broken(Breach::Objective(0)));
    }
}
