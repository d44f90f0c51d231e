//! Bodies of a description: JSON, forms of both kinds, anything else as the text of its example.
//!
//! In a multipart form a list is a part for each of its items, bytes are a file, and an object is a part of JSON,
//! unless `encoding` says otherwise.

use serde_json::Value;

use super::Description;
use super::references::Target;
use super::style::{ParameterStyle, of_form, plain, shown, with_reserved};
use crate::model::{Body, Content, Part, Request};
use crate::node::Node;
use crate::template::Template;

/// A style that the `encoding` of a field names.
fn style_of(encoding: Option<&Node>, escape: fn(&str) -> String) -> Option<ParameterStyle<'_>> {
    let name = encoding.and_then(|encoding| encoding.get("style")).and_then(Node::text);
    let explode = encoding.and_then(|encoding| encoding.get("explode")).and_then(Node::boolean);
    let reserved = encoding.and_then(|encoding| encoding.get("allowReserved")).and_then(Node::boolean);
    if name.is_none() && explode.is_none() && reserved.is_none() {
        return None;
    }
    let name = name.unwrap_or("form");
    let escape = if reserved == Some(true) { with_reserved } else { escape };
    Some(ParameterStyle { name, explodes: explode.unwrap_or(name == "form"), escape })
}

/// Alternatives within alternatives.
const DEPTH: usize = 10;

impl<'d> Description<'d> {
    /// Adds the body of an operation.
    pub(super) fn add_body(&mut self, operation: &'d Node, place: &str, request: &mut Request) {
        let Some(body) = operation.get("requestBody") else { return };
        let body = match self.document.follow(body) {
            Target::Found(found, _) => found,
            Target::Lost(why) => return self.notes.add(place, why),
        };
        let mut kinds: Vec<(&str, &Node)> = body.fields_of("content").collect();
        let Some(chosen) =
            kinds.iter().position(|(kind, _)| kind.contains("json")).or((!kinds.is_empty()).then_some(0))
        else {
            return;
        };
        let (kind, holder) = kinds.swap_remove(chosen);
        // Another way to send the same.
        kinds.iter().for_each(|(_, other)| other.settle());
        let value = self.example(holder);
        let kind = if kind.contains('*') { "application/json" } else { kind };
        request.body = match kind.split(';').next().unwrap_or_default().trim() {
            kind if kind.contains("json") => Body::Text(Template::text(value.to_string())),
            "application/x-www-form-urlencoded" => Body::Text(Template::text(self.form(&value, holder))),
            "multipart/form-data" => {
                request.body = Body::Form(self.parts(&value, holder));
                return;
            }
            other => {
                if value.is_object() || value.is_array() {
                    self.notes.add(place, format!("the example of a body in {other} is written as JSON"));
                }
                Body::Text(Template::text(shown(&value)))
            }
        };
        request.headers.push((String::from("Content-Type"), Template::text(kind)));
    }

    /// Fields in the style of their `encoding`; without one lists repeat their name, and objects are JSON.
    fn form(&mut self, value: &Value, holder: &'d Node) -> String {
        let mut pairs = Vec::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            let encoding = holder.get("encoding").and_then(|encodings| encodings.get(name));
            let given = style_of(encoding, of_form);
            let is_json = encoding.and_then(|encoding| encoding.get("contentType")).and_then(Node::text);
            let is_json = is_json.is_some_and(|kind| kind.contains("json"));
            let style = given.unwrap_or(ParameterStyle { name: "form", explodes: true, escape: of_form });
            match value {
                value if is_json => pairs.push(format!("{}={}", of_form(name), of_form(&value.to_string()))),
                Value::Object(_) if given.is_none() => {
                    pairs.push(format!("{}={}", of_form(name), of_form(&value.to_string())));
                }
                value => pairs.extend(style.pairs(name, value)),
            }
        }
        pairs.join("&")
    }

    fn parts(&mut self, value: &Value, holder: &'d Node) -> Vec<Part> {
        let mut parts = Vec::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            let schema = holder.get("schema").and_then(|schema| self.property(schema, name, 0));
            let encoding = holder.get("encoding").and_then(|encodings| encodings.get(name));
            let kind = encoding.and_then(|encoding| encoding.get("contentType")).and_then(Node::text);
            let kind = kind.map(|kinds| kinds.split(',').next().unwrap_or_default().trim().to_owned());
            let items = schema.and_then(|schema| self.items(schema, 0));
            if let Some(style) = style_of(encoding, plain) {
                let pairs = style.pairs(name, value);
                let pairs = pairs.iter().filter_map(|pair| pair.split_once('='));
                parts.extend(pairs.map(|(name, value)| part(name, &Value::from(value), None, None)));
                continue;
            }
            match (value, items) {
                (Value::Array(values), items) if !kind.as_deref().is_some_and(|kind| kind.contains("json")) => {
                    let is_file = items.is_some_and(|items| self.is_bytes(items, 0));
                    let one = |(at, value): (usize, &Value)| {
                        let number = if values.len() > 1 { (at + 1).to_string() } else { String::new() };
                        part(name, value, is_file.then(|| format!("{name}{number}.bin")), kind.clone())
                    };
                    parts.extend(values.iter().enumerate().map(one));
                }
                (value, _) => {
                    let is_file = schema.is_some_and(|schema| self.is_bytes(schema, 0));
                    parts.push(part(name, value, is_file.then(|| format!("{name}.bin")), kind));
                }
            }
        }
        parts
    }

    /// The schemas that a schema is made of, itself first.
    fn made_of(&mut self, schema: &'d Node) -> Vec<&'d Node> {
        let Target::Found(schema, _) = self.document.follow(schema) else { return Vec::new() };
        let parts = ["allOf", "oneOf", "anyOf"].into_iter().flat_map(|key| schema.items_of(key));
        std::iter::once(schema).chain(parts).collect()
    }

    fn property(&mut self, schema: &'d Node, name: &str, depth: usize) -> Option<&'d Node> {
        let (own, inner) = self.split(schema, depth)?;
        let found = own.get("properties").and_then(|properties| properties.get(name));
        found.or_else(|| inner.into_iter().find_map(|part| self.property(part, name, depth + 1)))
    }

    fn items(&mut self, schema: &'d Node, depth: usize) -> Option<&'d Node> {
        let (own, inner) = self.split(schema, depth)?;
        own.get("items").or_else(|| inner.into_iter().find_map(|part| self.items(part, depth + 1)))
    }

    /// Bytes: `format: binary`, or from 3.1 on a media type without an encoding.
    fn is_bytes(&mut self, schema: &'d Node, depth: usize) -> bool {
        let Some((own, inner)) = self.split(schema, depth) else { return false };
        let is_media = own.get("contentMediaType").is_some() && own.get("contentEncoding").is_none();
        is_media || own.text_of("format") == "binary" || inner.into_iter().any(|part| self.is_bytes(part, depth + 1))
    }

    fn split(&mut self, schema: &'d Node, depth: usize) -> Option<(&'d Node, Vec<&'d Node>)> {
        let mut parts = self.made_of(schema).into_iter();
        let own = parts.next().filter(|_| depth < DEPTH)?;
        Some((own, parts.collect()))
    }
}

/// A part that holds bytes has a file name, as browsers send it.
fn part(name: &str, value: &Value, filename: Option<String>, kind: Option<String>) -> Part {
    let standard = match value {
        _ if filename.is_some() => Some("application/octet-stream"),
        Value::Object(_) | Value::Array(_) => Some("application/json"),
        _ => None,
    };
    Part {
        name: name.to_owned(),
        content: Content::Text(Template::text(shown(value))),
        filename,
        kind: kind.or_else(|| standard.map(str::to_owned)),
    }
}
