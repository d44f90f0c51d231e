//! `$ref` within a description: followed within a bound, and named where it goes in circles or outside.

use crate::node::Node;

/// References that lead to references.
const HOPS: usize = 20;

/// A description, of which references point to parts.
pub struct Document {
    pub root: Node,
}

/// Where a reference leads.
pub enum Target<'d> {
    /// The value, and by which reference it was reached last.
    Found(&'d Node, Option<&'d str>),
    /// It leads nowhere; says why.
    Lost(String),
}

impl Document {
    /// Follows the references of a value.
    pub fn follow<'d>(&'d self, mut value: &'d Node) -> Target<'d> {
        let mut last = None;
        for _ in 0..HOPS {
            let Some(reference) = value.get("$ref").and_then(Node::text) else { return Target::Found(value, last) };
            let Some(pointer) = reference.strip_prefix('#') else {
                return Target::Lost(format!("the reference {reference} leads to another file; put all into one"));
            };
            let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
            match self.root.at(&pointer) {
                Some(found) => (value, last) = (found, Some(reference)),
                None => return Target::Lost(format!("the reference {reference} leads nowhere")),
            }
        }
        Target::Lost(format!("the reference {} leads to itself", last.unwrap_or_default()))
    }
}
