//! What the methods do with a store, without JavaScript: they may run on a thread of their own.

use std::sync::Arc;

use super::options::Serialization;
use super::store::{Change, Entry, KvError, KvOutcome, Store};

/// What a method gives.
pub enum KvAnswer {
    /// `true` or `false`.
    Is(bool),
    /// A number.
    Number(f64),
    /// A text that is no value, such as a key.
    Text(String),
    /// A value.
    Value(Arc<str>),
    /// A value and whether it was there before; under the name of the value.
    Loaded(&'static str, Option<Arc<str>>, bool),
    /// A key and its value, or null.
    Entry(Option<Entry>),
    /// Keys and values.
    Entries(Vec<Entry>),
    /// A page, and the cursor of the next one.
    Page(Vec<Entry>, Option<String>),
}

/// What a method does.
pub type Operation = Box<dyn FnOnce(&Store) -> KvOutcome<KvAnswer> + Send>;

pub fn set(key: String, value: Arc<str>) -> Operation {
    Box::new(move |store| store.update(&key, |_| Ok((Change::Set(Arc::clone(&value)), KvAnswer::Value(value)))))
}

pub fn get(key: String) -> Operation {
    Box::new(move |store| match store.get(&key)? {
        Some(value) => Ok(KvAnswer::Value(value)),
        None => Err(KvError::new("KeyNotFoundError", format!("key {key} not found"))),
    })
}

pub fn exists(key: String) -> Operation {
    Box::new(move |store| Ok(KvAnswer::Is(store.get(&key)?.is_some())))
}

/// `always`: what is told, whether there was one or not.
pub fn delete(key: String, always: Option<bool>) -> Operation {
    Box::new(move |store| {
        store.update(&key, |found| {
            let change = if found.is_some() { Change::Remove } else { Change::Keep };
            Ok((change, KvAnswer::Is(always.unwrap_or(found.is_some()))))
        })
    })
}

pub fn clear() -> Operation {
    Box::new(|store| store.clear().map(|()| KvAnswer::Is(true)))
}

pub fn count(prefix: String) -> Operation {
    Box::new(move |store| Ok(KvAnswer::Number(store.count(&prefix)? as f64)))
}

pub fn list(prefix: String, limit: usize) -> Operation {
    Box::new(move |store| store.entries(&prefix, None, limit).map(KvAnswer::Entries))
}

/// A cursor is the last key that was given, behind a mark that tells the empty key from no cursor.
pub fn scan(prefix: String, limit: usize, cursor: String) -> Operation {
    Box::new(move |store| {
        let after = match cursor.strip_prefix('>') {
            Some(after) => Some(after),
            None if cursor.is_empty() => None,
            None => {
                return Err(KvError::new("InvalidCursorError", format!("scan(): no page has the cursor {cursor:?}")));
            }
        };
        let mut entries = store.entries(&prefix, after, limit.saturating_add(1))?;
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let next = entries.last().filter(|_| has_more).map(|(key, _)| format!(">{key}"));
        Ok(KvAnswer::Page(entries, next))
    })
}

pub fn random_key(prefix: String) -> Operation {
    Box::new(move |store| Ok(KvAnswer::Text(store.random(&prefix, false)?.map_or_else(String::new, |(key, _)| key))))
}

pub fn pop_random(prefix: String) -> Operation {
    Box::new(move |store| store.random(&prefix, true).map(KvAnswer::Entry))
}

pub fn increment_by(key: String, delta: f64) -> Operation {
    Box::new(move |store| {
        store.update(&key, |found| {
            let before: f64 = match found {
                None => 0.0,
                Some(text) => text.parse().map_err(|_| {
                    let text = format!("incrementBy({key:?}): found {text}, expected a number");
                    KvError::new("ValueParseError", text)
                })?,
            };
            let sum = before + delta;
            if !sum.is_finite() {
                return Err(KvError::new(
                    "ValueParseError",
                    format!("incrementBy({key:?}): {sum} is no finite number"),
                ));
            }
            Ok((Change::Set(format!("{sum}").into()), KvAnswer::Number(sum)))
        })
    })
}

pub fn get_or_set(key: String, value: Arc<str>) -> Operation {
    Box::new(move |store| {
        store.update(&key, |found| match found {
            Some(found) => Ok((Change::Keep, KvAnswer::Loaded("value", Some(Arc::clone(found)), true))),
            None => Ok((Change::Set(Arc::clone(&value)), KvAnswer::Loaded("value", Some(value), false))),
        })
    })
}

pub fn swap(key: String, value: Arc<str>) -> Operation {
    Box::new(move |store| {
        store.update(&key, |found| {
            Ok((Change::Set(value), KvAnswer::Loaded("previous", found.map(Arc::clone), found.is_some())))
        })
    })
}

/// Sets the value if it was `old`, or if there was none and `old` is nothing.
pub fn compare_and_swap(key: String, old: Option<Arc<str>>, new: Arc<str>, kind: Serialization) -> Operation {
    Box::new(move |store| {
        store.update(&key, |found| {
            let swaps = match (found, &old) {
                (None, None) => true,
                (Some(found), Some(old)) => is_same(found, old, kind),
                _ => false,
            };
            Ok((if swaps { Change::Set(new) } else { Change::Keep }, KvAnswer::Is(swaps)))
        })
    })
}

pub fn compare_and_delete(key: String, old: Arc<str>, kind: Serialization) -> Operation {
    Box::new(move |store| {
        store.update(&key, |found| {
            let deletes = found.is_some_and(|found| is_same(found, &old, kind));
            Ok((if deletes { Change::Remove } else { Change::Keep }, KvAnswer::Is(deletes)))
        })
    })
}

/// Whether two stored texts are the same value: the members of an object may be in another order.
fn is_same(one: &str, other: &str, kind: Serialization) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other || (kind == Serialization::Json && value(one).is_some_and(|one| Some(one) == value(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_the_same_in_any_order() {
        assert!(is_same(r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#, Serialization::Json));
        assert!(!is_same("[1,2]", "[2,1]", Serialization::Json));
        assert!(!is_same(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, Serialization::Text));
    }
}
