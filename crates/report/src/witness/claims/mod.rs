//! What load tools print, read: which tool it was is told by the text itself.
//!
//! A format is a file here and a row of `FORMATS`. Readers take lines by their labels and pass over what they do not
//! know, so another version's further lines do no harm. Refuses a text that no row knows, and one without a figure.

mod ab;
mod bombardier;
mod figure;
mod h2load;
mod hey;
mod k6;
mod locust;
mod oha;
mod quantity;
mod vegeta;
mod wrk;

use std::path::Path;

use serde_json::Value;

pub use figure::{Claim, ClaimFigure, Claims, LatencyStart};

use crate::input;

/// What an output is.
enum Output<'a> {
    Text(&'a str),
    Json(&'a Value),
}

/// A tool: its name, and its reader, which gives `None` for another tool's output.
type ClaimFormat = (&'static str, fn(&Output<'_>) -> Option<Claims>);

const FORMATS: &[ClaimFormat] = &[
    ("wrk and wrk2", |output| of_text(output, wrk::read)),
    ("k6 (--summary-export, or the data of handleSummary)", |output| of_json(output, k6::read)),
    ("the JSON of oha", |output| of_json(output, oha::read)),
    ("vegeta report (text, or -type=json)", |output| match output {
        Output::Text(text) => vegeta::read_text(text),
        Output::Json(json) => vegeta::read_json(json),
    }),
    ("hey", |output| of_text(output, hey::read)),
    ("bombardier (text, or -o json)", |output| match output {
        Output::Text(text) => bombardier::read_text(text),
        Output::Json(json) => bombardier::read_json(json),
    }),
    ("ab", |output| of_text(output, ab::read)),
    ("h2load", |output| of_text(output, h2load::read)),
    ("Locust (…_stats.csv)", |output| of_text(output, locust::read)),
];

fn of_text(output: &Output<'_>, read: fn(&str) -> Option<Claims>) -> Option<Claims> {
    if let Output::Text(text) = output { read(text) } else { None }
}

fn of_json(output: &Output<'_>, read: fn(&Value) -> Option<Claims>) -> Option<Claims> {
    if let Output::Json(json) = output { read(json) } else { None }
}

/// Reads a tool's output. The error names the file, what was found and what was expected.
pub fn read(path: &Path) -> Result<Claims, String> {
    let shown = path.display();
    let text = input::text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    parse(&text).map_err(|problem| format!("{shown}: {problem}"))
}

pub(crate) fn parse(text: &str) -> Result<Claims, String> {
    let json = json_of(text)?;
    let output = json.as_ref().map_or(Output::Text(text), Output::Json);
    let Some(claims) = FORMATS.iter().find_map(|(_, read)| read(&output)) else {
        let known: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
        return Err(format!("found {}, expected the output of {}", told(text, json.as_ref()), known.join(", ")));
    };
    if claims.figures.is_empty() {
        return Err(format!("found the output of {} without a figure: was the run interrupted?", claims.tool));
    }
    Ok(claims)
}

/// The document, where the text is one. bombardier prints lines before it.
fn json_of(text: &str) -> Result<Option<Value>, String> {
    let trimmed = text.trim_start();
    let from_brace = trimmed.starts_with('{').then_some(trimmed);
    let from_brace = from_brace.or_else(|| trimmed.find("\n{\"").map(|at| &trimmed[at + 1..]));
    match from_brace.map(serde_json::from_str) {
        None => Ok(None),
        Some(Ok(json)) => Ok(Some(json)),
        Some(Err(error)) if trimmed.starts_with('{') => Err(format!("found JSON that cannot be read: {error}")),
        Some(Err(_)) => Ok(None),
    }
}

fn told(text: &str, json: Option<&Value>) -> String {
    match json.and_then(Value::as_object) {
        Some(object) => {
            let keys: Vec<&str> = object.keys().take(4).map(String::as_str).collect();
            format!("JSON with the fields {}", keys.join(", "))
        }
        None => match text.lines().find(|line| !line.trim().is_empty()) {
            None => String::from("nothing"),
            Some(line) => format!("a text that begins with {:?}", line.trim().chars().take(60).collect::<String>()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_tool_prints_is_refused_in_words() {
        let refused = |text: &str| parse(text).expect_err("refused");
        assert!(refused("").starts_with("found nothing, expected the output of wrk and wrk2, k6 ("));
        assert!(refused("hello\nyou").starts_with("found a text that begins with \"hello\", expected the output of "));
        assert!(refused("{\"a\":1,\"b\":2}").starts_with("found JSON with the fields a, b, expected the output of "));
        assert!(refused("{\"metrics\":").starts_with("found JSON that cannot be read: EOF"));
        let broken_off = "Running 10s test @ http://h/\n  2 threads and 10 connections\n";
        assert_eq!(refused(broken_off), "found the output of wrk without a figure: was the run interrupted?");
    }
}
