//! What a form holds until it is sent: its fields in order, and how their text becomes bytes.
//!
//! Text is turned into bytes when it is added; buffers stay script values (the keeper's list, one entry a field) and
//! are read when the form is sent. Knows no arguments and throws nothing.

use wire::Payload;

use super::multipart::{self, Multipart, PartHead, Quoting};

/// Contents up to this length are copied beside the heads: a segment of their own would cost more.
const SHORT: u64 = 2048;

/// Which FormData it is: what they differ in can be seen on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Of `onrush/http`: text is UTF-8, text fields have no Content-Type. As browsers do.
    Browser,
    /// Of k6's jslib: text is one byte a character where that is possible, since scripts carry binary strings and UTF-8
    /// made by hand in it; where it is not (the library mangles such text) it is UTF-8.
    Jslib(Edition),
}

/// What the texts of the library differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edition {
    /// Text fields are `text/plain`. Imports from the library's address get this one.
    Current,
    /// The same, but `set` leaves further fields of the name where they are.
    SetsFirst,
    /// Text fields have the type of files.
    Untyped,
    /// Text is not taken: its fields have the type of files and no content.
    FilesAlone,
}

impl Dialect {
    /// The bytes of a text.
    pub fn encode(self, text: String) -> Vec<u8> {
        if self == Dialect::Browser || text.is_ascii() {
            return text.into_bytes();
        }
        let one_byte_each: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
        one_byte_each.unwrap_or_else(|| text.into_bytes())
    }

    /// Content-Type of a field that is text.
    pub fn type_of_text(self, has_filename: bool) -> Option<&'static str> {
        match self {
            Dialect::Browser => has_filename.then_some("text/plain"),
            Dialect::Jslib(Edition::Current | Edition::SetsFirst) => Some("text/plain"),
            Dialect::Jslib(Edition::Untyped | Edition::FilesAlone) => Some("application/octet-stream"),
        }
    }

    /// Whether fields that are text have a content.
    pub fn takes_text(self) -> bool {
        self != Dialect::Jslib(Edition::FilesAlone)
    }
}

/// One field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Vec<u8>,
    /// Name of the file, when it is one.
    pub filename: Option<Vec<u8>>,
    /// Content-Type, when it has one.
    pub content_type: Option<Vec<u8>>,
    /// Its bytes; `None`: they are those of the script value kept for it.
    pub text: Option<Vec<u8>>,
}

/// The fields of a form.
#[derive(Debug)]
pub struct FormData {
    /// Whose form it is.
    pub dialect: Dialect,
    /// What separates the parts; the error says what else a script put there.
    pub boundary: Result<String, String>,
    /// In order.
    pub fields: Vec<Field>,
}

impl FormData {
    /// Without fields.
    pub fn new(dialect: Dialect) -> FormData {
        FormData { dialect, boundary: Ok(multipart::boundary()), fields: Vec::with_capacity(2) }
    }

    /// Adds a field. `values` has one entry a field, here as everywhere.
    pub fn append<V>(&mut self, values: &mut Vec<V>, field: Field, value: V) {
        self.fields.push(field);
        values.push(value);
    }

    /// Replaces the first field of its name by this one and removes the others, where the dialect does; appends it when
    /// there is none.
    pub fn set<V>(&mut self, values: &mut Vec<V>, field: Field, value: V) {
        let Some(first) = self.fields.iter().position(|known| known.name == field.name) else {
            return self.append(values, field, value);
        };
        let name = field.name.clone();
        (self.fields[first], values[first]) = (field, value);
        if self.dialect == Dialect::Jslib(Edition::SetsFirst) {
            return;
        }
        self.retain(values, |index, known| index <= first || known.name != name);
    }

    /// Removes the fields of a name.
    pub fn delete<V>(&mut self, values: &mut Vec<V>, name: &[u8]) {
        self.retain(values, |_, known| known.name != name);
    }

    /// Whether there is a field of this name.
    pub fn has(&self, name: &[u8]) -> bool {
        self.fields.iter().any(|known| known.name == name)
    }

    fn retain<V>(&mut self, values: &mut Vec<V>, keep: impl Fn(usize, &Field) -> bool) {
        let mut index = 0..;
        let kept: Vec<bool> = self.fields.iter().zip(&mut index).map(|(field, index)| keep(index, field)).collect();
        let mut flags = kept.iter();
        self.fields.retain(|_| *flags.next().expect("one flag a field"));
        let mut flags = kept.iter();
        values.retain(|_| *flags.next().expect("one flag a field"));
    }
}

/// The form as it goes out. `contents` has the bytes of the fields that are no text.
pub fn write(fields: &[Field], contents: &[Option<Payload>], boundary: &str) -> Payload {
    let mut form = Multipart::new(boundary, Quoting::Percent);
    for (field, content) in fields.iter().zip(contents) {
        let head = PartHead {
            name: &field.name,
            filename: field.filename.as_deref(),
            content_type: field.content_type.as_deref(),
        };
        match (&field.text, content) {
            (Some(text), _) if text.len() as u64 <= SHORT => form.short_part(&head, text),
            (Some(text), _) => form.part(&head, &Payload::from_bytes(text.clone())),
            (None, Some(content)) => form.part(&head, content),
            (None, None) => form.short_part(&head, b""),
        }
    }
    form.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, text: &str) -> Field {
        let text = Some(text.as_bytes().to_vec());
        Field { name: name.as_bytes().to_vec(), filename: None, content_type: None, text }
    }

    fn shown(form: &FormData, values: &[u32]) -> String {
        let show = |(field, value): (&Field, &u32)| {
            format!(
                "{}={}/{value}",
                String::from_utf8_lossy(&field.name),
                String::from_utf8_lossy(field.text.as_ref().unwrap())
            )
        };
        form.fields.iter().zip(values).map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn fields_and_values_stay_side_by_side() {
        let (mut form, mut values) = (FormData::new(Dialect::Browser), Vec::new());
        for (value, (name, text)) in [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4"), ("a", "5")].iter().enumerate() {
            form.append(&mut values, field(name, text), value as u32);
        }
        form.set(&mut values, field("a", "new"), 9);
        assert_eq!(shown(&form, &values), "a=new/9 b=2/1 c=4/3");
        form.set(&mut values, field("d", "6"), 10);
        form.delete(&mut values, b"b");
        assert_eq!(shown(&form, &values), "a=new/9 c=4/3 d=6/10");
        assert!(form.has(b"d") && !form.has(b"b"));
    }

    #[test]
    fn an_edition_leaves_further_fields_of_the_name() {
        let (mut form, mut values) = (FormData::new(Dialect::Jslib(Edition::SetsFirst)), Vec::new());
        for (value, name) in ["a", "b", "a"].iter().enumerate() {
            form.append(&mut values, field(name, "old"), value as u32);
        }
        form.set(&mut values, field("a", "new"), 9);
        assert_eq!(shown(&form, &values), "a=new/9 b=old/1 a=old/2");
    }

    #[test]
    fn text_of_the_jslib_is_one_byte_a_character_where_it_can_be() {
        let encode = |dialect: Dialect, text: &str| dialect.encode(text.to_owned());
        let jslib = Dialect::Jslib(Edition::Current);
        assert_eq!(encode(jslib, "a\u{ff}"), [b'a', 0xff]);
        assert_eq!(encode(jslib, "\u{c3}\u{a9}"), "é".as_bytes(), "UTF-8 made by hand");
        assert_eq!(encode(jslib, "é€"), "é€".as_bytes());
        assert_eq!(encode(Dialect::Browser, "é"), "é".as_bytes());
    }

    #[test]
    fn long_contents_are_segments_and_short_ones_are_not() {
        let long = "x".repeat(SHORT as usize + 1);
        let mut form = FormData::new(Dialect::Browser);
        let mut values = Vec::new();
        form.append(&mut values, field("short", "s"), 0);
        form.append(&mut values, field("long", &long), 0);
        form.append(&mut values, Field { text: None, ..field("held", "") }, 0);
        let contents = [None, None, Some(Payload::from_bytes("held"))];
        let payload = write(&form.fields, &contents, "B");
        assert_eq!(payload.segments().len(), 5);
        assert_eq!(payload.segments()[1].in_memory(), Some(long.as_bytes()));
        assert_eq!(payload.segments()[3].in_memory(), Some(&b"held"[..]));
    }
}
