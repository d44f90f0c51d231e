//! `data()`: attributes that begin with `data-`, as values of the script.
//!
//! Numbers that are written as JavaScript would write them, `true`, `false`, arrays and objects are what they look
//! like; `null` and nothing are undefined; everything else is text.

use html5ever::Attribute;

use host::js::{Ctx, IntoJs, Object, Result, Value};

use super::document::ElementData;

/// All of them, under names in camel case.
pub(super) fn all<'js>(ctx: &Ctx<'js>, element: &ElementData) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for Attribute { name, value } in &element.attributes {
        if let Some(name) = name.local.strip_prefix("data-") {
            object.set(camel_case(name), converted(ctx, value)?)?;
        }
    }
    Ok(object.into_value())
}

/// One of them; its name may be in camel case or with hyphens.
pub(super) fn one<'js>(ctx: &Ctx<'js>, element: &ElementData, name: &str) -> Result<Value<'js>> {
    match element.attribute(&format!("data-{}", with_hyphens(name))) {
        Some(value) => converted(ctx, value),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn converted<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    match text {
        "" | "null" => return Ok(Value::new_undefined(ctx.clone())),
        "true" => return true.into_js(ctx),
        "false" => return false.into_js(ctx),
        _ => {}
    }
    if text.starts_with(['{', '[']) {
        return match ctx.json_parse(text) {
            Ok(value) => Ok(value),
            Err(_) => {
                ctx.catch();
                text.into_js(ctx)
            }
        };
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && format!("{number}") == text);
    match number {
        Some(number) => number.into_js(ctx),
        None => text.into_js(ctx),
    }
}

/// `first-name` → `firstName`.
fn camel_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for character in name.chars() {
        match character {
            '-' => upper = true,
            _ if upper => {
                out.extend(character.to_uppercase());
                upper = false;
            }
            _ => out.push(character),
        }
    }
    out
}

/// `firstName` → `first-name`.
fn with_hyphens(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_uppercase() {
            out.push('-');
        }
        out.extend(character.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_two_forms() {
        for (hyphens, camel) in [("a", "a"), ("first-name", "firstName"), ("i-j-k", "iJK")] {
            assert_eq!(camel_case(hyphens), camel);
            assert_eq!(with_hyphens(camel), hyphens);
        }
    }
}
