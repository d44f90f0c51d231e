//! Multipart forms (RFC 7578) in words that k6 has.
//!
//! A form of texts is a text: its lines, joined. A form with files is put together by k6's FormData library, which says
//! `Content-Type: text/plain` of text parts, so that a server may tell the difference; its boundary is of each form.

use super::Writer;
use super::request::Sent;
use crate::model::{Content, Part};
use crate::source;
use crate::template::Template;

const FORM_DATA: &str = "import { FormData } from 'https://jslib.k6.io/formdata/0.0.2/index.js';";

/// The form as a body.
pub fn sent(writer: &mut Writer, parts: &[Part]) -> Sent {
    let name = format!("form{}", writer.number);
    let parts: Vec<Part> = parts.iter().enumerate().map(|(at, part)| with_text(writer, at + 1, part)).collect();
    if parts.iter().all(|part| matches!(part.content, Content::Text(_))) {
        return text(writer, &name, &parts);
    }
    writer.imports.insert(FORM_DATA.to_owned());
    let mut lines = vec![format!("const {name} = new FormData();")];
    for (at, part) in parts.iter().enumerate() {
        let value = value(writer, at + 1, part);
        lines.push(format!("{name}.append({}, {value});", source::text(&part.name)));
    }
    writer.before_call.extend(lines);
    Sent {
        expression: Some(format!("{name}.body()")),
        content_type: Some(format!("`multipart/form-data; boundary=${{{name}.boundary}}`")),
    }
}

/// The text of a file becomes a constant.
fn with_text(writer: &mut Writer, number: usize, part: &Part) -> Part {
    let Content::TextOf(path) = &part.content else { return part.clone() };
    let name = format!("text{}_{number}", writer.number);
    writer.init.push(format!("const {name} = open({});", source::text(path)));
    Part { content: Content::Text(Template::code(name)), ..part.clone() }
}

/// What is appended to a FormData.
fn value(writer: &mut Writer, number: usize, part: &Part) -> String {
    let own = |text: &Option<String>| text.as_ref().map(|text| source::text(text));
    match (&part.content, own(&part.filename), own(&part.kind)) {
        (Content::Text(text), None, None) => text.expression(),
        (Content::Text(text), filename, kind) => {
            let fields = [("data", Some(text.expression())), ("filename", filename), ("content_type", kind)];
            let given = fields.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_owned(), value)));
            source::object(&given.collect::<Vec<_>>(), 2)
        }
        (Content::File(path) | Content::TextOf(path), filename, kind) => {
            let file = format!("file{}_{number}", writer.number);
            writer.init.push(format!("const {file} = open({}, 'b');", source::text(path)));
            let filename = filename.unwrap_or_else(|| source::text(path.rsplit('/').next().unwrap_or(path)));
            let kind = kind.map(|kind| format!(", {kind}")).unwrap_or_default();
            format!("http.file({file}, {filename}{kind})")
        }
    }
}

/// The lines of a form, joined.
fn text(writer: &mut Writer, name: &str, parts: &[Part]) -> Sent {
    let boundary = boundary(parts);
    let mut lines = Vec::new();
    for part in parts {
        lines.push(Template::text(format!("--{boundary}")));
        let filename = part.filename.as_ref().map(|name| format!("; filename=\"{}\"", escaped(name)));
        let disposition = format!("form-data; name=\"{}\"{}", escaped(&part.name), filename.unwrap_or_default());
        lines.push(Template::text(format!("Content-Disposition: {disposition}")));
        lines.extend(part.kind.iter().map(|kind| Template::text(format!("Content-Type: {}", one_line(kind)))));
        lines.push(Template::default());
        if let Content::Text(text) = &part.content {
            lines.push(text.clone());
        }
    }
    lines.extend([Template::text(format!("--{boundary}--")), Template::default()]);
    let lines: String = lines.iter().map(|line| format!("  {},\n", line.expression())).collect();
    let statement = format!("const {name} = [\n{lines}].join('\\r\\n');");
    writer.before_call.extend(statement.lines().map(str::to_owned));
    Sent {
        expression: Some(name.to_owned()),
        content_type: Some(source::text(&format!("multipart/form-data; boundary={boundary}"))),
    }
}

/// One that no part holds.
fn boundary(parts: &[Part]) -> String {
    let texts = || {
        parts.iter().filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.expression()),
            _ => None,
        })
    };
    let named = |number: usize| format!("----form{number}");
    (0..).map(named).find(|name| !texts().any(|text| text.contains(name.as_str()))).unwrap_or_default()
}

/// As browsers write names (the HTML Standard, multipart/form-data encoding).
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}
