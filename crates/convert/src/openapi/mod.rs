//! Descriptions in OpenAPI 3.0 and 3.1, in JSON or YAML: every operation once, with values that its schemas allow.
//!
//! Operations of one tag are a group. What proves who asks is read from `-e`. References are followed within the file,
//! circles cut and named; nothing of a description can make the script grow without bound.

mod body;
mod example;
mod operation;
mod references;
mod security;
mod style;
mod yaml;

use serde_json::Value;

use crate::Format;
use crate::conversion::{Converted, Settings};
use crate::identifier::{environment, identifier};
use crate::model::{Function, Step, Test};
use crate::node::{Node, Unread};
use crate::notes::{Notes, Problem};
use crate::recording::group_name;
use example::Examples;
use references::{Document, Target};

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// What is known while a description is read.
struct Description<'d> {
    document: &'d Document,
    notes: Notes,
    /// Names of secrets that something needs.
    secrets: Vec<String>,
    needs_base64: bool,
}

/// Reads a description.
pub fn read(text: &str, _settings: &Settings) -> Result<Converted, Problem> {
    let root: Value = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(Problem::from)?,
        false => yaml::read(text)?,
    };
    let root = Node::from(root);
    let version = root.get("openapi").and_then(Node::shown).unwrap_or_default();
    if !version.starts_with('3') {
        let found = if version.is_empty() { String::from("no 'openapi'") } else { format!("'openapi: {version}'") };
        return Err(Problem::new(format!(
            "found {found}, expected a description in OpenAPI 3, with 'openapi: 3.…' at its top"
        )));
    }
    let document = Document { root };
    let mut description =
        Description { document: &document, notes: Notes::default(), secrets: Vec::new(), needs_base64: false };
    let steps = description.steps();
    let mut test = Test { functions: vec![Function { name: None, steps }], ..Test::default() };
    test.about.extend(document.root.at("/info/title").and_then(Node::text).map(str::to_owned));
    for name in &description.secrets {
        test.init.push(format!("const {} = {} || '';", identifier(name), environment(name)));
        description.notes.add("", format!("requests are authorised by -e '{name}=…'"));
    }
    if description.needs_base64 {
        test.imports.insert(String::from("import { b64encode } from 'k6/encoding';"));
    }
    document.root.unread(Format::OpenApi, &mut |unread| description.unread(&unread));
    Ok(Converted { test, notes: description.notes })
}

fn is_in_schema(path: &[&str]) -> bool {
    path.iter().any(|name| ["schema", "schemas", "items", "properties"].contains(name))
}

impl<'d> Description<'d> {
    fn root(&self) -> &'d Node {
        &self.document.root
    }

    fn example(&mut self, holder: &'d Node) -> Value {
        Examples::new(self.document).of_holder(holder, &mut self.notes)
    }

    /// Says what nothing read: by its place down to the names of the description, and the words of OpenAPI below it.
    fn unread(&mut self, unread: &Unread) {
        let path = &unread.path;
        let (place, inner) = match path[..] {
            ["paths", name, method, ..] if METHODS.contains(&method) => {
                (format!("{} {name}", method.to_ascii_uppercase()), &path[3..])
            }
            ["paths", name, ..] => (name.to_owned(), &path[2..]),
            ["components", kind, name, ..] => (format!("components.{kind}.{name}"), &path[3..]),
            _ => (String::new(), &path[..]),
        };
        // Of schemas the word alone: a large description has thousands of them.
        if let Some(word) = inner.last().filter(|_| is_in_schema(path)) {
            return self.notes.add(place, format!("'{}' of a schema is not looked at", word.escape_debug()));
        }
        let shown = if inner.is_empty() { String::from("it") } else { inner.join(".") };
        self.notes.add(place, format!("{} is left out", shown.escape_debug()));
    }

    fn steps(&mut self) -> Vec<Step> {
        let mut groups: Vec<(String, Vec<Step>)> = Vec::new();
        for (path, item) in self.root().fields_of("paths") {
            let item = match self.document.follow(item) {
                Target::Found(item, _) => item,
                Target::Lost(why) => {
                    self.notes.add(path, why);
                    continue;
                }
            };
            for method in METHODS {
                let Some(operation) = item.get(method).filter(|operation| operation.is_object()) else { continue };
                let request = self.request(method, path, item, operation);
                let tag = operation.at("/tags/0").and_then(Node::text).unwrap_or_default();
                let step = Step::Request(Box::new(request));
                match groups.iter_mut().find(|(known, _)| known == tag) {
                    Some((_, steps)) => steps.push(step),
                    None => groups.push((tag.to_owned(), vec![step])),
                }
            }
        }
        let hooks: Vec<&Node> = ["webhooks", "x-webhooks"].iter().filter_map(|key| self.root().get(key)).collect();
        if !hooks.is_empty() {
            hooks.into_iter().for_each(Node::settle);
            self.notes.add("", "webhooks are requests of the server; they are left out");
        }
        let mut steps = Vec::new();
        for (tag, inner) in groups {
            match tag.is_empty() {
                true => steps.extend(inner),
                false => steps.push(Step::Group(group_name(&tag), inner)),
            }
        }
        steps
    }

    /// The first server of the innermost list, its variables with their defaults.
    fn server(&mut self, lists: &[Option<&Node>]) -> String {
        let server = lists.iter().flatten().map(|list| list.items()).find(|list| !list.is_empty());
        let server = server.and_then(|servers| servers.first());
        let mut url = server.and_then(|server| server.get("url")).and_then(Node::text).unwrap_or("/").to_owned();
        for (name, variable) in server.into_iter().flat_map(|server| server.fields_of("variables")) {
            let default = variable.get("default").and_then(Node::shown).unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), &default);
        }
        let url = url.trim_end_matches('/');
        match url.contains("://") {
            true => url.to_owned(),
            // By the scheme that the description came with, which is https today.
            false if url.starts_with("//") => format!("https:{url}"),
            false => {
                self.notes.add("", "no server is named: requests go to http://localhost, or to --base-url");
                let slash = if url.is_empty() || url.starts_with('/') { "" } else { "/" };
                format!("http://localhost{slash}{url}")
            }
        }
    }
}
