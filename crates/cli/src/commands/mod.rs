//! The commands, and how a line of arguments becomes one of them.

mod agent;
mod archive;
mod capacity;
mod compare;
mod completion;
pub(crate) mod convert;
pub(crate) mod debug;
mod fleet;
mod groups;
mod history;
mod inspect;
mod k8s;
mod matrix;
mod mcp;
mod new;
pub(crate) mod of_k6;
pub(crate) mod record;
mod report;
pub(crate) mod run;
mod scale;
mod serve;
mod serve_limits;
mod several;
mod table;
mod types;
mod version;
mod witness;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};
use wire::mask::Mask;

use crate::called_as;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::quick::Recognised;
use crate::{flags, output, quick};

/// Reads the arguments, runs what they ask for, prints why it could not go on.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let (arguments, from_url) = match quick::recognise(arguments) {
        Ok(Recognised::Ordinary(arguments)) => (arguments, None),
        Ok(Recognised::Quick(from_url, arguments)) => (arguments, Some(*from_url)),
        Ok(Recognised::Show(script)) => {
            return output::answer(&script).unwrap_or_else(told);
        }
        Err(failure) => return told(failure),
    };
    let name = arguments.get(1).and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    if let Some(message) = of_k6::refusal(&name) {
        return told(Failure::new(ExitCode::Generic, message));
    }
    if from_url.is_none()
        && let Some(code) = with_words_of_its_own(&name, &arguments)
    {
        return code;
    }
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return refused(suggesting(&name, error)),
    };
    let outcome = match matches.subcommand() {
        Some(("run", matches)) => run::main(matches, from_url, fleet::start),
        Some(("agent", matches)) => agent::main(matches),
        Some(("compare", matches)) => compare::main(matches),
        Some(("report", matches)) => report::main(matches),
        Some(("convert", matches)) => convert::main(matches),
        Some(("history", matches)) => history::main(matches),
        Some(("record", matches)) => record::main(matches),
        Some(("serve", matches)) => serve::main(matches),
        Some(("witness", matches)) => witness::main(matches),
        Some(("scale", matches)) => scale::main(matches),
        Some(("matrix", matches)) => matrix::main(matches),
        Some(("table", matches)) => table::main(matches),
        Some((groups::guard::COMMAND, matches)) => Ok(groups::guard::main(matches.get_one("scratch"))),
        Some(("mcp", matches)) => mcp::main(matches),
        Some(("debug", matches)) => debug::main(matches),
        Some(("archive", matches)) => archive::main(matches),
        Some(("inspect", matches)) => inspect::main(matches),
        Some(("deps", matches)) => inspect::deps(matches),
        Some(("k8s", matches)) => k8s::main(matches, archive::in_memory),
        Some(("new", matches)) => new::main(matches),
        Some(("types", matches)) => types::main(matches),
        Some(("completion", matches)) => completion::main(matches, command()),
        Some(("man", matches)) => completion::man(matches, command()),
        Some(("version", matches)) => version::main(matches),
        Some(("features", matches)) => version::features(matches),
        _ => unreachable!("a subcommand is required"),
    };
    outcome.unwrap_or_else(told)
}

/// Commands whose flags are those of `run` with others among them; none for any other command.
fn with_words_of_its_own(name: &str, arguments: &[OsString]) -> Option<ExitCode> {
    let words = arguments.get(2..).unwrap_or_default();
    let ended = match name {
        "run" if !called_as::is_k6() => {
            let several = Some(several::Words::read(words)).filter(several::Words::is_for_several)?;
            several::main(&several)
        }
        "capacity" => capacity::CapacityFlags::read(words).map(|flags| capacity::main(&flags)),
        debug::DEBUGGEE => {
            let run = ["onrush", "run"].map(OsString::from).into_iter().chain(words.iter().cloned());
            command().try_get_matches_from(run).map(|matches| debugged(&matches))
        }
        _ => return None,
    };
    let shown = if name == debug::DEBUGGEE { "run" } else { name };
    Some(ended.map_or_else(|error| refused(suggesting(shown, error)), |ended| ended.unwrap_or_else(told)))
}

/// A run that an editor looks at.
fn debugged(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let matches = matches.subcommand_matches("run").expect("it was put there");
    debug::debuggee::main(|debugger| run::debug(matches, debugger, fleet::start))
}

fn told(failure: Failure) -> ExitCode {
    if !failure.message.is_empty() {
        // A URL that was typed may hold a password, and a message that quotes a file may hold anything.
        let message = Mask::standard().text(&failure.message);
        let line = crate::log::failure_line(&message, failure.code);
        let line = line.unwrap_or_else(|| format!("error: {}\n", ::report::visible_lines(&message)));
        output::stderr().print(line.as_bytes());
    }
    failure.code
}

pub fn command() -> Command {
    let command = match called_as::is_k6() {
        true => Command::new("k6").version(version::line()),
        false => Command::new("onrush").version(env!("CARGO_PKG_VERSION")),
    };
    command
        .about(
            "A load-testing tool: runs k6 scripts at several times the speed of k6, with numbers that stay true when \
             the machine is busy",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(flags::run_command().after_help(quick::HELP))
        .subcommand(quick::curl_command())
        .subcommand(capacity::command())
        .subcommand(report::command())
        .subcommand(history::command())
        .subcommand(agent::command())
        .subcommand(serve::command())
        .subcommand(witness::command())
        .subcommand(scale::command())
        .subcommand(matrix::command())
        .subcommand(table::command())
        .subcommand(groups::guard::command())
        .subcommand(compare::command())
        .subcommand(convert::command())
        .subcommand(record::command())
        .subcommand(mcp::command())
        .subcommand(debug::command())
        .subcommand(archive::command())
        .subcommand(inspect::command())
        .subcommand(inspect::deps_command())
        .subcommand(k8s::command())
        .subcommand(new::command())
        .subcommand(types::command())
        .subcommand(completion::command())
        .subcommand(completion::man_command())
        .subcommand(version::features_command())
        .subcommand(version::command())
}

/// The commands that help names.
#[cfg(test)]
pub fn shown() -> impl Iterator<Item = Command> {
    command().get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect::<Vec<_>>().into_iter()
}

/// Adds what was probably meant: clap has no idea for `--vsu` and `rnu`. Its tip to write `-- --vsu` goes, because
/// whoever writes an unknown flag means a flag.
fn suggesting(subcommand: &str, mut error: clap::Error) -> clap::Error {
    let command = command();
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let found = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let known = command.get_subcommands().filter(|known| !known.is_hide_set()).map(Command::get_name);
            if let Some(near) = units::suggest::closest(&found, known) {
                error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near.to_owned()]));
            }
        }
        ErrorKind::UnknownArgument => {
            let found = text(ContextKind::InvalidArg).unwrap_or_default();
            let known = command.find_subcommand(subcommand).into_iter().flat_map(Command::get_arguments);
            let near =
                found.strip_prefix("--").map(|name| units::suggest::closest(name, known.filter_map(Arg::get_long)));
            if let Some(near) = near.flatten() {
                error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{near}")));
            }
            if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
                tips.retain(|tip| !tip.to_string().contains("as a value"));
                if !tips.is_empty() {
                    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
                }
            }
        }
        _ => {}
    }
    error
}

/// Help and version are not errors; everything else about the arguments is k6's generic exit code.
fn refused(error: clap::Error) -> ExitCode {
    let is_asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !is_asked_for && called_as::is_read_by_a_program() {
        let text = error.to_string();
        let text = text.split("\n\nUsage:").next().unwrap_or_default().trim();
        return told(Failure::new(ExitCode::Generic, text.strip_prefix("error: ").unwrap_or(text)));
    }
    let _ = error.print();
    if is_asked_for { ExitCode::Ok } else { ExitCode::Generic }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn no_error_tells_to_pass_a_flag_as_a_value() {
        let names: Vec<String> = shown().map(|command| command.get_name().to_owned()).collect();
        assert!(names.len() > 20, "{names:?}");
        // curl's own reader looks at its words before.
        for name in names.iter().filter(|name| *name != "curl") {
            for flag in ["-%", "--latency", "--no-such-flag", "--hepl", "--no-such=1"] {
                let Err(error) = command().try_get_matches_from(["onrush", name, flag]) else { continue };
                let told = suggesting(name, error).to_string();
                assert!(!told.contains("as a value") && !told.contains("-- -"), "{name} {flag}: {told}");
            }
        }
        let error = command().try_get_matches_from(["onrush", "run", "--vsu", "a.js"]).expect_err("no such flag");
        let told = suggesting("run", error).to_string();
        assert!(told.contains("a similar argument exists: '--vus'"), "{told}");
    }
}
