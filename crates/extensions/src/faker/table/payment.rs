//! Cards, accounts, currencies and securities.

use fake::locales::{Data, EN};

use super::{NUMBER, STRING};
use crate::faker::make::draw::Draw;
use crate::faker::make::function::{ArgumentList, Function, Parameter, ParameterKind, draw, flag, number, pick, with};
use crate::faker::make::made::Made;

/// Kinds of cards: their names as arguments, what their numbers begin with, and how long those are.
const CARDS: &[(&str, &[&str], usize)] = &[
    ("visa", &["4"], 16),
    ("mastercard", &["51", "52", "53", "54", "55", "2221"], 16),
    ("american-express", &["34", "37"], 15),
    ("diners-club", &["300", "305", "36", "38"], 14),
    ("discover", &["6011", "644", "65"], 16),
    ("jcb", &["3528", "3589"], 16),
    ("unionpay", &["62"], 16),
    ("maestro", &["5018", "5020", "6304"], 16),
    ("elo", &["401178", "504175", "636368"], 16),
    ("hiper", &["637095", "637599"], 16),
    ("hipercard", &["606282"], 16),
];
const NO_TEXTS: Option<&str> = Some("");
const CARD_PARAMETERS: &[Parameter] = &[
    Parameter { name: "types", kind: ParameterKind::Texts, default: NO_TEXTS },
    Parameter { name: "bins", kind: ParameterKind::Texts, default: NO_TEXTS },
    flag("gaps", "false"),
];
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

#[rustfmt::skip]
pub const PAYMENT: &[Function] = &[
    draw("achAccountNumber", STRING, "Twelve digits of an account.", |d| d.digits(12).into()),
    draw("achRoutingNumber", STRING, "Nine digits of a bank, with a right check digit.", routing),
    draw("bitcoinAddress", STRING, "What looks like an address of Bitcoin.", |d| {
        let length = d.whole(25, 33) as usize;
        format!("1{}", d.letters(BASE58, length)).into()
    }),
    draw("bitcoinPrivateKey", STRING, "What looks like a private key of Bitcoin.", |d| {
        format!("5{}{}", d.pick(&["H", "J", "K"]), d.letters(BASE58, 49)).into()
    }),
    draw("creditCard", "CreditCard", "A card.", card),
    draw("creditCardCVV", STRING, "The three digits on its back.", |d| d.digits(3).into()),
    draw("creditCardExp", STRING, "Until when a card is good, as `09/31`: some years from now.", |d| expiry(d).into()),
    draw("creditCardExpMonth", STRING, "The month of that, as `09`.", |d| format!("{:02}", d.whole(1, 12)).into()),
    draw("creditCardExpYear", STRING, "The year of that, as `31`: some years from now.", |d| year(d).into()),
    with("creditCardNumber", CARD_PARAMETERS, STRING,
        "The number of a card of one of these types, or of any, that begins \
        with one of `bins` if there are any. Its check digit is right.", card_number),
    draw("creditCardNumberFormatted", STRING, "The number of a card with hyphens.",
        |d| grouped(&plain_number(d, &[], &[]).unwrap_or_default(), "-").into()),
    draw("currency", "Currency", "A currency.", |d| {
        let index = d.index(EN::CURRENCY_CODE.len().min(EN::CURRENCY_NAME.len()));
        Made::record([("short", EN::CURRENCY_CODE[index].into()), ("long", EN::CURRENCY_NAME[index].into())])
    }),
    pick("currencyLong", EN::CURRENCY_NAME, "The name of a currency."),
    pick("currencyShort", EN::CURRENCY_CODE, "The three letters of a currency."),
    with("price", &[number("min", "0"), number("max", "1000")], NUMBER,
        "A price between both, with two decimals.", |d, given| {
        let (min, max) = given.range()?;
        Ok(d.rounded(min, max, 2).clamp(min, max).into())
    }),
];

#[rustfmt::skip]
pub const FINANCE: &[Function] = &[
    draw("cusip", STRING, "The number of a security in North America, with a right check digit.", |d| cusip(d).into()),
    draw("isin", STRING, "The number of a security, with a right check digit.", |d| {
        let number = format!("{}{}", d.pick(EN::ADDRESS_COUNTRY_CODE), cusip(d));
        let values = number.chars().filter_map(|letter| letter.to_digit(36));
        let digits: String = values.map(|value| value.to_string()).collect();
        format!("{number}{}", luhn(&digits)).into()
    }),
];

/// The digit that makes the sum of Luhn right.
fn luhn(digits: &str) -> u32 {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let digits = digits.chars().rev().filter_map(|letter| letter.to_digit(10)).enumerate();
    let sum: u32 = digits.map(|(place, digit)| if place % 2 == 0 { doubled(digit) } else { digit }).sum();
    (10 - sum % 10) % 10
}

fn routing(d: &mut Draw) -> Made {
    let digits = d.digits(8);
    let weighed = digits.chars().filter_map(|letter| letter.to_digit(10)).zip([3, 7, 1].into_iter().cycle());
    let sum: u32 = weighed.map(|(digit, weight)| digit * weight).sum();
    format!("{digits}{}", (10 - sum % 10) % 10).into()
}

fn cusip(d: &mut Draw) -> String {
    let number = d.digits(3) + &d.letters("0123456789ABCDEFGHJKLMNPQRSTUVWXYZ", 5);
    let values = number.chars().filter_map(|letter| letter.to_digit(36)).enumerate();
    let sum: u32 = values
        .map(|(place, value)| if place % 2 == 1 { value * 2 } else { value })
        .map(|value| value / 10 + value % 10)
        .sum();
    format!("{number}{}", (10 - sum % 10) % 10)
}

fn plain_number(d: &mut Draw, types: &[String], bins: &[String]) -> Result<String, String> {
    let known = || CARDS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
    let mut fitting = Vec::new();
    for wanted in types.iter().filter(|wanted| *wanted != "all") {
        let card = CARDS.iter().find(|(name, ..)| name == wanted);
        fitting.push(card.ok_or_else(|| format!("no card is of type {wanted:?}, expected one of {}", known()))?);
    }
    if fitting.is_empty() {
        fitting.extend(CARDS);
    }
    let (_, starts, length) = fitting[d.index(fitting.len())];
    let start = match bins {
        [] => d.pick(starts).to_owned(),
        bins => bins[d.index(bins.len())].clone(),
    };
    if start.len() >= *length || !start.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("found {start:?} among the bins, expected fewer than {length} digits"));
    }
    let digits = format!("{start}{}", d.digits(length - 1 - start.len()));
    Ok(format!("{digits}{}", luhn(&digits)))
}

fn grouped(number: &str, separator: &str) -> String {
    let digits: Vec<char> = number.chars().collect();
    digits.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(separator)
}

fn card_number(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let number = plain_number(d, given.texts(0), given.texts(1))?;
    Ok(if given.flag(2) { grouped(&number, " ").into() } else { number.into() })
}

/// Its last two digits.
fn year(d: &mut Draw) -> String {
    let year = i64::from(d.now.year()) + d.whole(1, 9);
    format!("{:02}", year % 100)
}

fn expiry(d: &mut Draw) -> String {
    format!("{:02}/{}", d.whole(1, 12), year(d))
}

/// A card.
pub fn card(d: &mut Draw) -> Made {
    let kind = d.word("creditCardType");
    let of_type = kind.to_lowercase().replace(' ', "-");
    Made::record([
        ("type", kind.as_str().into()),
        ("number", plain_number(d, &[of_type], &[]).unwrap_or_default().into()),
        ("exp", expiry(d).into()),
        ("cvv", d.digits(3).into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_right() {
        assert_eq!(luhn("7992739871"), 3);
        let mut d = Draw::new(3, |_| None);
        for (name, _, length) in CARDS {
            let number = plain_number(&mut d, &[(*name).to_owned()], &[]).unwrap();
            assert_eq!(
                (number.len(), luhn(&number[..length - 1]).to_string()),
                (*length, number[length - 1..].to_owned())
            );
        }
        assert!(plain_number(&mut d, &[String::from("gold")], &[]).unwrap_err().contains("expected one of visa, "));
        for kind in crate::faker::make::words::list("creditCardType") {
            let of_type = kind.to_lowercase().replace(' ', "-");
            assert!(CARDS.iter().any(|(name, ..)| *name == of_type), "no numbers for {kind}");
        }
        assert_eq!(grouped("378282246310005", " "), "3782 8224 6310 005");
    }
}
