//! Bodies of a collection: raw, forms of both kinds, files, GraphQL.
//!
//! The Content-Type that Postman adds is added. Postman sends no body with some methods, unless the request says
//! otherwise, and none of a form without fields.

use serde_json::Value;

use super::pairs::{is_on, pairs};
use super::{Collection, Inherited};
use crate::model::{Body, Content, Part, Request};
use crate::node::Node;
use crate::template::Template;

/// Methods whose bodies are not sent, as newman 6.2 does it.
const WITHOUT_BODY: [&str; 5] = ["GET", "HEAD", "COPY", "PURGE", "UNLOCK"];

impl Collection {
    /// Adds the body of a request.
    pub(super) fn add_body(&mut self, json: Option<&Node>, name: &str, above: &Inherited, request: &mut Request) {
        let Some(json) = json.filter(|json| is_on(json)) else { return };
        if WITHOUT_BODY.contains(&request.method.as_str()) && !above.is("disableBodyPruning") {
            return json.settle();
        }
        let mode = json.get("mode").and_then(Node::text).unwrap_or_default();
        let (body, kind) = match mode {
            "raw" => (self.raw(json), Some(raw_kind(json))),
            "urlencoded" => (self.urlencoded(json), Some("application/x-www-form-urlencoded")),
            "formdata" => (self.form(json, name), None),
            "graphql" => (self.graphql(json), Some("application/json")),
            "file" => (self.file(json, name), None),
            "" | "none" => return,
            other => {
                json.settle();
                self.notes.add(name, format!("a body of the kind '{}' is left out", other.escape_debug()));
                return;
            }
        };
        if body == Body::None {
            return;
        }
        let is_kind = |name: &str| name.eq_ignore_ascii_case("content-type");
        if mode == "urlencoded" {
            request.headers.retain(|(name, _)| !is_kind(name));
        }
        let has_kind = request.headers.iter().any(|(name, _)| is_kind(name));
        if let Some(kind) = kind.filter(|_| !has_kind) {
            request.headers.push((String::from("Content-Type"), Template::text(kind)));
        }
        request.body = body;
    }

    fn raw(&mut self, json: &Node) -> Body {
        match json.text_of("raw") {
            "" => Body::None,
            text => Body::Text(self.template(text)),
        }
    }

    fn urlencoded(&mut self, json: &Node) -> Body {
        let list = json.get("urlencoded");
        // As text in old exports.
        let pairs = match list.and_then(Node::text) {
            Some(text) => return self.form_text(text),
            None => pairs(list),
        };
        if pairs.is_empty() {
            return Body::None;
        }
        let mut body = Template::default();
        for (at, pair) in pairs.iter().enumerate() {
            body.push_text(if at > 0 { "&" } else { "" });
            for (mark, text) in [("", pair.key.as_str()), ("=", pair.value.as_deref().unwrap_or_default())] {
                body.push_text(mark);
                body.push(&self.form_word(text));
            }
        }
        Body::Text(body)
    }

    fn form_word(&mut self, text: &str) -> Template {
        self.template(text).with_pieces(escaped, |code| format!("encodeURIComponent({code})"))
    }

    fn form_text(&mut self, text: &str) -> Body {
        let mut body = Template::default();
        for (at, pair) in text.split('&').enumerate() {
            body.push_text(if at > 0 { "&" } else { "" });
            for (at, word) in pair.splitn(2, '=').enumerate() {
                body.push_text(if at > 0 { "=" } else { "" });
                let word = self.form_word(word);
                body.push(&word);
            }
        }
        if body.is_empty() { Body::None } else { Body::Text(body) }
    }

    fn form(&mut self, json: &Node, name: &str) -> Body {
        let mut parts = Vec::new();
        for item in json.items_of("formdata").iter().filter(|item| is_on(item)) {
            let given = |key: &str| Some(item.text_of(key).to_owned()).filter(|text| !text.is_empty());
            let key = item.text_of("key").to_owned();
            let (kind, filename) = (given("contentType"), given("fileName"));
            let mut add = |content| {
                let (kind, filename) = (kind.clone(), filename.clone());
                parts.push(Part { name: key.clone(), content, filename, kind });
            };
            if item.text_of("type") != "file" {
                let value = item.get("value").and_then(Node::shown).unwrap_or_default();
                add(Content::Text(self.variables.template(&value)));
                continue;
            }
            let one = item.get("src").and_then(Node::text);
            let several = item.items_of("src").iter().filter_map(Node::text);
            let sources: Vec<&str> = one.into_iter().chain(several).collect();
            if sources.is_empty() {
                self.notes.add(name, format!("the part '{}' names no file; it is left out", key.escape_debug()));
            }
            for path in sources {
                self.notes.add(name, format!("the file {path} is opened from where the script is"));
                add(Content::File(path.to_owned()));
            }
        }
        if parts.is_empty() { Body::None } else { Body::Form(parts) }
    }

    fn graphql(&mut self, json: &Node) -> Body {
        let Some(graphql) = json.get("graphql") else { return Body::None };
        let mut fields = vec![("query", self.template(graphql.text_of("query")).expression())];
        let operation = self.template(graphql.text_of("operationName"));
        if !operation.is_empty() {
            fields.push(("operationName", operation.expression()));
        }
        let object = |fields: &[(&str, String)]| {
            let fields = fields.iter().map(|(name, code)| format!("{name}: {code}"));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        };
        let variables = graphql.get("variables");
        let variables = variables.map(|value| value.text().map_or_else(|| value.whole().to_string(), str::to_owned));
        let Some(variables) = variables.filter(|text| !text.trim().is_empty()) else {
            return Body::Code(Vec::new(), format!("JSON.stringify({})", object(&fields)));
        };
        let template = self.template(&variables);
        if let Some(json) = template.as_text().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            fields.push(("variables", crate::source::value(&json, 4)));
            return Body::Code(Vec::new(), format!("JSON.stringify({})", object(&fields)));
        }
        // Postman puts their text in, whatever it is when its variables have their values.
        let mut body = Template::default();
        for (at, (name, code)) in fields.iter().enumerate() {
            body.push_text(&format!("{}\"{name}\":", if at > 0 { "," } else { "{" }));
            body.push_code(&format!("JSON.stringify({code})"));
        }
        body.push_text(",\"variables\":");
        body.push(&template);
        body.push_text("}");
        Body::Text(body)
    }

    fn file(&mut self, json: &Node, name: &str) -> Body {
        if let Some(path) = json.at("/file/src").and_then(Node::text) {
            self.notes.add(name, format!("the file {path} is opened from where the script is"));
            return Body::File(path.to_owned());
        }
        let content = json.at("/file/content").and_then(Node::text).filter(|content| !content.is_empty());
        let bytes = content.map(|content| base64_simd::forgiving_decode_to_vec(content.as_bytes()));
        match (content, bytes) {
            (Some(_), Some(Ok(bytes))) => Body::Bytes(bytes),
            (Some(content), _) => Body::Text(Template::text(content)),
            _ => {
                self.notes.add(name, "the body names no file; it is left out");
                Body::None
            }
        }
    }
}

fn raw_kind(json: &Node) -> &'static str {
    match json.at("/options/raw/language").and_then(Node::text).unwrap_or_default() {
        "json" => "application/json",
        "xml" => "application/xml",
        "html" => "text/html",
        "javascript" => "application/javascript",
        _ => "text/plain",
    }
}

/// All but the unreserved characters of RFC 3986.
fn escaped(text: &str) -> String {
    const RESERVED: &percent_encoding::AsciiSet =
        &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encoding::utf8_percent_encode(text, RESERVED).to_string()
}
