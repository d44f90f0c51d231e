//! What every format becomes before it is written: requests in order, in groups, with what stands around them.
//!
//! Knows neither where it came from nor how it is written. Names, values and bodies are kept as they were found: what a
//! script cannot have is left out by the reader of the format, with a note.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::source;
use crate::template::Template;

/// A test.
#[derive(Debug, Default)]
pub struct Test {
    /// Lines of the comment at the top.
    pub about: Vec<String>,
    /// Whole `import` lines beside `k6/http` and `k6`.
    pub imports: BTreeSet<String>,
    /// Lines of init code.
    pub init: Vec<String>,
    /// Options: names and JavaScript.
    pub options: Vec<(String, String)>,
    /// What users do; the first without a name is the default function.
    pub functions: Vec<Function>,
    /// Files that belong beside the script, each named in it.
    pub files: Vec<File>,
}

/// A file beside the script.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    /// Relative to the script.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// A function that a scenario runs.
#[derive(Debug, Default)]
pub struct Function {
    /// None: the default function.
    pub name: Option<String>,
    /// What it does.
    pub steps: Vec<Step>,
}

/// One thing that a user does.
#[derive(Debug)]
pub enum Step {
    /// A request.
    Request(Box<Request>),
    /// `group(name, …)`.
    Group(String, Vec<Step>),
    /// `sleep(seconds)`: an expression.
    Sleep(String),
    /// Lines of code.
    Code(Vec<String>),
    /// Lines of comment.
    Comment(Vec<String>),
    /// Steps in a block: `for (…)`, `if (…)`.
    Block(String, Vec<Step>),
}

/// One request.
#[derive(Debug, Default)]
pub struct Request {
    /// Comments above it.
    pub comments: Vec<String>,
    /// As on the wire.
    pub method: String,
    /// An expression in its place.
    pub method_code: Option<String>,
    /// Whole.
    pub url: Template,
    /// In order.
    pub headers: Vec<(String, Template)>,
    /// What is sent.
    pub body: Body,
    /// Further params: names and JavaScript.
    pub params: Vec<(String, String)>,
    /// Lines behind the call and before the checks that read `response`.
    pub reads: Vec<String>,
    /// What must hold of the response: names, and expressions in `r`. Names may repeat.
    pub checks: Vec<(String, String)>,
    /// Lines behind the checks that read `response`.
    pub after: Vec<String>,
}

impl Test {
    /// Sets an option; a later value of the same name takes the place of an earlier one.
    pub fn option(&mut self, name: &str, value: &Value) {
        self.option_code(name, source::value(value, 2));
    }

    /// The same with JavaScript.
    pub fn option_code(&mut self, name: &str, expression: String) {
        self.options.retain(|(known, _)| known != name);
        self.options.push((name.to_owned(), expression));
    }
}

impl Request {
    /// One without anything but its line.
    pub fn new(method: impl Into<String>, url: Template) -> Request {
        Request { method: method.into(), url, ..Request::default() }
    }

    /// The value of a header that has no expressions.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.as_text())
    }

    /// Expects this status.
    pub fn check_status(&mut self, status: u64) {
        self.checks.push((format!("status is {status}"), format!("r.status === {status}")));
    }
}

/// What a request sends.
#[derive(Debug, Default, PartialEq)]
pub enum Body {
    /// Nothing.
    #[default]
    None,
    /// Text; JSON is written as an object where that gives the same bytes.
    Text(Template),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// The bytes of a file beside the script.
    File(String),
    /// A multipart form.
    Form(Vec<Part>),
    /// JavaScript: lines of init code, and the expression.
    Code(Vec<String>, String),
}

/// A part of a multipart form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Text, or the path of a file.
    pub content: Content,
    /// The file's name as it is sent.
    pub filename: Option<String>,
    /// Content-Type.
    pub kind: Option<String>,
}

/// What a part holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(Template),
    /// The text of a file beside the script.
    TextOf(String),
    /// A file beside the script.
    File(String),
}

impl Default for Content {
    fn default() -> Content {
        Content::Text(Template::default())
    }
}

/// Every request of the steps, in order.
pub fn requests_mut<'a>(steps: &'a mut [Step], each: &mut impl FnMut(&'a mut Request)) {
    for step in steps {
        match step {
            Step::Request(request) => each(request),
            Step::Group(_, inner) | Step::Block(_, inner) => requests_mut(inner, each),
            Step::Sleep(_) | Step::Code(_) | Step::Comment(_) => {}
        }
    }
}

/// How many requests are in the steps.
pub fn count(steps: &[Step]) -> usize {
    let one = |step: &Step| match step {
        Step::Request(_) => 1,
        Step::Group(_, inner) | Step::Block(_, inner) => count(inner),
        Step::Sleep(_) | Step::Code(_) | Step::Comment(_) => 0,
    };
    steps.iter().map(one).sum()
}
