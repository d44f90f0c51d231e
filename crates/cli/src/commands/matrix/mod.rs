//! `onrush matrix`: read the plan, check it, carry it out, show the tables.
//!
//! From top to bottom: plan, order, guard, setup, runs, teardown, tables, exit code. Servers and loads are processes of
//! their own; whatever becomes of this one, the guard ends them.

mod load;
mod overrides;
mod port;
mod read;
mod runner;
mod script;
mod server;
mod show;
mod stats;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use report::matrix::Matrix;
use report::matrix::document;
use report::matrix::order::Turn;
use report::matrix::parts::Amount;
use report::matrix::plan::{Plan, PlanError};
use units::show::{about, counted};

use self::runner::Runner;
use self::server::Places;
use self::show::Show;
use self::store::Store;
use crate::commands::groups::guard::Guard;
use crate::commands::groups::{interruption, process};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer::{self, MatrixOrder, OrderTurn};
use crate::output;
use crate::process::machine;
use crate::terminal::progress::Screen;
use crate::terminal::tables;

/// The `matrix` command with its flags.
pub fn command() -> Command {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let switch =
        |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let command = Command::new("matrix")
        .about("Measure variants by turns in every cell of a table, and say which differ")
        .after_help(
            "docs/guides/matrix.md describes the plan. Every run is kept; `onrush table` shows them again in \
             other ways.",
        )
        .arg(
            Arg::new("plan")
                .value_name("PLAN")
                .required(true)
                .help("The plan: a .toml file, or a module that exports one"),
        )
        .arg(value("out", "FILE", "The result [default: the plan's name with .matrix.json]").short('o'))
        .arg(switch("resume", "Continue an interrupted result, perhaps with more rounds"))
        .arg(switch("retry", "With --resume: repeat failed runs"))
        .arg(switch("force", "Replace an existing result"))
        .arg(switch(
            "dry-run",
            "Only print the order of the runs, how long they take, and whether they can prove anything",
        ))
        .arg(value("rounds", "N", "Instead of the plan's rounds"))
        .arg(value("duration", "TIME", "Instead of the durations of the plan's loads"))
        .arg(value("warm-up", "TIME", "Instead of the plan's warm-up"))
        .arg(value("seed", "N", "Instead of the plan's seed"))
        .arg(
            value("only", "AXIS=VALUE", "Only these cells or variants; by comma or repeated for more")
                .action(ArgAction::Append),
        )
        .arg(switch("accept-late", "Count runs even if their generator was late or the limit; every output says so"))
        .arg(switch("quiet", "No progress").short('q'));
    tables::flags(command)
}

/// Runs a matrix.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let file: &String = matches.get_one("plan").expect("required");
    let mut written = read::read(file)?;
    overrides::apply(&mut written.plan, matches)?;
    let matrix = Matrix::new(written.plan.clone()).map_err(|error| written.refuse(&error))?;
    let cores = process::allowed_cores();
    check_cores(&matrix.plan, &cores).map_err(|error| written.refuse(&error))?;
    let table = tables::Asked::read(matches)?;
    table.check(&matrix.plan)?;
    let turns = matrix.order();
    if matches.get_flag("dry-run") {
        dry_run(&matrix, &turns, &table)?;
        return Ok(ExitCode::Ok);
    }
    let out = out(matches, file);
    let mut store = store(matches, &out, &matrix, &turns)?;
    interruption::listen()?;
    let folder = plan_folder(file)?;
    let screen = Screen::on_stderr(matches.get_flag("quiet"));
    let planned: usize = turns.iter().map(|turn| turn.variants.len()).sum();
    let each = length(&matrix, &turns) / u32::try_from(planned.max(1)).unwrap_or(u32::MAX);
    let mut show = Show::new(screen, planned, store.len(), each);
    show.say(&announcement(&matrix, &turns, planned.saturating_sub(store.len())));
    if let Some(problem) = matrix.too_few_rounds(table.group_by()) {
        show.warn(&problem);
    }
    carry_out(&matrix, &turns, folder, &mut store, &mut show, matches.get_flag("accept-late"))?;
    let printed = table.print(&store.document);
    say(&format!("result: {}", out.display()));
    printed.map(|()| exit_code(&store))
}

/// Missing cores would fail at every start.
fn check_cores(plan: &Plan, allowed: &[usize]) -> Result<(), PlanError> {
    for (name, cores) in [("server", &plan.pin.server), ("load", &plan.pin.load)] {
        if let Some(core) = cores.iter().find(|core| !allowed.contains(core)) {
            let allowed: Vec<String> = allowed.iter().map(usize::to_string).collect();
            let problem =
                format!("pin.{name}: core {core} cannot be used here, those that can are {}", allowed.join(", "));
            return Err(PlanError::near(problem, "pin"));
        }
    }
    Ok(())
}

/// `plan.matrix.json` in the current folder unless `-o` says.
fn out(matches: &ArgMatches, file: &str) -> PathBuf {
    match matches.get_one::<String>("out") {
        Some(out) => PathBuf::from(out),
        None => {
            let stem =
                Path::new(file).file_stem().map_or_else(|| String::from("plan"), |s| s.to_string_lossy().into_owned());
            PathBuf::from(format!("{stem}.matrix.json"))
        }
    }
}

fn store(matches: &ArgMatches, out: &Path, matrix: &Matrix, turns: &[Turn]) -> Result<Store, Failure> {
    let now = machine::Moment::now();
    let environment = machine::environment(&now, &now);
    let name = out.display();
    // A result without runs, of a matrix whose setup failed, is no loss.
    let is_there = out.exists() && !document::read(out).is_ok_and(|document| document.runs.is_empty());
    match (is_there, matches.get_flag("resume"), matches.get_flag("force")) {
        (true, true, _) => Store::resume(out, matrix, &environment, turns, matches.get_flag("retry")),
        (true, false, false) => Err(Failure::new(
            ExitCode::Generic,
            format!("{name} exists already: --resume continues it, --force replaces it, -o writes to another file"),
        )),
        _ => Store::create(out, matrix, environment),
    }
}

fn plan_folder(file: &str) -> Result<PathBuf, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(ExitCode::Generic, format!("cannot tell the folder of {file}: {error}"));
    let path = std::fs::canonicalize(file).map_err(failed)?;
    Ok(path.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned))
}

/// A folder that only this user can enter; the guard removes it.
fn scratch() -> Result<PathBuf, Failure> {
    use std::os::unix::fs::DirBuilderExt;
    let path = std::env::temp_dir().join(format!("onrush-matrix-{}", std::process::id()));
    let failed = |error: std::io::Error| {
        Failure::new(ExitCode::Generic, format!("cannot make the folder {}: {error}", path.display()))
    };
    // Of a process that had this number before and could not clear up.
    let _ = std::fs::remove_dir_all(&path);
    std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
    Ok(path)
}

fn carry_out(
    matrix: &Matrix,
    turns: &[Turn],
    folder: PathBuf,
    store: &mut Store,
    show: &mut Show,
    accept_late: bool,
) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::new(ExitCode::Generic, format!("cannot find the onrush binary: {error}"));
    let places = Places { folder, scratch: scratch()?, onrush: std::env::current_exe().map_err(failed)? };
    let guard = Guard::start(&places.scratch)?;
    let ran = outer_commands(matrix, &matrix.plan.setup, &places, &guard, store).and_then(|()| {
        Runner { matrix, places: &places, guard: &guard, store: &mut *store, show, accept_late }.run(turns)
    });
    let torn_down = outer_commands(matrix, &matrix.plan.teardown, &places, &guard, store);
    store.write()?;
    // What a signal broke off did not fail.
    if interruption::is_asked() { Ok(()) } else { ran.and(torn_down) }
}

/// Setup or teardown.
fn outer_commands(
    matrix: &Matrix,
    lines: &[String],
    places: &Places,
    guard: &Guard,
    store: &mut Store,
) -> Result<(), Failure> {
    let since = Instant::now();
    let done = lines.iter().try_for_each(|line| {
        let line = matrix.command_line(line, None, &places.names()).map_err(|error| error.message)?;
        process::shell(&line, &places.folder, &BTreeMap::new(), places.scratch.join("command.log"), guard)
    });
    store.document.timing.commands_s += since.elapsed().as_secs_f64();
    done.map_err(|problem| Failure::new(ExitCode::Generic, format!("setup or teardown: {problem}")))
}

/// What a run of a number of requests is taken to last until one has.
const A_FEW_REQUESTS: Duration = Duration::from_secs(1);

/// What starting and ending the processes of a run takes, for servers and loads that start at once.
const STARTS: Duration = Duration::from_millis(150);
/// What making a user takes, and connecting it: 0.16 s a run were measured for two loads of 100.
const A_USER: Duration = Duration::from_millis(1);

/// What all runs take by the plan. How long a server of the user's takes to start, nobody knows before.
fn length(matrix: &Matrix, turns: &[Turn]) -> Duration {
    turns.iter().flat_map(|turn| turn.variants.iter().map(|&variant| length_of_run(matrix, turn, variant))).sum()
}

fn length_of_run(matrix: &Matrix, turn: &Turn, variant: usize) -> Duration {
    let (part, plan) = (&matrix.parts[variant], &matrix.plan);
    let load = part.load(&matrix.cells[turn.cell], &matrix.sample_names(part)).ok();
    let measured = match load.as_ref().map(|load| load.amount) {
        Some(Amount::Time(time)) => time.0,
        Some(Amount::Requests(_)) | None => A_FEW_REQUESTS,
    };
    let loads = if plan.warm_up.0.is_zero() { 1 } else { 2 };
    let users = load.map_or(0, |load| u32::try_from(load.connections).unwrap_or(u32::MAX));
    plan.pause.0 + plan.warm_up.0 + measured + STARTS + A_USER * users * loads
}

fn announcement(matrix: &Matrix, turns: &[Turn], left: usize) -> String {
    let planned: usize = turns.iter().map(|turn| turn.variants.len()).sum();
    let goes_on = if left < planned { format!(", {left} of them left") } else { String::new() };
    format!(
        "{}: {} in {}, {}: {}{goes_on}, about {}, more where servers take long to start",
        matrix.plan.name.as_deref().unwrap_or("matrix"),
        counted(matrix.parts.len(), "variant"),
        counted(matrix.cells.len(), "cell"),
        counted(matrix.plan.rounds as usize, "round"),
        counted(planned, "run"),
        about(length(matrix, turns).mul_f64(left as f64 / planned.max(1) as f64)),
    )
}

fn dry_run(matrix: &Matrix, turns: &[Turn], table: &tables::Asked) -> Result<(), Failure> {
    let planned = turns.iter().map(|turn| turn.variants.len()).sum();
    let warning = matrix.too_few_rounds(table.group_by());
    if table.is_json() {
        return tables::print(&json_answer::text(&order(matrix, turns, planned, warning)));
    }
    let mut text = announcement(matrix, turns, planned) + "\n";
    if let Some(problem) = warning {
        text.push_str(&format!("warning: {problem}\n"));
    }
    for turn in turns {
        let names: Vec<&str> = turn.variants.iter().map(|&variant| matrix.parts[variant].name.as_str()).collect();
        let label = matrix.cells[turn.cell].label();
        let cell = if label.is_empty() { label } else { format!(" {label}") };
        text.push_str(&format!("round {}{cell}: {}\n", turn.round + 1, names.join(", ")));
    }
    tables::print(&text)
}

/// The same for programs.
fn order(matrix: &Matrix, turns: &[Turn], runs: usize, warning: Option<String>) -> MatrixOrder {
    let name = |variant: &usize| matrix.parts[*variant].name.clone();
    let turn = |turn: &Turn| OrderTurn {
        round: turn.round + 1,
        cell: matrix.cells[turn.cell].label(),
        variants: turn.variants.iter().map(name).collect(),
    };
    MatrixOrder {
        kind: "onrush-matrix-order",
        schema: 1,
        name: matrix.plan.name.clone().unwrap_or_else(|| String::from("matrix")),
        variants: matrix.parts.iter().map(|part| part.name.clone()).collect(),
        cells: matrix.cells.len(),
        rounds: matrix.plan.rounds,
        runs,
        duration_s: length(matrix, turns).as_secs_f64(),
        warning,
        turns: turns.iter().map(turn).collect(),
    }
}

/// A line on standard error, behind those of the progress.
fn say(text: &str) {
    output::stderr().print(format!("{text}\n").as_bytes());
}

/// A signal counts before failed runs.
fn exit_code(store: &Store) -> ExitCode {
    if interruption::is_asked() {
        say("interrupted: finished runs are kept; --resume continues");
        return ExitCode::Signal;
    }
    if store.document.runs.iter().all(|run| run.is_ok()) { ExitCode::Ok } else { ExitCode::RunsFailed }
}
