//! Collections of Postman, 2.0 and 2.1: folders become groups, variables become constants that `-e` can change.
//!
//! Scripts are JavaScript of another world. A test of a status becomes a check, and a value of the answer that is put
//! into a variable is read in the same way; any other line is kept as a comment and counted. The invariant: no request
//! of the collection is lost, and no script is dropped without a word.

mod auth;
mod body;
mod pairs;
mod scripts;
mod url;
mod variables;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Format;
use crate::conversion::{Converted, Settings};
use crate::credentials::basic;
use crate::model::{Function, Request, Step, Test};
use crate::node::{Node, Unread};
use crate::notes::{Notes, Problem};
use crate::recording::group_name;
use crate::template::Template;
use pairs::pairs;
use variables::Variables;

/// Folders below this are put together.
const DEPTH: usize = 20;

/// What is known while a collection is read.
pub struct Collection {
    variables: Variables,
    notes: Notes,
    /// Names and passwords are joined while the test runs.
    needs_base64: bool,
    imports: BTreeSet<String>,
    init: Vec<String>,
    /// Options of the test: names and JavaScript.
    options: Vec<(&'static str, String)>,
}

/// What folders hand down.
#[derive(Clone, Default)]
struct Inherited<'a> {
    auth: Option<&'a Node>,
    /// Lines before and behind each request, of the folders above.
    scripts: Vec<&'a Node>,
    /// How requests are sent; the innermost last.
    behaviors: Vec<&'a Node>,
}

impl<'a> Inherited<'a> {
    fn with(&self, item: &'a Node) -> Inherited<'a> {
        Inherited {
            auth: item.get("auth").or(self.auth),
            scripts: self.scripts.iter().copied().chain(item.get("event")).collect(),
            behaviors: self.behaviors.iter().copied().chain(item.get("protocolProfileBehavior")).collect(),
        }
    }

    /// A setting of `protocolProfileBehavior`.
    fn behavior(&self, name: &str) -> Option<&'a Node> {
        self.behaviors.iter().rev().find_map(|behavior| behavior.get(name))
    }

    fn is(&self, name: &str) -> bool {
        self.behavior(name).and_then(Node::boolean).unwrap_or(false)
    }
}

/// Reads a collection.
pub fn read(text: &str, _settings: &Settings) -> Result<Converted, Problem> {
    let json = Node::from(serde_json::from_str::<Value>(text).map_err(Problem::from)?);
    // The API of Postman puts it into an object.
    let json = json.get("collection").unwrap_or(&json);
    let items = json.get("item").filter(|item| item.is_list()).map(Node::items);
    let items =
        items.ok_or_else(|| Problem::new("found no 'item', expected a collection of Postman, version 2.1 or 2.0"))?;
    let mut collection = Collection {
        variables: Variables::default(),
        notes: Notes::default(),
        needs_base64: false,
        imports: BTreeSet::new(),
        init: Vec::new(),
        options: Vec::new(),
    };
    collection.variables.define(json.get("variable"));
    let steps = collection.steps(items, &Inherited::default().with(json), 0);
    let name = json.at("/info/name").and_then(Node::text).unwrap_or_default();
    let mut test = Test { functions: vec![Function { name: None, steps }], ..Test::default() };
    test.about.extend((!name.is_empty()).then(|| name.to_owned()));
    test.imports = std::mem::take(&mut collection.imports);
    if collection.needs_base64 {
        test.imports.insert(String::from("import { b64encode } from 'k6/encoding';"));
    }
    for (name, code) in std::mem::take(&mut collection.options) {
        test.option_code(name, code);
    }
    collection.variables.declare(&mut test, &mut collection.notes);
    test.init.append(&mut collection.init);
    json.unread(Format::Postman, &mut |unread| collection.unread(&unread));
    Ok(Converted { test, notes: collection.notes })
}

impl Collection {
    /// Says what nothing read.
    fn unread(&mut self, unread: &Unread) {
        let inner: Vec<&str> = unread.path.iter().copied().filter(|name| *name != "item").collect();
        // Requests that have their own take none of a folder.
        if inner == ["auth"] {
            return;
        }
        let shown = if inner.is_empty() { String::from("item") } else { inner.join(".") };
        self.notes.add(unread.name.unwrap_or_default(), format!("{} is left out", shown.escape_debug()));
    }

    fn steps(&mut self, items: &[Node], above: &Inherited, depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for item in items {
            let name = item.text_of("name");
            let own = above.with(item);
            self.variables.define(item.get("variable"));
            match item.get("item").filter(|inner| inner.is_list()).map(Node::items) {
                Some(inner) if depth < DEPTH => {
                    let inner = self.steps(inner, &own, depth + 1);
                    steps.push(Step::Group(group_name(name), inner));
                }
                Some(inner) => {
                    self.notes.add(name, format!("folders below {DEPTH} others are put into the last of them"));
                    let mut rest: Vec<&Node> = inner.iter().rev().collect();
                    while let Some(item) = rest.pop() {
                        match item.get("item").filter(|inner| inner.is_list()) {
                            Some(inner) => rest.extend(inner.items().iter().rev()),
                            None => steps.extend(self.request(item, &own.with(item))),
                        }
                    }
                }
                None => steps.extend(self.request(item, &own)),
            }
        }
        steps
    }

    fn request(&mut self, item: &Node, above: &Inherited) -> Vec<Step> {
        let name = item.text_of("name");
        let Some(asked) = item.get("request") else {
            self.notes.add(name, "an item without a request is left out");
            return Vec::new();
        };
        let json = if asked.is_object() { asked.get("url") } else { Some(asked) };
        let url = self.url(json, above);
        let method = asked.text_of("method").to_ascii_uppercase();
        let method = if method.is_empty() { String::from("GET") } else { method };
        if url.is_empty() {
            asked.settle();
            self.notes.add(name, "a request without a URL is left out");
            return Vec::new();
        }
        let mut request = Request::new(method, url);
        request.comments.extend((!name.is_empty()).then(|| name.to_owned()));
        self.add_headers(asked.get("header"), &mut request);
        self.add_body(asked.get("body"), name, above, &mut request);
        let user = json.and_then(|url| url.get("auth"));
        if let Some(user) = user.filter(|user| user.is_object()) {
            let (user, password) = (self.template(user.text_of("user")), self.template(user.text_of("password")));
            request.headers.push((String::from("Authorization"), basic(&user, &password)));
        }
        self.add_auth(asked.get("auth").or(above.auth), name, &mut request);
        self.add_behaviors(name, above, &mut request);
        let mut before = Vec::new();
        for events in above.scripts.iter().copied() {
            self.add_scripts(events, name, &mut before, &mut request);
        }
        before.push(Step::Request(Box::new(request)));
        before
    }

    /// A list, or lines of text.
    fn add_headers(&mut self, json: Option<&Node>, request: &mut Request) {
        let lines = json.and_then(Node::text).into_iter().flat_map(str::lines);
        let lines =
            lines.filter_map(|line| line.split_once(':')).map(|(key, value)| (key.to_owned(), value.trim().to_owned()));
        let listed = pairs(json).into_iter().map(|pair| (pair.key, pair.value.unwrap_or_default()));
        for (key, value) in lines.chain(listed).filter(|(key, _)| !key.trim().is_empty()) {
            request.headers.push((key.trim().to_owned(), self.variables.template(&value)));
        }
    }

    /// Redirects and certificates; other settings stay unread where they are not those of the body and the URL.
    fn add_behaviors(&mut self, name: &str, above: &Inherited, request: &mut Request) {
        let follows = above.behavior("followRedirects").and_then(Node::boolean);
        let most = above.behavior("maxRedirects").and_then(Node::number).filter(|most| (0.0..1e6).contains(most));
        match (follows, most) {
            (Some(false), _) => request.params.push((String::from("redirects"), String::from("0"))),
            (_, Some(most)) => request.params.push((String::from("redirects"), format!("{most:.0}"))),
            _ => {}
        }
        if above.behavior("strictSSL").and_then(Node::boolean) == Some(false) {
            self.notes.add(name, "strictSSL is off: no request of the script checks certificates");
            self.options.push(("insecureSkipTLSVerify", String::from("true")));
        }
        // Of a request without a body and without odd characters they say nothing.
        let _ = ["disableBodyPruning", "disableUrlEncoding"].map(|name| above.is(name));
    }

    /// A text with its variables.
    fn template(&mut self, text: &str) -> Template {
        self.variables.template(text)
    }
}
