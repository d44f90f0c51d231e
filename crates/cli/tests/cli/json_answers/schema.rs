//! Holds a JSON value against a schema of docs/schema, more strictly than the schema asks for: a field that the schema
//! does not name is refused too, so that nothing is printed which is not documented.
//!
//! Knows the words that our schemas use, and refuses a schema with another word.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Words that say nothing of which values are allowed.
const REMARKS: [&str; 7] = ["$schema", "title", "description", "$defs", "default", "format", "examples"];
/// Words that are obeyed.
const WORDS: [&str; 17] = [
    "$ref",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "uniqueItems",
];

/// What is wrong with a value, each with its place; nothing when it keeps to the schema.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut reader = Reader { root: schema, problems: Vec::new() };
    reader.fields(schema, value, "$");
    reader.problems
}

struct Reader<'a> {
    root: &'a Value,
    problems: Vec<String>,
}

impl<'a> Reader<'a> {
    fn say(&mut self, place: &str, text: impl std::fmt::Display) {
        self.problems.push(format!("{place}: {text}"));
    }

    /// Holds the value, then asks whether every field of an object was named somewhere.
    fn fields(&mut self, schema: &'a Value, value: &Value, place: &str) {
        let mut known = BTreeSet::new();
        let is_open = self.value(schema, value, place, &mut known);
        let Some(fields) = value.as_object().filter(|_| !is_open) else { return };
        for name in fields.keys().filter(|name| !known.contains(*name)) {
            self.say(place, format!("the schema has no field '{name}'"));
        }
    }

    /// Holds the value; gathers the fields that the schema names, and returns whether it takes any others.
    fn value(&mut self, schema: &'a Value, value: &Value, place: &str, known: &mut BTreeSet<String>) -> bool {
        let Some(words) = schema.as_object() else {
            if schema == &Value::Bool(false) {
                self.say(place, "nothing is allowed here");
            }
            return true;
        };
        for word in words.keys().filter(|word| !REMARKS.contains(&word.as_str()) && !WORDS.contains(&word.as_str())) {
            self.say(place, format!("the test does not know the word '{word}' of the schema"));
        }
        let mut is_open = !words.keys().any(|word| WORDS.contains(&word.as_str()));
        if let Some(path) = words.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(path.trim_start_matches('#'));
            is_open |= self.value(target.unwrap_or_else(|| panic!("{path} is nowhere")), value, place, known);
        }
        self.plain(words, value, place);
        self.list(words, value, place);
        is_open |= self.object(words, value, place, known);
        for part in words.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            is_open |= self.value(part, value, place, known);
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(choices) = words.get(word).and_then(Value::as_array) {
                is_open |= self.choice(choices, value, place, known);
            }
        }
        is_open
    }

    fn plain(&mut self, words: &Map<String, Value>, value: &Value, place: &str) {
        let types: Vec<&str> = match words.get("type") {
            None => Vec::new(),
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            Some(one) => one.as_str().into_iter().collect(),
        };
        if !types.is_empty() && !types.iter().any(|name| is_of(name, value)) {
            self.say(place, format!("found {value}, expected {}", types.join(" or ")));
        }
        if words.get("enum").and_then(Value::as_array).is_some_and(|all| !all.contains(value))
            || words.get("const").is_some_and(|only| only != value)
        {
            self.say(place, format!("found {value}, which is none of the named values"));
        }
        let bound = |word: &str| words.get(word).and_then(Value::as_f64).zip(value.as_f64());
        if bound("minimum").is_some_and(|(least, found)| found < least)
            || bound("maximum").is_some_and(|(most, found)| found > most)
        {
            self.say(place, format!("found {value}, which is out of bounds"));
        }
    }

    fn list(&mut self, words: &'a Map<String, Value>, value: &Value, place: &str) {
        let Some(list) = value.as_array() else { return };
        let bound = |word: &str| words.get(word).and_then(Value::as_u64);
        let count = list.len() as u64;
        if bound("minItems").is_some_and(|least| count < least) || bound("maxItems").is_some_and(|most| count > most) {
            self.say(place, format!("found {count} items"));
        }
        let first = words.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (at, item) in list.iter().enumerate() {
            if let Some(schema) = first.get(at).or(words.get("items")) {
                self.fields(schema, item, &format!("{place}[{at}]"));
            }
        }
    }

    fn object(
        &mut self,
        words: &'a Map<String, Value>,
        value: &Value,
        place: &str,
        known: &mut BTreeSet<String>,
    ) -> bool {
        let Some(fields) = value.as_object() else { return false };
        for name in words.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                self.say(place, format!("the field '{name}' is missing"));
            }
        }
        let named = words.get("properties").and_then(Value::as_object);
        known.extend(named.into_iter().flat_map(|named| named.keys().cloned()));
        let others = words.get("additionalProperties");
        for (name, found) in fields {
            let schema = named.and_then(|named| named.get(name)).or(others);
            if let Some(schema) = schema {
                self.fields(schema, found, &format!("{place}.{name}"));
            }
        }
        others.is_some_and(|schema| schema != &Value::Bool(false))
    }

    /// The first choice that the value keeps to; of none, what is wrong with the one that is nearest.
    fn choice(&mut self, choices: &'a [Value], value: &Value, place: &str, known: &mut BTreeSet<String>) -> bool {
        let tried = choices.iter().map(|choice| {
            let (mut reader, mut named) = (Reader { root: self.root, problems: Vec::new() }, BTreeSet::new());
            let is_open = reader.value(choice, value, place, &mut named);
            (reader.problems, named, is_open)
        });
        let Some((problems, named, is_open)) = tried.min_by_key(|(problems, ..)| problems.len()) else { return false };
        self.problems.extend(problems);
        known.extend(named);
        is_open
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type is called {other}"),
    }
}

#[test]
fn what_differs_is_found() {
    let schema = serde_json::json!({
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": { "type": ["integer", "null"], "minimum": 0 },
            "b": { "anyOf": [{ "$ref": "#/$defs/B" }, { "type": "null" }] },
            "c": { "type": "array", "items": { "type": "string" } },
            "d": { "type": "object", "additionalProperties": { "type": "number" } },
        },
        "$defs": { "B": { "type": "object", "properties": { "x": { "enum": ["y"] } } } },
    });
    let good = serde_json::json!({ "a": 1, "b": { "x": "y" }, "c": ["z"], "d": { "any": 1.5 } });
    assert_eq!(problems(&schema, &good), Vec::<String>::new());
    for (bad, said) in [
        (serde_json::json!({}), "the field 'a' is missing"),
        (serde_json::json!({ "a": 1.5 }), "$.a: found 1.5, expected integer or null"),
        (serde_json::json!({ "a": -1 }), "out of bounds"),
        (serde_json::json!({ "a": 1, "e": 1 }), "the schema has no field 'e'"),
        (serde_json::json!({ "a": 1, "b": { "x": "z" } }), "none of the named values"),
        (serde_json::json!({ "a": 1, "b": { "w": 1 } }), "no field 'w'"),
        (serde_json::json!({ "a": 1, "c": ["z", 2] }), "$.c[1]: found 2, expected string"),
        (serde_json::json!({ "a": 1, "d": { "any": "1" } }), "expected number"),
        (serde_json::json!([]), "expected object"),
    ] {
        let found = problems(&schema, &bad);
        assert!(found.iter().any(|problem| problem.contains(said)), "{bad}: {found:?}");
    }
}
