//! Whatever the values, and however they are dealt out and put together again: every figure has the same bits.

mod told;

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use onrush_metrics::metric::{Contains, Kind};
use onrush_metrics::{Aggregate, MetricId, Recorder, Registry, Snapshot, TagSet, Thresholds};
use told::told;

const SECOND: Duration = Duration::from_secs(1);

/// Latencies, signed fractions, bytes, whole numbers, numbers of any size, subnormal ones, the very largest.
fn value(rng: &mut Rng, mixture: usize) -> f64 {
    let sign = if rng.bool() { 1.0 } else { -1.0 };
    match mixture {
        0 => rng.u64(1..5_000_000) as f64 / 1e6,
        1 => sign * rng.f64() / 3.0,
        2 => rng.u64(..) as f64,
        3 => rng.i32(-3..4).into(),
        4 => loop {
            let value = f64::from_bits(rng.u64(..));
            if value.is_finite() {
                break value;
            }
        },
        5 => sign * f64::from_bits(rng.u64(..1 << 52)),
        6 => sign * f64::MAX * (1.0 - rng.f64() / 1e3),
        _ => {
            let mixture = rng.usize(..7);
            value(rng, mixture)
        }
    }
}

const MIXTURES: usize = 8;

struct Run {
    registry: Arc<Registry>,
    metrics: [MetricId; 4],
}

impl Run {
    fn new() -> Run {
        let registry = Registry::new();
        let define = |name: &str, kind| registry.define(name, kind, Contains::Default).expect("a new name");
        let metrics = [
            define("a_trend", Kind::Trend),
            define("a_counter", Kind::Counter),
            define("a_gauge", Kind::Gauge),
            define("a_rate", Kind::Rate),
        ];
        Run { registry, metrics }
    }

    fn add(&self, recorder: &Recorder, value: f64, at_ns: u64) {
        for metric in self.metrics {
            recorder.add(recorder.series(metric, &TagSet::empty()), value, at_ns);
        }
    }

    fn told(&self, snapshots: Vec<Snapshot>) -> String {
        let mut aggregate = Aggregate::new(self.registry.clone(), Thresholds::default());
        snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
        told(&aggregate.results(SECOND, false))
    }
}

#[test]
fn any_split_in_any_order_has_the_same_bits() {
    for seed in 0..120 {
        let mut rng = Rng::with_seed(seed);
        let mixture = rng.usize(..MIXTURES);
        let values: Vec<f64> = (0..rng.usize(1..600)).map(|_| value(&mut rng, mixture)).collect();
        let run = Run::new();
        let one = Recorder::new(run.registry.clone());
        let many: Vec<Recorder> = (0..rng.usize(1..9)).map(|_| Recorder::new(run.registry.clone())).collect();
        let mut taken = Vec::new();
        for (at, value) in values.iter().enumerate() {
            run.add(&one, *value, at as u64);
            let recorder = rng.choice(&many).expect("one at least");
            run.add(recorder, *value, at as u64);
            if rng.u32(..50) == 0 {
                taken.push(recorder.take());
            }
        }
        taken.extend(many.iter().map(Recorder::take));
        rng.shuffle(&mut taken);
        assert_eq!(run.told(taken), run.told(vec![one.take()]), "seed {seed}, mixture {mixture}");
    }
}

/// Against whole numbers: values are some 2^-20 each, so that their sum in such units is one.
#[test]
fn sums_and_means_are_the_true_ones_rounded_once() {
    for seed in 0..50 {
        let mut rng = Rng::with_seed(seed);
        let units: Vec<i64> = (0..rng.usize(1..2_000)).map(|_| rng.i64(-(1 << 52)..1 << 52) >> rng.u32(..50)).collect();
        let (run, scale) = (Run::new(), f64::from(1 << 20));
        let recorder = Recorder::new(run.registry.clone());
        units.iter().enumerate().for_each(|(at, unit)| run.add(&recorder, *unit as f64 / scale, at as u64));
        let mut aggregate = Aggregate::new(run.registry.clone(), Thresholds::default());
        aggregate.merge(recorder.take());
        let (sum, count) = (units.iter().map(|unit| i128::from(*unit)).sum::<i128>(), units.len() as i128);
        let results = aggregate.results(SECOND, false);
        let onrush_metrics::results::Value::Trend(trend) = &results.metric("a_trend").unwrap().value else {
            panic!("a trend")
        };
        assert_eq!(trend.sum(), sum as f64 / scale);
        assert_eq!(aggregate.live(run.metrics[1]), sum as f64 / scale);
        // The true mean lies between the neighbours of the one that is told: in 2^-52 of a unit, exactly.
        let avg = trend.avg();
        let fine = |value: f64| (value * scale * 2_f64.powi(40)) as i128 * count;
        let (low, true_mean, high) = (fine(avg.next_down()), sum << 40, fine(avg.next_up()));
        assert!(low - count <= true_mean && true_mean <= high + count, "{avg}: {low} {true_mean} {high}");
    }
}
