//! One operation as a request: URL, parameters, body, what the description says of its answers.
//!
//! Parameters that must be sent are sent, and those with an example; the others are named in a comment. Values are
//! those of `example.rs`.

use serde_json::Value;

use super::Description;
use super::references::Target;
use crate::model::{Body, Content, Part, Request};
use crate::source;
use crate::template::Template;

impl Description<'_> {
    /// The request of an operation.
    pub(super) fn request(&mut self, method: &str, path: &str, item: &Value, operation: &Value) -> Request {
        let place = format!("{} {path}", method.to_ascii_uppercase());
        let server = self.server(&[operation.get("servers"), item.get("servers"), self.root().get("servers")]);
        let mut url = path.to_owned();
        let mut query: Vec<String> = Vec::new();
        let mut request = Request::new(method.to_ascii_uppercase(), Template::default());
        request.comments.extend(description_of(operation));
        let (mut optional, mut cookies) = (Vec::new(), Vec::new());
        for parameter in self.parameters(item, operation, &place) {
            let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let within = parameter.get("in").and_then(Value::as_str).unwrap_or_default();
            let is_wanted =
                within == "path" || parameter.get("required") == Some(&Value::Bool(true)) || has_example(&parameter);
            if !is_wanted {
                optional.push(name);
                continue;
            }
            let value = self.example(&parameter);
            match within {
                "path" => url = url.replace(&format!("{{{name}}}"), &escaped(&simple(&value))),
                "query" => query.extend(in_query(&name, &value, &parameter)),
                "header"
                    if !["accept", "content-type", "authorization"].contains(&name.to_ascii_lowercase().as_str()) =>
                {
                    // Examples are folded for readers; a header is one line.
                    let lines: Vec<String> = simple(&value).lines().map(|line| line.trim().to_owned()).collect();
                    request.headers.push((name, Template::text(lines.join(" "))));
                }
                "cookie" => cookies.push(format!("{name}={}", simple(&value))),
                _ => {}
            }
        }
        if !optional.is_empty() {
            request.comments.push(format!("optional: {}", optional.join(", ")));
        }
        if url.contains('{') {
            self.notes.add(place.as_str(), "the path has parameters that are not described; they are sent as they are");
        }
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        request.url = Template::text(format!("{server}{url}{query}"));
        if !cookies.is_empty() {
            request.headers.push((String::from("Cookie"), Template::text(cookies.join("; "))));
        }
        self.add_body(operation, &place, &mut request);
        self.add_answers(operation, &mut request);
        self.add_security(operation, &place, &mut request);
        request.headers.retain(|(name, _)| {
            let is_name =
                !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && !"()<>@,;:\\\"/[]?={}".contains(c));
            if !is_name {
                self.notes.add(place.as_str(), format!("'{name}' is no name of a header; left out"));
            }
            is_name
        });
        request.params.push((String::from("tags"), format!("{{ name: {} }}", source::text(&place))));
        request
    }

    /// Those of the path, replaced by those of the operation.
    fn parameters(&mut self, item: &Value, operation: &Value, place: &str) -> Vec<Value> {
        let lists = [item.get("parameters"), operation.get("parameters")];
        let mut all: Vec<Value> = Vec::new();
        for parameter in lists.into_iter().flatten().filter_map(Value::as_array).flatten() {
            let parameter = match self.document.follow(parameter) {
                Target::Found(found, _) => found.clone(),
                Target::Lost(why) => {
                    self.notes.add(place, why);
                    continue;
                }
            };
            all.retain(|known| known.get("name") != parameter.get("name") || known.get("in") != parameter.get("in"));
            all.push(parameter);
        }
        all
    }

    fn add_body(&mut self, operation: &Value, place: &str, request: &mut Request) {
        let Some(body) = operation.get("requestBody") else { return };
        let content = match self.document.follow(body) {
            Target::Found(found, _) => found.get("content").and_then(Value::as_object).cloned(),
            Target::Lost(why) => {
                self.notes.add(place, why);
                None
            }
        };
        let content = content.unwrap_or_default();
        let is_json = |kind: &&String| kind.contains("json");
        let Some(kind) = content.keys().find(is_json).or_else(|| content.keys().next()).cloned() else { return };
        let value = self.example(&content[&kind]);
        let kind = if kind.contains('*') { String::from("application/json") } else { kind };
        request.body = match kind.split(';').next().unwrap_or_default() {
            kind if kind.contains("json") => Body::Text(Template::text(value.to_string())),
            "application/x-www-form-urlencoded" => Body::Text(Template::text(form(&value))),
            "multipart/form-data" => {
                request.body = Body::Form(parts(&value, &content[&kind], self));
                return;
            }
            other => {
                if value.is_object() || value.is_array() {
                    self.notes.add(place, format!("the example of a body in {other} is written as JSON"));
                }
                Body::Text(Template::text(simple_or_json(&value)))
            }
        };
        request.headers.push((String::from("Content-Type"), Template::text(kind)));
    }

    /// The first status of success is expected; its kind is asked for.
    fn add_answers(&mut self, operation: &Value, request: &mut Request) {
        let Some(answers) = operation.get("responses").and_then(Value::as_object) else { return };
        let good = answers.iter().find(|(status, _)| status.starts_with('2'));
        let Some((status, answer)) = good else { return };
        match status.parse() {
            Ok(status) => request.check_status(status),
            Err(_) => {
                request.checks.push((String::from("status is 2xx"), String::from("r.status >= 200 && r.status < 300")))
            }
        }
        if let Target::Found(answer, _) = self.document.follow(answer) {
            let kinds = answer.get("content").and_then(Value::as_object);
            let kind = kinds.and_then(|kinds| kinds.keys().find(|kind| !kind.is_empty()));
            request.headers.extend(kind.map(|kind| (String::from("Accept"), Template::text(kind.as_str()))));
        }
    }
}

fn description_of(operation: &Value) -> Option<String> {
    let text = |key: &str| operation.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    match (text("operationId"), text("summary")) {
        (Some(id), Some(summary)) => Some(format!("{id}: {summary}")),
        (one, other) => one.or(other).map(str::to_owned),
    }
}

fn has_example(parameter: &Value) -> bool {
    parameter.get("example").is_some()
        || parameter.get("examples").is_some()
        || parameter.pointer("/schema/example").is_some()
}

/// A value as a text: parts of a list behind commas (RFC 6570's simple expansion).
pub(super) fn simple(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(simple).collect::<Vec<_>>().join(","),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name},{}", simple(value))).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

fn simple_or_json(value: &Value) -> String {
    if value.is_object() || value.is_array() { value.to_string() } else { simple(value) }
}

fn in_query(name: &str, value: &Value, parameter: &Value) -> Vec<String> {
    let style = parameter.get("style").and_then(Value::as_str).unwrap_or("form");
    let explodes = parameter.get("explode").and_then(Value::as_bool).unwrap_or(style == "form");
    let pair = |name: &str, value: &str| format!("{}={}", escaped(name), escaped(value));
    let separator = match style {
        "spaceDelimited" => "%20",
        "pipeDelimited" => "|",
        _ => ",",
    };
    match value {
        Value::Array(items) if explodes => items.iter().map(|item| pair(name, &simple(item))).collect(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| escaped(&simple(item))).collect();
            vec![format!("{}={}", escaped(name), items.join(separator))]
        }
        Value::Object(fields) if style == "deepObject" => {
            fields.iter().map(|(key, value)| pair(&format!("{name}[{key}]"), &simple(value))).collect()
        }
        Value::Object(fields) if explodes => fields.iter().map(|(key, value)| pair(key, &simple(value))).collect(),
        value => vec![pair(name, &simple(value))],
    }
}

/// All but the unreserved characters of RFC 3986.
fn escaped(text: &str) -> String {
    const RESERVED: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encoding::utf8_percent_encode(text, RESERVED).to_string()
}

fn form(value: &Value) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Array(items) => {
                for item in items {
                    form.append_pair(name, &simple_or_json(item));
                }
            }
            value => {
                form.append_pair(name, &simple_or_json(value));
            }
        }
    }
    form.finish()
}

/// A part that holds bytes has a file name, as browsers send it.
fn parts(value: &Value, holder: &Value, description: &mut Description) -> Vec<Part> {
    let schema = holder.get("schema").map(|schema| description.document.follow(schema));
    let is_binary = |name: &str| match &schema {
        Some(Target::Found(schema, _)) => {
            let property = schema.get("properties").and_then(|properties| properties.get(name));
            let property = property.map(|property| description.document.follow(property));
            let Some(Target::Found(property, _)) = property else { return false };
            property.get("format").is_some_and(|format| format == "binary")
        }
        _ => false,
    };
    let part = |(name, value): (&String, &Value)| Part {
        name: name.clone(),
        content: Content::Text(Template::text(simple_or_json(value))),
        filename: is_binary(name).then(|| format!("{name}.bin")),
        kind: is_binary(name).then(|| String::from("application/octet-stream")),
    };
    value.as_object().into_iter().flatten().map(part).collect()
}
