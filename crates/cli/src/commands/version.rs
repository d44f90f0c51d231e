//! `onrush version` and `onrush features`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::features::FEATURES;

const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// The command `version`.
pub fn command() -> Command {
    Command::new("version").about("Print the version").arg(json_flag())
}

/// The command `features`.
pub fn features_command() -> Command {
    Command::new("features").about("List what --features switches on").arg(json_flag())
}

fn json_flag() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("As JSON")
}

/// What `version` prints.
pub fn text(matches: &ArgMatches) -> String {
    match matches.get_flag("json") {
        true => {
            let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
            // The last two have the names and words of k6, for what reads its output.
            let shown = json!({ "version": VERSION, "os": os, "arch": arch, "go_os": os, "go_arch": go_arch(arch) });
            format!("{shown}\n")
        }
        false => format!("onrush {VERSION} ({}/{})\n", std::env::consts::OS, go_arch(std::env::consts::ARCH)),
    }
}

/// Go's name of an architecture.
fn go_arch(arch: &str) -> &str {
    match arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// What `features` prints.
pub fn features(matches: &ArgMatches) -> String {
    if matches.get_flag("json") {
        let all = FEATURES.iter().map(|[name, lifecycle, description]| {
            json!({ "feature": name, "lifecycle": lifecycle, "description": description })
        });
        return format!("{:#}\n", Value::from_iter(all));
    }
    let titles = ["FEATURE", "LIFECYCLE", "DESCRIPTION"];
    let lines = [&titles].into_iter().chain(&FEATURES);
    lines.map(|[name, lifecycle, description]| format!("{name:<20}{lifecycle:<15}{description}\n")).collect()
}
