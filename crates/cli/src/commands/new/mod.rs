//! `onrush new`: a script to begin with.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use units::suggest;

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer::{self, WrittenFiles};
use crate::output;

/// Name, what it is for, the script.
const TEMPLATES: [(&str, &str); 7] = [
    ("minimal", include_str!("minimal.js")),
    ("protocol", include_str!("protocol.js")),
    ("upload", include_str!("upload.js")),
    ("websocket", include_str!("websocket.js")),
    ("grpc", include_str!("grpc.js")),
    ("arrival-rate", include_str!("arrival-rate.js")),
    ("sse", include_str!("sse.js")),
];

/// The command and its flags.
pub fn command() -> Command {
    Command::new("new")
        .about("Write a script to begin with")
        .arg(Arg::new("file").value_name("FILE").default_value("script.js").help("Where to write it"))
        .arg(
            Arg::new("template")
                .long("template")
                .value_name("NAME|PATH")
                .default_value("minimal")
                .help("minimal, protocol, upload, websocket, grpc, arrival-rate, sse, or the path of one of your own"),
        )
        .arg(Arg::new("force").long("force").short('f').action(ArgAction::SetTrue).help("Overwrite the file"))
        .arg(json_answer::flag("files-1.json"))
        .arg(Arg::new("project-id").long("project-id").value_name("ID").hide(true))
}

/// Writes the script.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let fail = |text: String| Failure::new(ExitCode::Generic, text);
    if let Some(id) = matches.get_one::<String>("project-id") {
        return Err(fail(format!("--project-id {id}: there is no cloud here; leave it out")));
    }
    let text = |name| matches.get_one::<String>(name).expect("has a default").as_str();
    let (file, template) = (text("file"), text("template"));
    let script = script(template).map_err(fail)?;
    let mut options = OpenOptions::new();
    match matches.get_flag("force") {
        true => options.write(true).create(true).truncate(true),
        false => options.write(true).create_new(true),
    };
    let written = options.open(file).and_then(|mut open| open.write_all(script.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => fail(format!("{file} exists already; write --force to replace it")),
        _ => fail(format!("cannot write {file}: {error}")),
    })?;
    let next = format!("run it with `onrush run --serve {file}`");
    if json_answer::is_wanted(matches) {
        return json_answer::print(&WrittenFiles::new("new", vec![file.to_owned()], vec![next]));
    }
    output::answer(&format!("{file}: the {template} template; {next}\n"))
}

fn script(template: &str) -> Result<String, String> {
    if let Some((_, text)) = TEMPLATES.iter().find(|(name, _)| *name == template) {
        return Ok((*text).to_owned());
    }
    let names = || TEMPLATES.iter().map(|(name, _)| *name);
    if template == "browser" {
        return Err(String::from("--template browser: there is no browser here; k6 has one, with k6/browser"));
    }
    if !template.contains(['/', '.']) {
        let (hint, names) = (suggest::hint(template, names()), names().collect::<Vec<_>>().join(", "));
        return Err(format!("--template: unknown template '{template}'{hint} (expected any of {names}, or a path)"));
    }
    std::fs::read_to_string(Path::new(template))
        .map_err(|error| format!("cannot read the template {template}: {error}"))
}
