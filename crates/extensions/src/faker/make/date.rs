//! Dates as texts: the formats that Go names, Go's layouts (`2006-01-02`), and Java's patterns (`yyyy-MM-dd`).
//!
//! All times are in UTC.

use time::{Date, Duration, Month, OffsetDateTime, Time};

/// Go's names of formats, and their layouts.
#[rustfmt::skip]
const NAMED: &[(&str, &str)] = &[
    ("ANSIC", "Mon Jan _2 15:04:05 2006"),
    ("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
    ("RubyDate", "Mon Jan 02 15:04:05 -0700 2006"),
    ("RFC822", "02 Jan 06 15:04 MST"),
    ("RFC822Z", "02 Jan 06 15:04 -0700"),
    ("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
    ("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
    ("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
    ("RFC3339", "2006-01-02T15:04:05Z07:00"),
    ("RFC3339Nano", "2006-01-02T15:04:05Z07:00"),
];

/// What a piece of a format writes.
type Piece = (&'static str, fn(&OffsetDateTime) -> String);

/// Longer pieces first: `January` begins with `Jan`.
#[rustfmt::skip]
const GO: &[Piece] = &[
    ("January", |t| t.month().to_string()),
    ("Jan", |t| t.month().to_string()[..3].to_owned()),
    ("Monday", |t| t.weekday().to_string()),
    ("Mon", |t| t.weekday().to_string()[..3].to_owned()),
    ("MST", |_| String::from("UTC")),
    ("Z07:00", |_| String::from("Z")),
    ("-07:00", |_| String::from("+00:00")),
    ("-0700", |_| String::from("+0000")),
    ("2006", |t| format!("{:04}", t.year())),
    ("01", |t| format!("{:02}", u8::from(t.month()))),
    ("02", |t| format!("{:02}", t.day())),
    ("03", |t| format!("{:02}", hour_of_twelve(t))),
    ("04", |t| format!("{:02}", t.minute())),
    ("05", |t| format!("{:02}", t.second())),
    ("06", |t| format!("{:02}", t.year() % 100)),
    ("15", |t| format!("{:02}", t.hour())),
    ("_2", |t| format!("{:2}", t.day())),
    ("PM", |t| String::from(if t.hour() < 12 { "AM" } else { "PM" })),
    ("1", |t| u8::from(t.month()).to_string()),
    ("2", |t| t.day().to_string()),
    ("3", |t| hour_of_twelve(t).to_string()),
    ("4", |t| t.minute().to_string()),
    ("5", |t| t.second().to_string()),
];

#[rustfmt::skip]
const JAVA: &[Piece] = &[
    ("yyyy", |t| format!("{:04}", t.year())),
    ("yy", |t| format!("{:02}", t.year() % 100)),
    ("MMMM", |t| t.month().to_string()),
    ("MMM", |t| t.month().to_string()[..3].to_owned()),
    ("MM", |t| format!("{:02}", u8::from(t.month()))),
    ("M", |t| u8::from(t.month()).to_string()),
    ("dd", |t| format!("{:02}", t.day())),
    ("d", |t| t.day().to_string()),
    ("EEEE", |t| t.weekday().to_string()),
    ("EEE", |t| t.weekday().to_string()[..3].to_owned()),
    ("HH", |t| format!("{:02}", t.hour())),
    ("H", |t| t.hour().to_string()),
    ("hh", |t| format!("{:02}", hour_of_twelve(t))),
    ("h", |t| hour_of_twelve(t).to_string()),
    ("mm", |t| format!("{:02}", t.minute())),
    ("m", |t| t.minute().to_string()),
    ("ss", |t| format!("{:02}", t.second())),
    ("SSS", |t| format!("{:03}", t.millisecond())),
    ("s", |t| t.second().to_string()),
    ("a", |t| String::from(if t.hour() < 12 { "AM" } else { "PM" })),
    ("XXX", |_| String::from("Z")),
    ("Z", |_| String::from("+0000")),
    ("z", |_| String::from("UTC")),
];

fn hour_of_twelve(time: &OffsetDateTime) -> u8 {
    match time.hour() % 12 {
        0 => 12,
        hour => hour,
    }
}

/// A time in a format.
pub fn write(time: OffsetDateTime, format: &str) -> String {
    let layout = NAMED.iter().find(|(name, _)| *name == format).map_or(format, |(_, layout)| *layout);
    // A text in quotes is itself in Java's patterns.
    let is_java = ["yy", "MM", "dd", "HH", "mm", "ss", "EEE"].iter().any(|piece| layout.contains(piece));
    let pieces = if is_java { JAVA } else { GO };
    let (mut out, mut rest) = (String::new(), layout);
    while let Some(letter) = rest.chars().next() {
        if let Some((text, after)) = rest.strip_prefix('\'').filter(|_| is_java).and_then(|rest| rest.split_once('\''))
        {
            out.push_str(text);
            rest = after;
            continue;
        }
        match pieces.iter().find(|(piece, _)| rest.starts_with(piece)) {
            Some((piece, show)) => {
                out.push_str(&show(&time));
                rest = &rest[piece.len()..];
            }
            None => {
                out.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    out
}

/// A date, or a date and a time in UTC.
pub fn read(text: &str) -> Result<OffsetDateTime, String> {
    parse(text).ok_or_else(|| format!("found the date {text:?}, expected one as 2025-12-31 or 2025-12-31T23:59:59Z"))
}

fn parse(text: &str) -> Option<OffsetDateTime> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let date: Vec<i32> = date.split('-').map(str::parse).collect::<Result<_, _>>().ok()?;
    let time: Vec<u8> = time.trim_end_matches('Z').split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (&[year, month, day], &[hour, minute, second]) = (&date[..], &time[..]) else { return None };
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(year, month, u8::try_from(day).ok()?).ok()?;
    Some(date.with_time(Time::from_hms(hour, minute, second).ok()?).assume_utc())
}

/// Now, from nanoseconds since 1970.
pub fn from_epoch(nanoseconds: u64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::seconds((nanoseconds / 1_000_000_000) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_go_and_of_java() {
        let time = read("2006-01-02T15:04:05Z").unwrap();
        for (name, layout) in NAMED {
            let wanted =
                layout.replace("MST", "UTC").replace("-0700", "+0000").replace("Z07:00", "Z").replace("_2", " 2");
            assert_eq!(write(time, name), wanted, "{name}");
        }
        assert_eq!(write(time, "3:04PM on January 2, 2006"), "3:04PM on January 2, 2006");
        assert_eq!(write(time, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX"), "2006-01-02T15:04:05.000Z");
        assert_eq!(write(time, "EEE, d MMM yy h:mm a"), "Mon, 2 Jan 06 3:04 PM");
    }

    #[test]
    fn what_is_no_date_is_told() {
        for text in ["", "2025", "2025-02-30", "2025-01-01T25:00:00Z", "soon"] {
            assert!(read(text).unwrap_err().starts_with(&format!("found the date {text:?}, expected")), "{text}");
        }
    }
}
