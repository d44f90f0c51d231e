//! Placeholders in a plan's texts: `{size}`, `{port}`, `{server.url}`.
//!
//! A brace that does not open a name is kept as it is, so JSON and most of a shell's text pass unharmed; `{{HOME}}` is
//! `{HOME}` itself. What a name stands for may hold placeholders again. A name that nobody knows is refused, never
//! left.

use std::fmt;

/// A placeholder that cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// Nothing has this name.
    Unknown {
        /// The name between the braces.
        name: String,
        /// The text it is in.
        text: String,
    },
    /// Names that stand for each other.
    Circle(String),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateError::Unknown { name, text } => write!(f, "unknown name {{{name}}} in '{text}'"),
            TemplateError::Circle(text) => write!(f, "the placeholders of '{text}' stand for each other"),
        }
    }
}

/// Values that stand for values that stand for values: deeper than that is a circle.
const DEPTH: usize = 8;

/// The text with every placeholder filled by `value_of`.
pub fn expand(text: &str, value_of: &dyn Fn(&str) -> Option<String>) -> Result<String, TemplateError> {
    expand_within(text, value_of, DEPTH)
}

fn expand_within(text: &str, value_of: &dyn Fn(&str) -> Option<String>, depth: usize) -> Result<String, TemplateError> {
    if depth == 0 {
        return Err(TemplateError::Circle(text.to_owned()));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(name) =
            rest.strip_prefix('{').and_then(name_at).filter(|name| rest[name.len() + 3..].starts_with('}'))
        {
            out.push_str(&rest[1..name.len() + 3]);
            rest = &rest[name.len() + 4..];
        } else if let Some(name) = name_at(rest) {
            let value = value_of(name)
                .ok_or_else(|| TemplateError::Unknown { name: name.to_owned(), text: text.to_owned() })?;
            out.push_str(&expand_within(&value, value_of, depth - 1)?);
            rest = &rest[name.len() + 2..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// The name between the brace that stands here and the next one, when it is one.
fn name_at(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('{')?;
    let name = &inside[..inside.find('}')?];
    is_name(name).then_some(name)
}

/// Letters, digits, `_`, `-` and `.`, a letter or `_` first.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let value_of = |name: &str| match name {
            "size" => Some(String::from("1k")),
            "base" => Some(String::from("http://h:{port}")),
            "port" => Some(String::from("80")),
            "loop" => Some(String::from("{loop}")),
            _ => None,
        };
        expand(text, &value_of).map_err(|e| e.to_string())
    }

    #[test]
    fn names_are_filled_and_other_braces_kept() {
        for (text, filled) in [
            ("{base}/{size}", "http://h:80/1k"),
            ("{\"a\": {}}", "{\"a\": {}}"),
            ("${{HOME}}/{size}", "${HOME}/1k"),
            ("awk '{ print $1 }'", "awk '{ print $1 }'"),
            ("{", "{"),
            ("{{size", "{{size"),
            ("{{size}", "{1k"),
            ("{\"n\":{\"m\":\"{size}\"}}", "{\"n\":{\"m\":\"1k\"}}"),
            ("é{size}é", "é1ké"),
        ] {
            assert_eq!(fill(text), Ok(filled.to_owned()), "{text}");
        }
    }

    #[test]
    fn unknown_names_and_circles_are_refused() {
        assert_eq!(fill("/{sise}/x"), Err(String::from("unknown name {sise} in '/{sise}/x'")));
        assert_eq!(fill("{loop}"), Err(String::from("the placeholders of '{loop}' stand for each other")));
    }
}
