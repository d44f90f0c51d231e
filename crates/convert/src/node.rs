//! JSON that knows which of its values were read.
//!
//! A format reads values by their type: what it asked for as a text and found as a list stays unread. What is unread at
//! the end and not in the table of `meaningless.rs` becomes a note, so that a converter drops nothing without a word,
//! also nothing that it has never heard of.

use std::cell::Cell;
use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

use crate::Format;
use crate::meaningless::is_meaningless;

/// Objects with more fields than this have an index.
const MANY: usize = 16;

/// A value.
#[derive(Debug)]
pub struct Node {
    kind: Kind,
    read: Cell<bool>,
}

#[derive(Debug)]
enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Object(ObjectFields),
}

#[derive(Debug)]
struct ObjectFields {
    list: Vec<(String, Node)>,
    index: HashMap<String, usize>,
}

impl From<Value> for Node {
    fn from(value: Value) -> Node {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(value),
            Value::Number(number) => Kind::Number(number),
            Value::String(text) => Kind::Text(text),
            Value::Array(items) => Kind::List(items.into_iter().map(Node::from).collect()),
            Value::Object(fields) => {
                let list: Vec<_> = fields.into_iter().map(|(name, value)| (name, Node::from(value))).collect();
                let names = list.iter().enumerate().filter(|_| list.len() > MANY);
                let index = names.map(|(at, (name, _))| (name.clone(), at)).collect();
                Kind::Object(ObjectFields { list, index })
            }
        };
        Node { kind, read: Cell::new(false) }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Node, D::Error> {
        Value::deserialize(reader).map(Node::from)
    }
}

impl Node {
    fn marked<T>(&self, found: Option<T>) -> Option<T> {
        if found.is_some() {
            self.read.set(true);
        }
        found
    }

    /// A field of an object, unless it is null.
    pub fn get(&self, name: &str) -> Option<&Node> {
        let Kind::Object(fields) = &self.kind else { return None };
        self.read.set(true);
        debug_assert!(fields.index.is_empty() || fields.index.len() == fields.list.len(), "all are found or none");
        let field = match fields.index.is_empty() {
            true => fields.list.iter().find(|(known, _)| known == name).map(|(_, field)| field),
            false => fields.index.get(name).map(|at| &fields.list[*at].1),
        };
        field.filter(|field| !field.is_null())
    }

    /// A value by its way: `/info/title` (RFC 6901).
    pub fn at(&self, pointer: &str) -> Option<&Node> {
        let mut value = self;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            value = match &value.kind {
                Kind::List(items) => {
                    value.read.set(true);
                    items.get(part.parse::<usize>().ok()?)?
                }
                _ => value.get(&part)?,
            };
        }
        Some(value)
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        let text = match &self.kind {
            Kind::Text(text) => Some(text.as_str()),
            _ => None,
        };
        self.marked(text)
    }

    /// The text of a field; empty where there is none.
    pub fn text_of(&self, name: &str) -> &str {
        self.get(name).and_then(Node::text).unwrap_or_default()
    }

    /// A text, a number, or true and false as a text.
    pub fn shown(&self) -> Option<String> {
        let shown = match &self.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Number(number) => Some(number.to_string()),
            Kind::Bool(value) => Some(value.to_string()),
            _ => None,
        };
        self.marked(shown)
    }

    /// True or false.
    pub fn boolean(&self) -> Option<bool> {
        let value = match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        };
        self.marked(value)
    }

    /// Whether a field says true.
    pub fn is(&self, name: &str) -> bool {
        self.get(name).and_then(Node::boolean).unwrap_or(false)
    }

    /// A number.
    pub fn number(&self) -> Option<f64> {
        let number = match &self.kind {
            Kind::Number(number) => number.as_f64(),
            _ => None,
        };
        self.marked(number)
    }

    /// The items of a list.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => {
                self.read.set(true);
                items
            }
            _ => &[],
        }
    }

    /// The items of a field that is a list.
    pub fn items_of(&self, name: &str) -> &[Node] {
        self.get(name).map_or(&[], Node::items)
    }

    /// The fields of an object, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Node)> {
        let list = match &self.kind {
            Kind::Object(fields) => {
                self.read.set(true);
                &fields.list[..]
            }
            _ => &[],
        };
        list.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// The fields of a field that is an object.
    pub fn fields_of(&self, name: &str) -> impl Iterator<Item = (&str, &Node)> {
        self.get(name).into_iter().flat_map(Node::fields)
    }

    /// Everything in it.
    pub fn whole(&self) -> Value {
        self.read.set(true);
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Node::whole).collect()),
            Kind::Object(fields) => {
                let fields = fields.list.iter().map(|(name, field)| (name.clone(), field.whole()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// Takes it as read with everything in it: a note has named it, or the other tool does not use it either.
    pub fn settle(&self) {
        self.read.set(true);
        match &self.kind {
            Kind::List(items) => items.iter().for_each(Node::settle),
            Kind::Object(fields) => fields.list.iter().for_each(|(_, field)| field.settle()),
            _ => {}
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    pub fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    pub fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List(_))
    }

    fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Null => true,
            Kind::Text(text) => text.is_empty(),
            Kind::List(items) => items.is_empty(),
            Kind::Object(fields) => fields.list.is_empty(),
            Kind::Bool(_) | Kind::Number(_) => false,
        }
    }
}

/// A value that nothing read.
pub struct Unread<'n> {
    /// Names of fields down to it, without the places in lists.
    pub path: Vec<&'n str>,
    /// The text of the field `name` of the innermost object around it that has one.
    pub name: Option<&'n str>,
}

impl Node {
    /// Hands over what nothing read and no table lists, the outermost of each.
    pub fn unread<'n>(&'n self, format: Format, each: &mut impl FnMut(Unread<'n>)) {
        self.unread_below(format, &mut Vec::new(), None, each);
    }

    /// The same of a value that stands at the field `name` of something larger.
    pub fn unread_from<'n>(&'n self, format: Format, name: &'n str, each: &mut impl FnMut(Unread<'n>)) {
        self.unread_below(format, &mut vec![name], None, each);
    }

    fn unread_below<'n>(
        &'n self,
        format: Format,
        path: &mut Vec<&'n str>,
        name: Option<&'n str>,
        each: &mut impl FnMut(Unread<'n>),
    ) {
        if !self.read.get() {
            if !self.is_empty() && !is_meaningless(format, path) {
                each(Unread { path: path.clone(), name });
            }
            return;
        }
        match &self.kind {
            Kind::List(items) => items.iter().for_each(|item| item.unread_below(format, path, name, each)),
            Kind::Object(fields) => {
                let own = fields.list.iter().find(|(known, _)| known == "name");
                let own = own.and_then(|(_, field)| match &field.kind {
                    Kind::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                let name = own.or(name);
                for (field, value) in &fields.list {
                    path.push(field);
                    value.unread_below(format, path, name, each);
                    path.pop();
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_nothing_read_is_found() {
        let node =
            Node::from(json!({ "name": "n", "a": [{ "b": 1, "c": "x" }, { "c": [] }], "d": { "e": null }, "f": [1] }));
        assert_eq!(node.text_of("name"), "n");
        assert_eq!(node.items_of("a")[0].text_of("c"), "x");
        assert_eq!(node.at("/a/0/c").and_then(Node::text), Some("x"));
        assert_eq!(node.text_of("f"), "", "a list is no text");
        let mut found = Vec::new();
        node.unread(Format::Postman, &mut |unread| found.push(unread.path.join(".")));
        assert_eq!(found, ["a.b", "a", "d", "f"]);
        assert_eq!(node.whole()["a"][1], json!({ "c": [] }));
        node.unread(Format::Postman, &mut |_| panic!("everything is read"));
    }
}
