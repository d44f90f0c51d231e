//! `onrush run a.js b.js`: several scripts as one test, side by side, or one after the other with `--in-order`.
//!
//! Each script is a run of its own (`onrush run --save`) in a process of its own, with its options, thresholds and
//! verdict; here are the order, the ends, and what is said of all. One exit code: that of the first script, in the
//! order in which they were given, that has another one than 0. A signal asks each run to end as it would by itself.

mod show;
mod words;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use report::document;

use crate::commands::groups::guard::Guard;
use crate::commands::groups::process::{Group, ProcessEnd, wait_for};
use crate::commands::groups::{interruption, onrush_run};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output;
use crate::process::private_folder::PrivateFolder;
use crate::terminal::progress::Screen;

use show::ScriptEnd;
pub use words::Words;

/// How often signals are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The word for standard input.
const STDIN: &str = "-";

/// One script, and where its run is kept.
struct ScriptRun {
    script: OsString,
    /// As the summary names it.
    name: String,
    /// Of its result.
    folder: PathBuf,
    /// What it prints to standard output, and to standard error.
    printed: PathBuf,
    log: PathBuf,
    /// A copy of standard input, where that is the script.
    input: Option<PathBuf>,
    /// When the run began whose result is in the folder before this one.
    before: Option<String>,
}

/// What all runs share.
struct ScriptRuns<'a> {
    words: &'a Words,
    onrush: PathBuf,
    guard: Guard,
    screen: Screen,
    is_silent: bool,
}

/// Runs them, or says what is wrong with the command line; clap's own errors go back to the caller.
pub fn main(words: &Words) -> Result<Result<ExitCode, Failure>, clap::Error> {
    let matches = words.matches()?;
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let save = text("save").map(PathBuf::from);
    let shown = Shown {
        is_quiet: text("quiet").is_some_and(|value| value != "false"),
        is_silent: text("summary-mode") == Some("disabled"),
    };
    Ok(words::check(&matches).and_then(|()| run(words, save.as_deref(), &shown)))
}

/// How much is shown.
struct Shown {
    /// No progress line.
    is_quiet: bool,
    /// No summary at all.
    is_silent: bool,
}

fn run(words: &Words, save: Option<&Path>, shown: &Shown) -> Result<ExitCode, Failure> {
    check_scripts(words)?;
    let scratch =
        PrivateFolder::make().map_err(|error| refused(format!("cannot make a folder for the runs: {error}")))?;
    let runs = planned(&words.scripts, save.unwrap_or(&scratch.path().join("results")), scratch.path())?;
    interruption::listen()?;
    let all = ScriptRuns {
        words,
        onrush: onrush_run::binary(ExitCode::Generic)?,
        guard: Guard::start(scratch.path())?,
        screen: Screen::on_stderr(shown.is_quiet),
        is_silent: shown.is_silent,
    };
    let together = if words.in_order { 1 } else { runs.len() };
    let mut ends = Vec::new();
    for runs in runs.chunks(together) {
        if interruption::is_asked() {
            break;
        }
        ends.extend(all.side_by_side(runs)?);
    }
    all.screen.settle();
    if !shown.is_silent {
        output::stdout().print(report::visible_lines(&show::text(&ends, runs.len())).as_bytes());
    }
    if output::stdout().drain().is_err() && !shown.is_silent {
        return Err(Failure::new(ExitCode::ResultNotWritten, "cannot write the summary to standard output"));
    }
    let failed = ends.iter().map(|end| end.code).find(|code| *code != ExitCode::Ok);
    let of_rest = if ends.len() < runs.len() { ExitCode::Signal } else { ExitCode::Ok };
    Ok(failed.unwrap_or(of_rest))
}

/// Refuses scripts that are missing, or given twice: two runs of one script are a scenario each.
fn check_scripts(words: &Words) -> Result<(), Failure> {
    if let [one] = words.scripts.as_slice() {
        let text = format!("--in-order: found one script, {}, expected several", one.to_string_lossy());
        return Err(refused(text));
    }
    let mut seen = BTreeSet::new();
    for script in &words.scripts {
        let shown = script.to_string_lossy();
        if script == STDIN {
            if !seen.insert(PathBuf::from(STDIN)) {
                return Err(refused(String::from("found - twice: standard input can be read once")));
            }
            continue;
        }
        let found = std::fs::canonicalize(script).map_err(|error| {
            refused(format!("{shown}: cannot read the script: {error}; with several scripts each is a file"))
        })?;
        if found.is_dir() {
            return Err(refused(format!("{shown}: found a folder, expected a script")));
        }
        if !seen.insert(found) {
            let text =
                format!("found {shown} twice: for more of the same load, give it more users or a second scenario");
            return Err(refused(text));
        }
    }
    Ok(())
}

/// A folder for each, named after the script; with a number where names collide.
fn planned(scripts: &[OsString], save: &Path, scratch: &Path) -> Result<Vec<ScriptRun>, Failure> {
    let mut names = BTreeSet::new();
    let mut runs = Vec::new();
    for (at, script) in scripts.iter().enumerate() {
        let stem = Path::new(script).file_stem().filter(|_| script != STDIN).unwrap_or(OsStr::new("stdin"));
        let stem = stem.to_string_lossy().into_owned();
        let folder = (1..).map(|n| if n == 1 { stem.clone() } else { format!("{stem}-{n}") });
        let folder = folder.into_iter().find(|name| names.insert(name.clone())).expect("numbers do not end");
        let input = (script == STDIN).then(|| kept_input(scratch)).transpose()?;
        let folder = save.join(folder);
        runs.push(ScriptRun {
            script: script.clone(),
            name: script.to_string_lossy().into_owned(),
            before: document::read(&folder).ok().map(|result| result.started_at),
            folder,
            printed: scratch.join(format!("{at}.printed")),
            log: scratch.join(format!("{at}.log")),
            input,
        });
    }
    Ok(runs)
}

/// Runs have no standard input of their own: the one that needs it gets a copy.
fn kept_input(scratch: &Path) -> Result<PathBuf, Failure> {
    let failed = |error: std::io::Error| refused(format!("-: cannot read standard input: {error}"));
    let (mut text, path) = (Vec::new(), scratch.join("stdin"));
    std::io::stdin().lock().read_to_end(&mut text).map_err(failed)?;
    std::fs::write(&path, text).map_err(failed)?;
    Ok(path)
}

impl ScriptRuns<'_> {
    /// Starts all of these and waits for them; what each printed follows in their order.
    fn side_by_side(&self, runs: &[ScriptRun]) -> Result<Vec<ScriptEnd>, Failure> {
        let mut groups = Vec::new();
        for run in runs {
            let group = Group::spawn(&self.command(run), &[], run.printed.clone(), &self.guard);
            groups.push(group.map_err(|error| refused(format!("{}: cannot start its run: {error}", run.name)))?);
        }
        let mut ends: Vec<Option<ProcessEnd>> = groups.iter().map(|_| None).collect();
        let mut is_told = false;
        while ends.iter().any(Option::is_none) {
            if interruption::is_asked() && !std::mem::replace(&mut is_told, true) {
                groups.iter().zip(&ends).filter(|(_, end)| end.is_none()).for_each(|(group, _)| group.ask_to_end());
            }
            for (group, end) in groups.iter_mut().zip(&mut ends) {
                *end = end.or_else(|| group.ended());
            }
            self.screen.over(&progress(runs, &ends));
            let running: Vec<&Group> =
                groups.iter().zip(&ends).filter(|(_, end)| end.is_none()).map(|(group, _)| group).collect();
            if !running.is_empty() {
                wait_for(&running, LOOK_EVERY);
            }
        }
        let ended = runs.iter().zip(&mut groups).zip(ends.into_iter().flatten());
        Ok(ended.map(|((run, group), end)| self.ended(run, group, end)).collect())
    }

    fn ended(&self, run: &ScriptRun, group: &mut Group, end: ProcessEnd) -> ScriptEnd {
        let said = group.output();
        group.kill();
        if !self.is_silent {
            self.screen.settle();
            let head = format!("script: {}\n", run.name);
            output::stdout().print(report::visible_lines(&head).as_bytes());
        }
        output::stdout().print(said.as_bytes());
        output::stderr().print(&std::fs::read(&run.log).unwrap_or_default());
        let code = end.code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::Generic, ExitCode::of);
        // A run that came to nothing leaves an older result where it is.
        let result = document::read(&run.folder).ok().filter(|found| Some(&found.started_at) != run.before.as_ref());
        ScriptEnd { name: run.name.clone(), code, how: end, result }
    }

    fn command(&self, run: &ScriptRun) -> Command {
        let input = run.input.as_deref().unwrap_or(Path::new("/dev/null"));
        let mut command = Command::new("sh");
        command.args(["-c", "input=$1; log=$2; shift 2; exec \"$@\" <\"$input\" 2>\"$log\"", "sh"]);
        command.arg(input).arg(&run.log).arg(&self.onrush);
        command.args(["run", "--quiet", "--no-tui", "--no-color"]).arg("--save").arg(&run.folder);
        // What the user says comes last and counts, but for the folder.
        command.args(&self.words.flags).arg("--save").arg(&run.folder).arg("--").arg(&run.script);
        command
    }
}

/// One line of who runs and who has ended.
fn progress(runs: &[ScriptRun], ends: &[Option<ProcessEnd>]) -> String {
    let one = |(run, end): (&ScriptRun, &Option<ProcessEnd>)| match end {
        None => format!("{}: running", run.name),
        Some(end) => format!("{}: {}", run.name, end.text()),
    };
    runs.iter().zip(ends).map(one).collect::<Vec<_>>().join("  ")
}

fn refused(text: String) -> Failure {
    Failure::new(ExitCode::Generic, text)
}
