//! `onrush inspect` and `onrush deps`: what a test is, without running it. Both print what k6 prints.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use metrics::Registry;
use script::options::Options;
use serde_json::json;
use units::Span;

use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::load::{self, Layers, Script};
use crate::commands::run::start::plan::{self, Planned};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::flags;
use crate::json_answer::{self, Dependencies};
use crate::log::Logger;
use crate::output;

/// The command `inspect`.
pub fn command() -> Command {
    flags::loading_command("inspect", "Print the options of a test as JSON", true).arg(json_flag()).arg(
        Arg::new("execution-requirements")
            .long("execution-requirements")
            .action(ArgAction::SetTrue)
            .help("With those of flags and variables, its scenarios, the most virtual users and the longest time"),
    )
}

/// Every command has it; here nothing else is printed.
fn json_flag() -> Arg {
    json_answer::flag_saying("As JSON (docs/schema/options-1.json), which it always is")
}

/// The command `deps`.
pub fn deps_command() -> Command {
    let json = json_answer::flag("dependencies-1.json");
    flags::loading_command("deps", "List the modules and files that a test is made of", false).arg(json)
}

/// A test that was loaded to be looked at.
pub struct Loaded {
    /// Its init code has run.
    pub script: Script,
    /// All layers put together.
    pub options: Options,
    flags: Flags,
    log: Arc<Logger>,
    registry: Arc<Registry>,
}

/// Runs the init code.
pub fn load(matches: &ArgMatches, passes_env: bool) -> Result<Loaded, Failure> {
    let flags = Flags::read(matches, None, passes_env)?;
    let log = Arc::new(Logger::new(&flags.shown.log)?.hiding(flags.test.secrets.clone()));
    let registry = Registry::new();
    let layers = Layers::read(&flags, matches, None, &log)?;
    let script = load::script(&flags, None, layers.without_script(), log.clone(), registry.clone())?;
    let options = layers.with_script(&script, &log)?;
    Ok(Loaded { script, options, flags, log, registry })
}

impl Loaded {
    /// Checks everything that is checked before a test.
    pub fn plan(&self) -> Result<Planned, Failure> {
        plan::plan(&self.flags, self.options.clone(), &self.script, &self.registry, &self.log)
    }
}

/// Prints the script's own options, or all with what they ask for.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let loaded = load(matches, true)?;
    if !matches.get_flag("execution-requirements") {
        let own = load::own_options(&loaded.script, &loaded.log)?;
        return show(&own.to_inspect_json());
    }
    let mut shown = loaded.options.to_archive_json();
    let planned = loaded.plan()?;
    shown["scenarios"] = planned.options.to_archive_json()["scenarios"].clone();
    let needs = planned.plan.requirements();
    shown["totalDuration"] = json!(Span::from(needs.duration).to_string());
    shown["maxVUs"] = json!(needs.max_vus);
    show(&shown)
}

/// Prints modules and files.
pub fn deps(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let loaded = load(matches, true)?;
    let program = &loaded.script.program;
    let mut imports: Vec<String> = program.modules().into_iter().map(|(name, _)| name).collect();
    imports.extend(program.builtins_used());
    imports.sort();
    imports.dedup();
    if json_answer::is_wanted(matches) {
        let build_dependencies = [("k6", "*")].into();
        return json_answer::print(&Dependencies { build_dependencies, imports, custom_build_required: false });
    }
    let lines: String = imports.iter().map(|import| format!("  {import}\n")).collect();
    output::answer(&format!("Build Dependencies:\n  k6: *\n\nImports:\n{lines}\nCustom Build Required: no\n"))
}

fn show(value: &serde_json::Value) -> Result<ExitCode, Failure> {
    // Go escapes these, which stand in texts alone.
    let text = format!("{value:#}\n").replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    output::answer(&text)
}
