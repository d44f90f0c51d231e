//! What one set of sinks gets while it is filled.
//!
//! A sample feeds several sinks: its metric's total, sub-metrics, a row of the table of requests. It is added once, to
//! the cell of exactly these sinks, and the cell is merged into each of them when the recorder is emptied. All sums are
//! exact, so no result can tell this from adding the sample to each sink.
//!
//! Most samples of a request are 0 (nothing to look up, connect or shake hands for): they are only counted. So it is
//! with a Counter's sample that is the same as the one before: an exact sum has questions to ask of each value.
//!
//! Refused: gauges, which want to know when each value came. Their samples go to the sinks at once.

use crate::counter_sum::CounterSum;
use crate::naming::metric::Kind;
use crate::sink::Sink;
use crate::trend::Trend;

/// A set of sinks while it is filled.
pub(crate) struct Cell {
    /// All samples, those that were 0 too. Those of bundles join when the recorder is emptied; until then a refused one
    /// may have taken the number below 0.
    samples: u64,
    held: Held,
}

/// What the samples other than 0 added up to.
enum Held {
    Trend(Trend),
    Counter {
        sum: CounterSum,
        /// The value that came last.
        value: f64,
        /// How often in a row; not in the sum yet.
        times: u64,
    },
    Rate {
        passes: u64,
    },
    Gauge,
}

impl Cell {
    pub(crate) fn new(kind: Kind) -> Self {
        let held = match kind {
            Kind::Trend => Held::Trend(Trend::default()),
            Kind::Counter => Held::Counter { sum: CounterSum::default(), value: 0.0, times: 0 },
            Kind::Rate => Held::Rate { passes: 0 },
            Kind::Gauge => Held::Gauge,
        };
        Cell { samples: 0, held }
    }

    /// Adds a finite value.
    #[inline(always)]
    pub(crate) fn add(&mut self, value: f64) {
        self.samples = self.samples.wrapping_add(1);
        if value != 0.0 {
            self.add_other(value);
        }
    }

    /// Adds a finite value other than 0, and leaves counting it to `count`.
    #[inline(always)]
    pub(crate) fn add_other(&mut self, value: f64) {
        match &mut self.held {
            Held::Trend(trend) => trend.add_other(value),
            Held::Counter { value: last, times, .. } if value == *last => *times += 1,
            Held::Counter { .. } => self.add_another(value),
            Held::Rate { passes } => *passes += 1,
            Held::Gauge => debug_assert!(false, "a gauge wants to know when"),
        }
    }

    /// The same for a Trend's value above 0.
    #[inline(always)]
    pub(crate) fn add_above_zero(&mut self, value: f64) {
        match &mut self.held {
            Held::Trend(trend) => trend.add_above_zero(value),
            _ => self.add_unexpected(value),
        }
    }

    /// The same for a Counter's whole number, which may be 0.
    #[inline(always)]
    pub(crate) fn add_whole(&mut self, number: u64) {
        match &mut self.held {
            Held::Counter { sum, .. } => sum.add_whole(number),
            _ => self.add_unexpected(number as f64),
        }
    }

    /// Adds what was meant for another kind.
    // Not inlined: the callers know the kind, and are inlined where samples are made.
    #[cold]
    #[inline(never)]
    fn add_unexpected(&mut self, value: f64) {
        if value != 0.0 {
            self.add_other(value);
        }
    }

    // Not inlined: most counters add the same value each time.
    #[inline(never)]
    fn add_another(&mut self, value: f64) {
        if let Held::Counter { sum, value: last, times } = &mut self.held {
            sum.add(std::mem::replace(last, value), std::mem::replace(times, 1));
        }
    }

    /// Counts samples, whatever their values were.
    pub(crate) fn count(&mut self, samples: u64) {
        self.samples = self.samples.wrapping_add(samples);
    }

    /// Takes back a sample that is counted later and was refused.
    // Cold: only values that are not finite are refused.
    #[cold]
    pub(crate) fn refuse(&mut self) {
        self.samples = self.samples.wrapping_sub(1);
    }

    /// Adds the same finite value this many times to a Counter or a Rate.
    pub(crate) fn add_often(&mut self, value: f64, samples: u64) {
        self.count(samples);
        match &mut self.held {
            Held::Counter { sum, .. } => sum.add(value, samples),
            Held::Rate { passes } if value != 0.0 => *passes += samples,
            _ => debug_assert!(value == 0.0, "a Trend's samples are measured"),
        }
    }

    /// What came in since the last call; nothing when nothing did.
    pub(crate) fn take(&mut self) -> Option<Sink> {
        let samples = std::mem::take(&mut self.samples);
        if samples == 0 {
            return None;
        }
        Some(match &mut self.held {
            Held::Trend(trend) => {
                let empty = trend.emptied();
                let mut taken = std::mem::replace(trend, empty);
                debug_assert!(samples >= taken.count(), "{samples} samples, {} of them measured", taken.count());
                taken.add_zeros(samples - taken.count());
                debug_assert_eq!(taken.count(), samples, "what was not measured was 0");
                Sink::Trend(Box::new(taken))
            }
            Held::Counter { sum, value, times } => {
                debug_assert!(*times <= samples, "the last value came {times} times, of {samples} samples");
                sum.add(*value, std::mem::take(times));
                Sink::Counter { sum: std::mem::take(sum), samples }
            }
            Held::Rate { passes } => {
                debug_assert!(*passes <= samples, "{passes} of {samples} passed");
                Sink::Rate { passes: std::mem::take(passes), total: samples }
            }
            Held::Gauge => return None,
        })
    }
}
