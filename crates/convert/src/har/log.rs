//! The outer objects of a HAR file: `log`, its `pages`, its `entries`, one at a time.
//!
//! Built on serde's visitors, because one value for the whole file would hold every answer.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::node::Node;

/// A part of a log.
pub enum Found<'k> {
    /// The next entry.
    Entry(Node),
    /// Another field, with its name.
    Beside(&'k str, Node),
}

/// Titles of pages by id.
pub type Titles = HashMap<String, String>;

/// Reads the file; says whether it had a log with entries.
pub fn read<'de, D: Deserializer<'de>>(
    reader: D,
    titles: &mut Titles,
    each: &mut impl FnMut(Found),
) -> Result<bool, D::Error> {
    let log = Object { key: "log", inner: Log { titles, each } };
    log.deserialize(reader).map(|found| found.unwrap_or(false))
}

/// An object of which one field is read.
struct Object<S> {
    key: &'static str,
    inner: S,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Object<S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Object<S> {
    type Value = Option<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "an object with '{}'", self.key)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut inner, mut value) = (Some(self.inner), None);
        while let Some(key) = map.next_key::<String>()? {
            match inner.take_if(|_| key == self.key) {
                Some(seed) => value = Some(map.next_value_seed(seed)?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(value)
    }
}

struct Log<'a, F> {
    titles: &'a mut Titles,
    each: &'a mut F,
}

impl<'de, F: FnMut(Found)> DeserializeSeed<'de> for Log<'_, F> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Found)> Visitor<'de> for Log<'_, F> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the log, an object with 'entries'")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut has_entries = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "entries" => {
                    has_entries = true;
                    map.next_value_seed(Entries { each: &mut *self.each })?;
                }
                "pages" => {
                    let pages: Node = map.next_value()?;
                    for page in pages.items() {
                        self.titles.insert(page.text_of("id").to_owned(), page.text_of("title").to_owned());
                    }
                    (self.each)(Found::Beside("pages", pages));
                }
                _ => (self.each)(Found::Beside(&key, map.next_value()?)),
            }
        }
        Ok(has_entries)
    }
}

struct Entries<'a, F> {
    each: &'a mut F,
}

impl<'de, F: FnMut(Found)> DeserializeSeed<'de> for Entries<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Found)> Visitor<'de> for Entries<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(entry) = entries.next_element::<Node>()? {
            (self.each)(Found::Entry(entry));
        }
        Ok(())
    }
}
