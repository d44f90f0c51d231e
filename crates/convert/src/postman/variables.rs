//! Variables of a collection, `{{name}}`: constants with the value of the collection, which `-e name=value` changes.
//!
//! A name that no JavaScript has is made into one. Values that Postman makes itself (`{{$guid}}`) become calls of what
//! k6 has; those that scripts set are variables of the function.

use std::collections::BTreeMap;

use super::pairs::{is_on, pair};
use crate::identifier::{environment, identifier};
use crate::model::Test;
use crate::node::Node;
use crate::notes::Notes;
use crate::source;
use crate::template::{self, Template};

/// What is known of them.
#[derive(Debug, Default)]
pub struct Variables {
    values: BTreeMap<String, String>,
    /// Names that something used, in order, and their names in the script.
    used: Vec<(String, String)>,
    /// Names that scripts set.
    set: Vec<String>,
    dynamic: Vec<String>,
}

impl Variables {
    /// Takes the values of a list.
    pub fn define(&mut self, list: Option<&Node>) {
        let on = list.map_or(&[][..], Node::items).iter().filter(|item| is_on(item));
        self.values.extend(on.map(pair).map(|pair| (pair.key, pair.value.unwrap_or_default())));
    }

    /// The value of a variable by its name in the script.
    pub fn value_in_script(&self, word: &str) -> Option<&str> {
        let (name, _) = self.used.iter().find(|(_, known)| known == word)?;
        self.values.get(name).map(String::as_str)
    }

    /// A text with its variables as expressions.
    pub fn template(&mut self, text: &str) -> Template {
        self.nested(text, 0)
    }

    fn nested(&mut self, text: &str, depth: usize) -> Template {
        template::read(text, "{{", "}}", |name| {
            let name = name.trim();
            if let Some(call) = name.strip_prefix('$').and_then(dynamic) {
                return Some(Template::code(call));
            }
            if name.starts_with('$') {
                self.dynamic.push(name.to_owned());
                return None;
            }
            // A URL begins with its text where the text is known and holds further variables.
            let value = self.values.get(name).filter(|value| value.contains("{{") && depth < 5).cloned();
            match value {
                Some(value) => Some(self.nested(&value, depth + 1)),
                None => Some(Template::code(self.name(name))),
            }
        })
    }

    /// The name in the script; two names never become one.
    fn name(&mut self, name: &str) -> String {
        if let Some((_, known)) = self.used.iter().find(|(used, _)| used == name) {
            return known.clone();
        }
        let word = identifier(name);
        let is_free = |word: &str| self.used.iter().all(|(_, known)| known != word);
        let free = (1..).map(|n| if n == 1 { word.clone() } else { format!("{word}_{n}") }).find(|word| is_free(word));
        let word = free.unwrap_or(word);
        self.used.push((name.to_owned(), word.clone()));
        word
    }

    /// Whether a text begins with a variable whose value is a host without a scheme.
    pub fn begins_without_scheme(&self, text: &str) -> bool {
        let name = text.strip_prefix("{{").and_then(|rest| rest.split("}}").next());
        let value = name.and_then(|name| self.values.get(name.trim()));
        value.is_some_and(|value| !value.is_empty() && !value.contains("://") && !value.starts_with("{{"))
    }

    /// A script sets this one; returns its name.
    pub fn assign(&mut self, name: &str) -> String {
        if !self.set.iter().any(|set| set == name) {
            self.set.push(name.to_owned());
        }
        self.name(name)
    }

    /// Writes those that were used as init code.
    pub fn declare(&self, test: &mut Test, notes: &mut Notes) {
        for (name, word_in_script) in &self.used {
            let is_set = self.set.contains(name);
            let value = self.values.get(name);
            if value.is_none() && !is_set {
                notes.add("", format!("the variable {name} has no value in the collection: give it by -e '{name}=…'"));
            }
            let word = if is_set { "let" } else { "const" };
            let from = environment(name);
            let value = value.map_or(String::new(), |value| format!(" || {}", source::text(value)));
            let value = if is_set && value.is_empty() { String::from(" || ''") } else { value };
            test.init.push(format!("{word} {word_in_script} = {from}{value};"));
        }
        for name in &self.dynamic {
            notes.add("", format!("{{{{{name}}}}} is made by Postman; it is sent as it is"));
        }
    }
}

/// What Postman makes, as k6 does.
fn dynamic(name: &str) -> Option<&'static str> {
    Some(match name {
        "guid" | "randomUUID" => "crypto.randomUUID()",
        "timestamp" => "Math.floor(Date.now() / 1000)",
        "isoTimestamp" => "new Date().toISOString()",
        "randomInt" => "Math.floor(Math.random() * 1001)",
        "randomBoolean" => "Math.random() < 0.5",
        _ => return None,
    })
}
