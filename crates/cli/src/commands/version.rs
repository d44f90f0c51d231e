//! `onrush version` and `onrush features`. Called as k6, it names the version of k6 first: programs compare it.

use std::sync::LazyLock;

use clap::{ArgMatches, Command};

use crate::called_as::{self, K6_VERSION};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::features::FEATURES;
use crate::json_answer::{self, FeatureAnswer, VersionAnswer};
use crate::output;

const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// The command `version`.
pub fn command() -> Command {
    Command::new("version").about("Print the version").arg(json_answer::flag("version-1.json"))
}

/// The command `features`.
pub fn features_command() -> Command {
    let about = "List what --features switches on";
    Command::new("features").about(about).arg(json_answer::flag("features-1.json"))
}

/// Prints the version. The document stands in one line, as k6's does.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if !json_answer::is_wanted(matches) {
        return output::answer(&format!("{} {}\n", name(), line()));
    }
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let (version, onrush) = match called_as::is_k6() {
        true => (format!("v{K6_VERSION}"), Some(VERSION)),
        false => (VERSION.to_owned(), None),
    };
    let shown = VersionAnswer { version, os, arch, go_os: os, go_arch: go_arch(arch), onrush };
    output::answer(&format!("{}\n", json_answer::line(&shown)))
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
fn go_arch(arch: &'static str) -> &'static str {
    match arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Lists the features.
pub fn features(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if json_answer::is_wanted(matches) {
        let all = FEATURES.map(|[feature, lifecycle, description]| FeatureAnswer { feature, lifecycle, description });
        return json_answer::print(&all);
    }
    let titles = ["FEATURE", "LIFECYCLE", "DESCRIPTION"];
    let lines = [&titles].into_iter().chain(&FEATURES);
    let line = |[name, lifecycle, description]: &[&str; 3]| format!("{name:<20}{lifecycle:<15}{description}\n");
    output::answer(&lines.map(line).collect::<String>())
}
