//! Strings of JSON, escaped as Go escapes them where HTML does not matter.

use std::fmt::Write;

/// A string in quotes.
pub(crate) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // JavaScript takes the last two for line ends.
            '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => {
                let _infallible = write!(out, "\\u{:04x}", char as u32);
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_k6_does() {
        let mut out = String::new();
        push_json(&mut out, "\u{1}\n\t\u{2028}\u{7f}\\/\u{8}\u{c}😀<&>\"\r");
        assert_eq!(out, "\"\\u0001\\n\\t\\u2028\u{7f}\\\\/\\b\\f😀<&>\\\"\\r\"");
    }
}
