//! A metric's values as k6 prints them, in the unit that the summary is asked to use.

use metrics::metric::Contains;
use units::show;

use crate::options::TimeUnit;

/// A value of a metric.
pub fn value(value: f64, contains: Contains, unit: Option<TimeUnit>) -> String {
    match contains {
        Contains::Default => show::number(value),
        Contains::Data => show::bytes(value),
        Contains::Time => time(value, unit),
    }
}

/// Milliseconds, in a given unit or in the one that suits.
pub fn time(ms: f64, unit: Option<TimeUnit>) -> String {
    match unit {
        _ if ms.is_infinite() => show::time(ms),
        Some(TimeUnit::Seconds) => format!("{:.2}s", ms / 1e3),
        Some(TimeUnit::Milliseconds) => format!("{ms:.2}ms"),
        Some(TimeUnit::Microseconds) => format!("{:.2}µs", ms * 1e3),
        None => show::time(ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_a_given_unit() {
        assert_eq!(time(12.3456, Some(TimeUnit::Milliseconds)), "12.35ms");
        assert_eq!(time(999.99, Some(TimeUnit::Seconds)), "1.00s");
        assert_eq!(time(0.00099, Some(TimeUnit::Microseconds)), "0.99µs");
        assert_eq!(time(-61_000.0, Some(TimeUnit::Seconds)), "-61.00s");
        assert_eq!(time(12.3456, None), "12.34ms");
    }

    #[test]
    fn values_are_shown_by_what_they_are() {
        let shown = |contains| value(1500.0, contains, None);
        assert_eq!(
            [shown(Contains::Default), shown(Contains::Data), shown(Contains::Time)],
            ["1500", "1.5 kB", "1.5s"]
        );
    }
}
