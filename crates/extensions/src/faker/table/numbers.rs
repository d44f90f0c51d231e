//! Numbers, texts of letters and digits, and games.

use super::{BOOLEAN, NUMBER, NUMBERS, STRING, STRINGS};
use crate::faker::make::draw::{Draw, capital};
use crate::faker::make::function::{ArgumentList, Function, Parameter, ParameterKind, draw, number, required, with};
use crate::faker::make::made::Made;

const MIN_MAX: &[Parameter] = &[required("min", ParameterKind::Number), required("max", ParameterKind::Number)];
const DICE: &[Parameter] =
    &[number("dice", "1"), Parameter { name: "sides", kind: ParameterKind::Numbers, default: Some("6") }];
const COUNT: &[Parameter] = &[required("count", ParameterKind::Number)];
const PATTERN: &[Parameter] = &[required("pattern", ParameterKind::Text)];
const WHOLE: &[Parameter] = &[required("numbers", ParameterKind::Numbers)];
const TEXTS: &[Parameter] = &[required("texts", ParameterKind::Texts)];
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

#[rustfmt::skip]
pub const GAME: &[Function] = &[
    with("dice", DICE, NUMBERS,
        "What dice show; the last number of sides holds for the dice that have none.", dice),
    draw("gamertag", STRING, "The name of a player.", |d| {
        let words: String = d.word("gamertag").split(' ').map(capital).collect();
        d.numerify(&words).into()
    }),
];

#[rustfmt::skip]
pub const NUMBERS_TABLE: &[Function] = &[
    draw("boolean", BOOLEAN, "`true` or `false`.", |d| d.coin().into()),
    draw("float32", NUMBER, "A number that 32 bits hold.", |d| {
        let number = d.real(0.0, 1.0) * f64::from(f32::MAX);
        f64::from(number as f32).into()
    }),
    with("float32Range", MIN_MAX, NUMBER, "A number between both that 32 bits hold.", |d, given| {
        let (min, max) = given.range()?;
        Ok(f64::from(d.real(min, max) as f32).clamp(min, max).into())
    }),
    draw("float64", NUMBER, "A number.", |d| (d.real(0.0, 1.0) * f64::MAX).into()),
    with("float64Range", MIN_MAX, NUMBER, "A number between both.", |d, given| {
        let (min, max) = given.range()?;
        Ok(d.real(min, max).into())
    }),
    draw("hexUint128", STRING, "128 bits, as `0x…`.", |d| d.hex_number(32)),
    draw("hexUint16", STRING, "16 bits, as `0x…`.", |d| d.hex_number(4)),
    draw("hexUint256", STRING, "256 bits, as `0x…`.", |d| d.hex_number(64)),
    draw("hexUint32", STRING, "32 bits, as `0x…`.", |d| d.hex_number(8)),
    draw("hexUint64", STRING, "64 bits, as `0x…`.", |d| d.hex_number(16)),
    draw("hexUint8", STRING, "8 bits, as `0x…`.", |d| d.hex_number(2)),
    draw("int16", NUMBER, "A whole number of 16 bits.", |d| f64::from(d.bits() as i16).into()),
    draw("int32", NUMBER, "A whole number of 32 bits.", |d| f64::from(d.bits() as i32).into()),
    draw("int64", NUMBER, "A whole number of 64 bits, as near as a number of JavaScript comes.",
        |d| (d.bits() as i64).into()),
    draw("int8", NUMBER, "A whole number of 8 bits.", |d| f64::from(d.bits() as i8).into()),
    with("intRange", MIN_MAX, NUMBER, "A whole number from `min` to `max`.", whole_between),
    with("number", &[number("min", "-2147483648"), number("max", "2147483647")], NUMBER,
        "A whole number from `min` to `max`.", whole_between),
    with("randomInt", WHOLE, NUMBER, "One of the numbers.", one_number),
    with("randomUint", WHOLE, NUMBER, "One of the numbers.", one_number),
    with("shuffleInts", WHOLE, NUMBERS, "The numbers in another order.", |d, given| {
        let mut numbers = given.numbers(0).to_vec();
        d.shuffle(&mut numbers);
        Ok(numbers.into())
    }),
    draw("uint16", NUMBER, "A whole number from 0, of 16 bits.", |d| f64::from(d.bits() as u16).into()),
    draw("uint32", NUMBER, "A whole number from 0, of 32 bits.", |d| f64::from(d.bits() as u32).into()),
    draw("uint64", NUMBER, "A whole number from 0, of 64 bits, as near as a number of JavaScript comes.",
        |d| Made::Number(d.bits() as f64)),
    draw("uint8", NUMBER, "A whole number from 0, of 8 bits.", |d| f64::from(d.bits() as u8).into()),
    with("uintRange", &[number("min", "0"), number("max", "4294967295")], NUMBER,
        "A whole number from `min` to `max`, neither below 0.", |d, given| {
            if given.number(0) < 0.0 {
                return Err(format!("the range begins at {}, expected 0 or more", given.number(0)));
            }
            whole_between(d, given)
        }),
];

#[rustfmt::skip]
pub const STRINGS_TABLE: &[Function] = &[
    draw("digit", STRING, "A digit.", |d| d.digits(1).into()),
    with("digitN", COUNT, STRING, "As many digits.", |d, given| Ok(d.digits(given.count(0)?).into())),
    draw("letter", STRING, "A letter, large or small.", |d| d.letters(LETTERS, 1).into()),
    with("letterN", COUNT, STRING, "As many letters, large and small.",
        |d, given| Ok(d.letters(LETTERS, given.count(0)?).into())),
    with("lexify", PATTERN, STRING, "The text with a letter for each `?`.",
        |d, given| Ok(d.lexify(given.text(0)).into())),
    with("numerify", PATTERN, STRING, "The text with a digit for each `#`.",
        |d, given| Ok(d.numerify(given.text(0)).into())),
    with("randomString", TEXTS, STRING, "One of the texts.", |d, given| {
        let texts = given.texts(0);
        if texts.is_empty() { Err(nothing_to_choose()) } else { Ok(texts[d.index(texts.len())].clone().into()) }
    }),
    with("shuffleStrings", TEXTS, STRINGS, "The texts in another order.", |d, given| {
        let mut texts = given.texts(0).to_vec();
        d.shuffle(&mut texts);
        Ok(texts.into())
    }),
    draw("uuid", STRING, "A UUID of version 4.", |d| {
        let variant = d.letters("89ab", 1);
        format!("{}-{}-4{}-{variant}{}-{}", d.hex(8), d.hex(4), d.hex(3), d.hex(3), d.hex(12)).into()
    }),
];

fn nothing_to_choose() -> String {
    String::from("the list is empty, expected something to choose from")
}

fn dice(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let (count, sides) = (given.count(0)?, given.numbers(1));
    let mut shown = Vec::with_capacity(count);
    for die in 0..count {
        let of_die = sides.get(die).or(sides.last()).copied().unwrap_or(6.0);
        if !(1.0..=1e9).contains(&of_die) {
            return Err(format!("a die has {of_die} sides, expected at least 1"));
        }
        shown.push(d.whole(1, of_die as i64) as f64);
    }
    Ok(shown.into())
}

/// Both ends are whole: the smallest number from above, the largest from below.
fn whole_between(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let (min, max) = given.range()?;
    if min.ceil() > max.floor() {
        return Err(format!("found the range from {min} to {max}, expected one with a whole number"));
    }
    Ok(d.whole(min.ceil() as i64, max.floor() as i64).into())
}

fn one_number(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let numbers = given.numbers(0);
    if numbers.is_empty() { Err(nothing_to_choose()) } else { Ok(numbers[d.index(numbers.len())].into()) }
}
