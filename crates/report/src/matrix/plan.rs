//! The plan of a matrix as its file writes it: axes, variants, load, rounds. Read from TOML, or from the JSON of a
//! JavaScript module.
//!
//! Only the shape is checked here, with line, column and what was expected; `Matrix::new` checks the sense. Fields that
//! a template may fill are texts or numbers until then.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::time::Time;

/// A plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// What its tables are headed with.
    pub name: Option<String>,
    /// Decides the order of the runs, with the rest of the plan.
    pub seed: u64,
    /// How many times each variant runs in each cell. Six are the least for a verdict.
    pub rounds: u32,
    /// How long a variant is under load before each measured run; that is not measured.
    pub warm_up: Time,
    /// How long to wait before each run.
    pub pause: Time,
    /// Cores of the servers and of the load.
    pub pin: Pin,
    /// Environment of servers, loads and commands, with placeholders.
    pub env: BTreeMap<String, String>,
    /// Shell lines before the first run; one that fails ends the matrix.
    pub setup: Vec<String>,
    /// Shell lines after the last run, whatever happened.
    pub teardown: Vec<String>,
    /// Shell lines before the servers of a cell start, in each round.
    pub before_cell: Vec<String>,
    /// Shell lines after they have stopped.
    pub after_cell: Vec<String>,
    /// Names and their values: texts, numbers, booleans, or tables with a `name` whose fields are `{axis.field}`.
    #[schemars(with = "BTreeMap<String, Vec<Value>>")]
    pub axes: Map<String, Value>,
    /// Which metrics the tables show.
    pub measure: Measure,
    /// What all variants' servers share.
    pub server: Server,
    /// What all variants' loads share.
    pub load: Load,
    /// What is compared.
    pub variants: Vec<Variant>,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            name: None,
            seed: 1,
            rounds: 6,
            warm_up: Time(std::time::Duration::from_secs(1)),
            pause: Time::default(),
            pin: Pin::default(),
            env: BTreeMap::new(),
            setup: Vec::new(),
            teardown: Vec::new(),
            before_cell: Vec::new(),
            after_cell: Vec::new(),
            axes: Map::new(),
            measure: Measure::default(),
            server: Server::default(),
            load: Load::default(),
            variants: Vec::new(),
        }
    }
}

/// Cores, as `taskset -c` counts them. An empty list leaves the choice to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pin {
    /// Of the servers.
    pub server: Vec<usize>,
    /// Of the load.
    pub load: Vec<usize>,
}

/// The metrics that tables show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// A Counter; its rate per second is the main figure.
    pub rate: String,
    /// A Trend; the source of the percentiles.
    pub time: String,
    /// The greatest share of failed requests (`http_req_failed`) that still makes a valid run.
    pub max_failed: f64,
}

impl Default for Measure {
    fn default() -> Self {
        Measure { rate: "http_reqs".to_owned(), time: "http_req_duration".to_owned(), max_failed: 0.0 }
    }
}

/// A command: one text for the shell, or a list of words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a command: one text for the shell, or a list of words")]
pub enum Command {
    /// For `sh -c`.
    Line(String),
    /// Program and arguments.
    Words(Vec<String>),
}

/// A server. Exactly one of `serve`, `command` and `address` says which kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The built-in target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serve: Option<Serve>,
    /// A command to start, which stays in the foreground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// Where a server is that runs already: `http://host:port`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The folder it starts in; the plan's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Its port; a free one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// What `{base}` stands for; `http://127.0.0.1:{port}` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// How to tell that it is ready; when its port accepts connections, unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// What it counts about itself, read before and after each measured run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<Stats>,
    /// More environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// Where a server's own statistics come from: a URL or a command, JSON or lines of a name and a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stats {
    /// This URL (`http://`) answers with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A command prints them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// Regular expressions: only names that fit one of them are kept. All are when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// The built-in target: `onrush serve` with this app and these flags. It listens on `{port}`, with TLS on `{tls_port}`,
/// on the unix socket `{unix}`, and on `{aunix}`, which has no file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Serve {
    /// An app in JavaScript; the built-in routes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Flags of `onrush serve`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Another build of Onrush to serve with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
}

/// What tells that a server is ready.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ready {
    /// This URL (`http://`) is answered with a status below 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// It prints a line that holds this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// How long it may take; 30 s when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Time>,
}

/// A load. One of `url`, `script` and `command` says which kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Load {
    /// Where requests go to, usually beginning with `{base}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// GET when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Headers of the requests.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Body of the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// A script for `onrush run`; it finds `BASE`, `VARIANT` and each axis in capitals in `__ENV`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Another program; its output is read by `figures`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// Regular expressions over its output, with the named groups `rate` and, if it tells them, `count`, `errors` and
    /// `p50`, `p99`, …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<String>,
    /// More flags of `onrush run`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Another build of Onrush to make the load with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// Connections at a time: virtual users; 10 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Number>,
    /// Requests to start per second, whatever the server does; as fast as it answers when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Number>,
    /// How long a measured run takes; 5 s when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// Instead of a duration: how many requests a measured run makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Number>,
    /// How many requests a connection carries before a new one is opened; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<Number>,
    /// The unix socket to connect to, usually `{unix}` or `{aunix}` (`@name`: it has no file); by the URL when absent
    /// or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix: Option<String>,
    /// Accept any TLS certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure: Option<bool>,
    /// More environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// The body of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text, { size = \"64k\" } or { file = \"path\" }")]
pub enum Body {
    /// This text.
    Text(String),
    /// So many bytes: `64k`, `1m`, binary multiples.
    Size {
        /// How many.
        size: Number,
    },
    /// The content of a file.
    File {
        /// Its path, from the plan's folder.
        file: String,
    },
}

/// A number, or a text that becomes one when its placeholders are filled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or a text with a placeholder that gives one")]
pub enum Number {
    /// A whole number.
    Whole(u64),
    /// Any number.
    Real(f64),
    /// A template.
    Text(String),
}

impl Number {
    /// As a template.
    pub fn text(&self) -> String {
        match self {
            Number::Whole(number) => number.to_string(),
            Number::Real(number) => number.to_string(),
            Number::Text(text) => text.clone(),
        }
    }
}

/// One of the things compared: a server, a load, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Variant {
    /// Its name in the tables.
    pub name: String,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serve: Option<Serve>,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// As in `server`, and before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<Stats>,
    /// More environment of its server.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What its load has beyond or instead of the plan's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Runs only in cells with these values of these axes.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "BTreeMap<String, Vec<Value>>")]
    pub only: Map<String, Value>,
}

/// Why a plan cannot be used: ready to print, several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// What failed, what was found, what was expected.
    pub message: String,
    /// A piece of the file's text that shows where, when there is one.
    pub near: Option<String>,
}

impl PlanError {
    /// A complaint about the plan as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        PlanError { message: message.into(), near: None }
    }

    /// A complaint about this piece of its text.
    pub fn near(message: impl Into<String>, near: impl Into<String>) -> Self {
        PlanError { message: message.into(), near: Some(near.into()) }
    }

    /// With the line of the file in front, when it can be found there.
    pub fn shown(&self, file: &str, source: &str) -> String {
        // A whole text of the file rather than a part of another one.
        let quoted = |near: &str, mark: &str| Some(source.find(&format!("{mark}{near}{mark}"))? + 1);
        let find = |near: &str| quoted(near, "\"").or_else(|| quoted(near, "'")).or_else(|| source.find(near));
        let at = self.near.as_deref().and_then(find);
        match at {
            Some(at) => located(file, source, at..at + self.near.as_ref().map_or(0, String::len), &self.message),
            None => format!("{file}: {}", self.message),
        }
    }
}

/// Reads a plan from TOML. `file` names it in errors, which are ready to print.
pub fn from_toml(file: &str, source: &str) -> Result<Plan, String> {
    toml::from_str(source).map_err(|error| match error.span() {
        Some(span) => located(file, source, span, error.message()),
        None => format!("{file}: {}", error.message()),
    })
}

/// Reads a plan from what a module exports. `file` names it in errors, which are ready to print.
pub fn from_json(file: &str, json: &str) -> Result<Plan, String> {
    serde_json::from_str::<Value>(json)
        .and_then(serde_json::from_value)
        .map_err(|error| format!("{file}: the plan that it exports: {error}"))
}

/// `file:line:column: message`, the line of the source, and a caret below what is meant.
fn located(file: &str, source: &str, span: std::ops::Range<usize>, message: &str) -> String {
    let start = span.start.min(source.len());
    let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let line = source[line_start..].lines().next().unwrap_or("");
    let number = source[..line_start].matches('\n').count() + 1;
    let column = source[line_start..start].chars().count() + 1;
    let width =
        source[start..span.end.clamp(start, source.len())].lines().next().map_or(0, |l| l.chars().count()).max(1);
    let margin = " ".repeat(number.to_string().len());
    format!(
        "{file}:{number}:{column}: {message}\n{margin} |\n{number} | {line}\n{margin} | {}{}",
        " ".repeat(column - 1),
        "^".repeat(width)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_plan_has_defaults_for_the_rest() {
        let plan = from_toml(
            "p.toml",
            "[axes]\nz = [1, 2]\na = ['x']\n[load]\nurl = '{base}/'\nconnections = '{z}'\nbody = { size = '1k' }\n\
             [[variants]]\nname = 'one'\nserve = {}\n[[variants]]\nname = 'two'\ncommand = ['a', 'b']\n",
        )
        .unwrap();
        assert_eq!((plan.rounds, plan.seed, plan.warm_up.seconds()), (6, 1, 1.0));
        assert_eq!(plan.axes.keys().collect::<Vec<_>>(), ["z", "a"], "in the order of the file");
        assert_eq!(plan.load.connections, Some(Number::Text(String::from("{z}"))));
        assert_eq!(plan.load.body, Some(Body::Size { size: Number::Text(String::from("1k")) }));
        assert_eq!(plan.variants[1].command, Some(Command::Words(vec![String::from("a"), String::from("b")])));
        let json = serde_json::to_string(&plan).unwrap();
        assert_eq!(from_json("p", &json), Ok(plan), "survives the result document");
    }

    #[test]
    fn errors_have_line_column_and_expectation() {
        let message = |text: &str| from_toml("p.toml", text).expect_err(text);
        let wrong = message("seed = 1\nrouns = 3\n");
        assert!(
            wrong.starts_with("p.toml:2:1: unknown field `rouns`, expected one of `name`, `seed`, `rounds`"),
            "{wrong}"
        );
        assert!(wrong.ends_with("\n  |\n2 | rouns = 3\n  | ^^^^^"), "{wrong}");
        assert!(message("rounds = 'six'").starts_with("p.toml:1:10: invalid type: string \"six\", expected u32\n"));
        assert!(
            message("warm_up = '5'").contains("found '5', expected a time with its unit, such as 500ms, 5s or 1m30s")
        );
        assert!(message("[load]\nbody = 5").contains("expected a text, { size = \"64k\" } or { file = \"path\" }"));
        assert!(message("rounds = ").starts_with("p.toml:1:"));
    }

    #[test]
    fn complaints_about_sense_find_their_line() {
        let error = PlanError::near("unknown name {x}", "/{x}");
        assert_eq!(
            error.shown("p.toml", "a = 1\nb = '/{x}'\n"),
            "p.toml:2:6: unknown name {x}\n  |\n2 | b = '/{x}'\n  |      ^^^^"
        );
        assert_eq!(error.shown("p.toml", ""), "p.toml: unknown name {x}");
    }
}
