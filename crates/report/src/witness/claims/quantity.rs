//! Where figures stand in texts and documents, numbers with their units, and how much their rounding hides.
//!
//! `12.30ms` is 12.3 and stands for anything within 0.005 of it. Refuses what is no number, and units that are unknown.

use serde_json::Value;

/// What stands behind a label at the start of a line.
pub(super) fn behind<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

/// A number of a document, by the path to it.
pub(super) fn number_at(json: &Value, path: &[&str]) -> Option<f64> {
    path.iter().try_fold(json, |json, key| json.get(key))?.as_f64()
}

/// A number, half a unit of its last digit, and what stands behind it.
fn number(text: &str) -> Option<(f64, f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    let digits = text[..end].trim_end_matches(',').replace(',', "");
    let value: f64 = digits.parse().ok()?;
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let rounding = 0.5 * 10_f64.powi(-i32::try_from(decimals).ok()?);
    Some((value, rounding, text[end..].trim_start()))
}

/// A count: whole numbers are exact.
pub(super) fn count(text: &str) -> Option<(f64, f64)> {
    let (value, rounding, _) = number(text)?;
    Some((value, if value.fract() == 0.0 && !text.contains('.') { 0.0 } else { rounding }))
}

/// A rate, also in thousands: `12.3k`.
pub(super) fn rate(text: &str) -> Option<(f64, f64)> {
    let (value, rounding, unit) = number(text)?;
    let scale = match unit.chars().next() {
        Some('k' | 'K') => 1e3,
        Some('M') => 1e6,
        _ => 1.0,
    };
    Some((value * scale, rounding * scale))
}

/// Milliseconds of `1.5ms`, `800us`, `10.01 seconds`, `1m2.5s`.
pub(super) fn time_ms(text: &str) -> Option<(f64, f64)> {
    let (mut rest, mut sum, mut last) = (text, 0.0, None);
    while !rest.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit()) {
        let (value, rounding, unit) = number(rest)?;
        let end = unit.find(|c: char| !c.is_alphabetic()).unwrap_or(unit.len());
        let scale = match &unit[..end] {
            "ns" => 1e-6,
            "us" | "µs" | "μs" => 1e-3,
            "ms" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
            "m" => 60e3,
            "h" => 3600e3,
            _ => return None,
        };
        sum += value * scale;
        last = Some(rounding * scale);
        rest = &unit[end..];
    }
    Some((sum, last?))
}

/// The same in seconds.
pub(super) fn time_s(text: &str) -> Option<(f64, f64)> {
    time_ms(text).map(|(ms, rounding)| (ms / 1e3, rounding / 1e3))
}

/// Bytes in multiples of 1024, as load tools count them: `1.23MB`, `17 bytes`.
pub(super) fn bytes(text: &str) -> Option<(f64, f64)> {
    let (value, rounding, unit) = number(text)?;
    let power = match unit.chars().next() {
        Some('k' | 'K') => 1,
        Some('m' | 'M') => 2,
        Some('g' | 'G') => 3,
        Some('t' | 'T') => 4,
        _ => return Some((value, if text.contains('.') { rounding } else { 0.0 })),
    };
    let scale = 1024_f64.powi(power);
    Some((value * scale, rounding * scale))
}

/// Milliseconds without a unit.
pub(super) fn plain(text: &str) -> Option<(f64, f64)> {
    number(text).map(|(value, rounding, _)| (value, rounding))
}

/// A percentage at the start of a line, as in `99%   5.8ms` or `99% in 0.1 secs`: it, and what stands behind.
pub(super) fn percentile(line: &str) -> Option<(f64, &str)> {
    let (percent, value) = line.trim().split_once('%')?;
    let percent: f64 = percent.trim().parse().ok().filter(|percent| (0.0..=100.0).contains(percent))?;
    let value = value.trim_start_matches('%').trim();
    Some((percent, value.strip_prefix("in ").unwrap_or(value).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_with_their_rounding() {
        let close = |found: Option<(f64, f64)>, value: f64, rounding: f64| {
            let (found, of) = found.expect("a number");
            assert!((found - value).abs() < value * 1e-9 && (of - rounding).abs() <= rounding * 1e-9, "{found} {of}");
        };
        close(time_ms("635.91us"), 0.63591, 0.000_005);
        close(time_ms("1m2.5s"), 62_500.0, 50.0);
        close(time_s("10.01 seconds"), 10.01, 0.005);
        close(bytes("17.76GB read"), 17.76 * 1024_f64.powi(3), 0.005 * 1024_f64.powi(3));
        close(bytes("180000 bytes"), 180_000.0, 0.0);
        close(rate("56.20k"), 56_200.0, 5.0);
        close(count("1,234"), 1234.0, 0.0);
        assert_eq!(percentile("  99.9% in 0.25 secs"), Some((99.9, "0.25 secs")));
        assert_eq!([time_ms("fast"), time_ms("5 parsecs"), time_ms("")], [None; 3]);
        assert_eq!(percentile("101% 5ms"), None);
    }
}
