//! Numbers as tables show them: three digits or more, thousands apart.

use units::show::grouped;

/// A rate or a count: `98,765`, `1,234`, `12.3`, `0.12`.
pub fn rate(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => thousands(value),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Something counted: whole numbers stay whole.
pub fn count(value: f64) -> String {
    if value.fract() == 0.0 { thousands(value) } else { rate(value) }
}

/// Milliseconds: `123`, `12.3`, `1.23`, `0.123`.
pub fn ms(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => thousands(value),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Two decimals.
pub fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// `45.2 s`, `3m05s`, `2h03m`.
pub fn seconds(value: f64) -> String {
    let whole = value.round() as u64;
    match whole {
        0..60 => format!("{value:.1} s"),
        60..3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}

fn thousands(value: f64) -> String {
    let text = grouped(value.abs().round() as u64);
    if value < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!([rate(1234567.8), rate(999.6), rate(99.94), rate(0.123)], ["1,234,568", "1,000", "99.9", "0.12"]);
        assert_eq!([count(0.0), count(-5.0), count(12345.0), count(2.5)], ["0", "-5", "12,345", "2.50"]);
        assert_eq!([ms(0.0123), ms(1.234), ms(12.34), ms(1234.0)], ["0.012", "1.23", "12.3", "1,234"]);
        assert_eq!([seconds(3.1), seconds(185.0), seconds(7380.0)], ["3.1 s", "3m05s", "2h03m"]);
    }
}
