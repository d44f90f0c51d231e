//! Pieces of JavaScript text: literals as a person would write them.
//!
//! Pure text, used for scripts made of URLs and of what other tools wrote. Whatever the text holds, the literal reads
//! back as the same text; nothing in it can end the literal.

use serde_json::Value;

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

/// The same over several lines, in backticks, where the text has several lines and nothing that is better escaped.
pub fn long_text(value: &str) -> String {
    let is_plain = |c: char| c == '\n' || !(c.is_control() || is_line_end(c));
    match value.trim_end().contains('\n') && value.chars().all(is_plain) {
        true => format!("`{}`", inside_backticks(value)),
        false => text(value),
    }
}

/// Text as a piece of a template literal.
pub fn inside_backticks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '`' | '\\' => out.extend(['\\', c]),
            '$' if chars.peek() == Some(&'{') => out.push_str("\\$"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_line_end(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// A comment behind `//`: nothing in the text ends its line.
pub fn comment(text: &str) -> String {
    let shown: String = text.chars().map(|c| if c.is_control() || is_line_end(c) { ' ' } else { c }).collect();
    format!("// {shown}").trim_end().to_owned()
}

/// A JSON value as a script has it.
pub fn value(json: &Value, indent: usize) -> String {
    match json {
        Value::String(string) => text(string),
        Value::Array(items) => array(&items.iter().map(|item| value(item, indent + 2)).collect::<Vec<_>>(), indent),
        Value::Object(fields) => {
            let fields: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), value(v, indent + 2))).collect();
            object(&fields, indent)
        }
        other => other.to_string(),
    }
}

fn array(items: &[String], indent: usize) -> String {
    let one_line = format!("[{}]", items.join(", "));
    if one_line.len() + indent < 100 && !one_line.contains('\n') {
        return one_line;
    }
    let lines = items.iter().map(|item| format!("{:indent$}  {item},\n", ""));
    format!("[\n{}{:indent$}]", lines.collect::<String>(), "")
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
        assert_eq!(long_text("a\n`${b}\\"), "`a\n\\`\\${b}\\\\`");
        assert_eq!(long_text("a\r\nb"), "\"a\\r\\nb\"");
        assert_eq!(comment("a\nb"), "// a b");
        assert_eq!(value(&serde_json::json!({"a": [1, "x", null]}), 0), "{ a: [1, 'x', null] }");
        assert_eq!(object(&[("a".into(), "1".into())], 0), "{ a: 1 }");
    }
}
