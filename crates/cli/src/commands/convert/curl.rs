//! Command lines of curl, one or a file full of them, as the requests of a test: read by the words of `onrush curl`.
//!
//! A command that cannot be obeyed stays in the script as a comment. What concerns connections becomes an option of the
//! test; of commands that differ there, the last one holds, with a note.

use convert::Converted;
use convert::commands::{self, Command, with_variables};
use convert::model::{Body, Function, Request, Step, Test};
use convert::template::Template;

use crate::curl::flag::Act;
use crate::curl::input;
use crate::curl::line::{Dialect, Line};
use crate::curl::request;

/// Reads a shell's file.
pub fn convert(text: &str) -> Converted {
    let mut reader = CommandReader::default();
    for command in commands::find(text, &["curl"]) {
        if let Err(why) = reader.command(&command) {
            reader.refuse(&command, &why);
        }
    }
    let CommandReader { mut converted, steps, .. } = reader;
    converted.test.functions.push(Function { name: None, steps });
    converted
}

#[derive(Default)]
struct CommandReader {
    converted: Converted,
    steps: Vec<Step>,
}

impl CommandReader {
    fn refuse(&mut self, command: &Command, why: &str) {
        self.converted.notes.add(format!("line {}", command.line), format!("not converted: {why}"));
        let shown = command.text.lines().map(|line| format!("  {}", line.trim()));
        self.steps.push(Step::Comment(std::iter::once(format!("not converted: {why}")).chain(shown).collect()));
    }

    fn command(&mut self, command: &Command) -> Result<(), String> {
        let words = command.words.as_ref().map_err(Clone::clone)?;
        let mut requests = Vec::new();
        for words in words.split(|word| word == "--next" || word == "-:") {
            let leading =
                (words.first().map(String::as_str) != words_first(&command.words)).then(|| String::from("curl"));
            let mut line = Line::read(Dialect::Curl, leading.into_iter().chain(words.iter().cloned()).collect());
            // By its path, as in /usr/bin/curl.
            if line.words.first().is_some_and(|word| word.ends_with("/curl")) {
                line.words.remove(0);
            }
            if let Some(problem) = line.problems.first() {
                return Err(problem.clone());
            }
            input::fill(&mut line, command.input.as_ref())?;
            let given = line.given.iter().filter(|given| given.act == Act::Url).map(|given| &given.value);
            let urls: Vec<&String> = given.chain(&line.words).collect();
            if urls.is_empty() {
                return Err(String::from("there is no URL"));
            }
            for url in urls {
                requests.push(request::Request::of(&line, url, Dialect::Curl)?);
            }
        }
        requests.into_iter().for_each(|request| self.request(request, command.line));
        Ok(())
    }

    fn request(&mut self, from: request::Request, line: usize) {
        let place = format!("line {line}");
        let test = &mut self.converted.test;
        for (name, expression) in from.options {
            if test.options.iter().any(|(known, value)| *known == name && *value != expression) {
                let note = format!("the option {name} differs from that of an earlier command; the last one holds");
                self.converted.notes.add(place.as_str(), note);
            }
            test.option_code(&name, expression);
        }
        let notes = &mut self.converted.notes;
        let mut template = |text: &str| {
            with_variables(text, |name| {
                notes.add(place.as_str(), format!("the variable {name} is given by -e {name}=…"))
            })
        };
        let mut request = Request::new(from.method, template(without_added_scheme(&from.url)));
        request.headers = from.headers.iter().map(|(name, value)| (name.clone(), template(value))).collect();
        request.body = body(test, from.body, &mut template);
        request.params.push((String::from("redirects"), from.redirects.to_string()));
        let timeout = from.timeout_ms.map(|ms| ("timeout", format!("'{ms}ms'")));
        let digest = from.digest.then(|| ("auth", String::from("'digest'")));
        let version = from.prior_knowledge.then(|| ("http2", String::from("'prior-knowledge'")));
        let params = [timeout, digest, version].into_iter().flatten();
        request.params.extend(params.map(|(name, value)| (name.to_owned(), value)));
        self.steps.push(Step::Request(Box::new(request)));
    }
}

fn words_first(words: &Result<Vec<String>, String>) -> Option<&str> {
    words.as_ref().ok()?.first().map(String::as_str)
}

/// A URL that begins with a variable has its scheme in it.
fn without_added_scheme(url: &str) -> &str {
    let whole = with_variables(url, |_| {});
    let is_variable = whole.as_text().is_none() && whole.leading_text() == "http://";
    if is_variable { url.trim_start_matches("http://") } else { url }
}

/// The body, in the words that k6 has too.
fn body(test: &mut Test, body: crate::curl::body::Body, template: &mut impl FnMut(&str) -> Template) -> Body {
    let Some(expression) = body.expression else { return Body::None };
    if !body.parts.is_empty() {
        return Body::Form(body.parts);
    }
    test.imports.extend(body.import.map(str::to_owned));
    match body.text {
        Some(text) => Body::Text(template(&text)),
        None => Body::Code(Vec::new(), expression),
    }
}
