//! Example values of schemas: those that the description gives, else values that fit type, format and limits.
//!
//! The same schema gives the same value. A cyclic reference is cut where it repeats: what is required there is null,
//! what is not is left out. Bounded in depth and in values. Patterns are not solved; a note says so.

use serde_json::{Map, Number, Value, json};

use super::references::{Document, Target};
use crate::node::Node;
use crate::notes::Notes;

/// Schemas within each other.
const DEPTH: usize = 40;
/// Values of one example.
const VALUES: usize = 5_000;

/// Makes examples of one description.
pub struct Examples<'d> {
    pub document: &'d Document,
    /// References that are being followed.
    open: Vec<&'d str>,
    values: usize,
}

impl<'d> Examples<'d> {
    pub fn new(document: &'d Document) -> Self {
        Examples { document, open: Vec::new(), values: 0 }
    }

    /// Of a parameter or a body: its own example, else that of its schema.
    pub fn of_holder(&mut self, holder: &'d Node, notes: &mut Notes) -> Value {
        self.values = 0;
        if let Some(example) = holder.get("example") {
            holder.get("schema").into_iter().for_each(Node::settle);
            return example.whole();
        }
        let mut examples = holder.fields_of("examples");
        if let Some((_, first)) = examples.next()
            && let Target::Found(found, _) = self.document.follow(first)
        {
            if let Some(value) = found.get("value") {
                holder.get("schema").into_iter().for_each(Node::settle);
                return value.whole();
            }
            if let Some(address) = found.get("externalValue").and_then(Node::text) {
                notes.add("", format!("the example at {address} is not fetched: write it into the script"));
            }
        }
        holder.get("schema").and_then(|schema| self.of(schema, notes)).unwrap_or(Value::Null)
    }

    /// Of a schema; nothing where a reference repeats.
    fn of(&mut self, schema: &'d Node, notes: &mut Notes) -> Option<Value> {
        self.values += 1;
        if self.open.len() > DEPTH || self.values > VALUES {
            notes.add("", format!("an example with more than {VALUES} values or {DEPTH} references is cut"));
            return None;
        }
        let (schema, reference) = match self.document.follow(schema) {
            Target::Found(schema, reference) => (schema, reference),
            Target::Lost(why) => {
                notes.add("", why);
                return None;
            }
        };
        if let Some(reference) = reference {
            if self.open.contains(&reference) {
                notes.add("", format!("the cyclic reference {reference} is cut where it repeats"));
                return None;
            }
            self.open.push(reference);
        }
        let value = self.value(schema, notes);
        if reference.is_some() {
            self.open.pop();
        }
        Some(value)
    }

    fn value(&mut self, schema: &'d Node, notes: &mut Notes) -> Value {
        let first_of = |key: &str| schema.items_of(key).first();
        let given = schema.get("example").or_else(|| first_of("examples")).or_else(|| schema.get("default"));
        if let Some(value) = given.or_else(|| schema.get("const")).or_else(|| first_of("enum")) {
            let value = value.whole();
            // It says what the rest of the schema would.
            schema.settle();
            return value;
        }
        if let Some(parts) = schema.get("allOf").filter(|parts| parts.is_list()) {
            return self.all_of(schema, parts.items(), notes);
        }
        if let Some(first) = first_of("oneOf").or_else(|| first_of("anyOf")) {
            let value = self.of(first, notes).unwrap_or(Value::Null);
            return merged(value, self.object(schema, notes));
        }
        match kind(schema) {
            "object" => Value::Object(self.object(schema, notes)),
            "array" => self.array(schema, notes),
            "integer" => json!(whole(schema)),
            "number" => number(schema),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => Value::String(text(schema, notes)),
        }
    }

    fn all_of(&mut self, schema: &'d Node, parts: &'d [Node], notes: &mut Notes) -> Value {
        let mut whole = Value::Null;
        for part in parts {
            match (&mut whole, self.of(part, notes)) {
                (Value::Object(known), Some(Value::Object(more))) => known.extend(more),
                (_, Some(Value::Null) | None) => {}
                (whole, Some(value)) => *whole = value,
            }
        }
        merged(whole, self.object(schema, notes))
    }

    fn object(&mut self, schema: &'d Node, notes: &mut Notes) -> Map<String, Value> {
        let required: Vec<&str> = schema.items_of("required").iter().filter_map(Node::text).collect();
        let mut object = Map::new();
        for (name, property) in schema.fields_of("properties") {
            if property.is("readOnly") {
                // The server alone writes it.
                property.settle();
                continue;
            }
            match self.of(property, notes) {
                Some(value) => drop(object.insert(name.to_owned(), value)),
                None if required.contains(&name) => drop(object.insert(name.to_owned(), Value::Null)),
                None => {}
            }
        }
        object
    }

    fn array(&mut self, schema: &'d Node, notes: &mut Notes) -> Value {
        let count = limit(schema, "minItems").unwrap_or(1.0).clamp(1.0, 10.0);
        let item = schema.get("items").and_then(|items| self.of(items, notes));
        Value::Array(item.map_or(Vec::new(), |item| vec![item; count as usize]))
    }
}

fn merged(value: Value, more: Map<String, Value>) -> Value {
    match value {
        Value::Object(mut object) => {
            object.extend(more);
            Value::Object(object)
        }
        Value::Null if !more.is_empty() => Value::Object(more),
        other => other,
    }
}

/// The type, also of a list with `null` (3.1), or what the schema's words tell.
fn kind(schema: &Node) -> &str {
    let kinds = schema.get("type");
    match kinds.and_then(Node::text) {
        Some(kind) => kind,
        None if kinds.is_some_and(Node::is_list) => {
            let mut known = schema.items_of("type").iter().filter_map(Node::text);
            known.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() || schema.get("additionalProperties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

fn limit(schema: &Node, name: &str) -> Option<f64> {
    schema.get(name).and_then(Node::number)
}

fn whole(schema: &Node) -> i64 {
    let above = limit(schema, "exclusiveMinimum").map(|low| low.floor() + 1.0);
    let below = limit(schema, "exclusiveMaximum").map(|high| high.ceil() - 1.0);
    let most = limit(schema, "maximum").map(f64::floor).or(below).unwrap_or(f64::INFINITY);
    let least = limit(schema, "minimum").map(f64::ceil);
    // True in 3.0, where it is said of the minimum.
    let least = least.map(|least| least + f64::from(u8::from(schema.is("exclusiveMinimum"))));
    let most = most - f64::from(u8::from(schema.is("exclusiveMaximum")));
    let value = least.or(above).unwrap_or(1.0).min(most);
    let step = limit(schema, "multipleOf").filter(|step| *step >= 1.0).unwrap_or(1.0);
    ((value / step).ceil() * step) as i64
}

fn number(schema: &Node) -> Value {
    let value = limit(schema, "minimum").or(limit(schema, "exclusiveMinimum").map(|low| low + 0.5)).unwrap_or(1.5);
    let value = value.min(limit(schema, "maximum").unwrap_or(f64::INFINITY));
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn text(schema: &Node, notes: &mut Notes) -> String {
    let pattern = schema.get("pattern").and_then(Node::text);
    let size = |name: &str| limit(schema, name).map(|size| size.clamp(0.0, 10_000.0) as usize);
    let (least, most) = (size("minLength"), size("maxLength"));
    let known = match schema.text_of("format") {
        "date-time" => "2026-01-01T12:00:00Z",
        "date" => "2026-01-01",
        "time" => "12:00:00Z",
        "duration" => "PT1M",
        "email" | "idn-email" => "user@example.com",
        "uuid" => "5f0c2a4e-8d1b-4c3e-9a7f-0123456789ab",
        "uri" | "url" | "iri" => "https://example.com/",
        "hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "dGV4dA==",
        "password" => "secret-password",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    if let Some(pattern) = pattern {
        notes.add("", format!("a text of the pattern {pattern} has no example: write one"));
    }
    let mut text = String::from("text");
    if let Some(least) = least {
        text.extend(std::iter::repeat_n('x', least.saturating_sub(text.len())));
    }
    if let Some(most) = most {
        text.truncate(most);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(root: Value, schema: &str) -> (Value, Vec<String>) {
        let document = Document { root: Node::from(root) };
        let mut notes = Notes::default();
        let holder = Node::from(json!({ "schema": { "$ref": schema } }));
        let value = Examples::new(&document).of_holder(&holder, &mut notes);
        (value, notes.lines())
    }

    #[test]
    fn values_fit_their_schemas() {
        let root = json!({ "s": { "type": "object", "required": ["next"], "properties": {
            "id": { "type": "integer", "minimum": 5, "multipleOf": 2 },
            "ro": { "type": "string", "readOnly": true },
            "name": { "type": ["null", "string"], "minLength": 6 },
            "kind": { "enum": ["a", "b"] },
            "when": { "type": "string", "format": "date" },
            "tags": { "type": "array", "minItems": 2, "items": { "type": "boolean" } },
            "next": { "$ref": "#/s" },
            "other": { "$ref": "#/s" },
            "both": { "allOf": [{ "properties": { "x": { "type": "number" } } }, { "$ref": "#/t" }] },
            "one": { "oneOf": [{ "type": "integer" }, { "type": "string" }] },
            "gone": { "$ref": "#/none" },
            "far": { "$ref": "other.yaml#/x" },
        } }, "t": { "properties": { "y": { "default": 3 } } } });
        let (value, notes) = example(root, "#/s");
        assert_eq!(
            value,
            json!({ "id": 6, "name": "textxx", "kind": "a", "when": "2026-01-01", "tags": [true, true], "next": null,
                "both": { "x": 1.5, "y": 3 }, "one": 1 })
        );
        assert_eq!(
            notes,
            [
                "the cyclic reference #/s is cut where it repeats (2 times)",
                "the reference #/none leads nowhere",
                "the reference other.yaml#/x leads to another file; put all into one",
            ]
        );
    }

    #[test]
    fn circles_and_explosions_are_bounded() {
        let (value, notes) = example(json!({ "a": { "$ref": "#/b" }, "b": { "$ref": "#/a" } }), "#/a");
        assert_eq!(value, Value::Null);
        assert!(notes[0].contains("leads to itself"), "{notes:?}");
        let mut root = json!({});
        for n in 0..30 {
            let next = json!({ "$ref": format!("#/s{}", n + 1) });
            root[format!("s{n}")] = json!({ "properties": { "a": next, "b": next } });
        }
        let (_, notes) = example(root, "#/s0");
        assert!(notes.iter().any(|note| note.contains("5000 values or 40 references is cut")), "{notes:?}");
    }
}
