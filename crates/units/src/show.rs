//! How values are shown: numbers, bytes, times, shares, counts.
//!
//! The summary's forms are k6's: times lose what is beyond two decimals, bytes and plain numbers are rounded, shares
//! are cut at two decimals so that 100 % is said only when it is true. Negative times keep their unit here (k6 prints
//! them in nanoseconds). `Span` shows durations of options exactly; `about` and `clock` are for times that pass.

use std::time::Duration;

/// A plain number: up to six decimals, no trailing zeros.
pub fn number(value: f64) -> String {
    if value.abs() >= 1e21 {
        return format!("{value:e}").replace('e', "e+");
    }
    // Rounded first, then the shortest text that reads back as the same number.
    let rounded: f64 = format!("{value:.6}").parse().expect("a number just printed");
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// Bytes in powers of 1000: two digits below ten, whole numbers above.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    if value < 0.0 {
        return format!("-{}", bytes(-value));
    }
    if value < 10.0 {
        return format!("{} B", number(value));
    }
    let power = (0..UNITS.len()).rev().find(|power| value >= 1000_f64.powi(*power as i32)).unwrap_or(0);
    let scaled = (value / 1000_f64.powi(power as i32) * 10.0).round() / 10.0;
    let unit = UNITS[power];
    if scaled < 10.0 { format!("{scaled:.1} {unit}") } else { format!("{} {unit}", scaled.round()) }
}

/// Milliseconds in the unit that suits: `12.34ms`, `1m5s`.
pub fn time(ms: f64) -> String {
    if ms.is_infinite() {
        // What nobody lived to see: the waiting of visitors who were never served.
        return String::from(if ms > 0.0 { "∞" } else { "-∞" });
    }
    if ms < 0.0 { format!("-{}", suited_time(-ms)) } else { suited_time(ms) }
}

fn suited_time(ms: f64) -> String {
    let ns = whole_ns(ms);
    match ns {
        0 if ms == 0.0 => "0s".to_owned(),
        0..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => format!("{}µs", two_decimals(ns, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", two_decimals(ns, 1_000_000)),
        1_000_000_000..60_000_000_000 => format!("{}s", two_decimals(ns, 1_000_000_000)),
        _ => minutes(ns / 1_000_000_000),
    }
}

/// Cut to whole nanoseconds. What the last bits of `ms` lack to one is not cut: 0.19208 ms times a million is a hair
/// less than 192,080.
fn whole_ns(ms: f64) -> u64 {
    /// Some rounding errors of one calculation, relative.
    const ERROR: f64 = 1e-13;
    let ns = ms * 1e6;
    (if (ns.round() - ns).abs() <= ns * ERROR { ns.round() } else { ns }) as u64
}

/// `1m5s`, `1h0m0s`.
fn minutes(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, m, s) => format!("{m}m{s}s"),
        (h, m, s) => format!("{h}h{m}m{s}s"),
    }
}

/// A quotient cut at two decimals, no trailing zeros.
fn two_decimals(value: u64, unit: u64) -> String {
    let hundredths = value * 100 / unit;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `passes` among `total` in percent, cut at two decimals: `66.66%`. Nothing among nothing is 0.
pub fn share(passes: u64, total: u64) -> String {
    let hundredths = if total == 0 { 0 } else { u128::from(passes) * 10_000 / u128::from(total) };
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// `1 run`, `2 runs`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A share from 0 to 1 in percent, rounded to so many decimals: `12.5 %`.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", share * 100.0)
}

/// A rate as a person reads it: `1,234` from a hundred on, up to two decimals below.
pub fn rounded(value: f64) -> String {
    if value >= 100.0 { grouped(value.round() as u64) } else { number((value * 100.0).round() / 100.0) }
}

/// `12s`, `5m36s`, `1h02m03s`: what is only about right has no tenths.
pub fn about(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, s) => format!("{h}h{m:02}m{s:02}s"),
    }
}

/// `02.5s`, `1m02.5s`, `1h02m03s`: two digits of what moves, as k6 shows it.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let tenths = time.subsec_millis() / 100;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s:02}.{tenths}s"),
        (0, m, s) => format!("{m}m{s:02}.{tenths}s"),
        (h, m, s) => format!("{h}h{m:02}m{s:02}s"),
    }
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share from 0 to 1 in percent, cut at two decimals.
pub fn fraction(share: f64) -> String {
    // A billionth forgives the rounding of the division that made the share.
    format!("{:.2}%", (share * 10_000.0 + 1e-9).floor() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_thousands() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(number), expected);
        }
    }

    #[test]
    fn times_in_the_unit_that_suits() {
        // Printed by k6 2.2.0 for the same values, except the negative ones.
        let cases = [
            (0.0, "0s"),
            (0.0000001, "0ns"),
            (0.0000015, "1ns"),
            (0.00099, "990ns"),
            (0.001, "1µs"),
            (0.0012345, "1.23µs"),
            (0.0019999, "1.99µs"),
            (0.9999999, "999.99µs"),
            (1.005, "1ms"),
            (9.999, "9.99ms"),
            (999.9999, "999.99ms"),
            (1234.5678, "1.23s"),
            (10_700.0, "10.7s"),
            (59_999.9, "59.99s"),
            (60_000.0, "1m0s"),
            (3_599_999.0, "59m59s"),
            (3_661_001.0, "1h1m1s"),
            (90_061_001.5, "25h1m1s"),
            (1e12, "277777h46m40s"),
            (-1.5, "-1.5ms"),
        ];
        for (ms, text) in cases {
            assert_eq!(time(ms), text, "{ms}");
        }
    }

    #[test]
    fn the_last_bits_of_a_time_do_not_change_its_digits() {
        for ns in (10..1_000_000_u64).step_by(10) {
            let (ms, unit) = (ns as f64 / 1e6, if ns < 1_000 { 1 } else { 1_000 });
            let shown = time(ms);
            for near in [ms.next_down().next_down(), ms.next_down(), ms.next_up(), ms.next_up().next_up()] {
                assert_eq!(time(near), shown, "{ns} ns");
            }
            let digits = shown.trim_end_matches(['n', 'µ', 's']);
            assert_eq!(digits.parse::<f64>().unwrap(), ns as f64 / f64::from(unit), "{shown}");
        }
        assert_eq!(time(0.192_079_9), "192.07µs", "a tenth of a nanosecond less is less");
    }

    #[test]
    fn times_that_pass() {
        assert_eq!(clock(Duration::from_millis(2540)), "02.5s");
        assert_eq!(clock(Duration::from_millis(62_540)), "1m02.5s");
        assert_eq!(clock(Duration::from_secs(3723)), "1h02m03s");
        assert_eq!(about(Duration::from_millis(12_400)), "12s");
        assert_eq!(about(Duration::from_millis(336_400)), "5m36s");
        assert_eq!(about(Duration::from_millis(59_600)), "1m00s");
        assert_eq!(about(Duration::from_secs(3723)), "1h02m03s");
    }

    #[test]
    fn what_a_person_reads_is_rounded() {
        assert_eq!([rounded(1234.5), rounded(99.999), rounded(2.5), rounded(0.004)], ["1,235", "100", "2.5", "0"]);
        assert_eq!([percent(0.125, 0), percent(0.125, 1), percent(1.0, 2)], ["12 %", "12.5 %", "100.00 %"]);
    }

    #[test]
    fn bytes_in_powers_of_a_thousand() {
        // Printed by k6 2.2.0 for responses of these sizes, and for the last two rates.
        let cases = [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1000.0, "1.0 kB"),
            (1049.0, "1.0 kB"),
            (1050.0, "1.1 kB"),
            (1949.0, "1.9 kB"),
            (1950.0, "2.0 kB"),
            (9949.0, "9.9 kB"),
            (9950.0, "10 kB"),
            (10_499.0, "11 kB"),
            (99_499.0, "100 kB"),
            (999_999.0, "1000 kB"),
            (1e6, "1.0 MB"),
            (1_234_567.0, "1.2 MB"),
            (9_950_000.0, "10 MB"),
            (30_252.238, "30 kB"),
            (5_570_715.6, "5.6 MB"),
        ];
        for (value, text) in cases {
            assert_eq!(bytes(value), text, "{value}");
        }
        assert_eq!(bytes(-1500.0), "-1.5 kB");
        assert_eq!(bytes(2.5), "2.5 B");
    }

    #[test]
    fn plain_numbers() {
        let cases = [
            (0.0, "0"),
            (-0.0000001, "0"),
            (0.000001, "0.000001"),
            (0.1234567, "0.123457"),
            (1.5, "1.5"),
            (1e6, "1000000"),
            (1234567.1234567, "1234567.123457"),
            (1e15, "1000000000000000"),
            (1e21, "1e+21"),
            (5.350431457455122e21, "5.350431457455122e+21"),
            (-3.25, "-3.25"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn shares_are_cut_not_rounded() {
        assert_eq!(share(99_999, 100_000), "99.99%");
        assert_eq!(share(2, 3), "66.66%");
        assert_eq!(share(3, 3), "100.00%");
        assert_eq!(share(0, 0), "0.00%");
        assert_eq!(fraction(12.0 / 17.0), "70.58%");
        assert_eq!(fraction(0.29), "29.00%");
        assert_eq!(fraction(1.0), "100.00%");
    }
}
