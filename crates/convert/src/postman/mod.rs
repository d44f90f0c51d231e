//! Collections of Postman, 2.0 and 2.1: folders become groups, variables become constants that `-e` can change.
//!
//! Scripts are JavaScript of another world. A test of a status becomes a check, and a value of the answer that is put
//! into a variable is read in the same way; any other line is kept as a comment and counted. The invariant: no request
//! of the collection is lost, and no script is dropped without a word.

mod auth;
mod body;
mod scripts;
mod url;
mod variables;

use serde_json::Value;

use crate::conversion::{Converted, Settings};
use crate::model::{Function, Request, Step, Test};
use crate::notes::{Notes, Problem};
use crate::recording::group_name;
use crate::template::Template;
use variables::Variables;

/// Folders below this are put together.
const DEPTH: usize = 20;

/// What is known while a collection is read.
pub struct Collection {
    variables: Variables,
    notes: Notes,
    /// Names and passwords are joined while the test runs.
    needs_base64: bool,
}

/// What folders hand down.
#[derive(Clone, Default)]
struct Inherited<'a> {
    auth: Option<&'a Value>,
    /// Lines before and behind each request, of the folders above.
    scripts: Vec<&'a Value>,
}

/// Reads a collection.
pub fn read(text: &str, _settings: &Settings) -> Result<Converted, Problem> {
    let json: Value = serde_json::from_str(text).map_err(Problem::from)?;
    // The API of Postman puts it into an object.
    let json = json.get("collection").unwrap_or(&json);
    let items = json.get("item").and_then(Value::as_array);
    let items =
        items.ok_or_else(|| Problem::new("found no 'item', expected a collection of Postman, version 2.1 or 2.0"))?;
    let mut collection = Collection { variables: Variables::default(), notes: Notes::default(), needs_base64: false };
    collection.variables.define(json.get("variable"));
    let scripts = json.get("event").into_iter().collect();
    let steps = collection.steps(items, &Inherited { auth: json.get("auth"), scripts }, 0);
    let name = json.pointer("/info/name").and_then(Value::as_str).unwrap_or_default();
    let mut test = Test { functions: vec![Function { name: None, steps }], ..Test::default() };
    test.about.extend((!name.is_empty()).then(|| name.to_owned()));
    if collection.needs_base64 {
        test.imports.insert(String::from("import { b64encode } from 'k6/encoding';"));
    }
    collection.variables.declare(&mut test, &mut collection.notes);
    Ok(Converted { test, notes: collection.notes })
}

impl Collection {
    fn steps(&mut self, items: &[Value], above: &Inherited, depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for item in items {
            let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
            let own = Inherited {
                auth: item.get("auth").filter(|auth| !auth.is_null()).or(above.auth),
                scripts: above.scripts.iter().copied().chain(item.get("event")).collect(),
            };
            self.variables.define(item.get("variable"));
            match item.get("item").and_then(Value::as_array) {
                Some(inner) if depth < DEPTH => {
                    let inner = self.steps(inner, &own, depth + 1);
                    steps.push(Step::Group(group_name(name), inner));
                }
                Some(inner) => {
                    self.notes.add(name, format!("folders below {DEPTH} others are put into the last of them"));
                    let mut rest: Vec<&Value> = inner.iter().collect();
                    while let Some(item) = rest.pop() {
                        match item.get("item").and_then(Value::as_array) {
                            Some(inner) => rest.extend(inner.iter().rev()),
                            None => steps.extend(self.request(item, &own)),
                        }
                    }
                }
                None => steps.extend(self.request(item, &own)),
            }
        }
        steps
    }

    fn request(&mut self, item: &Value, above: &Inherited) -> Vec<Step> {
        let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(asked) = item.get("request") else {
            self.notes.add(name, "an item without a request is left out");
            return Vec::new();
        };
        let (url, method) = match asked {
            Value::String(url) => (self.variables.template(url), "GET"),
            _ => (self.url(asked.get("url")), asked.get("method").and_then(Value::as_str).unwrap_or("GET")),
        };
        if url.is_empty() {
            self.notes.add(name, "a request without a URL is left out");
            return Vec::new();
        }
        let mut request = Request::new(method, url);
        request.comments.extend((!name.is_empty()).then(|| name.to_owned()));
        for header in asked.get("header").and_then(Value::as_array).into_iter().flatten().filter(|header| is_on(header))
        {
            let text = |key: &str| header.get(key).and_then(Value::as_str).unwrap_or_default();
            if !text("key").trim().is_empty() {
                request.headers.push((text("key").trim().to_owned(), self.variables.template(text("value"))));
            }
        }
        self.add_body(asked.get("body"), name, &mut request);
        let auth = asked.get("auth").filter(|auth| !auth.is_null()).or(above.auth);
        self.add_auth(auth, name, &mut request);
        let mut before = Vec::new();
        for events in above.scripts.iter().copied() {
            self.add_scripts(events, name, &mut before, &mut request);
        }
        before.push(Step::Request(Box::new(request)));
        before
    }

    /// A text with its variables.
    fn template(&mut self, text: &str) -> Template {
        self.variables.template(text)
    }
}

/// Whether it is not switched off.
fn is_on(json: &Value) -> bool {
    !json.get("disabled").and_then(Value::as_bool).unwrap_or(false)
}

/// A list of `{ key, value }`, or an object of values as in 2.0.
fn pairs(json: Option<&Value>) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    match json {
        Some(Value::Array(list)) => {
            let on = list.iter().filter(|item| is_on(item));
            on.map(|item| {
                let key = item.get("key").and_then(Value::as_str).unwrap_or_default();
                (key.to_owned(), item.get("value").map(text).unwrap_or_default())
            })
            .collect()
        }
        Some(Value::Object(fields)) => fields.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        _ => Vec::new(),
    }
}
