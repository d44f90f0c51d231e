//! The documents that commands of this crate print. docs/schema is made from these types; fields may be added within a
//! schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What a command wrote: `new`, `types`, `archive`, `man`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenFiles {
    /// `onrush-files`.
    pub kind: &'static str,
    /// Number of this schema: 1.
    pub schema: u32,
    /// The command that wrote them: `new`.
    pub command: &'static str,
    /// Paths as the command line names them.
    pub files: Vec<String>,
    /// What people are told besides: what to do next.
    pub notes: Vec<String>,
}

impl WrittenFiles {
    /// Files of a command.
    pub fn new(command: &'static str, files: Vec<String>, notes: Vec<String>) -> WrittenFiles {
        WrittenFiles { kind: "onrush-files", schema: 1, command, files, notes }
    }
}

/// A script that `convert` or `record` made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Conversion {
    /// `onrush-conversion`.
    pub kind: &'static str,
    /// Number of this schema: 1.
    pub schema: u32,
    /// What it was made of: `a HAR file`, `what was recorded`.
    pub source: String,
    /// Requests in the script.
    pub requests: usize,
    /// Where the script is; null when it was not written to a file.
    pub script: Option<String>,
    /// The script itself, when it was not written to a file.
    pub text: Option<String>,
    /// Files that the script opens.
    pub files: Vec<String>,
    /// What was not carried over as it was.
    pub notes: Vec<ConversionNote>,
}

/// Something that was not carried over as it was.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversionNote {
    /// What, and why.
    pub text: String,
    /// Where, as far as that is known: `line 12`, `request 3`. At most five.
    pub places: Vec<String>,
    /// How often.
    pub count: usize,
}

/// The first line of `onrush serve --json`: the target listens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Serving {
    /// `onrush-serving`.
    pub kind: &'static str,
    /// Number of this schema: 1.
    pub schema: u32,
    /// `http://127.0.0.1:8080`.
    pub http: Vec<String>,
    /// `https://127.0.0.1:8443`.
    pub https: Vec<String>,
    /// Paths of unix sockets; `@name` in the abstract namespace.
    pub unix: Vec<String>,
}

/// Its last line, once a signal came.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Served {
    /// `onrush-served`.
    pub kind: &'static str,
    /// Number of this schema: 1.
    pub schema: u32,
    /// What was counted, as the route `/stats` shows it.
    pub counted: BTreeMap<String, Value>,
}

/// What a matrix would do: `onrush matrix --dry-run --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MatrixOrder {
    /// `onrush-matrix-order`.
    pub kind: &'static str,
    /// Number of this schema: 1.
    pub schema: u32,
    /// Of the plan.
    pub name: String,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// How many cells there are.
    pub cells: usize,
    /// How often each variant runs in each cell.
    pub rounds: u32,
    /// Runs in all.
    pub runs: usize,
    /// About how long they take.
    pub duration_s: f64,
    /// Why so few rounds can prove nothing; null where they can.
    pub warning: Option<String>,
    /// In the order in which they are made.
    pub turns: Vec<OrderTurn>,
}

/// The variants of one cell in one round.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OrderTurn {
    /// From 1.
    pub round: u32,
    /// `size=1k body=string`; empty when there is one cell.
    pub cell: String,
    /// In the order in which they run.
    pub variants: Vec<String>,
}

/// `onrush deps --json`, in k6's form.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependencies {
    /// What k6 would be built with.
    pub build_dependencies: BTreeMap<&'static str, &'static str>,
    /// Modules that the test imports.
    pub imports: Vec<String>,
    /// Always false: nothing has to be built.
    pub custom_build_required: bool,
}

/// `onrush version --json`, in k6's form.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VersionAnswer {
    /// `v0.1.0`; called as k6, the version of k6.
    pub version: String,
    /// `linux`.
    pub os: &'static str,
    /// `x86_64`.
    pub arch: &'static str,
    /// The same in Go's words.
    pub go_os: &'static str,
    /// `amd64`.
    pub go_arch: &'static str,
    /// The version of Onrush where it is called as k6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onrush: Option<&'static str>,
}

/// One of `onrush features --json`, in k6's form.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeatureAnswer {
    /// For `--features`.
    pub feature: &'static str,
    /// How settled it is.
    pub lifecycle: &'static str,
    /// What it does.
    pub description: &'static str,
}
