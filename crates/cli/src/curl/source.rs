//! Pieces of JavaScript text: literals as a person would write them.

/// A string literal: in single quotes where nothing needs an escape but them, else as JSON writes it.
pub fn text(text: &str) -> String {
    if text.contains('\'') || text.contains('\\') || text.chars().any(|c| c.is_control() || is_line_end(c)) {
        let quoted = serde_json::Value::from(text).to_string();
        // Allowed in strings since 2019; older readers of the script would end the line there.
        return quoted.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    }
    format!("'{text}'")
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// A property name: bare where it may be.
pub fn name(name: &str) -> String {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
    let is_bare = name.bytes().all(word) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty();
    match name {
        // In a literal it would be the prototype.
        "__proto__" => String::from("['__proto__']"),
        _ if is_bare => name.to_owned(),
        _ => text(name),
    }
}

/// An object literal of names and expressions: on one line when it is short.
pub fn object(fields: &[(String, String)], indent: usize) -> String {
    let one_line = fields.iter().map(|(key, value)| format!("{}: {value}", name(key))).collect::<Vec<_>>().join(", ");
    if one_line.len() + indent < 60 && !one_line.contains('\n') {
        return if one_line.is_empty() { String::from("{}") } else { format!("{{ {one_line} }}") };
    }
    let lines = fields.iter().map(|(key, value)| format!("{:indent$}  {}: {value},\n", "", name(key)));
    format!("{{\n{}{:indent$}}}", lines.collect::<String>(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_read_back() {
        assert_eq!(text("a \"b\""), "'a \"b\"'");
        assert_eq!(text("it's\n"), "\"it's\\n\"");
        assert_eq!(text("\u{2028}"), "\"\\u2028\"");
        assert_eq!(name("vus"), "vus");
        assert_eq!(name("__proto__"), "['__proto__']");
        assert_eq!(name("Content-Type"), "'Content-Type'");
        assert_eq!(object(&[("a".into(), "1".into())], 0), "{ a: 1 }");
    }
}
