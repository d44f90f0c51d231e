//! JSON values as YAML: blocks of two spaces, in the order of the fields. A text stands bare where nobody can take it
//! for something else, and as in JSON where somebody could, which is YAML too.

use std::fmt::Write;

use serde_json::Value;

/// Documents, each with its mark.
pub fn documents<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().fold(String::new(), |mut text, value| {
        text.push_str("---\n");
        block(value, 0, &mut text);
        text
    })
}

/// A mapping or a list whose first line begins where the text ends, at this depth.
fn block(value: &Value, depth: usize, text: &mut String) {
    let mut is_first = true;
    let mut begin = |text: &mut String| {
        if !std::mem::take(&mut is_first) || text.ends_with('\n') {
            let _ = write!(text, "{:width$}", "", width = depth * 2);
        }
    };
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                begin(text);
                text.push_str(&scalar(&Value::from(name.as_str())));
                text.push(':');
                member(value, depth, text);
            }
        }
        Value::Array(items) => {
            for item in items {
                begin(text);
                text.push_str("- ");
                if is_block(item) {
                    block(item, depth + 1, text);
                } else {
                    let _ = writeln!(text, "{}", scalar(item));
                }
            }
        }
        other => {
            let _ = writeln!(text, "{}", scalar(other));
        }
    }
}

/// What stands behind the colon of a field. Items of a list stand as deep as its name, as people write them.
fn member(value: &Value, depth: usize, text: &mut String) {
    if !is_block(value) {
        let _ = writeln!(text, " {}", scalar(value));
        return;
    }
    text.push('\n');
    block(value, if value.is_array() { depth } else { depth + 1 }, text);
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        // JSON is YAML: quoted texts, numbers, true, null, [] and {}.
        other => other.to_string(),
    }
}

/// Whether a bare text is this text to every reader of YAML 1.1 and 1.2.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let holds = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:+=@".contains(c));
    begins && holds && !text.ends_with(':') && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_as_people_write_them() {
        let value = json!({
            "kind": "Job", "empty": {}, "none": [], "count": 3, "is": true, "nothing": null,
            "spec": { "rules": [{ "a": 1, "b": ["x", [1, 2], { "c": {} }] }, { "a": 2 }], "last": "y z" },
        });
        let expected = "---\nkind: Job\nempty: {}\nnone: []\ncount: 3\nis: true\nnothing: null\nspec:\n  rules:\n\
                        \x20 - a: 1\n    b:\n    - x\n    - - 1\n      - 2\n    - c: {}\n  - a: 2\n  last: \"y z\"\n";
        assert_eq!(documents([&value]), expected);
    }

    #[test]
    fn what_could_be_something_else_is_quoted() {
        for plain in ["Job", "apps/v1", "kubernetes.io/hostname", "--", "a:b", "/tmp", "http://x:80/y", "aGk="] {
            let is_bare = plain != "--";
            assert_eq!(is_plain(plain), is_bare, "{plain}");
        }
        for quoted in
            ["", "1", "1Gi", "yes", "No", "null", "~", "a: b", "a:", "#", "- x", "a b", "ü", "a\nb", "{}", "*"]
        {
            assert!(!is_plain(quoted), "{quoted}");
            let back: Value = serde_json::from_str(&scalar(&quoted.into())).unwrap();
            assert_eq!(back, quoted);
        }
    }
}
