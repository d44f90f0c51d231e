//! A test as the text of a script that k6 and Onrush run: imports, constants, options, functions.
//!
//! The same test gives the same text. Refuses nothing: whatever the names and bodies hold, the text is a script that
//! says it. Imports name what is used, and nothing else.

mod form;
mod json;
mod request;
mod shared;

use std::collections::BTreeSet;

use crate::model::{File, Function, Step, Test};
use crate::source;

/// How a script is written.
#[derive(Clone, Debug, Default)]
pub struct Style {
    /// Takes the place of the origin that most requests have.
    pub base_url: Option<String>,
    /// Names of files beside the script begin with this; without it everything is in the script.
    pub files: Option<String>,
}

/// What is collected while functions are written.
struct Writer {
    imports: BTreeSet<String>,
    of_k6: BTreeSet<&'static str>,
    init: Vec<String>,
    files: Vec<File>,
    /// See [`Style::files`].
    prefix: Option<String>,
    /// Of the request, from 1.
    number: usize,
    has_shared_headers: bool,
    keeps_response: bool,
    before_call: Vec<String>,
}

impl Writer {
    fn may_write_files(&self) -> bool {
        self.prefix.is_some()
    }

    /// Puts bytes beside the script; returns the path to open.
    fn file(&mut self, ending: &str, bytes: &[u8]) -> String {
        let known = self.files.iter().find(|file| file.bytes == bytes);
        let name = known.map(|file| file.name.clone()).unwrap_or_else(|| {
            let name = format!("{}-body-{}.{ending}", self.prefix.as_deref().unwrap_or("script"), self.number);
            self.files.push(File { name: name.clone(), bytes: bytes.to_vec() });
            name
        });
        format!("./{name}")
    }

    fn uses(&mut self, name: &'static str) {
        self.of_k6.insert(name);
    }
}

/// The text, and the files that belong beside it.
pub fn script(mut test: Test, style: &Style) -> (String, Vec<File>) {
    let shared = shared::take(&mut test, style.base_url.as_deref());
    let mut writer = Writer {
        imports: test.imports,
        of_k6: BTreeSet::new(),
        init: test.init,
        files: test.files,
        prefix: style.files.clone(),
        number: 0,
        has_shared_headers: !shared.headers.is_empty(),
        keeps_response: false,
        before_call: Vec::new(),
    };
    let functions: Vec<String> = test.functions.iter().map(|function| function_text(&mut writer, function)).collect();
    let mut text: String = test.about.iter().map(|line| format!("{}\n", source::comment(line))).collect();
    text.push_str(&imports(&writer));
    let constants = shared.init.iter().chain(&writer.init).cloned().collect::<Vec<_>>();
    let headers: Vec<_> = shared.headers.iter().map(|(name, value)| (name.clone(), value.expression())).collect();
    let headers = (!headers.is_empty()).then(|| format!("const HEADERS = {};", source::object(&headers, 0)));
    let constants: String = constants.into_iter().chain(headers).map(|line| format!("{line}\n")).collect();
    let options =
        (!test.options.is_empty()).then(|| format!("export const options = {};\n", source::object(&test.options, 0)));
    let blocks = [Some(constants).filter(|text| !text.is_empty()), options].into_iter().flatten().chain(functions);
    blocks.for_each(|block| text.push_str(&format!("\n{block}")));
    (text, writer.files)
}

fn imports(writer: &Writer) -> String {
    let mut text = String::new();
    if writer.number > 0 {
        text.push_str("import http from 'k6/http';\n");
    }
    if !writer.of_k6.is_empty() {
        let names = writer.of_k6.iter().copied().collect::<Vec<_>>().join(", ");
        text.push_str(&format!("import {{ {names} }} from 'k6';\n"));
    }
    writer.imports.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    text
}

fn function_text(writer: &mut Writer, function: &Function) -> String {
    writer.keeps_response = false;
    let mut body = String::new();
    steps_text(writer, &function.steps, 2, &mut body);
    let response = if writer.keeps_response { "  let response;\n\n" } else { "" };
    let head = match &function.name {
        Some(name) => format!("export function {name}()"),
        None => String::from("export default function ()"),
    };
    format!("{head} {{\n{response}{body}}}\n")
}

fn steps_text(writer: &mut Writer, steps: &[Step], indent: usize, text: &mut String) {
    for (at, step) in steps.iter().enumerate() {
        let lines = match step {
            Step::Request(request) => request::lines(writer, request, indent),
            Step::Sleep(seconds) => {
                writer.uses("sleep");
                vec![format!("sleep({seconds});")]
            }
            Step::Code(lines) => lines.clone(),
            Step::Comment(lines) => lines.iter().map(|line| source::comment(line)).collect(),
            Step::Group(name, inner) => {
                writer.uses("group");
                let head = format!("group({}, () => {{", source::text(name));
                block(writer, &head, inner, "});", indent)
            }
            Step::Block(head, inner) => block(writer, &format!("{head} {{"), inner, "}", indent),
        };
        if at > 0 && is_apart(&steps[at - 1], step, &lines) {
            text.push('\n');
        }
        lines.iter().for_each(|line| text.push_str(&format!("{:indent$}{line}\n", "")));
    }
}

/// Whether an empty line stands before a step.
fn is_apart(before: &Step, step: &Step, lines: &[String]) -> bool {
    match (before, step) {
        (Step::Comment(_), _) | (_, Step::Sleep(_)) => false,
        (Step::Request(_), Step::Request(_)) => lines.len() > 1,
        _ => true,
    }
}

/// The lines of a block; only its first is without indent.
fn block(writer: &mut Writer, head: &str, inner: &[Step], end: &str, indent: usize) -> Vec<String> {
    let mut body = String::new();
    steps_text(writer, inner, indent + 2, &mut body);
    vec![format!("{head}\n{body}{:indent$}{end}", "")]
}
