//! Who prints which document, and which commands print none; docs/reference/json.md is made of this, and the schemas of
//! this crate's types are held here.

use std::path::Path;

use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value, json};

use super::{Conversion, Dependencies, FeatureAnswer, MatrixOrder, Served, Serving, VersionAnswer, WrittenFiles};
use crate::commands;

/// A document that a command prints.
pub struct Answer {
    /// Name of the command.
    pub command: &'static str,
    /// The command line.
    pub line: &'static str,
    /// What the document says.
    pub what: &'static str,
    /// A file of docs/schema; none where the form is somebody else's.
    pub schema: Option<&'static str>,
}

const fn answer(command: &'static str, line: &'static str, schema: &'static str, what: &'static str) -> Answer {
    Answer { command, line, what, schema: Some(schema) }
}

/// Every document.
pub const ANSWERS: &[Answer] = &[
    answer(
        "run",
        "onrush run --json SCRIPT",
        "digest-1.json",
        "instead of the summary, what decides about the run: judgement, thresholds, checks, figures, errors, exit \
         code. Of a URL: `--summary-mode json`, because curl's `--json` is a body",
    ),
    answer("run", "onrush run --save DIR", "result-2.json", "the whole result, in DIR/result.json"),
    answer("report", "onrush report DIR --json", "digest-1.json", "the same digest of a saved result"),
    answer("compare", "onrush compare A B --json", "comparison-1.json", "what changed, with the values of each pair"),
    answer(
        "capacity",
        "onrush capacity SCRIPT --json",
        "capacity-1.json",
        "the highest load that is held, with its interval, its limit and the curve; with `--save DIR` in \
         DIR/capacity.json",
    ),
    answer("history", "onrush history DIR --json", "history-1.json", "measures over the runs, and where levels change"),
    answer("matrix", "onrush matrix PLAN", "matrix-2.json", "the whole result of a matrix, in a file"),
    answer("matrix", "onrush matrix PLAN --json", "tables-1.json", "its tables, at the end"),
    answer("matrix", "onrush matrix PLAN --dry-run --json", "matrix-order-1.json", "the order of its runs"),
    answer("table", "onrush table RESULT --json", "tables-1.json", "tables of a matrix"),
    answer("table", "onrush table RESULT --json --layout pivot", "grids-1.json", "a grid of two axes for each figure"),
    answer("table", "onrush table RESULT --json --layout lines", "lines-1.json", "a row for each run"),
    answer("convert", "onrush convert FILE --json", "conversion-1.json", "the script, and what was not carried over"),
    answer("record", "onrush record --json", "conversion-1.json", "the same of what was recorded, at the end"),
    answer("new", "onrush new --json", "files-1.json", "what was written"),
    answer("types", "onrush types --json", "files-1.json", "what was written"),
    answer("archive", "onrush archive SCRIPT --json", "files-1.json", "what was written"),
    answer("man", "onrush man FOLDER --json", "files-1.json", "what was written"),
    answer(
        "inspect",
        "onrush inspect SCRIPT",
        "options-1.json",
        "the options of a test, as k6 shows them; `--json` too",
    ),
    answer("deps", "onrush deps SCRIPT --json", "dependencies-1.json", "modules and files of a test, as k6 shows them"),
    answer("serve", "onrush serve --json", "serving-1.json", "a line with the addresses, once the target listens"),
    answer("serve", "onrush serve --json", "served-1.json", "a line with what was counted, at the end"),
    answer(
        "serve",
        "onrush serve --witness FILE",
        "witness-1.json",
        "what the target saw: arrivals, times of answers, bytes, connections, stalls; in a file, at the end",
    ),
    answer(
        "witness",
        "onrush witness FILE --claims OUTPUT --json",
        "trial-1.json",
        "which figures of a load tool's output are true, within what, and why",
    ),
    answer("version", "onrush version --json", "version-1.json", "version and system, as k6 shows them"),
    answer("features", "onrush features --json", "features-1.json", "features, as k6 shows them"),
    Answer {
        command: "k8s",
        line: "onrush k8s SCRIPT --json",
        what: "the objects, as a `v1` `List` of Kubernetes, which kubectl takes",
        schema: None,
    },
    Answer {
        command: "mcp",
        line: "onrush mcp",
        what: "messages of the [Model Context Protocol](../guides/mcp.md), always",
        schema: None,
    },
];

/// Commands that print no document, and why.
pub const WITHOUT: &[(&str, &str)] = &[
    ("agent", "what it measures goes to its coordinator, and its log has `--log-format json`"),
    ("curl", "its `--json` is curl's, the body of a request; `--summary-mode json` prints the digest"),
    ("completion", "a shell reads its script"),
    ("debug", "an editor reads its messages, which are those of the Debug Adapter Protocol"),
    ("scale", "the answer of the REST API, `PATCH /v1/status`, is the document"),
];

#[test]
fn every_command_prints_a_document_or_has_a_reason() {
    for command in commands::shown() {
        let name = command.get_name();
        let has_flag = command.get_arguments().any(|arg| arg.get_long() == Some("json"));
        let is_listed = ANSWERS.iter().any(|answer| answer.command == name);
        let is_excused = WITHOUT.iter().any(|(excused, _)| *excused == name);
        assert_eq!(has_flag || name == "mcp", is_listed, "{name}: --json and the list differ");
        assert!(is_listed != is_excused, "{name} is in both lists or in none");
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema")
}

/// Holds the committed file against the types.
fn holds(name: &str, schema: &Value) {
    let (path, found) = (folder().join(name), super::text(schema));
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        std::fs::write(&path, &found).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "the types differ from docs/schema/{name}; ONRUSH_BLESS=1 stores the new schema");
}

fn of<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

/// What `onrush inspect` prints: the options of a test, of which each has its own form.
fn options() -> Value {
    let known = script::options::OPTIONS.iter().map(|option| (option.json, option.help));
    let of_requirements = [
        ("totalDuration", "With --execution-requirements: the longest time that the test takes"),
        ("maxVUs", "With --execution-requirements: the most virtual users at a time"),
    ];
    let properties: Map<String, Value> =
        known.chain(of_requirements).map(|(name, help)| (name.to_owned(), json!({ "description": help }))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Options",
        "description": "The options of a test by their names in a script, as k6 shows them. An option that is not set \
                        is null or left out.",
        "type": "object",
        "properties": properties,
    })
}

#[test]
fn the_schemas_are_the_committed_ones() {
    holds("files-1.json", &of::<WrittenFiles>());
    holds("conversion-1.json", &of::<Conversion>());
    holds("serving-1.json", &of::<Serving>());
    holds("served-1.json", &of::<Served>());
    holds("matrix-order-1.json", &of::<MatrixOrder>());
    holds("dependencies-1.json", &of::<Dependencies>());
    holds("version-1.json", &of::<VersionAnswer>());
    holds("features-1.json", &of::<Vec<FeatureAnswer>>());
    holds("options-1.json", &options());
}

#[test]
fn every_schema_is_there_and_listed() {
    let listed: Vec<&str> = ANSWERS.iter().filter_map(|answer| answer.schema).collect();
    for name in &listed {
        assert!(folder().join(name).exists(), "docs/schema/{name} is missing");
    }
    for file in std::fs::read_dir(folder()).expect("docs/schema") {
        let name = file.expect("an entry").file_name().to_string_lossy().into_owned();
        // Of results that an earlier version saved.
        assert!(listed.contains(&name.as_str()) || name == "result-1.json", "docs/schema/{name} is listed nowhere");
    }
}
