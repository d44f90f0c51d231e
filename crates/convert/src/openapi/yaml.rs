//! YAML as the JSON it means: mappings, sequences, scalars of the core schema, anchors and aliases.
//!
//! Aliases are expanded within a bound, so that ten lines cannot become a gigabyte. Keys are texts. Refuses several
//! documents: the first one is read, what follows is not looked at.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Number, Value};

use crate::notes::Problem;

/// Values, with those of aliases.
const VALUES: usize = 1_000_000;
/// Mappings within each other.
const DEPTH: usize = 200;

struct Reader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    anchors: HashMap<usize, (Value, usize)>,
    values: usize,
}

/// Reads the first document.
pub fn read(text: &str) -> Result<Value, Problem> {
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: HashMap::new(), values: 0 };
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(Value::Null),
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (event, span) => return reader.value(event, span, 0),
        }
    }
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Problem> {
        self.parser.next().unwrap_or(Ok((Event::StreamEnd, Span::default()))).map_err(|error| problem(&error))
    }

    fn value(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Value, Problem> {
        let refuse = |message: String| Problem::at(span.start.line(), message);
        if depth > DEPTH {
            return Err(refuse(format!("mappings are more than {DEPTH} deep")));
        }
        let before = self.values;
        self.values += 1;
        let (value, anchor) = match event {
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).map(|(value, size)| (value.clone(), *size));
                // Within its own value an anchor is not known yet.
                let (value, size) =
                    known.ok_or_else(|| refuse(String::from("an alias stands within its own anchor")))?;
                self.values += size;
                (value, 0)
            }
            Event::Scalar(text, style, anchor, tag) => (scalar(text, style, tag.as_deref()), anchor),
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd | Event::StreamEnd, _) => break,
                        (event, span) => items.push(self.value(event, span, depth + 1)?),
                    }
                }
                (Value::Array(items), anchor)
            }
            Event::MappingStart(anchor, _) => (self.mapping(depth)?, anchor),
            _ => return Err(refuse(String::from("expected a value"))),
        };
        if self.values > VALUES {
            return Err(refuse(format!("with its aliases it has more than {VALUES} values")));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), self.values - before));
        }
        Ok(value)
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, Problem> {
        let mut fields = Map::new();
        loop {
            let (event, span) = self.next()?;
            let key = match event {
                Event::MappingEnd | Event::StreamEnd => return Ok(Value::Object(fields)),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(Problem::at(span.start.line(), "expected a key that is a text")),
            };
            let (event, span) = self.next()?;
            let value = self.value(event, span, depth + 1)?;
            match (key.as_str(), value) {
                // The merge of YAML 1.1, which descriptions use.
                ("<<", Value::Object(merged)) => {
                    for (key, value) in merged {
                        fields.entry(key).or_insert(value);
                    }
                }
                (_, value) => drop(fields.insert(key, value)),
            }
        }
    }
}

fn problem(error: &ScanError) -> Problem {
    let at = error.marker();
    Problem {
        line: Some(at.line()),
        column: Some(at.col() + 1),
        message: format!("this is not YAML: {}", error.info()),
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::String(text.into_owned());
    }
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        plain => number(plain).map_or_else(|| Value::String(plain.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let begins = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !begins.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    let whole = text.strip_prefix('+').unwrap_or(text);
    whole.parse::<i64>().ok().map(Number::from).or_else(|| whole.parse().ok().and_then(Number::from_f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_are_json() {
        let text =
            "a: &x\n  b: [1, -2.5, 'yes', true, ~, 0x10]\nc: *x\n200: \"t\"\nd:\n  <<: *x\n  e: |\n    line\n    two\n";
        let inner = json!([1, -2.5, "yes", true, null, 16]);
        let expected =
            json!({ "a": { "b": inner }, "c": { "b": inner }, "200": "t", "d": { "b": inner, "e": "line\ntwo\n" } });
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let mut laughs = String::from("a0: &a0 [x]\n");
        (1..30).for_each(|n| laughs.push_str(&format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}]\n", n - 1)));
        for (text, said) in [
            (laughs.as_str(), "more than 1000000 values"),
            ("a: [1, 2\nb: c", "t:2:2: this is not YAML"),
            ("a: &a\n  b: *a\n", "t:2: an alias stands within its own anchor"),
            ("? [a]\n: b", "t:1: expected a key that is a text"),
        ] {
            let shown = read(text).expect_err(said).shown("t");
            assert!(shown.contains(said), "{shown}");
        }
    }
}
