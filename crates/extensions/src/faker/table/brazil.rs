//! Brazil: its people, companies, places and searches.

use fake::locales::{Data, PT_BR};

use super::STRING;
use crate::faker::make::draw::Draw;
use crate::faker::make::function::{ArgumentList, Function, draw, flag, pick, text, with};
use crate::faker::make::made::Made;

#[rustfmt::skip]
pub const BR: &[Function] = &[
    with("brCnpj", &[flag("formatted", "true"), flag("alphanumeric", "false")], STRING,
        "The number of a company, with right check digits, as `11.222.333/0001-81`.", cnpj),
    with("brCpf", &[flag("formatted", "true")], STRING,
        "The number of a person, with right check digits, as `123.456.789-09`.", cpf),
    with("brPhoneNumber", &[flag("mobile", "true")], STRING, "A phone number, as `(11) 98765-4321`.", phone),
    draw("brRg", STRING, "The nine digits of an identity card.", |d| d.digits(9).into()),
    with("brSearchTerm", &[text("mode", "random")], STRING,
        "What buyers look for: `simple` is a thing, `compound` one with its attributes, `random` either.", search_term),
    pick("brState", PT_BR::ADDRESS_STATE, "A state of Brazil."),
    pick("brStateAbbr", PT_BR::ADDRESS_STATE_ABBR, "The two letters of a state of Brazil."),
    draw("brZipCode", STRING, "A postal code, as `01310-100`.", |d| d.numerify("#####-###").into()),
];

/// The check digit of characters that count as many as they lie behind `0`, by weights from the end: 2 to `most`, and
/// from 2 again.
fn check_digit(characters: &str, most: u32) -> char {
    let weights = (2..=most).cycle();
    let sum: u32 = characters.bytes().rev().zip(weights).map(|(byte, weight)| u32::from(byte - b'0') * weight).sum();
    match sum % 11 {
        0 | 1 => '0',
        rest => char::from_digit(11 - rest, 10).unwrap_or('0'),
    }
}

fn with_checks(mut characters: String, most: u32) -> String {
    for _ in 0..2 {
        characters.push(check_digit(&characters, most));
    }
    characters
}

/// Puts the characters into the place of each `#`.
fn shaped(pattern: &str, characters: &str) -> String {
    let mut rest = characters.chars();
    pattern.chars().map(|place| if place == '#' { rest.next().unwrap_or('#') } else { place }).collect()
}

fn cnpj(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let alphabet = if given.flag(1) { "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" } else { "0123456789" };
    let number = with_checks(d.letters(alphabet, 12), 9);
    Ok(if given.flag(0) { shaped("##.###.###/####-##", &number).into() } else { number.into() })
}

fn cpf(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let number = with_checks(d.digits(9), 11);
    Ok(if given.flag(0) { shaped("###.###.###-##", &number).into() } else { number.into() })
}

fn phone(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    Ok(d.numerify(if given.flag(0) { "(^^) 9####-####" } else { "(^^) 3###-####" }).into())
}

fn search_term(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let is_simple = match given.text(0) {
        "random" => d.coin(),
        "simple" => true,
        "compound" => false,
        other => return Err(format!("the mode is {other:?}, expected \"random\", \"simple\" or \"compound\"")),
    };
    Ok(d.fill(if is_simple { "{brProduct}" } else { "{brProduct} {brAttribute}" }).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_right() {
        // The examples of the Brazilian revenue service, with digits and with letters.
        assert_eq!(with_checks(String::from("123456789"), 11), "12345678909");
        assert_eq!(with_checks(String::from("112223330001"), 9), "11222333000181");
        assert_eq!(with_checks(String::from("12ABC34501DE"), 9), "12ABC34501DE35");
    }
}
