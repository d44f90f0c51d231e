//! Addresses, accounts and requests.

use fake::locales::{Data, EN};

use super::{NUMBER, STRING};
use crate::faker::make::draw::Draw;
use crate::faker::make::function::{ArgumentList, Function, draw, flag, number, pick, with};
use crate::faker::make::made::Made;

const STATUSES: &[u16] = &[
    100, 101, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406,
    407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 425, 426, 428, 429, 431, 451, 500, 501, 502,
    503, 504, 505, 511,
];
const SIMPLE_STATUSES: &[u16] = &[200, 301, 302, 400, 404, 500];

#[rustfmt::skip]
pub const INTERNET: &[Function] = &[
    draw("chromeUserAgent", STRING, "The User-Agent of Chrome.", |d| agent(d, "chromeUserAgent")),
    draw("domainName", STRING, "A domain.", |d| domain(d).into()),
    pick("domainSuffix", EN::INTERNET_DOMAIN_SUFFIX, "The end of a domain."),
    draw("firefoxUserAgent", STRING, "The User-Agent of Firefox.", |d| agent(d, "firefoxUserAgent")),
    draw("httpStatusCode", NUMBER, "A status of HTTP.", |d| f64::from(STATUSES[d.index(STATUSES.len())]).into()),
    draw("httpStatusCodeSimple", NUMBER, "A frequent status of HTTP.",
        |d| f64::from(SIMPLE_STATUSES[d.index(SIMPLE_STATUSES.len())]).into()),
    with("imageUrl", &[number("width", "500"), number("height", "500")], STRING, "Where an image of this size is.",
        |_, given| Ok(format!("https://picsum.photos/{}/{}", given.number(0), given.number(1)).into())),
    draw("ipv4Address", STRING, "An IPv4 address.", |d| {
        std::net::Ipv4Addr::from_bits(d.bits() as u32).to_string().into()
    }),
    draw("ipv6Address", STRING, "An IPv6 address.", |d| {
        let bits = (u128::from(d.bits()) << 64) | u128::from(d.bits());
        std::net::Ipv6Addr::from_bits(bits >> 3 | 1 << 125).to_string().into()
    }),
    draw("macAddress", STRING, "The address of a network card.",
        |d| (0..6).map(|_| d.hex(2)).collect::<Vec<_>>().join(":").into()),
    draw("operaUserAgent", STRING, "The User-Agent of Opera.", |d| agent(d, "operaUserAgent")),
    with("password", &[flag("lower", "true"), flag("upper", "true"), flag("numeric", "true"), flag("special", "true"),
        flag("space", "false"), number("length", "12")], STRING, "A password of these kinds of characters.", password),
    draw("safariUserAgent", STRING, "The User-Agent of Safari.", |d| agent(d, "safariUserAgent")),
    draw("url", STRING, "A URL.", |d| {
        let path = d.fill("{hackerNoun}/{hackerVerb}").replace(' ', "-");
        format!("https://www.{}/{path}", domain(d)).into()
    }),
    draw("userAgent", STRING, "The User-Agent of a browser.", |d| {
        let browser = d.pick(&["chromeUserAgent", "firefoxUserAgent", "operaUserAgent", "safariUserAgent"]);
        agent(d, browser)
    }),
    draw("username", STRING, "The name of an account.",
        |d| format!("{}{}", d.pick(EN::NAME_LAST_NAME), d.digits(4)).into()),
];

fn agent(d: &mut Draw, browser: &str) -> Made {
    let pattern = d.word(browser);
    d.numerify(&pattern).into()
}

fn domain(d: &mut Draw) -> String {
    d.fill("{firstPart}{secondPart}.{domainSuffix}").to_lowercase()
}

/// It has a character of each kind, as far as its length allows.
fn password(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let kinds = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "!@#$%&*+-_=?:;.,()", " "];
    let chosen: Vec<&str> =
        kinds.into_iter().enumerate().filter(|(index, _)| given.flag(*index)).map(|(_, kind)| kind).collect();
    if chosen.is_empty() {
        return Err(String::from("no kind of characters is left, expected at least one"));
    }
    let length = given.count(5)?;
    let mut password: Vec<u8> = chosen.iter().take(length).flat_map(|kind| d.letters(kind, 1).into_bytes()).collect();
    let rest = d.letters(&chosen.concat(), length - password.len());
    password.extend(rest.into_bytes());
    d.shuffle(&mut password);
    Ok(password.into_iter().map(char::from).collect::<String>().into())
}
