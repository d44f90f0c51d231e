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
            format!("{}\n", json!({ "version": VERSION, "os": std::env::consts::OS, "arch": std::env::consts::ARCH }))
        }
        false => format!("onrush {VERSION}\n"),
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
