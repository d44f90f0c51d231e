//! The start times of a trace, read from a text: one a line, as seconds or as a date.
//!
//! The earliest time is the start of the scenario and the others keep their distance from it, so an access log's first
//! column will do. Lines may come in any order, because logs are written when requests end. What stands behind a comma,
//! a tab or a space is not read; empty lines and those that begin with # are skipped.

use std::time::Duration;

use units::date;

/// Reads a trace; the error names the line.
pub(super) fn read(text: &str) -> Result<Vec<Duration>, String> {
    let mut times = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let first = line.split([',', '\t', ' ']).next().unwrap_or(line);
        let time = seconds(first).or_else(|| date::rfc3339_ns(first)).ok_or_else(|| {
            let expected = "expected seconds like 12.5 or a date like 2026-01-31T12:00:00.5Z";
            format!("line {}: found {first:?}, {expected}", at + 1)
        })?;
        times.push(time);
    }
    times.sort_unstable();
    let Some(first) = times.first().copied() else { return Err("it has no times".to_owned()) };
    Ok(times.into_iter().map(|time| Duration::from_nanos((time - first) as u64)).collect())
}

/// Nanoseconds of a number of seconds, below some three hundred years. Digits are read as such: a float has too few for
/// the nanoseconds of a date in seconds.
fn seconds(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = (1..=10).contains(&whole.len()) && whole.bytes().all(|byte| byte.is_ascii_digit());
    let whole = digits.then(|| whole.parse::<i128>().ok())??;
    Some(whole * 1_000_000_000 + nanoseconds(fraction)?)
}

/// The digits behind a point, as nanoseconds.
fn nanoseconds(digits: &str) -> Option<i128> {
    let nine: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| nine.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> Result<Vec<u128>, String> {
        read(text).map(|times| times.iter().map(Duration::as_millis).collect())
    }

    #[test]
    fn seconds_and_dates_become_distances_from_the_earliest() {
        assert_eq!(ms("# seconds\n10.5\n10\n\n12.25,GET /\n"), Ok(vec![0, 500, 2250]));
        assert_eq!(ms("1700000000.001\n1700000000.002 x"), Ok(vec![0, 1]));
        let dates = "2026-02-28T23:59:59.750Z GET /\n2026-03-01T01:00:01+01:00 GET /b\n2026-02-28T19:00:00-05:00";
        assert_eq!(ms(dates), Ok(vec![0, 250, 1250]));
    }

    #[test]
    fn what_is_no_time_is_named_with_its_line() {
        let expected = "expected seconds like 12.5 or a date like 2026-01-31T12:00:00.5Z";
        assert_eq!(ms("1\nsoon"), Err(format!("line 2: found \"soon\", {expected}")));
        for wrong in ["-1", "nan", "1e99", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "1.2.3", "0x10"] {
            assert_eq!(ms(wrong), Err(format!("line 1: found {wrong:?}, {expected}")));
        }
        assert_eq!(ms("# nothing\n"), Err("it has no times".to_owned()));
    }
}
