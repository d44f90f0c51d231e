//! XML as a tree of elements with their lines, which know whether they were read. No DTDs, no external entities;
//! bounded in depth.

use std::cell::Cell;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::Format;
use crate::meaningless::is_meaningless;
use crate::notes::Problem;

/// Plans are some ten deep.
const DEPTH: usize = 200;

/// Attributes of every element: its class, its name, whether it is on, and versions.
const ATTRIBUTES: [&str; 11] = [
    "guiclass",
    "testclass",
    "testname",
    "enabled",
    "name",
    "elementType",
    "class",
    "clazz",
    "version",
    "properties",
    "jmeter",
];

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    pub tag: String,
    attributes: Vec<(String, String)>,
    /// Its own text.
    text: String,
    pub children: Vec<Element>,
    pub line: usize,
    read: Cell<bool>,
}

impl Element {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Takes it as read; the properties of it are not.
    pub fn visit(&self) {
        self.read.set(true);
    }

    /// Takes it as read with everything in it, because a note has named it.
    pub fn settle(&self) {
        self.visit();
        self.children.iter().for_each(Element::settle);
    }

    /// Its text.
    pub fn own_text(&self) -> &str {
        self.visit();
        &self.text
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.attribute("name") == name)
    }

    /// The text of a property; empty when it is not there.
    pub fn text_of(&self, name: &str) -> &str {
        self.property(name).map_or("", Element::own_text)
    }

    /// Whether a property says `true`.
    pub fn is(&self, name: &str) -> bool {
        self.text_of(name).trim() == "true"
    }

    /// The elements of a collection below a property.
    pub fn list(&self, name: &str) -> &[Element] {
        let Some(collection) = self.property(name) else { return &[] };
        collection.visit();
        collection.children.iter().for_each(Element::visit);
        &collection.children
    }

    /// What it is among its neighbours: the name of a property, the type of an item.
    fn shown(&self) -> &str {
        let given = match self.tag.as_str() {
            "elementProp" if !self.attribute("elementType").is_empty() && !is_property(self.attribute("name")) => {
                self.attribute("elementType")
            }
            _ => self.attribute("name"),
        };
        if given.is_empty() { &self.tag } else { given }
    }

    /// Hands over what nothing read and no table lists: the path of names, and the element.
    pub fn unread<'e>(&'e self, each: &mut impl FnMut(&[&'e str], &'e Element)) {
        for child in &self.children {
            match child.tag.as_str() {
                "hashTree" => child.unread(each),
                tag => child.unread_below(&mut vec![tag], each),
            }
        }
    }

    fn unread_below<'e>(&'e self, path: &mut Vec<&'e str>, each: &mut impl FnMut(&[&'e str], &'e Element)) {
        let has_other = |(name, _): &(String, String)| !ATTRIBUTES.contains(&name.as_str());
        for (name, _) in self.attributes.iter().filter(|attribute| has_other(attribute)) {
            path.push(name);
            each(path, self);
            path.pop();
        }
        if !self.read.get() {
            let is_empty = self.text.trim().is_empty() && self.children.is_empty() && path.len() > 1;
            if !is_empty && !is_meaningless(Format::Jmeter, path) {
                each(path, self);
            }
            return;
        }
        for child in &self.children {
            path.push(child.shown());
            child.unread_below(path, each);
            path.pop();
        }
    }
}

/// `HTTPsampler.Arguments` is a name of JMeter's; names of items are those of a user.
fn is_property(name: &str) -> bool {
    ["HTTPsampler.", "ThreadGroup.", "TestPlan.", "Arguments."].iter().any(|start| name.starts_with(start))
}

/// The outermost element.
pub fn read(text: &str) -> Result<Element, Problem> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = vec![Element::default()];
    let (mut line, mut counted) = (1, 0);
    loop {
        let event = reader.read_event();
        let position = (reader.buffer_position() as usize).min(text.len());
        let at = line;
        line += text.as_bytes()[counted..position].iter().filter(|byte| **byte == b'\n').count();
        counted = position;
        let refuse = |message: String| Problem::at(line, message);
        match event.map_err(|error| refuse(format!("this is not XML: {error}")))? {
            Event::Start(start) => {
                if open.len() > DEPTH {
                    return Err(refuse(format!("elements are more than {DEPTH} deep")));
                }
                open.push(element(&start, at).map_err(refuse)?);
            }
            Event::Empty(start) => {
                let empty = element(&start, at).map_err(refuse)?;
                open.last_mut().expect("the root stays").children.push(empty);
            }
            Event::End(_) => {
                let closed = open.pop().expect("the reader matches ends");
                open.last_mut()
                    .ok_or_else(|| refuse(String::from("an element ends that did not begin")))?
                    .children
                    .push(closed);
            }
            Event::Text(piece) => {
                let piece = piece.decode().map_err(|error| refuse(error.to_string()))?;
                open.last_mut().expect("the root stays").text.push_str(&piece);
            }
            Event::CData(piece) => {
                let piece = piece.decode().map_err(|error| refuse(error.to_string()))?;
                open.last_mut().expect("the root stays").text.push_str(&piece);
            }
            Event::GeneralRef(name) => {
                let name = name.decode().map_err(|error| refuse(error.to_string()))?;
                let value = reference(&name).ok_or_else(|| refuse(format!("found &{name};, which is not defined")))?;
                open.last_mut().expect("the root stays").text.push_str(&value);
            }
            Event::Eof if open.len() > 1 => {
                let tag = open.last().map(|element| element.tag.clone()).unwrap_or_default();
                return Err(refuse(format!("the XML ends here, within <{tag}>: is the file whole?")));
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    debug_assert_eq!(open.len(), 1, "the root stays, and all others have ended");
    let root = open.pop().unwrap_or_default();
    root.children.into_iter().next().ok_or_else(|| Problem::new("the file has no element"))
}

fn element(start: &BytesStart, line: usize) -> Result<Element, String> {
    let tag = String::from_utf8_lossy(start.name().as_ref()).into_owned();
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| format!("<{tag}>: {error}"))?;
        let raw = String::from_utf8_lossy(&attribute.value);
        let value = quick_xml::escape::unescape(&raw).map_err(|error| format!("<{tag}>: {error}"))?;
        attributes.push((String::from_utf8_lossy(attribute.key.as_ref()).into_owned(), value.into_owned()));
    }
    Ok(Element { tag, attributes, line, ..Element::default() })
}

/// The five names, and numbers.
fn reference(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).map(String::from);
    }
    quick_xml::escape::resolve_predefined_entity(name).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_lines_and_texts() {
        let root =
            read("<?xml version=\"1.0\"?>\n<a b=\"&lt;&#x41;\">\n<c name='n'>x &amp; &#10;<![CDATA[<y>]]></c><d/></a>")
                .expect("good");
        assert_eq!((root.tag.as_str(), root.attribute("b"), root.line), ("a", "<A", 2));
        assert_eq!(root.text_of("n"), "x & \n<y>");
        for (text, said) in [
            ("<a>\n<b></a>", "t:2: this is not XML"),
            ("<a>\n<b>", "t:2: the XML ends here, within <b>"),
            ("<a>&x;</a>", "t:1: found &x;, which is not defined"),
            (" ", "t: the file has no element"),
            (&"<a>".repeat(300), "t:1: elements are more than 200 deep"),
        ] {
            let shown = read(text).expect_err(text).shown("t");
            assert!(shown.starts_with(said), "{shown}");
        }
    }
}
