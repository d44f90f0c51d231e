//! Bodies of a collection: raw, forms of both kinds, files, GraphQL.
//!
//! The Content-Type that Postman adds is added, unless the request has one.

use serde_json::Value;

use super::{Collection, is_on, pairs};
use crate::model::{Body, Content, Part, Request};
use crate::template::Template;

impl Collection {
    /// Adds the body of a request.
    pub(super) fn add_body(&mut self, json: Option<&Value>, name: &str, request: &mut Request) {
        let Some(json) = json.filter(|json| is_on(json)) else { return };
        let (body, kind) = match json.get("mode").and_then(Value::as_str).unwrap_or_default() {
            "raw" => (self.raw(json), raw_kind(json)),
            "urlencoded" => (self.urlencoded(json), Some("application/x-www-form-urlencoded")),
            "formdata" => (self.form(json, name), None),
            "graphql" => (self.graphql(json), Some("application/json")),
            "file" => (self.file(json, name), None),
            "" | "none" => return,
            other => {
                self.notes.add(name, format!("a body of the kind '{}' is left out", other.escape_debug()));
                return;
            }
        };
        let has_kind = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(kind) = kind.filter(|_| !has_kind && body != Body::None) {
            request.headers.push((String::from("Content-Type"), Template::text(kind)));
        }
        request.body = body;
    }

    fn raw(&mut self, json: &Value) -> Body {
        match json.get("raw").and_then(Value::as_str).unwrap_or_default() {
            "" => Body::None,
            text => Body::Text(self.template(text)),
        }
    }

    fn urlencoded(&mut self, json: &Value) -> Body {
        let pairs = match json.get("urlencoded") {
            // As text in old exports.
            Some(Value::String(text)) => return Body::Text(self.template(text)),
            list => pairs(list),
        };
        let mut body = Template::default();
        for (at, (key, value)) in pairs.iter().enumerate() {
            body.push_text(if at > 0 { "&" } else { "" });
            for (mark, text) in [("", key), ("=", value)] {
                body.push_text(mark);
                let text = self.template(text).with_pieces(escaped, |code| format!("encodeURIComponent({code})"));
                body.push(&text);
            }
        }
        Body::Text(body)
    }

    fn form(&mut self, json: &Value, name: &str) -> Body {
        let list = json.get("formdata").and_then(Value::as_array);
        let mut parts = Vec::new();
        for item in list.into_iter().flatten().filter(|item| is_on(item)) {
            let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
            let kind = Some(text("contentType").to_owned()).filter(|kind| !kind.is_empty());
            let mut add = |content| {
                parts.push(Part { name: text("key").to_owned(), content, filename: None, kind: kind.clone() });
            };
            if text("type") != "file" {
                add(Content::Text(self.variables.template(text("value"))));
                continue;
            }
            let sources: Vec<&str> = match item.get("src") {
                Some(Value::Array(paths)) => paths.iter().filter_map(Value::as_str).collect(),
                Some(Value::String(path)) => vec![path],
                _ => Vec::new(),
            };
            if sources.is_empty() {
                self.notes
                    .add(name, format!("the part '{}' names no file; it is left out", text("key").escape_debug()));
            }
            for path in sources {
                self.notes.add(name, format!("the file {path} is opened from where the script is"));
                add(Content::File(path.to_owned()));
            }
        }
        Body::Form(parts)
    }

    fn graphql(&mut self, json: &Value) -> Body {
        let Some(graphql) = json.get("graphql") else { return Body::None };
        let text = |key: &str| graphql.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut init = format!("JSON.stringify({{ query: {}", self.template(text("query")).expression());
        let variables = match text("variables").trim() {
            "" => String::from("{}"),
            variables => variables.to_owned(),
        };
        // Variables are an object already, whose texts may hold variables of the collection.
        let template = self.template(&variables);
        match template.as_text().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            Some(json) => init.push_str(&format!(", variables: {} }})", crate::source::value(&json, 4))),
            None => init.push_str(&format!(", variables: JSON.parse({}) }})", template.expression())),
        }
        Body::Code(Vec::new(), init)
    }

    fn file(&mut self, json: &Value, name: &str) -> Body {
        match json.pointer("/file/src").and_then(Value::as_str) {
            Some(path) => {
                self.notes.add(name, format!("the file {path} is opened from where the script is"));
                Body::File(path.to_owned())
            }
            None => {
                self.notes.add(name, "the body names no file; it is left out");
                Body::None
            }
        }
    }
}

fn raw_kind(json: &Value) -> Option<&'static str> {
    match json.pointer("/options/raw/language").and_then(Value::as_str)? {
        "json" => Some("application/json"),
        "xml" => Some("application/xml"),
        "html" => Some("text/html"),
        "javascript" => Some("application/javascript"),
        _ => Some("text/plain"),
    }
}

fn escaped(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
