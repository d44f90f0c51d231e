//! Numbers, as Go's formats write them.
//!
//! Nearly all values are whole, or whole nanoseconds told in milliseconds. Those need whole numbers alone, at a tenth
//! of what the general way takes.

use std::io::Write;

/// A whole number.
pub(crate) fn push_whole(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Up to here a whole number of millionths has at most 15 digits, so that it is the shortest text of the value nearest
/// to it, and of no other.
const EXACT: f64 = 1e15;

/// The shortest text that reads back as this value; an exponent below a millionth and from 1e21 on.
pub(crate) fn push_number(out: &mut Vec<u8>, value: f64) {
    push(out, value, push_rare);
}

/// The same without exponents, however long it gets.
pub(crate) fn push_plain(out: &mut Vec<u8>, value: f64) {
    push(out, value, |out, size| {
        let _infallible = write!(out, "{size}");
    });
}

fn push(out: &mut Vec<u8>, value: f64, rest: fn(&mut Vec<u8>, f64)) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let size = value.abs();
    let millionths = (size * 1e6).round();
    if size < EXACT && size.trunc() == size {
        push_whole(out, size as u64);
    } else if (1.0..EXACT).contains(&millionths) && millionths / 1e6 == size {
        let millionths = millionths as u64;
        push_whole(out, millionths / 1_000_000);
        out.push(b'.');
        push_padded(out, millionths % 1_000_000);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    } else {
        rest(out, size);
    }
}

// Cold: numbers with few digits are written before this, without a formatter.
#[cold]
fn push_rare(out: &mut Vec<u8>, size: f64) {
    if (1e-6..1e21).contains(&size) {
        let _infallible = write!(out, "{size}");
        return;
    }
    let text = format!("{size:e}");
    let (digits, exponent) = text.split_once('e').expect("the format has an exponent");
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    let _infallible = write!(out, "{digits}e{sign}{exponent}");
}

/// Six decimals.
pub(crate) fn push_six_decimals(out: &mut Vec<u8>, value: f64) {
    let scaled = value.abs() * 1e6;
    let rounded = scaled.round();
    // The product is off by less than a hundredth: only near the middle between two texts could it be the wrong one.
    if rounded >= 1e14 || (scaled - rounded).abs() > 0.45 {
        let _infallible = write!(out, "{value:.6}");
        return;
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let millionths = rounded as u64;
    push_whole(out, millionths / 1_000_000);
    out.push(b'.');
    push_padded(out, millionths % 1_000_000);
}

fn push_padded(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> String {
        let mut out = Vec::new();
        push_number(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_read_as_those_of_k6() {
        // What k6 2.2 wrote for these values.
        let cases = [
            (1.5, "1.5"),
            (1e-9, "1e-9"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (1e21, "1e+21"),
            (-0.0, "-0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e20, "100000000000000000000"),
            (1e22, "1e+22"),
            (1e-7, "1e-7"),
            (5e-7, "5e-7"),
            (2.5e-6, "0.0000025"),
            (123_456.0, "123456"),
            (1.691767, "1.691767"),
            (0.0, "0"),
            (-4.25, "-4.25"),
            (46.950875, "46.950875"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn plain_numbers_have_no_exponent() {
        let mut out = Vec::new();
        for value in [1e-9, 1e21, -0.0, 1.5, 1e-7] {
            push_plain(&mut out, value);
            out.push(b' ');
        }
        assert_eq!(String::from_utf8(out).unwrap(), "0.000000001 1000000000000000000000 -0 1.5 0.0000001 ");
    }

    #[test]
    fn every_number_is_the_shortest_text_that_reads_back() {
        let mut random = 1_u64;
        for round in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let ns = (random >> 20) % 10_u64.pow(round % 13 + 1);
            for value in [ns as f64 / 1e6, ns as f64 / 1e7, f64::from_bits(random >> 2)] {
                let text = number(value);
                assert_eq!(text.parse(), Ok(value), "{text}");
                let shortest = format!("{value:e}");
                let digits = |text: &str| {
                    let mantissa = text.split('e').next().unwrap_or_default().replace('.', "");
                    mantissa.trim_start_matches('0').trim_end_matches('0').to_owned()
                };
                assert_eq!(digits(&text), digits(&shortest), "{text} {shortest}");
            }
        }
    }

    #[test]
    fn six_decimals_are_those_of_the_exact_value() {
        let six = |value: f64| {
            let mut out = Vec::new();
            push_six_decimals(&mut out, value);
            String::from_utf8(out).unwrap()
        };
        assert_eq!([six(1.0), six(2.5e-6), six(-0.0), six(5e-7)], ["1.000000", "0.000003", "-0.000000", "0.000000"]);
        assert_eq!(six(1e21), "1000000000000000000000.000000");
        let mut random = 1_u64;
        for round in 0..200_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let whole = (random >> 20) % 10_u64.pow(round % 13 + 1);
            for value in [whole as f64 / 1e6, whole as f64 / 1e7, -(whole as f64) / 2e7, whole as f64] {
                assert_eq!(six(value), format!("{value:.6}"));
            }
        }
    }
}
