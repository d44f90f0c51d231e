//! The result file: written again after each run, whole or not at all, and read again by `--resume`.
//!
//! Records are turned into text once, one line each; what is written again after every run is only copied. A plan that
//! has changed is not resumed: runs of two plans are no pairs. More rounds are allowed, for the order of the earlier
//! ones stays.

use std::io::Write;
use std::path::{Path, PathBuf};

use report::document::Environment;
use report::matrix::Matrix;
use report::matrix::document::{self, KIND, MatrixDocument, RunRecord, SCHEMA, Timing};
use report::matrix::order::Turn;
use report::matrix::plan::Plan;
use serde_json::Value;
use wire::mask::Mask;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::log::rfc3339_ms_now;
use crate::secrets::masked;

/// The result as it grows.
pub struct Store {
    path: PathBuf,
    /// Everything so far.
    pub document: MatrixDocument,
    lines: Vec<String>,
}

impl Store {
    /// A new result. The file is made at once, so that one that cannot be written is refused before hours of measuring.
    pub fn create(path: &Path, matrix: &Matrix, environment: Environment) -> Result<Store, Failure> {
        let document = MatrixDocument {
            kind: KIND.to_owned(),
            schema: SCHEMA,
            onrush: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: rfc3339_ms_now(),
            seed: matrix.plan.seed,
            plan: matrix.plan.clone(),
            environment,
            timing: Timing::default(),
            runs: Vec::new(),
        };
        let store = Store { path: path.to_owned(), document, lines: Vec::new() };
        store.write()?;
        Ok(store)
    }

    /// Goes on from a result. Turns that were not ended are made again as a whole, because their runs must stand beside
    /// each other; with `retry`, so are turns in which a run failed.
    pub fn resume(
        path: &Path,
        matrix: &Matrix,
        environment: &Environment,
        turns: &[Turn],
        retry: bool,
    ) -> Result<Store, Failure> {
        let refuse = |problem: String| Failure::new(ExitCode::InvalidConfig, problem);
        let mut document = document::read(path).map_err(refuse)?;
        let name = path.display();
        let differences = differences(&document, matrix);
        if !differences.is_empty() {
            let list = differences.join("\n  ");
            return Err(refuse(format!(
                "--resume: the plan is not the one of {name}; runs of two plans cannot be paired:\n  {list}\nundo \
                 that, or write to another file with -o"
            )));
        }
        if document.onrush != env!("CARGO_PKG_VERSION") {
            let versions = format!("{} there, {} now", document.onrush, env!("CARGO_PKG_VERSION"));
            return Err(refuse(format!("--resume: {name} was begun by another version of onrush: {versions}")));
        }
        if document.environment.machine_id != environment.machine_id {
            return Err(refuse(format!(
                "--resume: {name} was begun on another machine; runs of two machines cannot be paired"
            )));
        }
        let complete = |turn: &Turn| {
            turn.variants.iter().all(|&variant| {
                let run = document.runs.iter().find(|run| is_run(run, matrix, turn, variant));
                run.is_some_and(|run| run.is_ok() || !retry)
            })
        };
        let kept: Vec<&Turn> = turns.iter().filter(|turn| complete(turn)).collect();
        let in_kept = |run: &RunRecord| {
            kept.iter().any(|turn| turn.variants.iter().any(|&variant| is_run(run, matrix, turn, variant)))
        };
        let runs: Vec<RunRecord> = document.runs.iter().filter(|run| in_kept(run)).cloned().collect();
        document.runs = Vec::new();
        document.plan = matrix.plan.clone();
        let mut store = Store { path: path.to_owned(), document, lines: Vec::new() };
        runs.into_iter().for_each(|run| store.add(run));
        Ok(store)
    }

    /// Whether this turn's runs are all there.
    pub fn has(&self, matrix: &Matrix, turn: &Turn) -> bool {
        let has = |variant: &usize| self.document.runs.iter().any(|run| is_run(run, matrix, turn, *variant));
        turn.variants.iter().all(has)
    }

    /// Adds a run; `write` puts it into the file.
    pub fn add(&mut self, run: RunRecord) {
        self.lines.push(serde_json::to_string(&run).expect("plain data"));
        self.document.runs.push(run);
    }

    /// Forgets the runs after the first `count`: those of a turn that was broken off.
    pub fn keep(&mut self, count: usize) {
        self.lines.truncate(count);
        self.document.runs.truncate(count);
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Writes the file: beside it first, then in its place.
    pub fn write(&self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            Failure::new(
                ExitCode::Generic,
                format!("cannot write the matrix's result {}: {error}", self.path.display()),
            )
        };
        let mut half = self.path.clone().into_os_string();
        half.push(format!(".{}", std::process::id()));
        let half = PathBuf::from(half);
        let written = self.write_to(&half).and_then(|()| std::fs::rename(&half, &self.path));
        if written.is_err() {
            let _ = std::fs::remove_file(&half);
        }
        written.map_err(failed)
    }

    fn write_to(&self, path: &Path) -> std::io::Result<()> {
        let head = MatrixDocument { runs: Vec::new(), ..self.without_runs() };
        let head = serde_json::to_string(&head).expect("plain data");
        let head = head.strip_suffix("]}").expect("runs are the last field, and there are none");
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        write!(file, "{head}")?;
        for (at, line) in self.lines.iter().enumerate() {
            write!(file, "{}{line}", if at == 0 { "\n" } else { ",\n" })?;
        }
        writeln!(file, "\n]}}")?;
        file.flush()
    }

    fn without_runs(&self) -> MatrixDocument {
        let MatrixDocument { kind, schema, onrush, started_at, seed, plan, environment, timing, runs: _ } =
            &self.document;
        MatrixDocument {
            kind: kind.clone(),
            schema: *schema,
            onrush: onrush.clone(),
            started_at: started_at.clone(),
            seed: *seed,
            plan: masked_plan(plan),
            environment: environment.clone(),
            timing: timing.clone(),
            runs: Vec::new(),
        }
    }
}

fn is_run(run: &RunRecord, matrix: &Matrix, turn: &Turn, variant: usize) -> bool {
    run.round == turn.round + 1
        && run.variant == matrix.parts[variant].name
        && run.axes == matrix.cells[turn.cell].names()
}

/// The plan as a result holds it: it may be shown to others.
fn masked_plan(plan: &Plan) -> Plan {
    let plan = serde_json::to_value(plan).expect("plain data");
    serde_json::from_value(masked(plan, &Mask::standard())).expect("a masked text is a text")
}

/// What differs between the plan of a result and this one, as `rounds: 6 there, 4 now`.
fn differences(document: &MatrixDocument, matrix: &Matrix) -> Vec<String> {
    let (mut there, mut now) = (document.plan.clone(), matrix.plan.clone());
    if now.rounds >= there.rounds {
        (there.rounds, now.rounds) = (0, 0);
    }
    // What it is called changes nothing.
    (there.name, now.name) = (None, None);
    let json = |plan: Plan| serde_json::to_value(masked_plan(&plan)).expect("plain data");
    let mut found = Vec::new();
    differ("", &json(there), &json(now), &mut found);
    found
}

fn differ(path: &str, there: &Value, now: &Value, found: &mut Vec<String>) {
    let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (there, now) {
        (a, b) if a == b => {}
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            for key in keys {
                let none = Value::Null;
                differ(&inside(key), a.get(key).unwrap_or(&none), b.get(key).unwrap_or(&none), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().for_each(|(at, (a, b))| differ(&inside(&at.to_string()), a, b, found));
        }
        (a, b) => found.push(format!("{path}: {} there, {} now", shown(a), shown(b))),
    }
}

fn shown(value: &Value) -> String {
    if value.is_null() { String::from("nothing") } else { value.to_string() }
}
