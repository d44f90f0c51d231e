//! `cargo xtask stats`: does `onrush compare` keep what it promises? Sets of simulated runs with known noise and known
//! truth.
//!
//! Each line is a distribution of noise and a number of pairs. *False alarms* are sets without a difference in which
//! any of five metrics is called changed (margin 0, so that nothing is hidden as too small); they may be 5 %.
//! *Coverage* is the share of sets whose 95 % interval holds the true ratio, 1.05; it has to be 93-97 %. *Found* is the
//! share of those sets where one metric is called changed. Beside them stands what Student's t interval on logarithms
//! would do: with noise as wild as real machines have it covers as well and finds less, which is why ranks are used.
//! `sequential` does it for pairs that are looked at after each one, `within` for one run of each, `capacity` for the
//! interval of `onrush capacity`. The short form of this runs with `cargo test`.

mod capacity;
mod noise;
mod sequential;
mod targets;
mod within;

use report::stats::{self, Direction, Question};

use noise::{NOISES, Noise, Session};

const RATIO: f64 = 1.05;
const METRICS: usize = 5;
const PAIRS: [usize; 4] = [6, 8, 10, 20];

/// Counts over the sets of one line.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sets: usize,
    false_alarms: usize,
    covered: usize,
    found: usize,
    t_covered: usize,
    t_found: usize,
}

impl Tally {
    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.sets as f64
    }

    /// What a share of `percent` may be off by chance, in percent: three standard errors.
    fn chance(&self, percent: f64) -> f64 {
        3.0 * (percent * (100.0 - percent) / self.sets as f64).sqrt()
    }

    /// Why the promise is not kept, allowing for chance.
    fn broken(&self) -> Option<String> {
        let (alarms, covered) = (self.percent(self.false_alarms), self.percent(self.covered));
        if alarms > 5.0 + self.chance(5.0) {
            return Some(format!("{alarms:.2} % false alarms, at most 5 % are promised"));
        }
        let (low, high) = (93.0 - self.chance(93.0), 97.0 + self.chance(97.0));
        let wrong = !(low..=high).contains(&covered);
        wrong.then(|| format!("the interval covers the truth in {covered:.2} % of the sets, 93-97 % are promised"))
    }
}

/// Runs the full simulation: `[SETS [SEED]]`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, default: u64| match arguments.get(at) {
        Some(text) => {
            text.parse().map_err(|_| format!("found '{text}', expected a number: cargo xtask stats [SETS [SEED]]"))
        }
        None => Ok(default),
    };
    let (sets, seed) = (number(0, 10_000)? as usize, number(1, 1)?);
    println!("{sets} sets a line, seed {seed}; percent of sets\n");
    println!("{:<12} pairs  false alarms  coverage   found   t coverage  t found", "noise");
    let mut broken = Vec::new();
    for noise in NOISES {
        for pairs in PAIRS {
            let tally = simulate(noise, pairs, sets, seed);
            let [alarms, covered, found, t_covered, t_found] =
                [tally.false_alarms, tally.covered, tally.found, tally.t_covered, tally.t_found]
                    .map(|n| tally.percent(n));
            println!(
                "{:<12} {pairs:>5}  {alarms:>12.2}  {covered:>8.2}  {found:>6.1}  {t_covered:>11.2}  {t_found:>7.1}",
                noise.name
            );
            broken.extend(tally.broken().map(|why| format!("{}, {pairs} pairs: {why}", noise.name)));
        }
    }
    broken.extend(sequential::run(sets, seed));
    broken.extend(within::run(sets, seed));
    broken.extend(capacity::run(sets / 50, seed));
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

fn simulate(noise: &Noise, pairs: usize, sets: usize, seed: u64) -> Tally {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tally = Tally { sets, ..Tally::default() };
    for _ in 0..sets {
        let same = noise.session(&mut random, pairs, METRICS, 1.0);
        let answers = stats::answer(&questions(&same));
        tally.false_alarms += usize::from(answers.iter().any(|answer| answer.verdict.is_change()));
        let apart = noise.session(&mut random, pairs, 1, RATIO);
        let answer = stats::answer(&questions(&apart)).remove(0);
        let truth = RATIO.ln();
        tally.covered += usize::from(answer.estimate.interval.is_some_and(|(low, high)| low <= truth && truth <= high));
        tally.found += usize::from(answer.verdict.is_change());
        let (low, high) = students_interval(&apart.differences(0));
        tally.t_covered += usize::from(low <= truth && truth <= high);
        tally.t_found += usize::from(low > 0.0 || high < 0.0);
    }
    tally
}

fn questions(session: &Session) -> Vec<Question> {
    let question =
        |metric| Question { differences: session.differences(metric), direction: Direction::Lower, margin: (0.0, 0.0) };
    (0..session.metrics()).map(question).collect()
}

/// The textbook's interval for the mean difference.
fn students_interval(differences: &[f64]) -> (f64, f64) {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let quantile = match differences.len() {
        6 => 2.571,
        8 => 2.365,
        10 => 2.262,
        _ => 2.093,
    };
    let reach = quantile * (variance / n).sqrt();
    (mean - reach, mean + reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise in short: a few hundred sets a line, chance allowed for.
    #[test]
    fn keeps_the_promises_for_every_noise() {
        for noise in NOISES {
            for pairs in [6, 10] {
                let tally = simulate(noise, pairs, 1_000, 7);
                assert_eq!(tally.broken(), None, "{}, {pairs} pairs: {tally:?}", noise.name);
            }
        }
    }

    /// The check above must be able to fail: an interval half as wide covers far too little.
    #[test]
    fn a_tally_out_of_bounds_is_told() {
        let sets = 400;
        let good = Tally { sets, false_alarms: 15, covered: 380, ..Tally::default() };
        assert_eq!(good.broken(), None);
        assert!(Tally { covered: 330, ..good }.broken().is_some_and(|why| why.contains("82.50 %")));
        assert!(Tally { covered: sets, ..good }.broken().is_some());
        assert!(Tally { false_alarms: 40, ..good }.broken().is_some_and(|why| why.contains("10.00 % false alarms")));
    }
}
