//! Values of parameters as OpenAPI's styles write them (OpenAPI 3.1.1 section 4.8.12.4, RFC 6570).
//!
//! Pure: a value, a style, and whether it explodes. Delimiters stay as they are; what stands between them is escaped.
//! For what no style defines, objects within objects, the text is JSON, except in `deepObject`, whose names go on.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// How a value is written.
#[derive(Clone, Copy, Debug)]
pub struct ParameterStyle<'s> {
    /// `form`, `simple`, `label`, `matrix`, `spaceDelimited`, `pipeDelimited`, `deepObject`.
    pub name: &'s str,
    pub explodes: bool,
    /// Escapes what stands between delimiters.
    pub escape: fn(&str) -> String,
}

/// All but the unreserved characters of RFC 3986.
pub fn escaped(text: &str) -> String {
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The same, with the reserved characters as they are, as `allowReserved` says; `&`, `#` and `+` would end a value.
pub fn with_reserved(text: &str) -> String {
    const NONE: &AsciiSet = &percent_encoding::CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'+');
    const SET: &AsciiSet = &NONE.add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');
    utf8_percent_encode(text, SET).to_string()
}

/// A value of the kind `application/x-www-form-urlencoded`.
pub fn of_form(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Headers escape nothing.
pub fn plain(text: &str) -> String {
    text.to_owned()
}

/// A value without parts as a text; with parts as JSON.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl ParameterStyle<'_> {
    fn word(self, value: &Value) -> String {
        (self.escape)(&shown(value))
    }

    fn list(self, items: &[Value], separator: &str) -> String {
        items.iter().map(|item| self.word(item)).collect::<Vec<_>>().join(separator)
    }

    /// `R,100,G,200`, exploded `R=100,G=200`.
    fn fields(self, fields: &serde_json::Map<String, Value>, separator: &str) -> String {
        let equals = if self.explodes { "=" } else { separator };
        let field = |(name, value): (&String, &Value)| format!("{}{equals}{}", (self.escape)(name), self.word(value));
        fields.iter().map(field).collect::<Vec<_>>().join(separator)
    }

    /// In a path or a header: `simple`, `label`, `matrix`.
    pub fn in_path(self, name: &str, value: &Value) -> String {
        let name = (self.escape)(name);
        match (self.name, value) {
            ("label", Value::Array(items)) => format!(".{}", self.list(items, if self.explodes { "." } else { "," })),
            ("label", Value::Object(fields)) => {
                format!(".{}", self.fields(fields, if self.explodes { "." } else { "," }))
            }
            ("label", value) => format!(".{}", self.word(value)),
            ("matrix", Value::Array(items)) if self.explodes => {
                items.iter().map(|item| format!(";{name}={}", self.word(item))).collect()
            }
            ("matrix", Value::Object(fields)) if self.explodes => format!(";{}", self.fields(fields, ";")),
            ("matrix", Value::Array(items)) => format!(";{name}={}", self.list(items, ",")),
            ("matrix", Value::Object(fields)) => format!(";{name}={}", self.fields(fields, ",")),
            ("matrix", value) => match self.word(value) {
                word if word.is_empty() => format!(";{name}"),
                word => format!(";{name}={word}"),
            },
            (_, Value::Array(items)) => self.list(items, ","),
            (_, Value::Object(fields)) => self.fields(fields, ","),
            (_, value) => self.word(value),
        }
    }

    /// In a query, a form or a cookie: pairs.
    pub fn pairs(self, name: &str, value: &Value) -> Vec<String> {
        let own = (self.escape)(name);
        let separator = match self.name {
            "spaceDelimited" => "%20",
            "pipeDelimited" => "|",
            _ => ",",
        };
        match value {
            Value::Object(_) if self.name == "deepObject" => {
                let mut pairs = Vec::new();
                self.deep(&own, value, &mut pairs);
                pairs
            }
            Value::Array(items) if self.explodes || self.name == "deepObject" => {
                items.iter().map(|item| format!("{own}={}", self.word(item))).collect()
            }
            Value::Object(fields) if self.explodes => {
                let pair = |(name, value): (&String, &Value)| format!("{}={}", (self.escape)(name), self.word(value));
                fields.iter().map(pair).collect()
            }
            Value::Array(items) => vec![format!("{own}={}", self.list(items, separator))],
            Value::Object(fields) => vec![format!("{own}={}", self.fields(fields, separator))],
            value => vec![format!("{own}={}", self.word(value))],
        }
    }

    /// `filter[a][b]=1`; lists repeat their name.
    fn deep(self, name: &str, value: &Value, pairs: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    self.deep(&format!("{name}[{}]", (self.escape)(field)), value, pairs);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.deep(name, item, pairs)),
            value => pairs.push(format!("{name}={}", self.word(value))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn style(name: &str, explodes: bool) -> ParameterStyle<'_> {
        ParameterStyle { name, explodes, escape: escaped }
    }

    /// The table of the specification.
    #[test]
    fn paths_are_the_tables() {
        let values = [json!(""), json!("blue"), json!(["blue", "black"]), json!({ "R": 100, "G": 200 })];
        for (name, explodes, expected) in [
            ("simple", false, ["", "blue", "blue,black", "R,100,G,200"]),
            ("simple", true, ["", "blue", "blue,black", "R=100,G=200"]),
            ("label", false, [".", ".blue", ".blue,black", ".R,100,G,200"]),
            ("label", true, [".", ".blue", ".blue.black", ".R=100.G=200"]),
            ("matrix", false, [";color", ";color=blue", ";color=blue,black", ";color=R,100,G,200"]),
            ("matrix", true, [";color", ";color=blue", ";color=blue;color=black", ";R=100;G=200"]),
        ] {
            let found = values.each_ref().map(|value| style(name, explodes).in_path("color", value));
            assert_eq!(found, expected, "{name} {explodes}");
        }
        assert_eq!(
            style("simple", false).in_path("v", &json!(["a,b", "c/d", { "e": 1 }])),
            "a%2Cb,c%2Fd,%7B%22e%22%3A1%7D"
        );
    }

    #[test]
    fn queries_are_the_tables() {
        let values = [json!(""), json!("blue"), json!(["blue", "black"]), json!({ "R": 100, "G": 200 })];
        for (name, explodes, expected) in [
            ("form", false, ["color=", "color=blue", "color=blue,black", "color=R,100,G,200"]),
            ("form", true, ["color=", "color=blue", "color=blue&color=black", "R=100&G=200"]),
            ("spaceDelimited", false, ["color=", "color=blue", "color=blue%20black", "color=R%20100%20G%20200"]),
            ("pipeDelimited", false, ["color=", "color=blue", "color=blue|black", "color=R|100|G|200"]),
            ("deepObject", true, ["color=", "color=blue", "color=blue&color=black", "color[R]=100&color[G]=200"]),
        ] {
            let found = values.each_ref().map(|value| style(name, explodes).pairs("color", value).join("&"));
            assert_eq!(found, expected, "{name} {explodes}");
        }
        let deep = json!({ "a b": { "c": 1 }, "d": [2, "x&y"] });
        assert_eq!(style("deepObject", false).pairs("f", &deep).join("&"), "f[a%20b][c]=1&f[d]=2&f[d]=x%26y");
        assert_eq!(style("form", false).pairs("ids", &json!(["a,b", "c"])).join("&"), "ids=a%2Cb,c");
        let reserved = ParameterStyle { escape: with_reserved, ..style("form", false) };
        assert_eq!(reserved.pairs("p", &json!("a/b?c=d&e é")).join("&"), "p=a/b?c=d%26e%20%C3%A9");
    }
}
