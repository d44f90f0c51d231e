//! Lists of `{ key, value }`, which a collection has everywhere.

use crate::node::Node;

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub key: String,
    /// None: null, or not there.
    pub value: Option<String>,
}

/// Those that are switched on; an object of values as in version 2.0.
pub fn pairs(json: Option<&Node>) -> Vec<Pair> {
    let Some(json) = json else { return Vec::new() };
    if json.is_object() {
        let pair = |(key, value): (&str, &Node)| Pair { key: key.to_owned(), value: text(value) };
        return json.fields().map(pair).collect();
    }
    json.items().iter().filter(|item| is_on(item)).map(pair).collect()
}

/// One of them, also when it is switched off.
pub fn pair(item: &Node) -> Pair {
    let key = item.get("key").or_else(|| item.get("id")).and_then(Node::shown);
    Pair { key: key.unwrap_or_default(), value: item.get("value").and_then(text) }
}

/// A value as it is sent.
fn text(value: &Node) -> Option<String> {
    value.shown().or_else(|| (value.is_object() || value.is_list()).then(|| value.whole().to_string()))
}

/// Whether it is not switched off. What Postman does not send is settled by that.
pub fn is_on(json: &Node) -> bool {
    let is_off = json.is("disabled");
    if is_off {
        json.settle();
    }
    !is_off
}
