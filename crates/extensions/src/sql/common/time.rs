//! Points in time as databases hold them: to the nanosecond, some with a zone.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// A point in time, and how its zone is told.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlTime {
    at: OffsetDateTime,
    /// What stands for the zone in the text: `UTC`, or the offset again.
    zone: Zone,
}

/// How a time names its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// It is in UTC.
    Utc,
    /// It has an offset without a name.
    Offset,
}

impl SqlTime {
    /// From a calendar's values; none when there is no such day or hour.
    pub fn new(date: (i32, u8, u8), clock: (u8, u8, u8), nanos: u32, offset: i32, zone: Zone) -> Option<SqlTime> {
        let date = Date::from_calendar_date(date.0, Month::try_from(date.1).ok()?, date.2).ok()?;
        let clock = Time::from_hms_nano(clock.0, clock.1, clock.2, nanos).ok()?;
        let offset = UtcOffset::from_whole_seconds(offset).ok()?;
        Some(SqlTime { at: PrimitiveDateTime::new(date, clock).assume_offset(offset), zone })
    }

    /// From milliseconds of Unix time, as a Date of a script has them.
    pub fn from_millis(millis: f64) -> Option<SqlTime> {
        let at = OffsetDateTime::from_unix_timestamp_nanos((millis as i128) * 1_000_000).ok()?;
        millis.is_finite().then_some(SqlTime { at, zone: Zone::Utc })
    }

    /// From seconds of Unix time.
    pub fn from_seconds(seconds: i64) -> Option<SqlTime> {
        Some(SqlTime { at: OffsetDateTime::from_unix_timestamp(seconds).ok()?, zone: Zone::Utc })
    }

    /// Reads `2024-01-02 03:04:05.678+02:00`, its date alone, or its clock alone. The clock may follow a `T`, a
    /// fraction a comma, and the end be ` BC`, as PostgreSQL writes it. None for anything else.
    pub fn parse(text: &str, without_zone: Zone) -> Option<SqlTime> {
        let (text, before_christ) = match text.strip_suffix(" BC") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let has_date = text.bytes().skip(1).any(|byte| byte == b'-') && !text.get(..3)?.ends_with(':');
        let (date, rest) = if has_date { read_date(text)? } else { ((0, 1, 1), text) };
        let year = if before_christ { 1 - date.0 } else { date.0 };
        let rest = rest.strip_prefix([' ', 'T']).unwrap_or(rest);
        let (clock, nanos, rest) = if has_date && rest.is_empty() { ((0, 0, 0), 0, rest) } else { read_clock(rest)? };
        let (offset, zone) = match rest {
            "" => (0, without_zone),
            "Z" => (0, Zone::Utc),
            _ => read_offset(rest)?,
        };
        SqlTime::new((year, date.1, date.2), clock, nanos, offset, zone)
    }

    /// Milliseconds of Unix time.
    pub fn millis(&self) -> f64 {
        (self.at.unix_timestamp_nanos().div_euclid(1_000_000)) as f64
    }

    /// Nanoseconds of Unix time.
    pub fn nanos(&self) -> f64 {
        self.at.unix_timestamp_nanos() as f64
    }

    /// Year, month, day, hour, minute, second, nanosecond, as the zone's calendar has them.
    pub fn parts(&self) -> [i64; 7] {
        let ((year, month, day), (hour, minute, second, nanos)) = (self.at.to_calendar_date(), self.at.to_hms_nano());
        let of = i64::from;
        [year.into(), of(u8::from(month)), of(day), of(hour), of(minute), of(second), nanos.into()]
    }

    /// In UTC.
    pub fn to_utc(&self) -> SqlTime {
        SqlTime { at: self.at.to_offset(UtcOffset::UTC), zone: Zone::Utc }
    }

    /// `2024-01-02`.
    pub fn date(&self) -> String {
        let (year, month, day) = self.at.to_calendar_date();
        let sign = if year < 0 { "-" } else { "" };
        format!("{sign}{:04}-{:02}-{day:02}", year.unsigned_abs(), u8::from(month))
    }

    /// `03:04:05.678`, without a fraction that is zero.
    pub fn clock(&self) -> String {
        let (hour, minute, second, nanos) = self.at.to_hms_nano();
        let fraction = if nanos == 0 { String::new() } else { format!(".{nanos:09}") };
        format!("{hour:02}:{minute:02}:{second:02}{}", fraction.trim_end_matches('0'))
    }

    /// `+02:00`.
    pub fn offset(&self) -> String {
        self.offset_with(":")
    }

    fn offset_with(&self, between: &str) -> String {
        let (hours, minutes, _) = self.at.offset().as_hms();
        let sign = if self.at.offset().is_negative() { '-' } else { '+' };
        format!("{sign}{:02}{between}{:02}", hours.unsigned_abs(), minutes.unsigned_abs())
    }

    /// As `String(time)` gives it in k6: `2024-01-02 03:04:05.678 +0000 UTC`.
    pub fn text(&self) -> String {
        let offset = self.offset_with("");
        let zone = if self.zone == Zone::Utc { "UTC" } else { &offset };
        format!("{} {} {offset} {zone}", self.date(), self.clock())
    }

    /// As JSON has it (RFC 3339): `2024-01-02T03:04:05.678Z`.
    pub fn json(&self) -> String {
        let offset = if self.at.offset().is_utc() { String::from("Z") } else { self.offset() };
        format!("{}T{}{offset}", self.date(), self.clock())
    }
}

/// Digits from the beginning, at least this many, and what follows them.
fn digits(text: &str, least: usize) -> Option<(u32, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    if end < least { None } else { Some((text[..end].parse().ok()?, &text[end..])) }
}

fn read_date(text: &str) -> Option<((i32, u8, u8), &str)> {
    let (year, text) = digits(text, 4)?;
    let (month, text) = digits(text.strip_prefix('-')?, 2)?;
    let (day, text) = digits(text.strip_prefix('-')?, 2)?;
    Some(((i32::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?), text))
}

type Clock<'a> = ((u8, u8, u8), u32, &'a str);

fn read_clock(text: &str) -> Option<Clock<'_>> {
    let (hour, text) = digits(text, 2)?;
    let (minute, text) = digits(text.strip_prefix(':')?, 2)?;
    let (second, text) = match text.strip_prefix(':') {
        Some(text) => digits(text, 2)?,
        None => (0, text),
    };
    let clock = (u8::try_from(hour).ok()?, u8::try_from(minute).ok()?, u8::try_from(second).ok()?);
    let Some(fraction) = text.strip_prefix(['.', ',']) else { return Some((clock, 0, text)) };
    let (written, rest) = fraction.split_at(fraction.bytes().take_while(u8::is_ascii_digit).count());
    // What is finer than nanoseconds is cut off.
    let written = &written[..written.len().min(9)];
    let nanos = written.parse::<u32>().ok()? * 10u32.pow(9 - written.len() as u32);
    Some((clock, nanos, rest))
}

/// `+02`, `-03:30`, `+02:30:15`.
fn read_offset(text: &str) -> Option<(i32, Zone)> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (mut seconds, mut parts) = (0, text[1..].split(':'));
    for (unit, part) in [3600, 60, 1].into_iter().zip(parts.by_ref()) {
        let (number, rest) = digits(part, 2)?;
        seconds += i32::from(u8::try_from(number).ok()?) * unit;
        if !rest.is_empty() {
            return None;
        }
    }
    if parts.next().is_some() {
        return None;
    }
    Some((sign * seconds, if seconds == 0 { Zone::Utc } else { Zone::Offset }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str, json: &str) {
        let read = SqlTime::parse(text, Zone::Offset).unwrap();
        assert_eq!((read.text().as_str(), read.json().as_str()), (shown, json), "{text}");
    }

    #[test]
    fn times_of_databases_are_read_and_told_as_go_tells_them() {
        check("2024-01-02", "2024-01-02 00:00:00 +0000 +0000", "2024-01-02T00:00:00Z");
        check("2024-01-02 03:04:05.123456", "2024-01-02 03:04:05.123456 +0000 +0000", "2024-01-02T03:04:05.123456Z");
        check("2024-01-02 03:04:05+00", "2024-01-02 03:04:05 +0000 UTC", "2024-01-02T03:04:05Z");
        check("2024-01-02T03:04:05Z", "2024-01-02 03:04:05 +0000 UTC", "2024-01-02T03:04:05Z");
        check("03:04:05+02", "0000-01-01 03:04:05 +0200 +0200", "0000-01-01T03:04:05+02:00");
        check("2024-01-02 03:04-03:30", "2024-01-02 03:04:00 -0330 -0330", "2024-01-02T03:04:00-03:30");
        let fine = "2024-01-02T03:04:05.123456789Z";
        check("2024-01-02 03:04:05.12345678987654", "2024-01-02 03:04:05.123456789 +0000 +0000", fine);
        check("0044-03-15 BC", "-0043-03-15 00:00:00 +0000 +0000", "-0043-03-15T00:00:00Z");
    }

    #[test]
    fn what_is_no_time_is_not_read_as_one() {
        let far =
            ["4294967295-01-01", "2147483648-01-01 BC", "03:04:05+999999999", "03:04:05+02:00:00:00", "03:04:05."];
        let others = ["", "infinity", "2024", "2024-13-01", "2024-01-02 25:00:00", "2024-01-02x", "12", "a:b"];
        for text in others.into_iter().chain(far) {
            assert_eq!(SqlTime::parse(text, Zone::Utc), None, "{text}");
        }
    }
}
