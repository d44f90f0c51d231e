//! Names of other tools as names of JavaScript.
//!
//! `base-url` becomes `baseUrl`. What JavaScript and the scripts that are written here have taken gets an underscore.

/// Words that a variable cannot have.
const TAKEN: [&str; 50] = [
    "BASE_URL",
    "FormData",
    "HEADERS",
    "SharedArray",
    "await",
    "b64decode",
    "b64encode",
    "break",
    "case",
    "catch",
    "check",
    "class",
    "const",
    "continue",
    "crypto",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "exec",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "group",
    "hmac",
    "http",
    "if",
    "import",
    "in",
    "jwt",
    "let",
    "new",
    "null",
    "options",
    "pick",
    "response",
    "return",
    "row",
    "sleep",
    "switch",
    "this",
    "true",
    "try",
    "var",
    "while",
    "yield",
];

/// A name that JavaScript has not taken.
pub fn identifier(name: &str) -> String {
    let mut word = String::new();
    let mut is_after_break = false;
    for c in name.chars() {
        match c.is_ascii_alphanumeric() || c == '_' {
            true if is_after_break && !word.is_empty() => word.push(c.to_ascii_uppercase()),
            true => word.push(c),
            false => {}
        }
        is_after_break = !(c.is_ascii_alphanumeric() || c == '_');
    }
    let is_taken = TAKEN.contains(&word.as_str()) || word.starts_with(|c: char| c.is_ascii_digit()) || word.is_empty();
    if is_taken { format!("{word}_").trim_start_matches(|c: char| c.is_ascii_digit()).to_owned() } else { word }
}

/// What reads a variable of the environment.
pub fn environment(name: &str) -> String {
    let is_word =
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_word && !name.is_empty() { format!("__ENV.{name}") } else { format!("__ENV[{}]", crate::source::text(name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javascripts() {
        for (name, expected) in [
            ("base-url", "baseUrl"),
            ("a.b c", "aBC"),
            ("class", "class_"),
            ("1x", "x_"),
            ("é", "_"),
            ("API_KEY", "API_KEY"),
        ] {
            assert_eq!(identifier(name), expected, "{name}");
        }
        assert_eq!(environment("a-b"), "__ENV['a-b']");
    }
}
