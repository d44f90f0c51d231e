//! The elements of a `SharedArray`: one copy for the process, as JSON text in one allocation, and bytes beside it.
//!
//! Text rather than values, because JavaScript values cannot be shared between virtual users. One allocation rather
//! than one an element, because test data comes in millions of rows. What needs no JSON parser to be read (numbers,
//! strings without escapes) is distinguished here.

use std::collections::HashMap;

use bytes::Bytes;
use host::kind::BufferKind;

/// Immutable elements.
#[derive(Debug, Default)]
pub struct Elements {
    text: String,
    /// Where each element ends; it begins where the one before ends.
    ends: Vec<usize>,
    /// Buffers and typed arrays, by position. They have no text.
    binary: HashMap<usize, (Bytes, BufferKind)>,
}

/// One element as it has to be made for the script.
#[derive(Debug, PartialEq)]
pub enum Element<'a> {
    /// Had no JSON form (`undefined`, a function).
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string, ready to use.
    Text(&'a str),
    /// Anything else, to be parsed.
    Json(&'a str),
    /// A buffer or a typed array.
    Binary(&'a Bytes, BufferKind),
}

impl Elements {
    /// Appends an element; `None` when it has no JSON form.
    pub fn push(&mut self, json: Option<&str>) {
        self.text.push_str(json.unwrap_or_default());
        self.ends.push(self.text.len());
    }

    /// Appends a buffer or a typed array.
    pub fn push_binary(&mut self, bytes: Bytes, kind: BufferKind) {
        self.binary.insert(self.ends.len(), (bytes, kind));
        self.push(None);
    }

    /// Gives back what was reserved for further elements.
    pub fn shrink(mut self) -> Self {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.binary.shrink_to_fit();
        self
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The element at this position.
    pub fn get(&self, index: usize) -> Option<Element<'_>> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        debug_assert!(start <= end && end <= self.text.len());
        debug_assert!(start == end || !self.binary.contains_key(&index), "bytes have no text beside them");
        if start == end
            && let Some((bytes, kind)) = self.binary.get(&index)
        {
            return Some(Element::Binary(bytes, *kind));
        }
        Some(classify(&self.text[start..end]))
    }
}

fn classify(json: &str) -> Element<'_> {
    match json.as_bytes() {
        [] => Element::Undefined,
        b"null" => Element::Null,
        b"true" => Element::Bool(true),
        b"false" => Element::Bool(false),
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => Element::Text(&json[1..json.len() - 1]),
        [b'-' | b'0'..=b'9', ..] => json.parse().map_or(Element::Json(json), Element::Number),
        _ => Element::Json(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::kind::ElementType;

    #[test]
    fn elements_come_back_in_order_and_kind() {
        let mut elements = Elements::default();
        for json in
            [Some("1.5e3"), None, Some("\"é\""), Some("\"a\\n\""), Some("null"), Some("{\"a\":1}"), Some("true")]
        {
            elements.push(json);
        }
        let elements = elements.shrink();
        let all: Vec<_> = (0..elements.len()).filter_map(|index| elements.get(index)).collect();
        let expected = [
            Element::Number(1500.0),
            Element::Undefined,
            Element::Text("é"),
            Element::Json("\"a\\n\""),
            Element::Null,
            Element::Json("{\"a\":1}"),
            Element::Bool(true),
        ];
        assert_eq!(all, expected);
        assert_eq!(elements.get(7), None);
    }

    #[test]
    fn bytes_stand_between_texts() {
        let mut elements = Elements::default();
        elements.push(None);
        elements.push_binary(Bytes::from_static(b"ab"), BufferKind::Buffer);
        elements.push(Some("1"));
        elements.push_binary(Bytes::new(), BufferKind::Typed(ElementType::Uint8));
        let elements = elements.shrink();
        let all: Vec<_> = (0..elements.len()).filter_map(|index| elements.get(index)).collect();
        let (ab, none) = (Bytes::from_static(b"ab"), Bytes::new());
        let binary =
            [Element::Binary(&ab, BufferKind::Buffer), Element::Binary(&none, BufferKind::Typed(ElementType::Uint8))];
        let [first, last] = binary;
        assert_eq!(all, [Element::Undefined, first, Element::Number(1.0), last]);
    }
}
