//! Descriptions in OpenAPI 3.0 and 3.1, in JSON or YAML: every operation once, with values that its schemas allow.
//!
//! Operations of one tag are a group. What proves who asks is read from `-e`. References are followed within the file,
//! circles cut and named; nothing of a description can make the script grow without bound.

mod example;
mod operation;
mod references;
mod yaml;

use serde_json::Value;

use crate::conversion::{Converted, Settings};
use crate::identifier::{environment, identifier};
use crate::model::{Function, Request, Step, Test};
use crate::notes::{Notes, Problem};
use crate::recording::group_name;
use crate::template::Template;
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
    let root = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(Problem::from)?,
        false => yaml::read(text)?,
    };
    let version = root.get("openapi").map(operation::simple).unwrap_or_default();
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
    test.about.extend(document.root.pointer("/info/title").and_then(Value::as_str).map(str::to_owned));
    for name in &description.secrets {
        test.init.push(format!("const {} = {} || '';", identifier(name), environment(name)));
        description.notes.add("", format!("requests are authorised by -e '{name}=…'"));
    }
    if description.needs_base64 {
        test.imports.insert(String::from("import { b64encode } from 'k6/encoding';"));
    }
    Ok(Converted { test, notes: description.notes })
}

impl<'d> Description<'d> {
    fn root(&self) -> &'d Value {
        &self.document.root
    }

    fn example(&mut self, holder: &Value) -> Value {
        Examples::new(self.document).of_holder(holder, &mut self.notes)
    }

    fn steps(&mut self) -> Vec<Step> {
        let mut groups: Vec<(String, Vec<Step>)> = Vec::new();
        for (path, item) in self.root().get("paths").and_then(Value::as_object).into_iter().flatten() {
            let item = match self.document.follow(item) {
                Target::Found(item, _) => item,
                Target::Lost(why) => {
                    self.notes.add(path.as_str(), why);
                    continue;
                }
            };
            for method in METHODS {
                let Some(operation) = item.get(method).filter(|operation| operation.is_object()) else { continue };
                let request = self.request(method, path, item, operation);
                let tag = operation.pointer("/tags/0").and_then(Value::as_str).unwrap_or_default();
                let step = Step::Request(Box::new(request));
                match groups.iter_mut().find(|(known, _)| known == tag) {
                    Some((_, steps)) => steps.push(step),
                    None => groups.push((tag.to_owned(), vec![step])),
                }
            }
        }
        let has_hooks = ["webhooks", "x-webhooks"].iter().any(|key| self.root().get(key).is_some());
        if has_hooks {
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
    fn server(&mut self, lists: &[Option<&Value>]) -> String {
        let servers = lists.iter().flatten().filter_map(|list| list.as_array()).find(|list| !list.is_empty());
        let server = servers.and_then(|servers| servers.first());
        let mut url = server.and_then(|server| server.get("url")).and_then(Value::as_str).unwrap_or("/").to_owned();
        let variables = server.and_then(|server| server.get("variables")).and_then(Value::as_object);
        for (name, variable) in variables.into_iter().flatten() {
            let default = variable.get("default").map(operation::simple).unwrap_or_default();
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

    /// The first way to prove who asks.
    fn add_security(&mut self, operation: &Value, place: &str, request: &mut Request) {
        let wanted = operation.get("security").or_else(|| self.root().get("security"));
        let first = wanted.and_then(Value::as_array).and_then(|list| list.first()).and_then(Value::as_object);
        for name in first.into_iter().flat_map(|schemes| schemes.keys()) {
            let scheme = self.root().pointer("/components/securitySchemes").and_then(|schemes| schemes.get(name));
            let Some(Target::Found(scheme, _)) = scheme.map(|scheme| self.document.follow(scheme)) else {
                self.notes.add(place, format!("the security scheme {name} is not described"));
                continue;
            };
            let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
            let secret = identifier(name);
            let header = |before: &str, code: &str| {
                let mut value = Template::text(before);
                value.push_code(code);
                value
            };
            match (text("type"), text("scheme").to_ascii_lowercase().as_str(), text("in")) {
                ("http", "basic", _) => {
                    self.needs_base64 = true;
                    let value = header("Basic ", &format!("b64encode({secret})"));
                    request.headers.push((String::from("Authorization"), value));
                }
                ("http", "bearer", _) | ("oauth2" | "openIdConnect", ..) => {
                    request.headers.push((String::from("Authorization"), header("Bearer ", &secret)));
                }
                ("apiKey", _, "header") => request.headers.push((text("name").to_owned(), Template::code(&secret))),
                ("apiKey", _, "cookie") => {
                    request.headers.push((String::from("Cookie"), header(&format!("{}=", text("name")), &secret)));
                }
                ("apiKey", _, "query") => {
                    let mark = if request.url.leading_text().contains('?') { "&" } else { "?" };
                    request.url.push_text(&format!("{mark}{}=", text("name")));
                    request.url.push_code(&format!("encodeURIComponent({secret})"));
                }
                (kind, scheme, _) => {
                    self.notes.add(place, format!("the security scheme {name} ({kind} {scheme}) has no counterpart"));
                    continue;
                }
            }
            if !self.secrets.contains(name) {
                self.secrets.push(name.clone());
            }
        }
    }
}
