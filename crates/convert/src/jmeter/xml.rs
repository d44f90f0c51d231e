//! XML as a tree of elements with their lines. No DTDs, no external entities; bounded in depth.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::notes::Problem;

/// Plans are some ten deep.
const DEPTH: usize = 200;

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    pub tag: String,
    pub attributes: Vec<(String, String)>,
    /// Its own text.
    pub text: String,
    pub children: Vec<Element>,
    pub line: usize,
}

impl Element {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.attribute("name") == name)
    }

    /// The text of a property; empty when it is not there.
    pub fn text_of(&self, name: &str) -> &str {
        self.property(name).map_or("", |property| property.text.as_str())
    }

    /// Whether a property says `true`.
    pub fn is(&self, name: &str) -> bool {
        self.text_of(name).trim() == "true"
    }

    /// The elements of a collection below a property.
    pub fn list(&self, name: &str) -> &[Element] {
        self.property(name).map_or(&[], |property| &property.children)
    }
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
