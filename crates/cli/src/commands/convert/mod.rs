//! `onrush convert`: what another tool recorded or was told, as a script. And `onrush record` writes its script here.
//!
//! Reads the file, writes the script and what belongs beside it, says what was not carried over. Nothing is written
//! before all of it is known, and no file is replaced unless that was asked for.

pub(crate) mod curl;
mod write;

use std::fs::File;
use std::io::{self, Read};

use clap::{Arg, ArgMatches, Command};
use convert::{Converted, Format, Problem, Settings};

use crate::exit_code::ExitCode;
use crate::failure::Failure;

pub use write::{Target, script_flags};

/// As much as a format is told by.
const BEGINNING: u64 = 64 << 10;
/// Formats that are read whole have an end.
const LARGEST: u64 = 256 << 20;

/// The command and its flags.
pub fn command() -> Command {
    let command = Command::new("convert")
        .about("Write a script from what another tool recorded or was told")
        .after_help(
            "Reads command lines of curl, HAR files, OpenAPI 3 (JSON or YAML), Postman collections, test plans of\n\
             JMeter, command lines of wrk, targets of vegeta, and access logs. The format is told by the content.\n\
             \n\
             Examples:\n  \
             onrush convert shop.har -O shop.js --skip-static --only shop.example\n  \
             onrush convert openapi.yaml --base-url http://localhost:8080 -O api.js\n  \
             onrush convert access.log --base-url http://localhost:8080 -O replay.js\n  \
             onrush convert requests.sh | onrush run -\n\
             \n\
             What could not be carried over is named on standard error. docs/guides/convert.md has the whole of it.",
        )
        .arg(Arg::new("file").value_name("FILE").required(true).help("What to convert; -: standard input"))
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("FORMAT")
                .value_parser(Format::names().collect::<Vec<_>>())
                .help("What the file is, when its content does not tell"),
        );
    script_flags(command)
}

/// Converts a file.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let target = Target::read(matches)?;
    let settings = Settings { read: |path| std::fs::read_to_string(path).ok(), ..target.settings(matches) };
    let name = matches.get_one::<String>("file").expect("required").as_str();
    let input: Box<dyn Read> = match name {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(File::open(path).map_err(|error| generic(format!("cannot read {path}: {error}")))?),
    };
    let asked = matches.get_one::<String>("from").and_then(|name| Format::by_name(name));
    let shown = if name == "-" { "standard input" } else { name };
    let (format, converted) = convert_from(input, asked, shown, &settings)?;
    target.write(converted, format.described())
}

fn convert_from(
    mut input: Box<dyn Read>,
    asked: Option<Format>,
    name: &str,
    settings: &Settings,
) -> Result<(Format, Converted), Failure> {
    let unreadable = |error: io::Error| generic(format!("cannot read {name}: {error}"));
    let refused = |problem: Problem| generic(problem.shown(name));
    let mut beginning = Vec::new();
    input.by_ref().take(BEGINNING).read_to_end(&mut beginning).map_err(unreadable)?;
    if beginning.iter().all(u8::is_ascii_whitespace) {
        return Err(refused(Problem::new("it is empty: there is nothing to convert")));
    }
    let format = asked.map_or_else(|| convert::detect(&beginning), Ok).map_err(refused)?;
    let whole = beginning.chain(input);
    if format == Format::Har {
        return convert::from_har(whole, settings).map(|converted| (format, converted)).map_err(refused);
    }
    let mut bytes = Vec::new();
    whole.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(generic(format!("{name}: it has more than 256 MiB; convert a part of it")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        refused(Problem::at(line, "found bytes that are not UTF-8 text"))
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let converted = match format {
        Format::Curl => curl::convert(text),
        format => convert::from_text(format, text, settings).map_err(refused)?,
    };
    Ok((format, converted))
}

fn generic(message: impl Into<String>) -> Failure {
    Failure::new(ExitCode::Generic, message)
}
