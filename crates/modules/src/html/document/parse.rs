//! From text to a document: html5ever reads, as browsers do, and this file keeps what it finds.
//!
//! No text is refused, because HTML's rules give every text a tree. As in k6, what is inside of a `<template>` is below
//! it, and what is inside of a `<noscript>` is text.

use std::borrow::Cow;
use std::cell::RefCell;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};

use super::{Document, ElementData, NO_NODE, Node, NodeData, NodeId, there};

impl Document {
    /// The document that a text is.
    pub fn parse(text: &str, url: &str) -> Document {
        let sink = Sink { nodes: RefCell::new(vec![Growing::new(NodeData::Document)]) };
        let nodes = parse_document(sink, ParseOpts::default()).one(StrTendril::from_slice(text));
        Document { nodes: in_order(nodes), url: url.to_owned(), held: None }
    }
}

/// A node while the tree grows.
struct Growing {
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first_child: NodeId,
    last_child: NodeId,
    data: NodeData,
}

impl Growing {
    fn new(data: NodeData) -> Self {
        let none = NO_NODE;
        Growing { parent: none, previous: none, next: none, first_child: none, last_child: none, data }
    }
}

/// The nodes that are in the tree, numbered in the order of the text.
fn in_order(mut growing: Vec<Growing>) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(growing.len());
    // What is open: the old number and the new one.
    let mut open: Vec<(NodeId, NodeId)> = Vec::new();
    let mut current = Some(Document::ROOT);
    while let Some(old) = current {
        let new = nodes.len() as NodeId;
        let parent = open.last().map_or(NO_NODE, |(_, parent)| *parent);
        let previous = open.last().map_or(NO_NODE, |(_, parent)| nodes[*parent as usize].last_child);
        let data = std::mem::replace(&mut growing[old as usize].data, NodeData::Document);
        nodes.push(Node { parent, previous, next: NO_NODE, last_child: NO_NODE, end: new + 1, data });
        if let Some(previous) = there(previous) {
            nodes[previous as usize].next = new;
        }
        if let Some(parent) = there(parent) {
            nodes[parent as usize].last_child = new;
        }
        open.push((old, new));
        current = there(growing[old as usize].first_child);
        while current.is_none() {
            let Some((old, new)) = open.pop() else { break };
            nodes[new as usize].end = nodes.len() as NodeId;
            current = there(growing[old as usize].next);
        }
    }
    nodes
}

/// What html5ever builds with.
struct Sink {
    nodes: RefCell<Vec<Growing>>,
}

impl Sink {
    fn add(&self, data: NodeData) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Growing::new(data));
        (nodes.len() - 1) as NodeId
    }
}

/// Takes a node out of its parent's children.
fn detach(nodes: &mut [Growing], id: NodeId) {
    let Growing { parent, previous, next, .. } = nodes[id as usize];
    match there(previous) {
        Some(previous) => nodes[previous as usize].next = next,
        None if parent != NO_NODE => nodes[parent as usize].first_child = next,
        None => {}
    }
    match there(next) {
        Some(next) => nodes[next as usize].previous = previous,
        None if parent != NO_NODE => nodes[parent as usize].last_child = previous,
        None => {}
    }
    let node = &mut nodes[id as usize];
    (node.parent, node.previous, node.next) = (NO_NODE, NO_NODE, NO_NODE);
}

/// Puts a node below a parent, before one of its children or behind the last.
fn attach(nodes: &mut [Growing], parent: NodeId, before: NodeId, id: NodeId) {
    detach(nodes, id);
    let previous = match there(before) {
        Some(before) => std::mem::replace(&mut nodes[before as usize].previous, id),
        None => std::mem::replace(&mut nodes[parent as usize].last_child, id),
    };
    match there(previous) {
        Some(previous) => nodes[previous as usize].next = id,
        None => nodes[parent as usize].first_child = id,
    }
    let node = &mut nodes[id as usize];
    (node.parent, node.previous, node.next) = (parent, previous, before);
}

/// Text joins the text before it.
fn insert(nodes: &mut Vec<Growing>, parent: NodeId, before: NodeId, child: NodeOrText<NodeId>) {
    let id = match child {
        NodeOrText::AppendNode(id) => id,
        NodeOrText::AppendText(text) => {
            let previous = match there(before) {
                Some(before) => nodes[before as usize].previous,
                None => nodes[parent as usize].last_child,
            };
            if let Some(Growing { data: NodeData::Text(known), .. }) =
                there(previous).map(|previous| &mut nodes[previous as usize])
            {
                known.push_tendril(&text);
                return;
            }
            nodes.push(Growing::new(NodeData::Text(text)));
            (nodes.len() - 1) as NodeId
        }
    };
    attach(nodes, parent, before, id);
}

/// The name of an element, for html5ever.
#[derive(Debug)]
struct SinkName(QualName);

impl ElemName for SinkName {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Vec<Growing>;
    type ElemName<'a> = SinkName;

    fn finish(self) -> Vec<Growing> {
        self.nodes.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        Document::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> SinkName {
        match &self.nodes.borrow()[*target as usize].data {
            NodeData::Element(element) => SinkName(element.name.clone()),
            _ => unreachable!("html5ever asks elements only for their names"),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> NodeId {
        self.add(NodeData::Element(Box::new(ElementData { name, attributes })))
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.add(NodeData::Comment(text))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> NodeId {
        self.add(NodeData::Comment(data))
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        insert(&mut self.nodes.borrow_mut(), *parent, NO_NODE, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        let has_parent = self.nodes.borrow()[*element as usize].parent != NO_NODE;
        match has_parent {
            true => self.append_before_sibling(element, child),
            false => self.append(previous, child),
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        let mut written = format!("<!DOCTYPE {name}");
        match (public.is_empty(), system.is_empty()) {
            (true, true) => {}
            (true, false) => written.push_str(&format!(" SYSTEM \"{system}\"")),
            (false, true) => written.push_str(&format!(" PUBLIC \"{public}\"")),
            (false, false) => written.push_str(&format!(" PUBLIC \"{public}\" \"{system}\"")),
        }
        written.push('>');
        let doctype = self.add(NodeData::Doctype(written));
        self.append(&Document::ROOT, NodeOrText::AppendNode(doctype));
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let mut nodes = self.nodes.borrow_mut();
        let parent = nodes[*sibling as usize].parent;
        insert(&mut nodes, parent, *sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        if let NodeData::Element(element) = &mut self.nodes.borrow_mut()[*target as usize].data {
            for attribute in attributes {
                if !element.attributes.iter().any(|known| known.name == attribute.name) {
                    element.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        detach(&mut self.nodes.borrow_mut(), *target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        while let Some(child) = there(nodes[*node as usize].first_child) {
            attach(&mut nodes, *new_parent, NO_NODE, child);
        }
    }

    fn allow_declarative_shadow_roots(&self, _: &NodeId) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree as indented names.
    fn tree(text: &str) -> String {
        let document = Document::parse(text, "");
        let mut out = Vec::new();
        for id in document.below(Document::ROOT) {
            let shown = match &document.node(id).data {
                NodeData::Text(text) => format!("{:?}", &**text),
                NodeData::Comment(text) => format!("!{text}"),
                NodeData::Doctype(text) => text.clone(),
                _ => document.tag(id).to_owned(),
            };
            out.push(format!("{}{shown}", document.ancestors(id).skip(1).map(|_| ".").collect::<String>()));
        }
        out.join(" ")
    }

    #[test]
    fn every_text_is_a_tree() {
        for (text, expected) in [
            ("", "html .head .body"),
            ("a<b>c</i>d", "html .head .body ..\"a\" ..b ...\"cd\""),
            ("<!doctype html><p>1<p>2", "<!DOCTYPE html> html .head .body ..p ...\"1\" ..p ...\"2\""),
            ("<table>x<td>y", "html .head .body ..\"x\" ..table ...tbody ....tr .....td ......\"y\""),
            ("<template><b>x</b></template>", "html .head ..template ...b ....\"x\" .body"),
            ("<noscript><b>", "html .head ..noscript ...\"<b>\" .body"),
            ("<b><p>x</b>y</p>", "html .head .body ..b ..p ...b ....\"x\" ...\"y\""),
            ("<!--c--><svg><a/></svg>", "!c html .head .body ..svg ...a"),
            ("\u{0}<\u{0}\u{ffff}>", "html .head .body ..\"<\\u{ffff}>\""),
        ] {
            assert_eq!(tree(text), expected, "{text:?}");
        }
    }

    #[test]
    fn depth_needs_no_stack() {
        let document = Document::parse(&"<div>".repeat(2_000), "");
        assert_eq!(document.nodes.len(), 2_004);
        // The head lies beside the body, not above.
        assert_eq!(document.ancestors(2_003).count(), 2_002);
    }
}
