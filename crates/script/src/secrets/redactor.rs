//! Hides secrets in what is shown: each value that a script was given.
//!
//! A value is hidden as it is, and as JSON and URLs write it. Nothing is looked for before the first secret is given.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// What stands in the place of a secret, as in k6.
pub const HIDDEN: &str = "***SECRET_REDACTED***";

/// The values to hide.
#[derive(Default)]
pub struct Redactor {
    any: AtomicBool,
    /// The longest first, so that no part of one is hidden and the rest left.
    known: RwLock<Vec<String>>,
}

impl Redactor {
    /// Hides a value from now on.
    pub(super) fn add(&self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        let json = Value::from(secret).to_string();
        let forms = [secret, &json[1..json.len() - 1], &utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string()]
            .map(str::to_owned);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for form in forms {
            if !known.contains(&form) {
                known.push(form);
            }
        }
        known.sort_by_key(|form| std::cmp::Reverse(form.len()));
        self.any.store(true, Ordering::Release);
    }

    /// Whether there is anything to hide.
    pub fn is_needed(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// A text without the secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.without(text, |_| true)
    }

    /// The same for a text that holds measured figures: what could be one of them stays.
    pub fn report<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.without(text, |secret| {
            secret.len() >= 4 && !secret.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
    }

    fn without<'a>(&self, text: &'a str, hides: impl Fn(&str) -> bool) -> Cow<'a, str> {
        if !self.is_needed() {
            return Cow::Borrowed(text);
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut shown = Cow::Borrowed(text);
        for secret in known.iter().filter(|secret| hides(secret)) {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(shown.replace(secret.as_str(), HIDDEN));
            }
        }
        shown
    }

    /// A document without the secrets, in its texts and names; its numbers stay.
    pub fn json(&self, value: Value) -> Value {
        if !self.is_needed() {
            return value;
        }
        match value {
            Value::String(text) => Value::from(self.report(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.json(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.report(&name).into_owned(), self.json(value))).collect()
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_values_are_hidden() {
        let redactor = Redactor::default();
        assert!(matches!(redactor.text("a b"), Cow::Borrowed("a b")));
        redactor.add("");
        redactor.add("pass");
        redactor.add("pass word\"1");
        redactor.add("12");
        assert_eq!(redactor.text("my pass word\"1."), format!("my {HIDDEN}."));
        assert_eq!(redactor.text("?q=pass%20word%221"), format!("?q={HIDDEN}"));
        assert_eq!(redactor.text("n 120"), format!("n {HIDDEN}0"));
        assert_eq!(redactor.report("n 120 pass"), format!("n 120 {HIDDEN}"));
        let document = json!({ "pass": ["a pass word\"1", 12], "other": { "k": true } });
        assert_eq!(redactor.json(document), json!({ HIDDEN: [format!("a {HIDDEN}"), 12], "other": { "k": true } }));
    }
}
