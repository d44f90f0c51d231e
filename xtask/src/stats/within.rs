//! One run of each, compared by their seconds: coverage of the interval, and false alarms, when seconds go by the one
//! before.
//!
//! Seconds follow an autoregressive process with a deviation of 3 %; half of it is common to the metrics of a run. B
//! alone has a warm-up: its first 15 % of seconds are 30 % slower. *Coverage* is that of the difference between the two
//! runs, which is all that an interval from within them promises. *Of A and B* is the coverage of the difference
//! between the programs when runs of one program differ by a deviation of 2 %: it shows why such evidence is weaker.
//! *False alarms* are sets of five metrics without a difference between A and B in which any is called changed, with
//! runs alike and 2 % apart. *Found* is a change by 15 %, runs 2 % apart.

use fastrand::Rng;
use report::stats::within::{RUN_TO_RUN, answer_with, blocks, spread, warm_up};
use report::stats::{Direction, Question, estimate};

use super::METRICS;
use super::noise::normal;

const DEVIATION: f64 = 0.03;
const RATIO: f64 = 1.15;
/// Deviation from one run of a program to the next.
const APART: f64 = 0.02;
/// The promise: from so many seconds on, up to this correlation.
const PROMISED_SECONDS: usize = 30;
const PROMISED_CORRELATION: f64 = 0.6;

/// Lengths of runs and correlations from one second to the next.
const LINES: [(usize, f64); 14] = [
    (10, 0.0),
    (10, 0.3),
    (10, 0.6),
    (20, 0.0),
    (20, 0.3),
    (20, 0.6),
    (30, 0.6),
    (60, 0.0),
    (60, 0.3),
    (60, 0.6),
    (60, 0.8),
    (60, 0.9),
    (300, 0.6),
    (300, 0.9),
];

/// Counts over the sets of one line.
#[derive(Clone, Copy, Debug, Default)]
struct WithinTally {
    sets: usize,
    covered: usize,
    covered_programs: usize,
    alarms: usize,
    alarms_apart: usize,
    found: usize,
}

impl WithinTally {
    fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.sets as f64
    }

    /// Why the promise is not kept, allowing for chance.
    fn broken(&self, seconds: usize, correlation: f64) -> Option<String> {
        let chance = |percent: f64| 3.0 * (percent * (100.0 - percent) / self.sets as f64).sqrt();
        let covered = self.percent(self.covered);
        let is_promised = seconds >= PROMISED_SECONDS && correlation <= PROMISED_CORRELATION;
        if is_promised && covered < 90.0 - chance(90.0) {
            return Some(format!(
                "the interval covers the difference of the runs in {covered:.2} %, 90 % are promised"
            ));
        }
        let alarms = self.percent(self.alarms.max(self.alarms_apart));
        let wrong = is_promised && alarms > 5.0 + chance(5.0);
        wrong.then(|| format!("{alarms:.2} % false alarms, at most 5 % are promised"))
    }
}

/// Prints the table; the promises that are not kept.
pub fn run(sets: usize, seed: u64) -> Vec<String> {
    println!("\none run of each, by its seconds; percent of sets\n");
    println!("seconds  correlation  coverage  of A and B  false alarms  2 % apart   found");
    let mut broken = Vec::new();
    for (seconds, correlation) in LINES {
        let tally = simulate(seconds, correlation, sets, seed);
        let [covered, programs, alarms, apart, found] =
            [tally.covered, tally.covered_programs, tally.alarms, tally.alarms_apart, tally.found]
                .map(|count| tally.percent(count));
        println!(
            "{seconds:>7}  {correlation:>11}  {covered:>8.2}  {programs:>10.2}  {alarms:>12.2}  {apart:>9.2}  \
             {found:>6.1}"
        );
        let why = tally.broken(seconds, correlation);
        broken.extend(why.map(|why| format!("one run of {seconds} s, correlation {correlation}: {why}")));
    }
    broken
}

fn simulate(seconds: usize, correlation: f64, sets: usize, seed: u64) -> WithinTally {
    let mut random = Rng::with_seed(seed);
    let mut tally = WithinTally { sets, ..WithinTally::default() };
    for _ in 0..sets {
        for apart in [0.0, APART] {
            let same = pair(&mut random, seconds, correlation, METRICS, 1.0, apart);
            let alarms = if apart > 0.0 { &mut tally.alarms_apart } else { &mut tally.alarms };
            *alarms += usize::from(is_changed(&same.metrics));
        }
        let changed = pair(&mut random, seconds, correlation, 1, RATIO, APART);
        let interval = estimate(&changed.metrics[0]).interval;
        let covers = |truth: f64| interval.is_some_and(|(low, high)| low <= truth && truth <= high);
        tally.covered += usize::from(covers(changed.truth));
        tally.covered_programs += usize::from(covers(RATIO.ln()));
        tally.found += usize::from(is_changed(&changed.metrics));
    }
    tally
}

fn is_changed(metrics: &[Vec<f64>]) -> bool {
    let question = |differences: &Vec<f64>| Question {
        differences: differences.clone(),
        direction: Direction::Lower,
        margin: (0.0, 0.0),
    };
    let questions: Vec<Question> = metrics.iter().map(question).collect();
    let allowance = ((1.0 - RUN_TO_RUN).ln(), (1.0 + RUN_TO_RUN).ln());
    let answers = answer_with(&questions, &vec![allowance; questions.len()]);
    answers.iter().any(|answer| answer.verdict.is_change())
}

/// One run of A and one of B.
struct TwoRuns {
    /// Differences of blocks by metric, as `compare` has them.
    metrics: Vec<Vec<f64>>,
    /// ln of how far these two runs are apart.
    truth: f64,
}

fn pair(random: &mut Rng, seconds: usize, correlation: f64, metrics: usize, ratio: f64, apart: f64) -> TwoRuns {
    let luck = [apart * normal(random), apart * normal(random)];
    let truth = ratio.ln() + luck[1] - luck[0];
    let common = [0, 1].map(|_| series(random, seconds, correlation));
    let metric = |random: &mut Rng| {
        let run = |random: &mut Rng, of: usize, level: f64| -> Vec<f64> {
            // Half of the variance is the metric's own; alone, a metric has it all in common.
            let own = if metrics > 1 { series(random, seconds, correlation) } else { common[of].clone() };
            let weight = if metrics > 1 { std::f64::consts::FRAC_1_SQRT_2 } else { 0.5 };
            let warm = |second: usize| if of == 1 && 20 * second < 3 * seconds { 0.3 } else { 0.0 };
            let noise = own.iter().zip(&common[of]).enumerate();
            noise.map(|(at, (own, common))| 100.0 * (level + weight * (own + common) + warm(at)).exp()).collect()
        };
        let (a, b) = (run(random, 0, 0.0), run(random, 1, truth));
        let blocks = blocks(seconds).expect("long enough");
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let differences: Vec<f64> =
            blocks.iter().map(|block| (mean(&b[block.clone()]) / mean(&a[block.clone()])).ln()).collect();
        let by_second: Vec<f64> = (warm_up(seconds)..seconds).map(|at| (b[at] / a[at]).ln()).collect();
        spread(&differences, &by_second)
    };
    TwoRuns { metrics: (0..metrics).map(|_| metric(random)).collect(), truth }
}

/// Seconds of which each goes by the one before.
fn series(random: &mut Rng, seconds: usize, correlation: f64) -> Vec<f64> {
    let fresh = DEVIATION * (1.0 - correlation * correlation).sqrt();
    let mut now = DEVIATION * normal(random);
    let next = |random: &mut Rng, now: f64| correlation * now + fresh * normal(random);
    (0..seconds)
        .map(|_| {
            let value = now;
            now = next(random, now);
            value
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_of_each_keeps_what_is_promised() {
        for (seconds, correlation) in [(30, 0.6), (60, 0.3), (60, 0.6)] {
            let tally = simulate(seconds, correlation, 400, 7);
            assert_eq!(tally.broken(seconds, correlation), None, "{seconds} s, {correlation}: {tally:?}");
            assert!(tally.percent(tally.found) > 50.0, "{seconds} s, {correlation}: {tally:?}");
        }
    }

    /// The check above must be able to fail.
    #[test]
    fn a_tally_out_of_bounds_is_told() {
        let good = WithinTally { sets: 400, covered: 370, ..WithinTally::default() };
        assert_eq!(good.broken(30, 0.6), None);
        assert!(WithinTally { covered: 300, ..good }.broken(30, 0.6).is_some_and(|why| why.contains("75.00 %")));
        assert!(
            WithinTally { alarms_apart: 60, ..good }
                .broken(30, 0.6)
                .is_some_and(|why| why.contains("15.00 % false alarms"))
        );
        assert_eq!(WithinTally { covered: 300, ..good }.broken(30, 0.9), None, "not promised");
    }
}
