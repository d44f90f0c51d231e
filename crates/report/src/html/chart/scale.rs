//! Axes: from what range to what, in which unit, with ticks at round numbers.
//!
//! An axis maps values to positions from 0 to 1 and never divides by nothing: a range without extent is widened. Time
//! axes step by what a clock steps by. A value that no axis can show (not finite) has no position.

/// What the values of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Plain numbers.
    Number,
    /// Milliseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Shares from 0 to 1, shown in percent.
    Share,
    /// So many a second.
    PerSecond,
    /// Bytes a second.
    BytesPerSecond,
}

impl Unit {
    /// The unit that suits values up to this: what to multiply by, and its name.
    pub fn suited(self, highest: f64) -> (f64, &'static str) {
        let highest = highest.abs();
        match self {
            Unit::Number => (1.0, ""),
            Unit::PerSecond => (1.0, "per second"),
            Unit::Share => (100.0, "%"),
            Unit::Time if highest < 1.0 => (1e3, "µs"),
            Unit::Time if highest < 5e3 => (1.0, "ms"),
            Unit::Time => (1e-3, "s"),
            Unit::Bytes | Unit::BytesPerSecond => {
                let per_second = self == Unit::BytesPerSecond;
                let names: [(f64, [&str; 2]); 4] =
                    [(1.0, ["B", "B/s"]), (1e-3, ["kB", "kB/s"]), (1e-6, ["MB", "MB/s"]), (1e-9, ["GB", "GB/s"])];
                let suited = names.iter().rev().find(|(factor, _)| highest * factor >= 1.0).unwrap_or(&names[0]);
                (suited.0, suited.1[usize::from(per_second)])
            }
        }
    }
}

/// A range of values along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    step: f64,
}

impl Axis {
    /// From 0, or from the lowest value when that is negative, to a round number above the highest.
    pub fn from_zero(lowest: f64, highest: f64) -> Axis {
        let (low, high) = (lowest.min(0.0), highest.max(0.0));
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / 4.0);
        Axis { low: (low / step).floor() * step, high: (high / step).ceil() * step, logarithmic: false, step }
    }

    /// Exactly from one value to another, ticks at round numbers between.
    pub fn exact(low: f64, high: f64) -> Axis {
        let high = if high > low { high } else { low + 1.0 };
        Axis { low, high, logarithmic: false, step: round_step((high - low) / 6.0) }
    }

    /// Seconds of a clock, from 0.
    pub fn clock(seconds: f64) -> Axis {
        const STEPS: [f64; 17] =
            [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0];
        let high = seconds.max(0.1);
        let step = STEPS
            .into_iter()
            .find(|step| high / step <= 8.0)
            .unwrap_or_else(|| round_step(high / 3600.0 / 6.0) * 3600.0);
        Axis { low: 0.0, high, logarithmic: false, step }
    }

    /// By magnitude, for values above 0.
    pub fn logarithmic(lowest: f64, highest: f64) -> Axis {
        let low = lowest.max(1e-12);
        let high = if highest > low * 1.0001 { highest } else { low * 2.0 };
        Axis { low, high, logarithmic: true, step: 1.0 }
    }

    /// Whether it goes by magnitude.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where a value lies, 0 to 1 and beyond; none when nowhere.
    pub fn position(&self, value: f64) -> Option<f64> {
        let at = match self.logarithmic {
            true => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
            false => (value - self.low) / (self.high - self.low),
        };
        at.is_finite().then_some(at)
    }

    /// The value at a position.
    pub fn value(&self, position: f64) -> f64 {
        match self.logarithmic {
            true => (self.low.ln() + (self.high.ln() - self.low.ln()) * position).exp(),
            false => self.low + (self.high - self.low) * position,
        }
    }

    /// Round values within the range, each with its position.
    pub fn ticks(&self) -> Vec<(f64, f64)> {
        let values = if self.logarithmic { self.magnitudes() } else { self.steps() };
        let placed = values.into_iter().filter_map(|value| Some((self.position(value)?, value)));
        let ticks: Vec<(f64, f64)> = placed.filter(|(at, _)| (-1e-9..=1.0 + 1e-9).contains(at)).collect();
        debug_assert!(ticks.is_sorted_by(|a, b| a.0 <= b.0), "ticks go up: {ticks:?}");
        ticks
    }

    fn steps(&self) -> Vec<f64> {
        let first = (self.low / self.step - 1e-9).ceil();
        let count = ((self.high - self.low) / self.step + 1e-9).floor().min(50.0) as usize;
        (0..=count).map(|n| (first + n as f64) * self.step).collect()
    }

    /// 1, 10, 100; with 2 and 5 between when there would be few, and only some powers when there would be many.
    fn magnitudes(&self) -> Vec<f64> {
        let (from, to) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        // Labels between the powers find room on a chart of about two and a half magnitudes.
        let has_room = self.high.log10() - self.low.log10() <= 2.6;
        let factors: &[f64] = if has_room { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = ((to - from) / 8).max(1) as usize;
        (from..=to).step_by(every).flat_map(|power| factors.iter().map(move |f| f * 10_f64.powi(power))).collect()
    }
}

/// 1, 2 or 5 times a power of ten, not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powi(rough.max(1e-300).log10().floor() as i32);
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999_999).unwrap_or(10.0);
    let step = factor * power;
    debug_assert!(!rough.is_finite() || step >= rough * 0.999, "{step} is below {rough}");
    step
}

/// A tick's number without digits that nobody asked for: `0.25`, `1,500`, `12k`.
pub(super) fn tick_text(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 1e15 || (magnitude > 0.0 && magnitude < 1e-6) {
        return format!("{value:.0e}");
    }
    let (scaled, suffix) = match magnitude {
        m if m >= 1e9 => (value / 1e9, "G"),
        m if m >= 1e6 => (value / 1e6, "M"),
        m if m >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{scaled:.6}");
    format!("{}{suffix}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A moment of a run: `12 s`, `3:05`, `1:02:05`, by how long the run is.
pub(crate) fn clock_text(seconds: f64, longest: f64) -> String {
    if longest < 120.0 {
        return format!("{} s", tick_text(seconds));
    }
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if longest >= 3600.0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// A moment as an axis has it: in a run of hours `2 h` or `2:30 h`, else as `clock_text`.
pub(super) fn clock_tick(seconds: f64, longest: f64) -> String {
    if longest < 3600.0 {
        return clock_text(seconds, longest);
    }
    let minutes = (seconds / 60.0).round() as u64;
    match (minutes / 60, minutes % 60) {
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours}:{minutes:02} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks().iter().map(|(_, value)| tick_text(*value)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(&Axis::from_zero(0.0, 87.0)), ["0", "50", "100"]);
        assert_eq!(texts(&Axis::from_zero(3.0, 0.37)), ["0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(texts(&Axis::from_zero(0.0, 38_000.0)), ["0", "10k", "20k", "30k", "40k"]);
        assert_eq!(texts(&Axis::from_zero(0.0, 0.0)), ["0", "0.5", "1"]);
        assert_eq!(texts(&Axis::from_zero(-3.0, 5.0)), ["-4", "-2", "0", "2", "4", "6"]);
        assert_eq!(texts(&Axis::logarithmic(0.3, 40.0)), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(texts(&Axis::logarithmic(1e-3, 1e6)).len(), 10);
    }

    #[test]
    fn clocks_step_as_clocks_do() {
        let shown = |seconds: f64| {
            Axis::clock(seconds).ticks().iter().map(|(_, s)| clock_tick(*s, seconds)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(5.2), "0 s 1 s 2 s 3 s 4 s 5 s");
        assert_eq!(shown(300.0), "0:00 1:00 2:00 3:00 4:00 5:00");
        assert_eq!(shown(18_000.0), "0 h 1 h 2 h 3 h 4 h 5 h");
        assert_eq!(shown(5_400.0), "0 h 0:15 h 0:30 h 0:45 h 1 h 1:15 h 1:30 h");
        assert_eq!(clock_text(12_870.0, 18_000.0), "3:34:30");
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        for (low, high) in [(0.0, 0.0), (5.0, 5.0), (-1.0, -1.0), (1e-300, 1e300)] {
            for axis in [Axis::from_zero(low, high), Axis::exact(low, high), Axis::logarithmic(low, high)] {
                assert!(!axis.ticks().is_empty() && axis.ticks().len() < 60, "{axis:?}");
                assert!(axis.position(high).is_some() || high <= 0.0 && axis.is_logarithmic(), "{axis:?}");
            }
        }
        assert_eq!(Axis::logarithmic(1.0, 10.0).position(0.0), None);
        assert_eq!(Axis::from_zero(0.0, 1.0).position(f64::NAN), None);
    }

    #[test]
    fn units_suit_the_highest_value() {
        assert_eq!(Unit::Time.suited(0.25), (1e3, "µs"));
        assert_eq!(Unit::Time.suited(812.0), (1.0, "ms"));
        assert_eq!(Unit::Time.suited(9_000.0), (1e-3, "s"));
        assert_eq!(Unit::BytesPerSecond.suited(2_500_000.0), (1e-6, "MB/s"));
        assert_eq!(Unit::Bytes.suited(0.0), (1.0, "B"));
    }

    #[test]
    fn days_step_by_round_numbers_of_hours() {
        let shown = |hours: f64| {
            let axis = Axis::clock(hours * 3600.0);
            axis.ticks().iter().map(|(_, s)| clock_tick(*s, hours * 3600.0)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(16.0), "0 h 2 h 4 h 6 h 8 h 10 h 12 h 14 h 16 h");
        assert_eq!(shown(17.0), "0 h 5 h 10 h 15 h");
        assert_eq!(shown(100.0), "0 h 20 h 40 h 60 h 80 h 100 h");
    }

    #[test]
    fn magnitudes_without_extent_reach_to_twice_the_value() {
        let axis = Axis::logarithmic(5.0, 5.0);
        assert_eq!([5.0, 10.0].map(|value| axis.position(value)), [Some(0.0), Some(1.0)]);
        assert_eq!(texts(&axis), ["5", "10"]);
    }
}
