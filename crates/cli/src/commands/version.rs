//! `onrush version` and `onrush features`. Called as k6, it names the version of k6 first: programs compare it.

use std::sync::LazyLock;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::called_as::{self, K6_VERSION};
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
            let mut shown =
                json!({ "version": VERSION, "os": os, "arch": arch, "go_os": os, "go_arch": go_arch(arch) });
            if called_as::is_k6() {
                shown["version"] = format!("v{K6_VERSION}").into();
                shown["onrush"] = VERSION.into();
            }
            format!("{shown}\n")
        }
        false => format!("{} {}\n", name(), line()),
    }
}

/// What the program calls itself.
pub fn name() -> &'static str {
    if called_as::is_k6() { "k6" } else { "onrush" }
}

/// The version and what it was built for.
pub fn line() -> &'static str {
    static LINE: LazyLock<String> = LazyLock::new(|| {
        let machine = format!("{}/{}", std::env::consts::OS, go_arch(std::env::consts::ARCH));
        match called_as::is_k6() {
            true => format!("v{K6_VERSION} (onrush {VERSION}, {machine})"),
            false => format!("{VERSION} ({machine})"),
        }
    });
    &LINE
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
