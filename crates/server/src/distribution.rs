//! Laws of waiting times: the n-th draw of a seed is the same in every run, on every machine and in every version.
//!
//! So the numbers come from splitmix64, written out here, by way of the law's quantile function: no state, and a draw
//! can be repeated by its number. What a law would make longer than a minute is a minute.

use std::time::Duration;

/// The longest wait.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// How waiting times are distributed; times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Distribution {
    Constant(f64),
    Uniform(f64, f64),
    /// By its mean.
    Exponential(f64),
    /// By mean and deviation; what falls below zero is zero.
    Normal(f64, f64),
    /// By its median and the deviation of the logarithm.
    Lognormal(f64, f64),
    /// By its least value and its exponent.
    Pareto(f64, f64),
    /// One after the other, and again.
    List(Vec<f64>),
}

/// What is accepted, for error messages.
pub(crate) const DISTRIBUTIONS: &str = "constant(5ms), uniform(1ms,9ms), exponential(5ms), normal(5ms,1ms), \
    lognormal(5ms,0.5), pareto(1ms,2) or list(1ms,5ms)";

impl Distribution {
    /// `name(a,b)`, where times are read by `time`; `None` when it is no law.
    pub(crate) fn parse(text: &str, time: impl Fn(&str) -> Option<Duration>) -> Option<Distribution> {
        let (name, arguments) = text.trim().strip_suffix(')')?.split_once('(')?;
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let time = |text: &&str| time(text).map(|t| t.as_secs_f64());
        let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        Some(match (name, &arguments[..]) {
            ("constant", [a]) => Distribution::Constant(time(a)?),
            ("uniform", [a, b]) => Distribution::Uniform(time(a)?, time(b)?),
            ("exponential", [mean]) => Distribution::Exponential(time(mean)?),
            ("normal", [mean, deviation]) => Distribution::Normal(time(mean)?, time(deviation)?),
            ("lognormal", [median, sigma]) => Distribution::Lognormal(time(median)?, number(sigma)?),
            ("pareto", [least, exponent]) => Distribution::Pareto(time(least)?, number(exponent).filter(|n| *n > 0.0)?),
            ("list", times) => Distribution::List(times.iter().map(time).collect::<Option<_>>()?),
            _ => return None,
        })
    }

    /// The n-th waiting time of that seed, n from 0.
    pub(crate) fn draw(&self, seed: u64, n: u64) -> Duration {
        let u = uniform(seed, 2 * n);
        debug_assert!((0.0..1.0).contains(&u), "a draw lies from 0 up to 1: {u}");
        let seconds = match self {
            Distribution::Constant(time) => *time,
            Distribution::Uniform(a, b) => a + (b - a) * u,
            Distribution::Exponential(mean) => -mean * (1.0 - u).ln(),
            Distribution::Normal(mean, deviation) => mean + deviation * gauss(u, uniform(seed, 2 * n + 1)),
            Distribution::Lognormal(median, sigma) => median * (sigma * gauss(u, uniform(seed, 2 * n + 1))).exp(),
            Distribution::Pareto(least, exponent) => least * (1.0 - u).powf(-1.0 / exponent),
            Distribution::List(times) => times[(n % times.len() as u64) as usize],
        };
        Duration::try_from_secs_f64(seconds.max(0.0)).map_or(LONGEST, |time| time.min(LONGEST))
    }
}

/// Box and Muller's way to a standard normal number.
fn gauss(u: f64, v: f64) -> f64 {
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// From 0 up to, but without, 1, by the top 53 bits.
fn uniform(seed: u64, n: u64) -> f64 {
    let bits = mix(mix(seed).wrapping_add(n));
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// One step of splitmix64 (Steele, Lea and Flood, 2014).
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(text: &str) -> Option<Distribution> {
        Distribution::parse(text, |t| t.strip_suffix("ms")?.parse().ok().map(Duration::from_millis))
    }

    #[test]
    fn the_generator_is_splitmix64() {
        // The first outputs for the state 0, as every implementation has them.
        let first: Vec<u64> = (0..3).map(|n: u64| mix(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn draws_follow_their_law() {
        let of = |text: &str| -> Vec<f64> {
            let law = law(text).unwrap();
            let mut draws: Vec<f64> = (0..20_000).map(|n| law.draw(7, n).as_secs_f64() * 1e3).collect();
            draws.sort_by(f64::total_cmp);
            draws
        };
        // The same numbers always come, so the bounds need no luck: median and 90th percentile in ms.
        for (text, median, p90) in [
            ("constant(5ms)", 5.0, 5.0),
            ("uniform(10ms,20ms)", 15.0, 19.0),
            ("exponential(10ms)", 6.931, 23.026),
            ("normal(50ms,10ms)", 50.0, 62.816),
            ("lognormal(10ms,0.5)", 10.0, 18.980),
            ("pareto(10ms,2)", 14.142, 31.623),
        ] {
            let draws = of(text);
            let off = |at: usize, want: f64| (draws[at] - want).abs() / want;
            assert!(
                off(10_000, median) < 0.02 && off(18_000, p90) < 0.02,
                "{text}: {} {}",
                draws[10_000],
                draws[18_000]
            );
        }
    }

    #[test]
    fn a_draw_depends_on_seed_and_number_alone() {
        let law = law("uniform(0ms,1000ms)").unwrap();
        let draws = |seed| (0..4).map(|n| law.draw(seed, n).as_micros()).collect::<Vec<_>>();
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
        // Other numbers would break those who compare runs of different versions.
        assert_eq!(draws(1), [368_189, 737_699, 870_913, 189_933]);
        let list = Distribution::List(vec![0.001, 0.005]);
        assert_eq!((0..3).map(|n| list.draw(9, n).as_millis()).collect::<Vec<_>>(), [1, 5, 1]);
    }

    #[test]
    fn what_is_no_law_is_refused() {
        for text in [
            "",
            "constant",
            "constant()",
            "constant(5)",
            "uniform(1ms)",
            "normal(1ms,2)",
            "pareto(1ms,0)",
            "gamma(1ms)",
        ] {
            assert_eq!(law(text), None, "{text}");
        }
        assert_eq!(law("pareto(9ms,0.001)").unwrap().draw(1, 1), LONGEST);
    }
}
