//! What pages and messages name exists: flags, commands, suites, files.
//!
//! Pages are Markdown of the book and of the root; messages are string literals and declarations in the sources.
//! `CHANGELOG.md` tells of what was. Flags of other programs have a list here, each with its program; a flag that is in
//! the list and named nowhere fails too. Links between pages and their headings are `cargo xtask book`'s.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Command;

use crate::commands;
use crate::curl::flag::FLAGS;
use crate::flags::OF_K6;

/// Programs, and their flags that pages and messages with the program's name may name too.
const FOREIGN: &[(&str, &[&str])] = &[
    ("cargo", &["lib", "locked", "path", "profile", "release", "workspace"]),
    ("curl", &["proto"]),
    ("kubectl", &["server-side"]),
    ("kubectl wait", &["for", "timeout"]),
    ("npm install", &["save-dev"]),
    ("Prometheus", &["web.enable-remote-write-receiver"]),
    ("puma", &["control-token", "control-url"]),
    ("sha256sum", &["check"]),
    ("tar -", &["strip-components"]),
    ("valgrind", &["separate-threads", "tool"]),
    ("wrk", &["latency", "script", "timeout"]),
];

/// What begins the commands of this repository's own programs, and where their flags are read.
const SUITES: (&str, &str) = ("cargo xtask ", "xtask");

/// Folders of the repository that paths begin with.
const FOLDERS: [&str; 7] = ["bench/", "crates/", "docs/", "examples/", "xtask/", ".ci/", "packages/"];

/// What there is.
struct Existing {
    root: PathBuf,
    flags: BTreeSet<String>,
    commands: BTreeSet<String>,
    /// The table of suites.
    suites: String,
    /// The source of the suites, which names their flags.
    suite_flags: String,
}

impl Existing {
    fn new() -> Existing {
        let root = root();
        let (mut flags, mut names) = (BTreeSet::new(), BTreeSet::new());
        collect(&commands::command(), &mut flags, &mut names);
        flags.extend(FLAGS.iter().map(|flag| flag.long.to_owned()));
        flags.extend(OF_K6.iter().map(|flag| flag.flag.to_owned()));
        flags.extend(["help", "version"].map(str::to_owned));
        let suites = text(&root.join("xtask/src/suites/table.rs"));
        let mut sources = Vec::new();
        files(&root.join(SUITES.1), ".rs", &mut sources);
        let suite_flags = sources.iter().map(|path| text(path)).collect();
        Existing { root, flags, commands: names, suites, suite_flags }
    }

    /// What a text names and there is not.
    fn missing(&self, text: &str, used: &mut BTreeSet<String>) -> Vec<String> {
        let mut missing = Vec::new();
        for flag in flags(text) {
            let name = flag.strip_prefix("no-").filter(|name| self.flags.contains(*name)).unwrap_or(flag);
            if !self.flags.contains(name) && !is_foreign(text, flag, used) && !self.is_suites(text, flag) {
                missing.push(format!("the flag --{flag}"));
            }
        }
        for command in words_behind(text, "onrush ") {
            if !self.commands.contains(command) {
                missing.push(format!("the command onrush {command}"));
            }
        }
        for suite in words_behind(text, "cargo xtask ") {
            let is_there = [format!("name: \"{suite}\""), format!("name: \"{suite} ")];
            if !is_there.iter().any(|row| self.suites.contains(row)) {
                missing.push(format!("the suite cargo xtask {suite}"));
            }
        }
        let exists = |path: &str| self.root.join(path).exists() || self.root.join("crates").join(path).exists();
        missing.extend(paths(text).filter(|path| !exists(path)).map(|path| format!("the path {path}")));
        missing
    }
}

impl Existing {
    fn is_suites(&self, text: &str, flag: &str) -> bool {
        text.contains(SUITES.0) && self.suite_flags.contains(&format!("\"--{flag}\""))
    }
}

/// Whether a program has the flag that the text names.
fn is_foreign(text: &str, flag: &str, used: &mut BTreeSet<String>) -> bool {
    let is_known = |(program, flags): &&(&str, &[&str])| text.contains(program) && flags.contains(&flag);
    let known = FOREIGN.iter().find(is_known);
    used.extend(known.map(|(program, _)| format!("{program} --{flag}")));
    known.is_some()
}

fn collect(command: &Command, flags: &mut BTreeSet<String>, names: &mut BTreeSet<String>) {
    for argument in command.get_arguments() {
        flags.extend(argument.get_long().map(str::to_owned));
        flags.extend(argument.get_all_aliases().into_iter().flatten().map(str::to_owned));
    }
    for inner in command.get_subcommands() {
        names.insert(inner.get_name().to_owned());
        names.extend(inner.get_all_aliases().map(str::to_owned));
        collect(inner, flags, names);
    }
}

/// The folder of the repository.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(super) fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of flags in a text, without their dashes.
fn flags(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("--").filter_map(|(at, _)| {
        let begins = text[..at].chars().next_back().is_none_or(|before| " \n\t`'\"([|,/=".contains(before));
        let name = &text[at + 2..];
        let end = name.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '-' || sign == '.'));
        let name = name[..end.unwrap_or(name.len())].trim_end_matches(['.', '-']);
        // `--NAME` and `--data-*` stand for several.
        let is_name = name.starts_with(|first: char| first.is_ascii_lowercase()) && !name.contains(char::is_uppercase);
        let is_pattern = text[at + 2 + name.len()..].starts_with(['*', '-', '…']);
        (begins && is_name && name.len() > 1 && !is_pattern).then_some(name)
    })
}

/// The plain words behind `start` where code begins with it: behind a backtick or at the start of a line.
fn words_behind<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(start).filter_map(move |(at, _)| {
        let before = &text[..at];
        if !(before.is_empty() || before.ends_with(['`', '\n']) || before.ends_with("$ ")) {
            return None;
        }
        let rest = &text[at + start.len()..];
        let word = &rest[..rest.find([' ', '`', '\n', '"', ',', '\\']).unwrap_or(rest.len())];
        let is_word = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '-';
        (word.starts_with(|first: char| first.is_ascii_lowercase()) && word.chars().all(is_word)).then_some(word)
    })
}

/// Paths in the repository, those of sources also without `crates/`.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let ends = |sign: char| sign.is_whitespace() || "`'\"()[]<>|;".contains(sign);
    text.split(ends).filter_map(|word| {
        let word = word.split(['#', ':']).next().unwrap_or_default().trim_end_matches(['.', ',']);
        let is_ours = FOLDERS.iter().any(|folder| word.starts_with(folder) && word.len() > folder.len());
        let is_source = word
            .split_once("/src/")
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|sign| sign.is_ascii_lowercase()));
        let is_one = !word.contains(['{', '*', '$', '…', '%', '=', ',', '\\']) && !word.contains("...");
        ((is_ours || is_source) && is_one && !word.contains(char::is_uppercase) || is_ours && word.ends_with(".md"))
            .then_some(word)
    })
}

/// The string literals of a source, comments and tests left out.
fn literals(source: &str) -> String {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut out = String::new();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "").replace("\\\"", "'").replace("\\n", "\n");
    for (number, piece) in code.split('"').enumerate() {
        if number % 2 == 1 {
            // A sentence may begin with the name of the program.
            out.push(' ');
            out.push_str(piece);
            out.push('\n');
        }
    }
    out
}

pub(super) fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.to_string_lossy().ends_with(extension) {
            found.push(path);
        }
    }
}

/// Pages and messages, each with the name of its file.
fn all(root: &Path) -> Vec<(String, String)> {
    let name = |path: &Path| path.strip_prefix(root).expect("a path of ours").display().to_string();
    let (mut pages, mut sources, mut declarations) = (Vec::new(), Vec::new(), Vec::new());
    pages.extend(["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|page| root.join(page)));
    files(&root.join("docs"), ".md", &mut pages);
    for entry in std::fs::read_dir(root.join("crates")).expect("the crates") {
        let folder = entry.expect("a crate").path().join("src");
        if folder.is_dir() {
            files(&folder, ".rs", &mut sources);
            files(&folder, ".d.ts", &mut declarations);
        }
    }
    let whole = pages.iter().chain(&declarations).map(|path| (name(path), text(path)));
    let messages = sources.iter().map(|path| (name(path), literals(&text(path))));
    whole.chain(messages).collect()
}

#[test]
fn what_is_named_exists() {
    let existing = Existing::new();
    let mut used = BTreeSet::new();
    let mut missing = Vec::new();
    for (name, text) in all(&existing.root) {
        missing.extend(existing.missing(&text, &mut used).into_iter().map(|what| format!("{name}: {what}")));
    }
    let listed =
        FOREIGN.iter().flat_map(|(program, flags)| flags.iter().map(move |flag| format!("{program} --{flag}")));
    let stale = listed.filter(|flag| !used.contains(flag)).map(|flag| format!("FOREIGN: {flag} is named nowhere"));
    missing.extend(stale);
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "these do not exist:\n{}", missing.join("\n"));
}

/// The canary: invented names are found, wherever they stand.
#[test]
fn what_does_not_exist_is_found() {
    let existing = Existing::new();
    let found = |text: &str| existing.missing(text, &mut BTreeSet::new());
    assert_eq!(found("Pass `--show` and `--show-script`, `--no-color`."), ["the flag --show"]);
    assert_eq!(found("```sh\nonrush run --vuss 3 --vus=3\n```"), ["the flag --vuss"]);
    assert_eq!(found("```sh\nonrush walk script.js\nonrush http://a/\n```"), ["the command onrush walk"]);
    assert_eq!(
        found("kubectl apply --server-side --force-all, and cargo --tree"),
        ["the flag --force-all", "the flag --tree"]
    );
    assert_eq!(found("apply --server-side"), ["the flag --server-side"]);
    assert_eq!(found("`cargo xtask libraries --tree DIR`"), [""; 0]);
    assert_eq!(found("`cargo xtask fuzz`, `cargo xtask fizz`"), ["the suite cargo xtask fizz"]);
    assert_eq!(
        found("see docs/guides/quick.md, docs/guides/quicker.md and `server/src/h1/`, `server/src/h9/`"),
        ["the path docs/guides/quicker.md", "the path server/src/h9/"]
    );
    let source = "// --comment\nlet a = \"pass --shown \\\"so\\\"\"; let b = x --minus; #[cfg(test)] \"--test-only\"";
    assert_eq!(found(&literals(source)), ["the flag --shown"]);
}
