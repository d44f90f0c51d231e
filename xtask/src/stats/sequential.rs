//! The test that is asked after every pair: false alarms over all looks, what it finds, and after how many pairs.
//!
//! Five metrics without a difference, looked at after each of at most 20 pairs: any of them called changed at any look
//! is a false alarm. One metric of ratio 1.05: the share that is found, and the mean number of pairs until then (20
//! where nothing is found); the share of intervals at that moment that hold the true ratio, of each tenth set. Beside
//! it the fixed design: what 20 pairs find, and the fewest pairs of a fixed design that find at least as much as the
//! looks do, which only who knows the noise could have planned.

use report::stats::{self, Looks};

use super::noise::{NOISES, Noise};
use super::{METRICS, RATIO, Tally, questions};

const MOST: usize = 20;

/// Counts over the sets of one line.
#[derive(Clone, Debug)]
struct LooksTally {
    sets: usize,
    false_alarms: usize,
    found: usize,
    pairs: usize,
    /// Sets whose interval was looked at, and those where it holds the truth.
    intervals: usize,
    covered: usize,
    /// Found by the fixed test, by its number of pairs.
    fixed: Vec<usize>,
}

impl LooksTally {
    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.sets as f64
    }

    fn mean_pairs(&self) -> f64 {
        self.pairs as f64 / self.sets as f64
    }

    /// The fewest pairs of a fixed design that finds as much.
    fn planned(&self) -> Option<usize> {
        (1..=MOST).find(|pairs| self.fixed[*pairs] >= self.found)
    }

    fn broken(&self) -> Option<String> {
        let alarms = Tally { sets: self.sets, ..Tally::default() };
        let (found, most) = (self.percent(self.false_alarms), 5.0 + alarms.chance(5.0));
        if found > most {
            return Some(format!("{found:.2} % false alarms over all looks, at most 5 % are promised"));
        }
        let covered = 100.0 * self.covered as f64 / self.intervals.max(1) as f64;
        let least = 95.0 - Tally { sets: self.intervals.max(1), ..Tally::default() }.chance(95.0);
        (covered < least).then(|| format!("the interval covers the truth in {covered:.2} % of the sets, expected 95 %"))
    }
}

/// Prints the table; what is not kept.
pub fn run(sets: usize, seed: u64) -> Vec<String> {
    println!("\nsequential: looked at after each of at most {MOST} pairs; percent of {sets} sets\n");
    println!(
        "{:<12} false alarms   found  mean pairs  of {MOST}  coverage   found by {MOST} fixed  \
         fixed pairs that find as much",
        "noise"
    );
    let mut broken = Vec::new();
    for noise in NOISES {
        let tally = simulate(noise, sets, seed);
        let mean = tally.mean_pairs();
        println!(
            "{:<12} {:>12.2}  {:>6.1}  {mean:>10.1}  {:>3.0} %  {:>8.1}  {:>18.1}  {:>29}",
            noise.name,
            tally.percent(tally.false_alarms),
            tally.percent(tally.found),
            100.0 * mean / MOST as f64,
            100.0 * tally.covered as f64 / tally.intervals.max(1) as f64,
            tally.percent(tally.fixed[MOST]),
            tally.planned().map_or(String::from("more"), |pairs| pairs.to_string()),
        );
        broken.extend(tally.broken().map(|why| format!("sequential, {}: {why}", noise.name)));
    }
    broken
}

fn simulate(noise: &Noise, sets: usize, seed: u64) -> LooksTally {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tally =
        LooksTally { sets, false_alarms: 0, found: 0, pairs: 0, intervals: 0, covered: 0, fixed: vec![0; MOST + 1] };
    let (many, one) = (Looks { most_pairs: MOST, tests: METRICS }, Looks { most_pairs: MOST, tests: 1 });
    let level = [1.0 - stats::CONFIDENCE];
    for set in 0..sets {
        let same = noise.session(&mut random, MOST, METRICS, 1.0);
        // p-values never rise again, so those of the last look say what any look said.
        let p_values: Vec<f64> = questions(&same).iter().map(|question| many.p_value(&question.differences)).collect();
        tally.false_alarms += usize::from(stats::adjust(&p_values).iter().any(|p| *p <= level[0]));
        let apart = noise.session(&mut random, MOST, 1, RATIO).differences(0);
        let stop = one.stops(&apart, &level)[0];
        tally.found += usize::from(stop.is_some());
        tally.pairs += stop.map_or(MOST, |(pairs, _)| pairs);
        if set % 10 == 0 {
            let until = stop.map_or(MOST, |(pairs, _)| pairs);
            let (low, high) = one.estimate(&apart[..until]).interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            tally.intervals += 1;
            tally.covered += usize::from(low <= RATIO.ln() && RATIO.ln() <= high);
        }
        for pairs in 6..=MOST {
            tally.fixed[pairs] += usize::from(stats::p_value(&apart[..pairs]) <= level[0]);
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise in short, and that stopping saves what it is for.
    #[test]
    fn keeps_the_promise_at_all_looks_with_fewer_pairs() {
        for noise in NOISES {
            let tally = simulate(noise, 400, 7);
            assert_eq!(tally.broken(), None, "{}: {tally:?}", noise.name);
            if noise.name != "lognormal" {
                assert!(tally.mean_pairs() < 0.6 * MOST as f64, "{}: {tally:?}", noise.name);
                assert!(tally.percent(tally.found) > 87.0, "{}: {tally:?}", noise.name);
            }
        }
    }

    #[test]
    fn a_tally_out_of_bounds_is_told() {
        let fixed = Vec::new();
        let tally = LooksTally { sets: 400, false_alarms: 20, found: 0, pairs: 0, intervals: 40, covered: 38, fixed };
        assert_eq!(tally.broken(), None);
        assert!(
            LooksTally { false_alarms: 40, ..tally.clone() }.broken().is_some_and(|why| why.contains("10.00 % false"))
        );
        assert!(LooksTally { covered: 30, ..tally }.broken().is_some_and(|why| why.contains("75.00 %")));
    }
}
