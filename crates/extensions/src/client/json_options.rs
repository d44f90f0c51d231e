//! Options that scripts give as objects, read by their JSON.
//!
//! Errors name the field and not a place in a text that the script has not written.

use host::js::{Ctx, Result, Value};
use serde::de::DeserializeOwned;

/// The object of a script as a value of this type; the inner error says what is wrong with it.
pub fn of_script<'js, T: DeserializeOwned>(
    ctx: &Ctx<'js>,
    object: Value<'js>,
) -> Result<std::result::Result<T, String>> {
    let text = ctx.json_stringify(object)?.map(|text| text.to_string()).transpose()?;
    Ok(parse(text.as_deref().unwrap_or("null")))
}

/// JSON as a value of this type.
pub fn parse<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        message.rsplit_once(" at line ").map_or(message.clone(), |(message, _)| message.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_no_line() {
        let error = parse::<Vec<u8>>("[1, \"a\"]").unwrap_err();
        assert_eq!(error, "invalid type: string \"a\", expected u8");
    }
}
