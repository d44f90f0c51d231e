//! A parsed HTML document: its nodes in the order of the text, so that what is below a node is a range behind it.
//!
//! Nothing changes after parsing. Selections and elements of a script are a reference to the document and numbers of
//! nodes; nothing is copied. No function here recurses: a document may be nested as deeply as its author likes.

mod parse;
mod serialize;

use host::memory::Reservation;
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName};

/// Which node.
pub type NodeId = u32;

/// In the place of a node that is not there.
const NO_NODE: NodeId = NodeId::MAX;

/// What a node is.
pub enum NodeData {
    /// The root of everything.
    Document,
    /// `<!DOCTYPE html>`, written out.
    Doctype(String),
    /// Text.
    Text(StrTendril),
    /// A comment.
    Comment(StrTendril),
    /// An element.
    Element(Box<ElementData>),
}

/// An element's name and attributes.
pub struct ElementData {
    /// Its name and namespace.
    pub name: QualName,
    /// In the order of the source.
    pub attributes: Vec<Attribute>,
}

impl ElementData {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|attribute| &*attribute.name.local == name);
        found.map(|attribute| &*attribute.value)
    }
}

/// One node and its neighbours.
pub struct Node {
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    last_child: NodeId,
    /// The first node behind it that is not below it.
    end: NodeId,
    /// What it is.
    pub data: NodeData,
}

/// A document.
pub struct Document {
    nodes: Vec<Node>,
    /// Where it came from; empty for a text.
    url: String,
    /// Its part of the user's memory, once the script has it.
    held: Option<Reservation>,
}

impl Document {
    /// The number of the root.
    pub const ROOT: NodeId = 0;

    /// Where it came from; empty for a text.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Counts as this part of the user's memory from now on.
    pub fn hold(&mut self, held: Reservation) {
        self.held = Some(held);
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The element that a node is.
    pub fn element(&self, id: NodeId) -> Option<&ElementData> {
        match &self.node(id).data {
            NodeData::Element(element) => Some(element),
            _ => None,
        }
    }

    /// Whether a node is an element.
    pub fn is_element(&self, id: NodeId) -> bool {
        self.element(id).is_some()
    }

    /// The name of an element; empty for other nodes.
    pub fn tag(&self, id: NodeId) -> &str {
        self.element(id).map_or("", |element| &element.name.local)
    }

    /// Whether a node is the element of this name.
    pub fn is_tag(&self, id: NodeId, name: &LocalName) -> bool {
        self.element(id).is_some_and(|element| element.name.local == *name)
    }

    /// The value of an element's attribute.
    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.element(id)?.attribute(name)
    }

    /// The node above.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        there(self.node(id).parent)
    }

    /// The node before, of the same parent.
    pub fn previous(&self, id: NodeId) -> Option<NodeId> {
        there(self.node(id).previous)
    }

    /// The node behind, of the same parent.
    pub fn next(&self, id: NodeId) -> Option<NodeId> {
        there(self.node(id).next)
    }

    /// The first node below.
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        (self.node(id).end > id + 1).then_some(id + 1)
    }

    /// The last node directly below.
    pub fn last_child(&self, id: NodeId) -> Option<NodeId> {
        there(self.node(id).last_child)
    }

    /// Everything below a node, in the order of the text.
    pub fn below(&self, id: NodeId) -> std::ops::Range<NodeId> {
        id + 1..self.node(id).end
    }

    /// Whether a node is somewhere below another.
    pub fn contains(&self, above: NodeId, below: NodeId) -> bool {
        self.below(above).contains(&below)
    }

    /// The nodes directly below.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |child| self.next(*child))
    }

    /// The elements directly below.
    pub fn child_elements(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.children(id).filter(|child| self.is_element(*child))
    }

    /// The nodes above, the nearest first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |above| self.parent(*above))
    }

    /// The nodes behind, of the same parent.
    pub fn following(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.next(id), |node| self.next(*node))
    }

    /// The nodes before, of the same parent, the nearest first.
    pub fn preceding(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.previous(id), |node| self.previous(*node))
    }

    /// The elements of these names below a node.
    pub fn descendants_named<'a>(&'a self, id: NodeId, names: &'a [&str]) -> impl Iterator<Item = NodeId> + 'a {
        self.below(id).filter(move |node| names.contains(&self.tag(*node)))
    }

    /// The nearest element above with one of these names.
    pub fn ancestor_named(&self, id: NodeId, names: &[&str]) -> Option<NodeId> {
        self.ancestors(id).find(|above| names.contains(&self.tag(*above)))
    }

    /// The text of a node and of everything below, added to `out`.
    pub fn push_text(&self, id: NodeId, out: &mut String) {
        for node in id..self.node(id).end {
            if let NodeData::Text(text) = &self.node(node).data {
                out.push_str(text);
            }
        }
    }

    /// The text of a node and of everything below.
    pub fn text(&self, id: NodeId) -> String {
        let mut out = String::new();
        self.push_text(id, &mut out);
        out
    }

    /// About how much memory it takes.
    pub fn size(&self) -> usize {
        let of = |node: &Node| match &node.data {
            NodeData::Element(element) => {
                size_of::<ElementData>()
                    + element.attributes.iter().map(|a| size_of::<Attribute>() + a.value.len()).sum::<usize>()
            }
            NodeData::Text(text) | NodeData::Comment(text) => text.len(),
            NodeData::Document | NodeData::Doctype(_) => 0,
        };
        self.nodes.iter().map(|node| size_of::<Node>() + of(node)).sum()
    }
}

/// The node of this number, when there is one.
fn there(id: NodeId) -> Option<NodeId> {
    (id != NO_NODE).then_some(id)
}
