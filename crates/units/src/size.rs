//! Sizes in bytes. Units are powers of 1024, whatever their spelling: `k`, `kb` and `KiB` are one unit.
//!
//! `64m` is a size that a person writes: a whole number. `1,234.5MB` is a size that another program printed: a number
//! of any kind.

/// Reads `65536`, `64m`, `1g` or `100MiB`, in any case. `None`: it is no size.
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    digits.parse::<u64>().ok()?.checked_mul(unit_bytes(unit)?)
}

/// How many bytes the unit of a size is: `B`, `k`, `MB`, `GiB` or no unit, in any case.
pub fn unit_bytes(unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    match lower.as_str() {
        "" | "b" => Some(1),
        "k" | "kb" | "kib" => Some(1 << 10),
        "m" | "mb" | "mib" => Some(1 << 20),
        "g" | "gb" | "gib" => Some(1 << 30),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        let table = [
            ("0", 0),
            ("500", 500),
            ("17b", 17),
            ("2kb", 2048),
            ("64k", 65_536),
            (" 10M ", 10 << 20),
            ("64m", 64 << 20),
            ("100MiB", 100 << 20),
            ("1g", 1 << 30),
            ("1GiB", 1 << 30),
        ];
        for (text, bytes) in table {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in
            ["", "k", "m", "-1", "+1", "5x", "1.5k", "1kk", "1 k", "1bk", "99999999999g", "\u{20ac}k", "1\u{20ac}"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
