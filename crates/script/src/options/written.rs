//! An option that was read once, beside the JSON that it was read from.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A value in the type that obeys it, and the JSON that shows it to a script and in a summary. Clones share the value.
pub struct Written<T> {
    value: Arc<T>,
    json: Value,
}

impl<T> Written<T> {
    /// `json` is what the value was read from, in the shape in which it is shown.
    pub(super) fn new(value: T, json: impl Into<Value>) -> Self {
        Written { value: Arc::new(value), json: json.into() }
    }

    /// The value, to be kept.
    pub fn shared(&self) -> Arc<T> {
        self.value.clone()
    }
}

impl<T> Deref for Written<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Clone for Written<T> {
    fn clone(&self) -> Self {
        Written { value: self.value.clone(), json: self.json.clone() }
    }
}

/// What was written the same way is the same.
impl<T> PartialEq for Written<T> {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

impl<T> fmt::Debug for Written<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json.fmt(f)
    }
}

impl<T> Serialize for Written<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}
