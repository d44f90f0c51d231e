//! Distributions of noise that simulated runs follow, and sessions of paired runs made by them.
//!
//! A session is what a matrix makes: in each round A and B run by turns, who begins is drawn. Some noise is common to
//! all metrics of a run (a slow run is slow in everything), the rest is each metric's own. All sizes are those of real
//! short runs: some percent.

use fastrand::Rng;

/// How the value of a run strays from the truth.
pub struct Noise {
    /// What it is called in the table.
    pub name: &'static str,
    /// One deviation of the logarithm.
    noise: fn(&mut Rng) -> f64,
    /// How far the machine wanders from one run to the next, and how much slower it becomes over the whole session.
    wander: f64,
    ramp: f64,
    /// Values are multiples of this, 0 for any; the truth of A is 100.
    grid: f64,
}

/// Every distribution of the table.
pub const NOISES: &[Noise] = &[
    Noise { name: "normal", noise: |r| (1.0 + 0.03 * normal(r)).ln(), wander: 0.0, ramp: 0.0, grid: 0.0 },
    Noise { name: "lognormal", noise: |r| 0.25 * normal(r), wander: 0.0, ramp: 0.0, grid: 0.0 },
    Noise { name: "exponential", noise: |r| -0.03 * (1.0 - r.f64()).ln(), wander: 0.0, ramp: 0.0, grid: 0.0 },
    // Student's t with two degrees of freedom: its variance is infinite.
    Noise { name: "heavy tails", noise: |r| 0.02 * student_2(r), wander: 0.0, ramp: 0.0, grid: 0.0 },
    Noise { name: "neighbours", noise: spoiled, wander: 0.0, ramp: 0.0, grid: 0.0 },
    Noise { name: "drift", noise: |r| 0.02 * normal(r), wander: 0.02, ramp: 0.45, grid: 0.0 },
    Noise { name: "ties", noise: |r| 0.03 * normal(r), wander: 0.0, ramp: 0.0, grid: 1.0 },
];

/// Runs of both variants, by metric and round.
pub struct Session {
    values: Vec<Vec<(f64, f64)>>,
}

impl Session {
    /// Number of metrics.
    pub fn metrics(&self) -> usize {
        self.values.len()
    }

    /// ln(B / A) of each round.
    pub fn differences(&self, metric: usize) -> Vec<f64> {
        self.values[metric].iter().map(|(a, b)| (b / a).ln()).collect()
    }
}

impl Noise {
    /// A session where B's values are `ratio` times A's.
    pub fn session(&self, random: &mut Rng, pairs: usize, metrics: usize, ratio: f64) -> Session {
        let mut values = vec![vec![(0.0, 0.0); pairs]; metrics];
        let mut machine = 0.0;
        for round in 0..pairs {
            let a_first = random.bool();
            for turn in 0..2 {
                machine += self.wander * normal(random) + self.ramp / (2 * pairs) as f64;
                let is_a = a_first == (turn == 0);
                let common = machine + (self.noise)(random);
                for metric in &mut values {
                    // Half of the noise is the metric's own; alone, a metric has it all in common.
                    let own = if metrics > 1 { (self.noise)(random) } else { 0.0 };
                    let truth = if is_a { 100.0 } else { 100.0 * ratio };
                    let value = self.on_grid(truth * (common + own).exp());
                    if is_a { metric[round].0 = value } else { metric[round].1 = value }
                }
            }
        }
        Session { values }
    }

    fn on_grid(&self, value: f64) -> f64 {
        if self.grid > 0.0 { (value / self.grid).round().max(1.0) * self.grid } else { value }
    }
}

/// Box and Muller.
pub fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

fn student_2(random: &mut Rng) -> f64 {
    let u = 2.0 * random.f64() - 1.0;
    // By inversion; the ends of the interval would be infinite.
    let u = u.clamp(-1.0 + 1e-12, 1.0 - 1e-12);
    u * (2.0 / (1.0 - u * u)).sqrt()
}

/// One run in eight is slowed by somebody else's work, by up to half.
fn spoiled(random: &mut Rng) -> f64 {
    let quiet = 0.01 * normal(random);
    if random.u32(..8) == 0 { quiet + 0.4 * random.f64() } else { quiet }
}
