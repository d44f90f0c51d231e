//! Dates as HTTP and cookies write them.
//!
//! Reads leniently, as RFC 6265 section 5.1.1 wants: the three forms of RFC 9110 and what servers make of them. Refused
//! are days and times that do not exist. Time zones are ignored: HTTP dates are UTC.

/// Reads a date in any of the forms cookies carry (RFC 6265, section 5.1.1), as ms since the epoch, UTC.
pub fn parse_date(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |c: char| !c.is_ascii_alphanumeric() && c != ':';
    for token in text.split(is_delimiter).filter(|t| !t.is_empty()) {
        if time.is_none() && token.contains(':') {
            time = parse_time(token);
        } else if day.is_none() && matches!(token.len(), 1 | 2) && token.bytes().all(|b| b.is_ascii_digit()) {
            day = token.parse::<u8>().ok();
        } else if month.is_none() && month_of(token).is_some() {
            month = month_of(token);
        } else if year.is_none() && matches!(token.len(), 2 | 4) {
            year = token.parse::<i32>().ok();
        }
    }
    let (day, month, seconds) = (day?, month?, time?);
    let year = match year? {
        y @ 70..=99 => y + 1900,
        y @ 0..=69 => y + 2000,
        y => y,
    };
    let midnight_s = units::date::epoch_s(year, month, day).filter(|_| year >= 1601)?;
    Some((midnight_s + seconds) * 1000)
}

fn parse_time(token: &str) -> Option<i64> {
    let mut parts = token.split(':').map(|p| if p.len() <= 2 { p.parse::<i64>().ok() } else { None });
    let (h, m, s) = (parts.next()??, parts.next()??, parts.next()??);
    let fits = (0..24).contains(&h) && (0..60).contains(&m) && (0..60).contains(&s) && parts.next().is_none();
    fits.then_some(h * 3600 + m * 60 + s)
}

fn month_of(token: &str) -> Option<u8> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start = token.get(..3)?.to_ascii_lowercase();
    (1..).zip(MONTHS).find(|(_, name)| *name == start).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_all_forms() {
        let cases = [
            ("Wed, 21 Oct 2099 07:28:00 GMT", Some(4_096_250_880_000)),
            ("Wed, 21-Oct-2099 07:28:00 GMT", Some(4_096_250_880_000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777_000)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777_000)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000_000)),
            ("Thu, 29 Feb 2023 12:00:00 GMT", None),
            ("Thu, 31 Dec 1600 12:00:00 GMT", None),
            ("Thu, 01 Jan 1970 25:00:00 GMT", None),
            ("foo", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_date(text), expected, "{text}");
        }
    }
}
