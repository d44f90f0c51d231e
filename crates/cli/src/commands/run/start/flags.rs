//! The flags of `run` that are no options of the test, read and checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use engine::scenario::{Hold, Selection};
use report::SummaryMode;
use script::debug::Debugger;
use script::log::Level;
use script::options::parse_switch;
use script::secrets::Secrets;
use units::suggest;

use crate::ci::CiFiles;
use crate::commands::run::start::flag_source::{FlagSource, generic};
use crate::commands::run::start::fleet_flags::FleetFlags;
use crate::commands::run::start::limits::FailOn;
use crate::commands::run::start::web_flags::WebFlags;
use crate::commands::run::start::{output_flags, selection_flags};
use crate::failure::Failure;
use crate::features::FEATURES;
use crate::flags::{OF_K6, Treated};
use crate::log::LogFlags;
use crate::output;
use crate::quick::Quick;
use crate::viewers::Wanted;

/// What the command line and the environment say about this run.
#[derive(Debug)]
pub struct Flags {
    pub test: TestFlags,
    pub verdict: VerdictFlags,
    pub load: LoadFlags,
    pub shown: ShownFlags,
    pub kept: KeptFlags,
}

/// Which test it is, and what its script is given.
#[derive(Debug)]
pub struct TestFlags {
    /// Path of the script, or `-`.
    pub script: String,
    /// `--type`; none: by its content.
    pub kind: Option<ScriptKind>,
    /// `--config`.
    pub config: Option<String>,
    /// `--secret-source`.
    pub secrets: Arc<Secrets>,
    /// The run that a URL stands for; `script` is the URL then.
    pub quick: Option<Quick>,
    /// Whether a coordinator has packed the test: its variables come before those of this machine.
    pub is_agent: bool,
    /// The process's environment.
    pub system_env: BTreeMap<String, String>,
    /// What `__ENV` holds.
    pub script_env: BTreeMap<String, String>,
    /// Variables that were given for the script alone, with `-e`, or all where that was asked for.
    pub given_env: BTreeMap<String, String>,
    /// `--features`.
    pub features: Vec<String>,
    /// What is said of flags that change nothing, each with its level.
    pub without_effect: Vec<(Level, String)>,
    /// Who looks at the users, in `onrush debug`.
    pub debugger: Option<Arc<Debugger>>,
}

/// What makes the run fail or pass, and how far it is believed.
#[derive(Debug)]
pub struct VerdictFlags {
    /// `--threshold`.
    pub thresholds: Vec<String>,
    /// `--fail-on`.
    pub fail_on: Vec<FailOn>,
    /// `--no-thresholds`.
    pub no_thresholds: bool,
    /// `--strict`.
    pub strict: bool,
    /// `--accept-late`.
    pub accept_late: bool,
    /// `--referee`, with an address or without.
    pub referee: Option<Option<String>>,
}

/// Who makes the load, and what runs beside it.
#[derive(Debug)]
pub struct LoadFlags {
    /// `--workers`.
    pub workers: Option<usize>,
    /// `--vu-memory-limit`, in bytes.
    pub vu_memory_limit: Option<usize>,
    /// `--serve`.
    pub serve: Option<Serve>,
    /// `--agents` and what goes with it.
    pub fleet: Option<FleetFlags>,
    /// `--address`.
    pub address: Option<String>,
    /// `--linger`.
    pub lingers: bool,
    /// `--offline`.
    pub is_offline: bool,
    /// `--scenario` and `--once`.
    pub selection: Selection,
    /// `--hold`: a steady load.
    pub hold: Option<Hold>,
}

/// What is shown and logged.
#[derive(Debug)]
pub struct ShownFlags {
    /// `--summary-mode`; none when it is disabled.
    pub summary_mode: Option<SummaryMode>,
    /// `--json`, or its mode of the summary.
    pub answers_json: bool,
    /// `--new-machine-readable-summary`.
    pub machine_readable: bool,
    /// `--summary-export`.
    pub summary_export: Option<String>,
    /// `--quiet`.
    pub quiet: bool,
    /// `--no-tui`.
    pub screen: Wanted,
    /// `--web` and what goes with it.
    pub web: Option<WebFlags>,
    /// Where log lines go.
    pub log: LogFlags,
}

/// Where samples and results go.
#[derive(Debug)]
pub struct KeptFlags {
    /// `--save`.
    pub save: Option<PathBuf>,
    /// `--save-messages`.
    pub save_messages: bool,
    /// `--shards`.
    pub shards: Option<String>,
    /// `--label`.
    pub labels: BTreeMap<String, String>,
    /// What is written for a CI.
    pub ci: CiFiles,
    /// `--out`.
    pub outputs: Vec<String>,
    /// `--traces-output`, where spans go.
    pub traces: Option<String>,
}

/// What the script's file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    /// JavaScript or TypeScript.
    Script,
    /// A test that was packed by `archive`.
    Archive,
}

/// What the target beside the test answers with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Its built-in routes.
    Routes,
    /// The app in this file.
    App(String),
}

impl Flags {
    /// Reads them; a flag beats its environment variable. A command may have some of the flags alone, and need not pass
    /// the environment to the script where nothing is said of it.
    pub fn read(matches: &ArgMatches, quick: Option<Quick>, passes_env: bool) -> Result<Self, Failure> {
        let unheard = quick.as_ref().map_or(&[][..], Quick::unheard);
        let heard = |(name, _): &(String, String)| !unheard.contains(&name.as_str());
        let source = FlagSource { matches, env: std::env::vars().filter(heard).collect() };
        Flags::of(&source, quick, passes_env)
    }

    /// Those of an agent: the options and flags of the test come from its coordinator, so variables that would set some
    /// are not heard.
    pub fn of_agent(matches: &ArgMatches) -> Result<Self, Failure> {
        let heard = |(name, _): &(String, String)| !name.starts_with("K6_");
        let source = FlagSource { matches, env: std::env::vars().filter(heard).collect() };
        // What is told of a test is told by its coordinator.
        let mut flags = Flags::of(&source, None, true)?;
        flags.test.is_agent = true;
        flags.kept.ci = CiFiles::default();
        Ok(flags)
    }

    fn of(source: &FlagSource<'_>, quick: Option<Quick>, passes_env: bool) -> Result<Self, Failure> {
        let is_quick = quick.is_some();
        Ok(Flags {
            test: TestFlags::read(source, quick, passes_env)?,
            verdict: VerdictFlags::read(source)?,
            load: LoadFlags::read(source, is_quick)?,
            shown: ShownFlags::read(source)?,
            kept: KeptFlags::read(source)?,
        })
    }

    /// A connection for each virtual user, with its other end where the target runs in this process too.
    pub fn descriptors_per_vu(&self) -> u64 {
        if self.load.serve.is_some() { 2 } else { 1 }
    }

    /// Where a report of the run is to be written, whether it is saved or not.
    pub fn export(&self) -> Option<&Path> {
        self.shown.web.as_ref()?.export.as_deref()
    }

    /// Whether a feature is switched on.
    pub fn has_feature(&self, name: &str) -> bool {
        self.test.features.iter().any(|feature| feature == name)
    }

    /// Whether standard output gets colours.
    pub fn color(&self) -> bool {
        !self.shown.log.no_color && output::stdout().is_terminal()
    }
}

impl TestFlags {
    fn read(source: &FlagSource<'_>, quick: Option<Quick>, passes_env: bool) -> Result<Self, Failure> {
        Ok(TestFlags {
            script: source.matches.get_one::<String>("script").expect("required").clone(),
            kind: kind(source)?,
            config: source.text("config"),
            secrets: Arc::new(secrets(source)?),
            quick,
            is_agent: false,
            system_env: source.env.clone(),
            script_env: script_env(source, passes_env)?,
            given_env: script_env(source, source.text("include-system-env-vars").is_some())?,
            features: features(source),
            without_effect: without_effect(source)?,
            debugger: None,
        })
    }
}

impl VerdictFlags {
    fn read(source: &FlagSource<'_>) -> Result<Self, Failure> {
        Ok(VerdictFlags {
            thresholds: thresholds(source)?,
            fail_on: source
                .all("fail-on")
                .map(|text| FailOn::parse(text))
                .collect::<Result<_, _>>()
                .map_err(generic)?,
            no_thresholds: source.switch("no-thresholds", false)?,
            strict: source.switch("strict", false)?,
            accept_late: source.switch("accept-late", false)?,
            referee: source.text("referee").map(|text| referee(&text)).transpose()?.flatten(),
        })
    }
}

impl LoadFlags {
    fn read(source: &FlagSource<'_>, is_quick: bool) -> Result<Self, Failure> {
        Ok(LoadFlags {
            workers: source.text("workers").map(|text| whole("--workers", &text)).transpose()?,
            vu_memory_limit: source
                .text("vu-memory-limit")
                .map(|text| bytes("--vu-memory-limit", &text))
                .transpose()?,
            serve: source.text("serve").and_then(|text| match parse_switch(&text) {
                None => Some(Serve::App(text)),
                Some(on) => on.then_some(Serve::Routes),
            }),
            fleet: FleetFlags::read(source, is_quick)?,
            address: source.text("address"),
            lingers: source.switch("linger", false)?,
            is_offline: source.switch("offline", false)?,
            selection: selection_flags::read(source)?,
            hold: selection_flags::hold(source)?,
        })
    }
}

impl ShownFlags {
    fn read(source: &FlagSource<'_>) -> Result<Self, Failure> {
        Ok(ShownFlags {
            summary_mode: summary_mode(source)?,
            answers_json: answers_json(source)?,
            machine_readable: source.switch("new-machine-readable-summary", false)?,
            summary_export: source.text("summary-export"),
            quiet: source.switch("quiet", false)?,
            screen: screen(source)?,
            web: WebFlags::read(source)?,
            log: LogFlags {
                format: source.text("log-format"),
                output: source.text("log-output"),
                has_nanoseconds: source.switch("log-ns-timestamps", false)?,
                console_output: source.text("console-output"),
                verbose: source.switch("verbose", false)?,
                no_color: source.switch("no-color", false)? || source.env.contains_key("NO_COLOR"),
            },
        })
    }
}

impl KeptFlags {
    fn read(source: &FlagSource<'_>) -> Result<Self, Failure> {
        Ok(KeptFlags {
            save: source.text("save").map(PathBuf::from),
            save_messages: save_messages(source)?,
            shards: source.text("shards"),
            labels: labels(source.matches)?,
            ci: CiFiles::read(source.matches, &source.env)?,
            outputs: output_flags::outputs(source),
            traces: source.text("traces-output"),
        })
    }
}

/// `-q` is stronger than everything but an explicit wish.
fn screen(source: &FlagSource<'_>) -> Result<Wanted, Failure> {
    Ok(match (source.text("no-tui").is_some(), source.switch("no-tui", false)?) {
        (_, true) => Wanted::No,
        (true, false) => Wanted::Yes,
        (false, false) if source.switch("quiet", false)? => Wanted::No,
        (false, false) => Wanted::IfFitting,
    })
}

/// What `__ENV` holds: the environment, unless it is not to be passed, and what `-e` says.
fn script_env(source: &FlagSource<'_>, passes_env: bool) -> Result<BTreeMap<String, String>, Failure> {
    let include = source.switch("include-system-env-vars", passes_env)?;
    let mut script_env = if include { source.env.clone() } else { BTreeMap::new() };
    for item in source.all("env") {
        // As in k6, a name alone is a variable without a value.
        let (name, value) = item.split_once('=').unwrap_or((item, ""));
        let is_name = |name: &str| {
            !name.starts_with(|c: char| c.is_ascii_digit())
                && !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if !is_name(name) {
            let text = format!("--env: found the name '{name}', expected letters, digits and _, and no digit first");
            return Err(generic(text));
        }
        script_env.insert(name.to_owned(), value.to_owned());
    }
    Ok(script_env)
}

/// Where secrets come from; one source can be named by the variable.
fn secrets(source: &FlagSource<'_>) -> Result<Secrets, Failure> {
    let mut all: Vec<String> = source.all("secret-source").cloned().collect();
    if all.is_empty() {
        all.extend(source.env.get("K6_SECRET_SOURCE").filter(|text| !text.is_empty()).cloned());
    }
    Secrets::read(&all, source.env.clone()).map_err(generic)
}

/// None when it is disabled.
fn summary_mode(source: &FlagSource<'_>) -> Result<Option<SummaryMode>, Failure> {
    match source.text("summary-mode").as_deref().unwrap_or("compact") {
        "disabled" => Ok(None),
        JSON => Ok(Some(SummaryMode::Compact)),
        mode => mode.parse().map(Some).map_err(|e: report::options::OptionError| generic(e.to_string())),
    }
}

/// Whether standard output has one document for a program, and nothing else.
fn answers_json(source: &FlagSource<'_>) -> Result<bool, Failure> {
    let is_wanted = source.switch("json", false)? || source.text("summary-mode").as_deref() == Some(JSON);
    let others =
        output_flags::outputs(source).into_iter().filter(|output| ::outputs::take_stdout(std::slice::from_ref(output)));
    let log = source.text("log-output").filter(|place| place.starts_with("stdout"));
    match others.map(|output| format!("--out {output}")).chain(log.map(|_| String::from("--log-output"))).next() {
        Some(other) if is_wanted => {
            let text = "writes to standard output too, where the document stands alone; send it elsewhere";
            Err(generic(format!("--json: {other} {text}")))
        }
        _ => Ok(is_wanted),
    }
}

fn kind(source: &FlagSource<'_>) -> Result<Option<ScriptKind>, Failure> {
    match source.text("type").as_deref() {
        None => Ok(None),
        Some("js") => Ok(Some(ScriptKind::Script)),
        Some("archive") => Ok(Some(ScriptKind::Archive)),
        Some(other) => Err(generic(format!("--type: found '{other}', expected js or archive"))),
    }
}

/// Flags of k6 that change nothing here, in words, each with its level in the log.
fn without_effect(source: &FlagSource<'_>) -> Result<Vec<(Level, String)>, Failure> {
    let mut told = Vec::new();
    let known = FEATURES.map(|[name, ..]| name);
    for feature in features(source).iter().filter(|feature| !known.contains(&feature.as_str())) {
        let hint = suggest::hint(feature, known);
        let text = format!("--features: there is no feature '{feature}'{hint}; the test goes on without it");
        told.push((Level::Error, text));
    }
    told.extend(output_flags::not_obeyed(source).into_iter().map(|text| (Level::Warning, text)));
    for row in OF_K6 {
        let Treated::Warned(instead) = row.treated else { continue };
        if row.flag.is_empty() {
            let has_own = |name: &&String| {
                OF_K6.iter().any(|other| other.variable == name.as_str() && other.variable != row.variable)
            };
            let given = source.env.keys().filter(|name| row.means(name) && !has_own(name));
            told.extend(given.map(|name| (Level::Warning, format!("the variable {name} is not obeyed: {instead}"))));
        } else if source.switch(row.flag, false)? {
            told.push((Level::Warning, format!("--{}: {instead}", row.flag)));
        }
    }
    Ok(told)
}

/// What `--features` names, with commas between them as in the variable.
fn features(source: &FlagSource<'_>) -> Vec<String> {
    let given: Vec<String> = source.all("features").cloned().collect();
    let texts = if given.is_empty() { source.env.get("K6_FEATURES").cloned().into_iter().collect() } else { given };
    let names = texts.iter().flat_map(|text| text.split(',')).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Thresholds that would be given and ignored at once are a mistake.
fn thresholds(source: &FlagSource<'_>) -> Result<Vec<String>, Failure> {
    let thresholds: Vec<String> = source.all("threshold").cloned().collect();
    match !thresholds.is_empty() && source.switch("no-thresholds", false)? {
        true => Err(generic(String::from("--threshold and --no-thresholds contradict each other: leave one out"))),
        false => Ok(thresholds),
    }
}

/// Messages are a part of a result.
fn save_messages(source: &FlagSource<'_>) -> Result<bool, Failure> {
    let is_on = source.switch("save-messages", false)?;
    match is_on && source.text("save").is_none() {
        true => Err(generic(String::from(
            "--save-messages adds to a saved result: give --save DIR as well, or leave it out",
        ))),
        false => Ok(is_on),
    }
}

/// `name=value`, each name once.
fn labels(matches: &ArgMatches) -> Result<BTreeMap<String, String>, Failure> {
    let mut labels = BTreeMap::new();
    let is_given = |name| matches.try_contains_id(name).is_ok_and(|given| given);
    if is_given("label") && !is_given("save") {
        return Err(generic(String::from("--label names a saved result: give --save DIR as well, or leave it out")));
    }
    for text in matches.try_get_many::<String>("label").ok().flatten().into_iter().flatten() {
        let pair = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let (name, value) = pair.ok_or_else(|| generic(format!("--label: found '{text}', expected NAME=VALUE")))?;
        if labels.insert(name.trim().to_owned(), value.to_owned()).is_some() {
            return Err(generic(format!("--label: found '{name}' twice, expected each name once")));
        }
    }
    Ok(labels)
}

fn whole(flag: &str, text: &str) -> Result<usize, Failure> {
    let number = text.trim().parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| generic(format!("{flag}: found '{text}', expected a whole number from 1 to 1024")))
}

fn bytes(flag: &str, text: &str) -> Result<usize, Failure> {
    let size = units::size::parse(text).filter(|size| *size > 0).and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| generic(format!("{flag}: found '{text}', expected bytes, as 64m or 1g")))
}

/// The mode of the summary that `--json` is short for.
const JSON: &str = "json";

/// `--referee`, with an address or without; `None` when it is switched off.
fn referee(text: &str) -> Result<Option<Option<String>>, Failure> {
    if let Some(on) = parse_switch(text) {
        return Ok(on.then_some(None));
    }
    match wire::Url::parse(text) {
        Ok(_) => Ok(Some(Some(text.to_owned()))),
        Err(error) => {
            let expected = "expected the http or https address of a GET that the script makes";
            Err(generic(format!("--referee: {text}: {}; {expected}", error.message)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_none_are_named() {
        assert_eq!(bytes("--x", "64m"), Ok(64 << 20));
        let message = bytes("--x", "5x").expect_err("refused").message;
        assert_eq!(message, "--x: found '5x', expected bytes, as 64m or 1g");
    }
}
