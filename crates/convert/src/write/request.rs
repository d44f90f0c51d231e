//! One request as lines of a script: the call with its URL, body and params, what is checked, what is read from the
//! answer.
//!
//! Large bodies and bytes leave the function: into files where files may be written, else into constants. The body that
//! the script sends is the body that was found, byte for byte; only the boundary of a form is chosen anew.

use super::{Writer, form, json};
use crate::model::{Body, Request};
use crate::source;

/// Texts beyond this go into a file.
const LONG: usize = 16 << 10;
/// Bytes beyond this do.
const MANY: usize = 256;
/// A call up to this is on one line.
const WIDE: usize = 110;

const DECODE: &str = "import { b64decode } from 'k6/encoding';";

/// The lines of a request; those of a call that goes on have their indent already.
pub fn lines(writer: &mut Writer, request: &Request, indent: usize) -> Vec<String> {
    writer.number += 1;
    let mut lines: Vec<String> = request.comments.iter().map(|comment| source::comment(comment)).collect();
    let body = body(writer, request, indent);
    let call = call(writer, request, body, indent);
    let keeps = [request.checks.is_empty(), request.reads.is_empty(), request.after.is_empty()].contains(&false);
    writer.keeps_response |= keeps;
    let call = if keeps { format!("response = {call};") } else { format!("{call};") };
    lines.append(&mut writer.before_call);
    lines.push(call);
    lines.extend(request.reads.iter().cloned());
    if !request.checks.is_empty() {
        writer.uses("check");
        let fields: Vec<_> = checks(request).into_iter().map(|(name, code)| (name, format!("(r) => {code}"))).collect();
        let check = format!("check(response, {});", source::object(&fields, indent + 20));
        let is_long = check.contains('\n');
        lines.push(if is_long { format!("check(response, {});", source::object(&fields, indent)) } else { check });
    }
    lines.extend(request.after.iter().cloned());
    lines
}

/// The checks of a request: one that repeats a name is numbered, because fields of an object replace each other.
fn checks(request: &Request) -> Vec<(String, &str)> {
    let mut named: Vec<(String, &str)> = Vec::with_capacity(request.checks.len());
    for (name, code) in &request.checks {
        let is_free = |name: &str| named.iter().all(|(known, _)| known != name);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| is_free(name));
        named.push((free.unwrap_or_default(), code));
    }
    named
}

/// The body as an expression, and the Content-Type that has to go with it.
fn body(writer: &mut Writer, request: &Request, indent: usize) -> Sent {
    match &request.body {
        Body::None => Sent::default(),
        Body::Text(template) => match template.as_text() {
            Some(text) if text.len() > LONG && writer.may_write_files() => {
                let name = writer.file("txt", text.as_bytes());
                Sent::of(format!("open({})", source::text(&name))).into_constant(writer)
            }
            Some(text) => Sent::of(json::expression(text, indent).unwrap_or_else(|| source::long_text(text))),
            None => Sent::of(template.expression()),
        },
        Body::Bytes(bytes) if bytes.len() > MANY && writer.may_write_files() => {
            let name = writer.file("bin", bytes);
            Sent::of(format!("open({}, 'b')", source::text(&name))).into_constant(writer)
        }
        Body::Bytes(bytes) => {
            writer.imports.insert(DECODE.to_owned());
            let base64 = base64_simd::STANDARD.encode_to_string(bytes);
            Sent::of(format!("b64decode({})", source::text(&base64))).into_constant(writer)
        }
        Body::File(path) => Sent::of(format!("open({}, 'b')", source::text(path))).into_constant(writer),
        Body::Form(parts) => form::sent(writer, parts),
        Body::Code(init, expression) => {
            writer.init.extend(init.iter().cloned());
            let sent = Sent::of(expression.clone());
            if expression.contains("open(") { sent.into_constant(writer) } else { sent }
        }
    }
}

/// What a call sends.
#[derive(Default)]
pub struct Sent {
    /// None: no body.
    pub expression: Option<String>,
    /// An expression too.
    pub content_type: Option<String>,
}

impl Sent {
    fn of(expression: String) -> Sent {
        Sent { expression: Some(expression), content_type: None }
    }

    /// The expression is evaluated once, in init code.
    fn into_constant(self, writer: &mut Writer) -> Sent {
        let name = format!("body{}", writer.number);
        writer.init.push(format!("const {name} = {};", self.expression.unwrap_or_default()));
        Sent::of(name)
    }
}

fn call(writer: &Writer, request: &Request, sent: Sent, indent: usize) -> String {
    let mut headers: Vec<(String, String)> =
        request.headers.iter().map(|(name, value)| (name.clone(), value.expression())).collect();
    if let Some(kind) = sent.content_type {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        headers.push((String::from("Content-Type"), kind));
    }
    let mut fields = Vec::new();
    if let Some(headers) = header_fields(writer.has_shared_headers, &headers, indent + 2) {
        fields.push((String::from("headers"), headers));
    }
    fields.extend(request.params.iter().cloned());
    let params = (!fields.is_empty()).then(|| source::object(&fields, indent));
    let (function, leading, has_body) = match &request.method_code {
        Some(code) => ("request", Some(code.clone()), true),
        None => method(&request.method, sent.expression.is_some()),
    };
    let body = sent.expression.or_else(|| (has_body && params.is_some()).then(|| String::from("null")));
    let url = request.url.expression();
    let mut arguments: Vec<String> =
        leading.into_iter().chain([url]).chain(has_body.then_some(body).flatten()).collect();
    arguments.extend(params);
    let one_line = format!("http.{function}({})", arguments.join(", "));
    if one_line.contains('\n') || one_line.len() + indent <= WIDE {
        return one_line;
    }
    let each: String = arguments.iter().map(|argument| format!("{:indent$}  {argument},\n", "")).collect();
    format!("http.{function}(\n{each}{:indent$})", "")
}

/// The object of headers; nothing when there is none to send.
fn header_fields(has_shared: bool, headers: &[(String, String)], indent: usize) -> Option<String> {
    match (has_shared, headers.is_empty()) {
        (true, true) => Some(String::from("HEADERS")),
        (false, true) => None,
        (false, false) => Some(source::object(headers, indent)),
        (true, false) => {
            let own = source::object(headers, indent);
            Some(match own.strip_prefix("{\n") {
                Some(rest) => format!("{{\n{:indent$}  ...HEADERS,\n{rest}", ""),
                None => own.replacen("{ ", "{ ...HEADERS, ", 1),
            })
        }
    }
}

/// The function of `k6/http`, an argument before the URL, and whether a body stands behind it.
fn method(method: &str, has_body: bool) -> (&'static str, Option<String>, bool) {
    match method {
        "GET" if !has_body => ("get", None, false),
        "HEAD" if !has_body => ("head", None, false),
        "POST" => ("post", None, true),
        "PUT" => ("put", None, true),
        "PATCH" => ("patch", None, true),
        "DELETE" => ("del", None, true),
        "OPTIONS" => ("options", None, true),
        other => ("request", Some(source::text(other)), true),
    }
}
