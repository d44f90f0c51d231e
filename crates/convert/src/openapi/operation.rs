//! One operation as a request: URL, parameters, what the description says of its answers.
//!
//! Parameters that must be sent are sent, and those with an example; the others are named in a comment. Values are
//! those of `example.rs`, in the styles of `style.rs`.

use serde_json::Value;

use super::Description;
use super::references::Target;
use super::style::{ParameterStyle, escaped, plain, shown, with_reserved};
use crate::model::Request;
use crate::node::Node;
use crate::source;
use crate::template::Template;

/// Where the values of parameters go.
#[derive(Default)]
struct Places {
    path: String,
    query: Vec<String>,
    cookies: Vec<String>,
    optional: Vec<String>,
}

impl<'d> Description<'d> {
    /// The request of an operation.
    pub(super) fn request(&mut self, method: &str, path: &str, item: &'d Node, operation: &'d Node) -> Request {
        let place = format!("{} {path}", method.to_ascii_uppercase());
        let server = self.server(&[operation.get("servers"), item.get("servers"), self.root().get("servers")]);
        let mut request = Request::new(method.to_ascii_uppercase(), Template::default());
        request.comments.extend(description_of(operation));
        let mut places = Places { path: path.to_owned(), ..Places::default() };
        for parameter in self.parameters(item, operation, &place) {
            self.add_parameter(parameter, &place, &mut places, &mut request);
        }
        let Places { path, query, cookies, optional } = places;
        if !optional.is_empty() {
            request.comments.push(format!("optional: {}", optional.join(", ")));
        }
        if path.contains('{') {
            self.notes.add(place.as_str(), "the path has parameters that are not described; they are sent as they are");
        }
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        request.url = Template::text(format!("{server}{path}{query}"));
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

    fn add_parameter(&mut self, parameter: &'d Node, place: &str, places: &mut Places, request: &mut Request) {
        let (name, within) = (parameter.text_of("name").to_owned(), parameter.text_of("in"));
        let is_ignored = ["accept", "content-type", "authorization"].contains(&name.to_ascii_lowercase().as_str());
        if within == "header" && is_ignored {
            // The specification says so: they are those of the body, the answers and the security schemes.
            return parameter.settle();
        }
        let is_wanted = within == "path" || parameter.is("required") || has_example(parameter);
        if !is_wanted {
            parameter.settle();
            places.optional.push(name);
            return;
        }
        let value = self.value(parameter);
        let standard = if matches!(within, "path" | "header") { "simple" } else { "form" };
        let style = parameter.get("style").and_then(Node::text).unwrap_or(standard);
        let explodes = parameter.get("explode").and_then(Node::boolean).unwrap_or(style == "form");
        let style = ParameterStyle { name: style, explodes, escape: escaped };
        match within {
            "path" => places.path = places.path.replace(&format!("{{{name}}}"), &style.in_path(&name, &value)),
            "query" => {
                let escape = if parameter.is("allowReserved") { with_reserved } else { escaped };
                places.query.extend(ParameterStyle { escape, ..style }.pairs(&name, &value));
            }
            "header" => {
                let text = ParameterStyle { escape: plain, ..style }.in_path(&name, &value);
                // Examples are folded for readers; a header is one line.
                let lines: Vec<&str> = text.lines().map(str::trim).collect();
                request.headers.push((name, Template::text(lines.join(" "))));
            }
            "cookie" => places.cookies.extend(ParameterStyle { escape: plain, ..style }.pairs(&name, &value)),
            other => self.notes.add(place, format!("the parameter {name} in '{}' is left out", other.escape_debug())),
        }
    }

    /// The value of a parameter; that of one with a media type is written as that type says.
    fn value(&mut self, parameter: &'d Node) -> Value {
        let Some((kind, holder)) = parameter.fields_of("content").next() else { return self.example(parameter) };
        let value = self.example(holder);
        match kind.contains("json") {
            true => Value::String(value.to_string()),
            false => Value::String(shown(&value)),
        }
    }

    /// Those of the path, replaced by those of the operation.
    fn parameters(&mut self, item: &'d Node, operation: &'d Node, place: &str) -> Vec<&'d Node> {
        let mut all: Vec<&Node> = Vec::new();
        for parameter in item.items_of("parameters").iter().chain(operation.items_of("parameters")) {
            let parameter = match self.document.follow(parameter) {
                Target::Found(found, _) => found,
                Target::Lost(why) => {
                    self.notes.add(place, why);
                    continue;
                }
            };
            let named = |parameter: &Node| (parameter.text_of("name").to_owned(), parameter.text_of("in").to_owned());
            let own = named(parameter);
            if let Some(at) = all.iter().position(|known| named(known) == own) {
                all.remove(at).settle();
            }
            all.push(parameter);
        }
        all
    }

    /// The first status of success is expected; its kind is asked for.
    fn add_answers(&mut self, operation: &'d Node, request: &mut Request) {
        let mut good = operation.fields_of("responses").filter(|(status, _)| status.starts_with('2'));
        let Some((status, answer)) = good.next() else { return };
        match status.parse() {
            Ok(status) => request.check_status(status),
            Err(_) => {
                request.checks.push((String::from("status is 2xx"), String::from("r.status >= 200 && r.status < 300")))
            }
        }
        if let Target::Found(answer, _) = self.document.follow(answer) {
            let kind = answer.fields_of("content").map(|(kind, _)| kind).find(|kind| !kind.is_empty());
            request.headers.extend(kind.map(|kind| (String::from("Accept"), Template::text(kind))));
        }
    }
}

fn description_of(operation: &Node) -> Option<String> {
    let text = |key: &str| operation.get(key).and_then(Node::text).filter(|text| !text.trim().is_empty());
    match (text("operationId"), text("summary")) {
        (Some(id), Some(summary)) => Some(format!("{id}: {summary}")),
        (one, other) => one.or(other).map(str::to_owned),
    }
}

fn has_example(parameter: &Node) -> bool {
    let has = |holder: &Node| holder.get("example").is_some() || holder.get("examples").is_some();
    let media = parameter.fields_of("content").next().map(|(_, holder)| holder);
    [Some(parameter), parameter.get("schema"), media].into_iter().flatten().any(has)
}
