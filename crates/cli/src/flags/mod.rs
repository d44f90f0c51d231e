//! The command line of `onrush run`: options of the test, from the table of `script::options`, and the flags of the
//! run.

mod ci_flag;
mod of_k6;
mod run_flag;

use clap::{Arg, ArgAction, Command};
use script::options::{OPTIONS, TestOption, ValueForm};

pub use ci_flag::CI_FLAGS;
#[cfg(test)]
pub use of_k6::OfK6;
pub use of_k6::{OF_K6, Treated};
pub use run_flag::{RUN_FLAGS, RunFlag};

/// The `run` command with every flag.
pub fn run_command() -> Command {
    let script = Arg::new("script").value_name("SCRIPT|URL").required(true);
    let script = script.help("JavaScript or TypeScript file, an archive, or a URL; several scripts run side by side");
    let own = run_flags().map(RunFlag::arg);
    // As in k6, the last one counts.
    Command::new("run").about("Run a test").args_override_self(true).arg(script).args(option_args()).args(own)
}

/// Every flag of `run` that is no option of the test.
pub fn run_flags() -> impl Iterator<Item = &'static RunFlag> {
    RUN_FLAGS.iter().chain(CI_FLAGS)
}

/// Flags of `run` that commands have which only load a script.
const OF_LOADING: [&str; 16] = [
    "env",
    "include-system-env-vars",
    "config",
    "console-output",
    "log-format",
    "log-output",
    "log-ns-timestamps",
    "secret-source",
    "offline",
    "no-color",
    "quiet",
    "verbose",
    "compatibility-mode",
    "type",
    "features",
    "vu-memory-limit",
];

/// A command that loads a script and does not run it; with the options of the test where they are put together.
pub fn loading_command(name: &'static str, about: &'static str, with_options: bool) -> Command {
    let script = Arg::new("script").value_name("SCRIPT").required(true);
    let script = script.help("JavaScript or TypeScript file, or an archive; -: standard input");
    let own = RUN_FLAGS.iter().filter(|flag| OF_LOADING.contains(&flag.name)).map(|flag| flag.arg());
    let command = Command::new(name).about(about).args_override_self(true).arg(script).args(own);
    if with_options { command.args(option_args()) } else { command }
}

fn option_args() -> impl Iterator<Item = Arg> {
    OPTIONS.iter().filter_map(|option| Some(option_arg(option, option.flag?)))
}

fn option_arg(option: &TestOption, flag: &'static str) -> Arg {
    let arg = Arg::new(option.json).long(flag).help(option.help_with_default()).help_heading("Options of the test");
    let arg = match option.short {
        Some(short) => arg.short(short),
        None => arg,
    };
    match option.form {
        ValueForm::Switch => switch(arg),
        ValueForm::Mode(alone) => {
            arg.value_name(option.value).num_args(0..=1).require_equals(true).default_missing_value(alone)
        }
        form if form.repeats() => arg.value_name(option.value).action(ArgAction::Append),
        _ => arg.value_name(option.value).allow_hyphen_values(true),
    }
}

fn switch(arg: Arg) -> Arg {
    arg.num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_name("true|false")
        .hide_possible_values(true)
}

/// Long names of all flags of `run`.
pub fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().filter_map(|option| option.flag).chain(run_flags().map(|flag| flag.name))
}

/// Whether the word behind a long flag of `run` belongs to it; `None` when there is no such flag.
pub fn takes_word(name: &str) -> Option<bool> {
    if let Some(option) = OPTIONS.iter().find(|option| option.flag == Some(name)) {
        return Some(option.form.takes_word());
    }
    run_flags().find(|flag| flag.name == name).map(RunFlag::takes_word)
}

/// Whether the word behind a short flag of `run`, or the rest of its own word, belongs to it.
pub fn letter_takes_word(letter: char) -> bool {
    let option = OPTIONS.iter().find(|option| option.flag.is_some() && option.short == Some(letter));
    option
        .map(|option| option.form.takes_word())
        .unwrap_or_else(|| run_flags().find(|flag| flag.short == Some(letter)).is_some_and(RunFlag::takes_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        run_command().debug_assert();
    }

    #[test]
    fn of_a_flag_that_is_repeated_the_last_one_counts() {
        let words = ["run", "-q", "--quiet=false", "--vus", "1", "-u", "2", "-s", "1s:1", "-s", "2s:2", "x.js"];
        let matches = run_command().try_get_matches_from(words).expect("valid flags");
        let last = |name| matches.get_one::<String>(name).map(String::as_str);
        assert_eq!([last("quiet"), last("vus")], [Some("false"), Some("2")]);
        assert_eq!(matches.get_many::<String>("stages").map(Iterator::count), Some(2));
    }

    #[test]
    fn every_flag_stands_once() {
        let mut names: Vec<_> = names().collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
