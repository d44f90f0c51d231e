//! Dates, times and time zones.

use fake::locales::{Data, EN};
use time::{Duration, OffsetDateTime};

use super::{NUMBER, STRING};
use crate::faker::make::date;
use crate::faker::make::draw::Draw;
use crate::faker::make::function::{ArgumentList, Function, Parameter, draw, pick, text, with};
use crate::faker::make::made::Made;

const RANGE: &[Parameter] =
    &[text("startdate", "1970-01-01"), text("enddate", "2025-12-31"), text("format", "yyyy-MM-dd")];

/// Dates lie from the year 1900 to the end of this one, so that they do not change with the year of the run.
const YEARS: (i64, i64) = (1900, 2025);

#[rustfmt::skip]
pub const TIME: &[Function] = &[
    with("date", &[text("format", "RFC3339")], STRING, "A date from 1900 to 2025, in this format.", |d, given| {
        let (from, to) = (date::read("1900-01-01")?, date::read("2026-01-01")?);
        Ok(date::write(between(d, from, to), given.text(0)).into())
    }),
    with("dateRange", RANGE, STRING,
        "A date between both, in this format. Both are as `2025-12-31` or as `2025-12-31T23:59:59Z`.", date_range),
    draw("day", NUMBER, "From 1 to 31.", |d| d.whole(1, 31).into()),
    draw("futureTime", STRING, "A time within half a day from now, as RFC 3339 has it.", |d| moved(d, 1)),
    draw("hour", NUMBER, "From 0 to 23.", |d| d.whole(0, 23).into()),
    draw("minute", NUMBER, "From 0 to 59.", |d| d.whole(0, 59).into()),
    draw("month", NUMBER, "From 1 to 12.", |d| d.whole(1, 12).into()),
    draw("nanosecond", NUMBER, "From 0 to 999999999.", |d| d.whole(0, 999_999_999).into()),
    draw("pastTime", STRING, "A time within half a day before now, as RFC 3339 has it.", |d| moved(d, -1)),
    draw("second", NUMBER, "From 0 to 59.", |d| d.whole(0, 59).into()),
    draw("timezoneOffset", NUMBER, "Hours from UTC.", |d| d.whole(-11, 13).into()),
    pick("timezoneRegion", EN::ADDRESS_TIME_ZONE, "A time zone, as `Europe/Vienna`."),
    draw("year", NUMBER, "From 1900 to 2025.", |d| d.whole(YEARS.0, YEARS.1).into()),
];

/// A time from the first to before the second.
fn between(d: &mut Draw, from: OffsetDateTime, to: OffsetDateTime) -> OffsetDateTime {
    from + Duration::seconds(d.whole(0, (to - from).whole_seconds().max(1) - 1))
}

fn date_range(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let (from, to) = (date::read(given.text(0))?, date::read(given.text(1))?);
    if from > to {
        return Err(format!("found {:?} to {:?}, expected the earlier date first", given.text(0), given.text(1)));
    }
    Ok(date::write(between(d, from, to + Duration::seconds(1)), given.text(2)).into())
}

fn moved(d: &mut Draw, direction: i64) -> Made {
    let time = d.now + Duration::seconds(direction * d.whole(60, 12 * 3600));
    date::write(time, "RFC3339").into()
}
