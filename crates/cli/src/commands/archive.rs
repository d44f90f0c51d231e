//! `onrush archive`: packs a test into one file that `onrush run` and k6 run.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::inspect;
use crate::archive::{Packed, now, pack};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::flags;

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
}

/// Runs the init code once, and packs what it read.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let loaded = inspect::load(matches, false)?;
    // What cannot be run is not packed.
    let options = loaded.options.clone();
    let script = &loaded.script;
    let planned = loaded.plan()?;
    drop(planned);
    let without_env = matches.get_flag("exclude-env-vars");
    let env = (!without_env).then(|| script.program.env().clone());
    let packed = Packed {
        entry: script.program.entry(),
        modules: script.program.modules(),
        files: script.program.files(),
        options: options.to_archive_json(),
        env,
    };
    let out = matches.get_one::<String>("archive-out").expect("has a default");
    let written = match out.as_str() {
        "-" => pack(packed, now(), io::stdout().lock()),
        path => write(packed, Path::new(path)),
    };
    written.map_err(|error| Failure::new(ExitCode::Generic, format!("cannot write the archive {out}: {error}")))?;
    Ok(ExitCode::Ok)
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
