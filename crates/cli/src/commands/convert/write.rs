//! Where a script goes, with the files beside it, and what is said of it.
//!
//! Refuses to replace files without `--force`, and to write a script without requests.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use convert::model::{self, File};
use convert::{Converted, Note, Notes, Settings, Style};
use report::visible;

use super::generic;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer::{self, Conversion, ConversionNote};
use crate::output;

/// Flags of the commands that write a script: what it leaves out, where it goes, what is said of it.
pub fn script_flags(command: Command) -> Command {
    command
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("HOST")
                .action(ArgAction::Append)
                .help("Keep requests to this host and those below it; may be repeated"),
        )
        .arg(
            Arg::new("skip-static")
                .long("skip-static")
                .action(ArgAction::SetTrue)
                .help("Leave images, styles, fonts and scripts out"),
        )
        .arg(
            Arg::new("no-timing")
                .long("no-timing")
                .action(ArgAction::SetTrue)
                .help("Leave recorded pauses and start times out"),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .short('O')
                .value_name("FILE")
                .help("Where to write the script; large bodies go beside it [default: standard output]"),
        )
        .arg(Arg::new("force").long("force").short('f').action(ArgAction::SetTrue).help("Replace files that exist"))
        .arg(
            Arg::new("base-url")
                .long("base-url")
                .value_name("URL")
                .help("Aim the requests there instead of at the server that most were made to"),
        )
        .arg(json_answer::flag("conversion-1.json"))
}

/// Where the script goes.
pub struct Target {
    path: Option<PathBuf>,
    base_url: Option<String>,
    force: bool,
    answers_json: bool,
}

impl Target {
    /// Reads the flags.
    pub fn read(matches: &ArgMatches) -> Result<Target, Failure> {
        let path = matches.get_one::<String>("output").filter(|path| *path != "-").map(PathBuf::from);
        let base_url = matches.get_one::<String>("base-url").cloned();
        let force = matches.get_flag("force");
        if let Some(url) = base_url.as_ref().filter(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
            return Err(Failure::of_flag("--base-url", url, "a URL, as in http://localhost:8080"));
        }
        if let Some(path) = path.as_ref().filter(|path| path.exists() && !force) {
            return Err(exists(path));
        }
        Ok(Target { path, base_url, force, answers_json: json_answer::is_wanted(matches) })
    }

    /// What is carried over.
    pub fn settings(&self, matches: &ArgMatches) -> Settings {
        Settings {
            only: matches.get_many::<String>("only").into_iter().flatten().cloned().collect(),
            skips_static: matches.get_flag("skip-static"),
            keeps_timing: !matches.get_flag("no-timing"),
            style: self.style(),
            ..Settings::plain()
        }
    }

    /// How the script is written.
    fn style(&self) -> Style {
        let stem = self.path.as_ref().and_then(|path| path.file_stem());
        Style { base_url: self.base_url.clone(), files: stem.map(|stem| stem.to_string_lossy().into_owned()) }
    }

    /// Writes the script and says what there is to say; `source` is what it was made of.
    pub fn write(&self, converted: Converted, source: &str) -> Result<ExitCode, Failure> {
        let Converted { test, mut notes } = converted;
        let count: usize = test.functions.iter().map(|function| model::count(&function.steps)).sum();
        if count == 0 {
            say(&shown(&notes));
            return Err(generic(format!("{source}: there is no request to convert")));
        }
        let (script, files) = convert::write_script(test, &self.style());
        if self.base_url.is_some() && !script.contains("BASE_URL") {
            let why = "--base-url changes nothing: the URLs begin with a variable, which -e NAME=… sets";
            notes.add("", why);
        }
        let written = self.path.as_ref().map(|path| self.write_files(path, &script, &files)).transpose()?;
        let path = self.path.as_ref().map(|path| path.display().to_string());
        let written = written.unwrap_or_default();
        if self.answers_json {
            let text = path.is_none().then_some(script);
            return json_answer::print(&document(source, count, (path, text), written, &notes));
        }
        if path.is_none() {
            output::answer(&script)?;
        }
        let name = path.unwrap_or_else(|| String::from("the script"));
        let requests = if count == 1 { String::from("1 request") } else { format!("{count} requests") };
        let mut lines = vec![format!("{name}: {requests}, from {source}")];
        lines.extend(written.iter().map(|file| format!("{file}: opened by the script")));
        lines.extend(shown(&notes));
        say(&lines);
        Ok(ExitCode::Ok)
    }

    fn write_files(&self, path: &Path, script: &str, files: &[File]) -> Result<Vec<String>, Failure> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let beside: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.name)).collect();
        if let Some(known) = beside.iter().find(|path| path.exists() && !self.force) {
            return Err(exists(known));
        }
        for (path, file) in beside.iter().zip(files) {
            self.write_file(path, &file.bytes)?;
        }
        self.write_file(path, script.as_bytes())?;
        Ok(beside.iter().map(|path| path.display().to_string()).collect())
    }

    fn write_file(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let mut options = OpenOptions::new();
        match self.force {
            true => options.write(true).create(true).truncate(true),
            false => options.write(true).create_new(true),
        };
        options.open(path).and_then(|mut file| file.write_all(bytes)).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(path),
            _ => generic(format!("cannot write {}: {error}", path.display())),
        })
    }
}

/// For programs: the path of the script, or its text.
fn document(
    source: &str,
    requests: usize,
    (script, text): (Option<String>, Option<String>),
    files: Vec<String>,
    notes: &Notes,
) -> Conversion {
    let note = |note: &Note| ConversionNote { text: note.text.clone(), places: note.places.clone(), count: note.count };
    let (source, notes) = (source.to_owned(), notes.iter().map(note).collect());
    Conversion { kind: "onrush-conversion", schema: 1, source, requests, script, text, files, notes }
}

fn exists(path: &Path) -> Failure {
    generic(format!("{} exists already; write --force to replace it", path.display()))
}

fn shown(notes: &Notes) -> Vec<String> {
    let lines = notes.lines();
    if lines.is_empty() {
        return Vec::new();
    }
    let head = format!("not carried over as it was ({}):", notes.count());
    std::iter::once(head).chain(lines.iter().map(|line| format!("  {}", visible(line)))).collect()
}

/// On standard error, because the script may be on standard output.
fn say(lines: &[String]) {
    lines.iter().for_each(|line| output::stderr().print(format!("{line}\n").as_bytes()));
}
