//! The workflows for strangers cannot run here. This reads them and fails when a command does not exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::find;
use crate::parity;

/// Subcommands that come with cargo and rustup.
const OF_CARGO: [&str; 8] = ["build", "check", "clippy", "doc", "fmt", "install", "run", "test"];
/// Programs that a runner of ci.yml has.
const PROGRAMS: [&str; 1] = ["rustup"];

/// The commands of a workflow, line by line.
fn commands(text: &str) -> Vec<String> {
    let (mut found, mut block) = (Vec::new(), None);
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        match block {
            Some(outer) if indent > outer || line.trim().is_empty() => found.push(line.trim().to_owned()),
            _ => {
                let run = line.trim_start().trim_start_matches("- ").strip_prefix("run:").map(str::trim);
                block = (run == Some("|")).then_some(indent);
                found.extend(run.filter(|command| *command != "|").map(str::to_owned));
            }
        }
    }
    found.retain(|command| !command.is_empty());
    found
}

/// What is wrong with a command; `installed` are the subcommands that earlier ones installed.
fn problem(command: &str, root: &Path, installed: &mut BTreeSet<String>) -> Option<String> {
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let (program, rest) = words.split_first()?;
    if program.starts_with(".ci/") || program.starts_with("ci/") {
        return (!root.join(program).is_file()).then(|| format!("there is no script {program}"));
    }
    if program != "cargo" {
        return None;
    }
    let rest = if rest.first().is_some_and(|word| word.starts_with('+')) { &rest[1..] } else { rest };
    let (subcommand, rest) = rest.split_first()?;
    if subcommand == "install" {
        let tools = rest.iter().filter_map(|word| word.strip_prefix("cargo-"));
        installed.extend(tools.map(|tool| tool.split('@').next().unwrap_or(tool).to_owned()));
    }
    if subcommand == "xtask" {
        return find(rest).is_none().then(|| format!("there is no suite {}", rest.join(" ")));
    }
    if !OF_CARGO.contains(&subcommand.as_str()) && !installed.contains(subcommand) {
        return Some(format!("cargo has no {subcommand}"));
    }
    let own = rest.iter().take_while(|word| *word != "--");
    let mut packages = own.clone().zip(own.skip(1)).filter(|(flag, _)| ["-p", "--package"].contains(&flag.as_str()));
    packages.find_map(|(_, name)| (!is_package(root, name)).then(|| format!("there is no package {name}")))
}

fn is_package(root: &Path, name: &str) -> bool {
    let folders = [format!("crates/{}", name.trim_start_matches("onrush-")), format!("xtask/{name}"), name.to_owned()];
    let manifests = folders.iter().filter_map(|folder| fs::read_to_string(root.join(folder).join("Cargo.toml")).ok());
    manifests.into_iter().any(|text| text.lines().any(|line| line == format!("name = \"{name}\"")))
}

fn problems(text: &str, root: &Path) -> Vec<String> {
    // pip installs it in release.yml.
    let mut installed = BTreeSet::from(["zigbuild".to_owned()]);
    let told = |command: &String| problem(command, root, &mut installed).map(|what| format!("{command}: {what}"));
    commands(text).iter().filter_map(told).collect()
}

fn root() -> std::path::PathBuf {
    parity::workspace().expect("the root")
}

fn workflow(name: &str) -> String {
    fs::read_to_string(root().join(".github/workflows").join(name)).expect(name)
}

#[test]
fn commands_of_workflows_exist() {
    for name in ["ci.yml", "release.yml"] {
        assert!(commands(&workflow(name)).len() > 5, "{name} has no commands");
        assert_eq!(problems(&workflow(name), &root()), [""; 0], "{name}");
    }
}

/// What a stranger's machine has not: programs that nothing installed.
#[test]
fn the_workflow_of_changes_needs_nothing_but_rust() {
    for command in commands(&workflow("ci.yml")) {
        let program = command.split_whitespace().next().unwrap_or_default();
        let is_known = program == "cargo" || program.starts_with(".ci/") || PROGRAMS.contains(&program);
        assert!(is_known, "{command}: is {program} there?");
    }
}

/// The minimum is that of Cargo.toml.
#[test]
fn the_minimum_rust_is_the_one_that_is_promised() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).expect("a version");
    let version = version.trim_end_matches('"');
    let text = workflow("ci.yml");
    assert!(text.contains(&format!("rustup toolchain install {version} ")), "ci.yml does not install {version}");
    assert!(text.contains(&format!("cargo +{version} check")), "ci.yml does not check with {version}");
}

/// The canary.
#[test]
fn what_does_not_exist_is_found() {
    let text = "steps:\n  - run: cargo fmt --all\n  - run: |\n      cargo xtask fizz --now\n      .ci/walk\n\n\
                \x20     cargo deny check\n  - name: run: no\n    run: cargo test -p onrush-hosts -- -p x\n\
                \x20 - run: cargo install cargo-deny\n  - run: cargo deny check\n";
    assert_eq!(
        problems(text, &root()),
        [
            "cargo xtask fizz --now: there is no suite fizz --now",
            ".ci/walk: there is no script .ci/walk",
            "cargo deny check: cargo has no deny",
            "cargo test -p onrush-hosts -- -p x: there is no package onrush-hosts",
        ]
    );
    let good = "- run: .ci/run\n- run: cargo xtask fleet simulate 9\n- run: cargo build -p onrush-cli";
    assert_eq!(problems(good, &root()), [""; 0]);
}
