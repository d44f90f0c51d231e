//! Addresses in the USA, countries, and places on the globe.

use fake::locales::{Data, EN};

use super::NUMBER;
use super::STRING;
use crate::faker::make::draw::Draw;
use crate::faker::make::function::{ArgumentList, Function, draw, number, pick, with};
use crate::faker::make::made::Made;

#[rustfmt::skip]
pub const ADDRESS: &[Function] = &[
    draw("address", "Address", "A whole address.", address),
    pick("country", EN::ADDRESS_COUNTRY, "A country."),
    pick("countryAbbreviation", EN::ADDRESS_COUNTRY_CODE, "The two letters of a country."),
    draw("latitude", NUMBER, "Degrees north.", |d| d.rounded(-90.0, 90.0, 6).into()),
    with("latitudeRange", &[number("min", "0"), number("max", "90")], NUMBER, "Degrees north between both.", degrees),
    draw("longitude", NUMBER, "Degrees east.", |d| d.rounded(-180.0, 180.0, 6).into()),
    with("longitudeRange", &[number("min", "0"), number("max", "180")], NUMBER, "Degrees east between both.", degrees),
    pick("state", EN::ADDRESS_STATE, "A state of the USA."),
    pick("stateAbbreviation", EN::ADDRESS_STATE_ABBR, "The two letters of a state of the USA."),
    draw("street", STRING, "A street with a number.", |d| street(d).into()),
    draw("streetNumber", STRING, "The number of a house.", |d| d.whole(1, 99_999).to_string().into()),
    pick("streetSuffix", EN::ADDRESS_STREET_SUFFIX, "What kind of street it is."),
    draw("zip", STRING, "A postal code of the USA.", |d| d.digits(5).into()),
];

fn degrees(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let (min, max) = given.range()?;
    Ok(d.rounded(min, max, 6).clamp(min, max).into())
}

fn street(d: &mut Draw) -> String {
    let prefix = if d.coin() { "{streetPrefix} " } else { "" };
    d.fill(&format!("{{streetNumber}} {prefix}{{streetName}} {{streetSuffix}}"))
}

/// A whole address.
pub fn address(d: &mut Draw) -> Made {
    let (street, city, state, zip) = (street(d), d.word("city"), d.pick(EN::ADDRESS_STATE), d.digits(5));
    Made::record([
        ("address", format!("{street}, {city}, {state} {zip}").into()),
        ("street", street.into()),
        ("city", city.into()),
        ("state", state.into()),
        ("zip", zip.into()),
        ("country", d.pick(EN::ADDRESS_COUNTRY).into()),
        ("latitude", d.rounded(-90.0, 90.0, 6).into()),
        ("longitude", d.rounded(-180.0, 180.0, 6).into()),
    ])
}
