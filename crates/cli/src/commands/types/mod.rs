//! `onrush types`: declarations for editors and `tsc`, made of the modules' own. Those of k6 stay with `@types/k6`;
//! ours are added to them.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Arg, ArgMatches, Command};

use crate::builtins::BUILTINS;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::json_answer::{self, WrittenFiles};
use crate::output;

/// What is added to `@types/k6`.
const ADDED: &str = include_str!("k6.d.ts");
/// For a project that has none; `FOLDER` stands for where the declarations are.
const CONFIG: &str = include_str!("tsconfig.json");
/// The modules that `@types/k6` does not know.
const OURS: [&str; 2] = ["onrush/", "k6/x/"];

/// The command and its flags.
pub fn command() -> Command {
    let folder = Arg::new("folder").value_name("FOLDER").default_value("types");
    Command::new("types")
        .about("Write TypeScript declarations of Onrush's modules, and a tsconfig.json")
        .arg(folder.help("Where to write, below the current folder"))
        .arg(json_answer::flag("files-1.json"))
}

/// Writes the files.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let folder = matches.get_one::<String>("folder").expect("has a default").trim_end_matches('/');
    let fail = |what: &str, error: io::Error| Failure::new(ExitCode::Generic, format!("cannot write {what}: {error}"));
    if folder.is_empty() || Path::new(folder).is_absolute() || folder.contains("..") {
        let text = format!("{folder}: expected a folder below the current one, where tsconfig.json is");
        return Err(Failure::new(ExitCode::Generic, text));
    }
    let mut files = Vec::new();
    let ours = BUILTINS.modules().filter(|module| OURS.iter().any(|ours| module.name.starts_with(ours)));
    let modules: Vec<_> = ours.map(|module| (module.name, module.types)).collect();
    let count = modules.len();
    for (name, text) in modules.into_iter().chain([("k6", ADDED), ("libraries", modules::libraries::TYPES)]) {
        let path = format!("{folder}/{name}.d.ts");
        write(&path, text).map_err(|error| fail(&path, error))?;
        files.push(path);
    }
    let is_new = config(folder).map_err(|error| fail("tsconfig.json", error))?;
    files.extend(is_new.then(|| String::from("tsconfig.json")));
    let of_config = match is_new {
        true => String::from("tsconfig.json: written"),
        false => format!(
            "tsconfig.json is there already: its `paths` need \"onrush/*\": [\"./{folder}/onrush/*\"] and \"k6/x/*\": \
             [\"./{folder}/k6/x/*\"], and its `include` \"{folder}/**/*.d.ts\""
        ),
    };
    let of_k6 = "for k6's own: npm install --save-dev @types/k6";
    if json_answer::is_wanted(matches) {
        return json_answer::print(&WrittenFiles::new("types", files, vec![of_config, of_k6.to_owned()]));
    }
    output::answer(&format!(
        "{folder}: declarations of {count} modules and k6's libraries, and what Onrush adds to k6's\n{of_config}\n\
         {of_k6}\n"
    ))
}

/// Writes the config of a project that has none; whether it had none.
fn config(folder: &str) -> io::Result<bool> {
    match fs::OpenOptions::new().write(true).create_new(true).open("tsconfig.json") {
        Ok(mut file) => {
            io::Write::write_all(&mut file, CONFIG.replace("FOLDER", folder).as_bytes())?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn write(path: &str, text: &str) -> io::Result<()> {
    Path::new(path).parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}
