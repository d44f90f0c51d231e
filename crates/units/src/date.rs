//! The calendar, in UTC: from seconds since 1970 to a date and back.
//!
//! Years outside 0 to 9999 have no place in the forms of RFC 3339 and RFC 9110; they are refused or cut.

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime};

/// `2026-11-20T15:31:35Z` from seconds since the epoch. What is behind the year 9999 is shown as its end.
pub fn rfc3339(epoch_s: u64) -> String {
    let moment = i64::try_from(epoch_s).ok().and_then(|s| OffsetDateTime::from_unix_timestamp(s).ok());
    shown(moment.unwrap_or(PrimitiveDateTime::MAX.assume_utc()))
}

/// The same of a moment that may be before 1970; `None` outside the years that have this form.
pub fn rfc3339_at(epoch_s: i64) -> Option<String> {
    let moment = OffsetDateTime::from_unix_timestamp(epoch_s).ok()?;
    (0..=9999).contains(&moment.year()).then(|| shown(moment))
}

fn shown(moment: OffsetDateTime) -> String {
    let (year, month, day) = (moment.year(), u8::from(moment.month()), moment.day());
    debug_assert!((0..=9999).contains(&year), "the form has four digits for the year {year}");
    let (hour, minute, second) = moment.to_hms();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Seconds since the epoch at the beginning of a day; months and days count from 1. `None`: there is no such day.
pub fn epoch_s(year: i32, month: u8, day: u8) -> Option<i64> {
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    Some(date.midnight().assume_utc().unix_timestamp())
}

/// Nanoseconds since the epoch at a moment in RFC 3339's form; `None`: it is not in that form.
pub fn rfc3339_ns(text: &str) -> Option<i128> {
    OffsetDateTime::parse(text, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        for (epoch_s, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_219_895, "2026-11-21T00:11:35Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (u64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(epoch_s), date);
        }
    }

    #[test]
    fn days_become_seconds() {
        assert_eq!(epoch_s(1970, 1, 1), Some(0));
        assert_eq!(epoch_s(2000, 2, 29), Some(951_782_400));
        assert_eq!(epoch_s(1969, 12, 31), Some(-86_400));
        for (year, month, day) in
            [(2023, 2, 29), (1900, 2, 29), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1), (2024, 1, 0)]
        {
            assert_eq!(epoch_s(year, month, day), None, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn moments_are_read_to_the_nanosecond() {
        for (text, ns) in [
            ("1970-01-01T00:00:01Z", Some(1_000_000_000)),
            ("1970-01-01T01:00:00.000000001+01:00", Some(1)),
            ("1969-12-31T23:59:59.5Z", Some(-500_000_000)),
            ("2026-02-30T00:00:00Z", None),
            ("2026-01-01T00:00:00", None),
        ] {
            assert_eq!(rfc3339_ns(text), ns, "{text}");
        }
    }
}
