//! How Go prints values, which k6's servers and messages show: forms hold values in Go's default format (`<nil>`,
//! `map[a:1]`), refusals name the types that Go has for them.

use host::bytes;
use host::js::function::This;
use host::js::object::Filter;
use host::js::{Ctx, Function, Object, Result, Value};
use host::kind::{BufferKind, ElementType, Kind};

/// Values nested deeper are cut.
const DEEPEST: usize = 32;

/// A value in Go's default format, which k6 applies to the values of forms. Nesting past 32 levels is cut.
pub fn go_text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    nested(ctx, value, 0)
}

fn nested<'js>(ctx: &Ctx<'js>, value: &Value<'js>, depth: usize) -> Result<String> {
    match Kind::of(value) {
        Kind::Text(_) | Kind::BigInt | Kind::Symbol => bytes::to_text(ctx, value),
        Kind::Bool(flag) => Ok(flag.to_string()),
        Kind::Number(number) => Ok(go_number(number)),
        Kind::Nothing => Ok(String::from("<nil>")),
        _ if depth >= DEEPEST => Ok(String::new()),
        Kind::Array(array) => {
            let items: Result<Vec<String>> =
                array.iter::<Value<'js>>().map(|item| nested(ctx, &item?, depth + 1)).collect();
            Ok(format!("[{}]", items?.join(" ")))
        }
        Kind::Date(date) => go_time(date),
        Kind::Function(_) => Ok(String::new()),
        Kind::Buffer(_) | Kind::Plain(_) | Kind::Map(_) | Kind::Promise(_) | Kind::Other(_) => {
            members(ctx, value, depth)
        }
    }
}

fn members<'js>(ctx: &Ctx<'js>, value: &Value<'js>, depth: usize) -> Result<String> {
    let Some(object) = value.as_object() else { return Ok(String::new()) };
    let mut members: Vec<(String, String)> = Vec::new();
    for entry in object.own_props::<Value<'js>, Value<'js>>(Filter::default()) {
        let (key, value) = entry?;
        members.push((bytes::to_text(ctx, &key)?, nested(ctx, &value, depth + 1)?));
    }
    members.sort();
    let members: Vec<String> = members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("map[{}]", members.join(" ")))
}

/// A Date as Go prints a time in UTC.
fn go_time(date: &Object<'_>) -> Result<String> {
    let to_iso: Function<'_> = date.get("toISOString")?;
    let iso: String = to_iso.call((This(date.clone()),))?;
    let (seconds, fraction) = iso.trim_end_matches('Z').split_once('.').unwrap_or((&iso, ""));
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    let text = format!("{}{dot}{fraction}", seconds.replace('T', " "));
    Ok(format!("{text} +0000 UTC"))
}

/// A number in Go's default format: whole ones as integers, others in the shortest form with an exponent from 1e6 or
/// under 1e-4 on.
pub fn go_number(number: f64) -> String {
    if number.is_nan() {
        return String::from("NaN");
    }
    if number.is_infinite() {
        return String::from(if number > 0.0 { "+Inf" } else { "-Inf" });
    }
    if number == 0.0 {
        return String::from(if number.is_sign_negative() { "-0" } else { "0" });
    }
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        return format!("{number:.0}");
    }
    let shortest = format!("{number:e}");
    let (mantissa, exponent) = shortest.split_once('e').expect("the format always has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a small integer");
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// The name that k6's messages have for the type of a value.
pub fn go_type(value: &Value<'_>) -> &'static str {
    match Kind::of(value) {
        Kind::Nothing => "<nil>",
        Kind::Bool(_) => "bool",
        Kind::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => "int64",
        Kind::Number(_) => "float64",
        Kind::BigInt => "*big.Int",
        Kind::Symbol | Kind::Text(_) => "string",
        Kind::Function(_) => "func(sobek.FunctionCall) sobek.Value",
        Kind::Array(_) => "[]interface {}",
        Kind::Date(_) => "time.Time",
        Kind::Map(_) => "[][2]interface {}",
        Kind::Buffer(kind) => go_slice(kind),
        Kind::Plain(_) | Kind::Promise(_) | Kind::Other(_) => "map[string]interface {}",
    }
}

/// What k6 makes of the elements of a typed array.
fn go_slice(kind: BufferKind) -> &'static str {
    let BufferKind::Typed(elements) = kind else { return "map[string]interface {}" };
    match elements {
        ElementType::Uint8 | ElementType::Uint8Clamped => "[]uint8",
        ElementType::Int8 => "[]int8",
        ElementType::Uint16 => "[]uint16",
        ElementType::Int16 => "[]int16",
        ElementType::Uint32 => "[]uint32",
        ElementType::Int32 => "[]int32",
        ElementType::Float32 => "[]float32",
        ElementType::Float64 => "[]float64",
        ElementType::BigInt64 | ElementType::BigUint64 | ElementType::Float16 => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_like_go() {
        let table: &[(f64, &str)] = &[
            (1.0, "1"),
            (-3.0, "-3"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.5, "1.5"),
            (123456.5, "123456.5"),
            (1234567.5, "1.2345675e+06"),
            (1e6, "1000000"),
            (12345678901.0, "12345678901"),
            (1e21, "1e+21"),
            (1e-7, "1e-07"),
            (0.0001, "0.0001"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
        ];
        for (number, expected) in table {
            assert_eq!(go_number(*number), *expected);
        }
    }
}
