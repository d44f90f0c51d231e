//! `onrush archive`: packs a test into one file that `onrush run` and k6 run.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::inspect::{self, Loaded};
use crate::archive::{Packed, now, pack};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::flags;
use crate::json_answer::{self, WrittenFiles};

/// The command and its flags.
pub fn command() -> Command {
    flags::loading_command("archive", "Pack a test, with its modules, files and options, into one file", true)
        .arg(
            Arg::new("archive-out")
                .long("archive-out")
                .short('O')
                .value_name("FILE")
                .default_value("archive.tar")
                .help("Where to write; -: standard output"),
        )
        .arg(
            Arg::new("exclude-env-vars")
                .long("exclude-env-vars")
                .action(ArgAction::SetTrue)
                .help("Leave the variables of -e out: they may be secret"),
        )
        .arg(json_answer::flag("files-1.json"))
}

/// Runs the init code once, and packs what it read.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let out = matches.get_one::<String>("archive-out").expect("has a default");
    let answers = json_answer::is_wanted(matches);
    if answers && out == "-" {
        let text = "--json: the archive goes to standard output already: name a file with -O FILE";
        return Err(Failure::new(ExitCode::Generic, text));
    }
    let loaded = inspect::load(matches, false)?;
    // What cannot be run is not packed.
    drop(loaded.plan()?);
    let packed = contents(&loaded, !matches.get_flag("exclude-env-vars"));
    let written = match out.as_str() {
        "-" => pack(packed, now(), io::stdout().lock()),
        path => write(packed, Path::new(path)),
    };
    written.map_err(|error| Failure::new(ExitCode::Generic, format!("cannot write the archive {out}: {error}")))?;
    if answers {
        json_answer::print(&WrittenFiles::new("archive", vec![out.clone()], vec![]))
    } else {
        Ok(ExitCode::Ok)
    }
}

/// An archive that goes along with something else, and the longest that its test takes.
pub fn in_memory(matches: &ArgMatches) -> Result<(Vec<u8>, Duration), Failure> {
    let loaded = inspect::load(matches, false)?;
    let longest = loaded.plan()?.plan.requirements().duration;
    let mut bytes = Vec::new();
    let packed = pack(contents(&loaded, true), now(), &mut bytes);
    packed.map_err(|error| Failure::new(ExitCode::Generic, format!("cannot pack the test: {error}")))?;
    Ok((bytes, longest))
}

/// What the archive of a test holds.
fn contents(loaded: &Loaded, has_env: bool) -> Packed<'_> {
    let program = &loaded.script.program;
    Packed {
        entry: program.entry(),
        modules: program.modules(),
        files: program.files(),
        options: loaded.options.to_archive_json(),
        env: has_env.then(|| program.env().clone()),
    }
}

/// Beside its place first: who waits for the file finds all of it.
fn write(packed: Packed<'_>, path: &Path) -> io::Result<()> {
    let beside = path.with_extension(format!("{}.partial", std::process::id()));
    let written = File::create(&beside).map(io::BufWriter::new).and_then(|mut file| {
        pack(packed, now(), &mut file)?;
        file.flush()?;
        std::fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
