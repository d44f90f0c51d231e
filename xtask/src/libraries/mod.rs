//! `cargo xtask libraries --tree DIR`: every export of every built-in library beside the real file of its version.
//!
//! DIR is a checkout of grafana/jslib.k6.io, of which nothing is committed. Generated calls (`xtask/libraries/*.js`)
//! run against the real file and against ours, in Onrush and in k6, and must have the same outcomes: values, messages,
//! checks, groups, metrics. What is knowingly different is in `reasons.rs`, each with its reason. Modules of Rust
//! (`formdata`, `url`) have no text that k6 could run: theirs under Onrush beside the real file under k6.

mod engines;
mod outcomes;
mod reasons;

use std::path::{Path, PathBuf};

use engines::{Engine, Engines};
use outcomes::{CallOutcomes, Comparison};

use crate::parity;

/// Calls of each export, unless its list says otherwise.
const COUNT: u32 = 100;

/// What the command line asks for.
struct Selection {
    tree: PathBuf,
    seed: u32,
    count: u32,
    names: Vec<String>,
}

/// Compares the libraries whose address contains one of the names (all without names).
pub fn run(arguments: &[String]) -> Result<(), String> {
    let selection = read(arguments)?;
    let root = parity::workspace()?;
    let folder = std::env::temp_dir().join(format!("onrush-libraries-{}", std::process::id()));
    let engines = Engines::find(&root, &folder)?;
    let addresses = modules::libraries::addresses().into_iter();
    let picked: Vec<String> = addresses
        .filter(|address| {
            selection.names.is_empty() || selection.names.iter().any(|name| address.contains(name.as_str()))
        })
        .collect();
    if picked.is_empty() {
        return Err(format!("no built-in library matches {}", selection.names.join(", ")));
    }
    let mut failed = Vec::new();
    for address in &picked {
        for pair in Sides::of(&engines, address, &selection.tree)? {
            let comparison = pair.compare(&engines, &selection)?;
            if comparison.print(&pair.title) {
                failed.push(pair.title);
            }
        }
    }
    std::fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    reasons::print();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("{} different: {}", failed.len(), failed.join(", "))),
    }
}

fn read(arguments: &[String]) -> Result<Selection, String> {
    let mut selection = Selection { tree: PathBuf::new(), seed: 1, count: COUNT, names: Vec::new() };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: &String| text.parse().map_err(|_| format!("{argument}: found {text:?}, expected a number"));
        match argument.as_str() {
            "--tree" => selection.tree = PathBuf::from(value()?),
            "--seed" => selection.seed = number(value()?)?,
            "--count" => selection.count = number(value()?)?,
            flag if flag.starts_with('-') => return Err(format!("unknown flag {flag}")),
            name => selection.names.push(name.to_owned()),
        }
    }
    if !selection.tree.join("lib").is_dir() {
        return Err(format!("--tree: found {:?}, expected a checkout of grafana/jslib.k6.io", selection.tree));
    }
    Ok(selection)
}

/// A real file and ours, each with the engine that runs it.
struct Sides {
    title: String,
    library: String,
    real: (Engine, String),
    ours: (Engine, String),
}

impl Sides {
    /// The pairs of an address: one an engine.
    fn of(engines: &Engines, address: &str, tree: &Path) -> Result<Vec<Sides>, String> {
        let path = address.strip_prefix(modules::libraries::HOST).expect("all are there");
        let file = tree.join("lib").join(path);
        let file = file.canonicalize().map_err(|error| format!("cannot find {}: {error}", file.display()))?;
        let (real, library) = (file.display().to_string(), path.split('/').next().unwrap_or_default().to_owned());
        let version = path.trim_end_matches("/index.js");
        let pair = |engine: &str, real_engine, ours| Sides {
            title: format!("{version} in {engine}"),
            library: library.clone(),
            real: (real_engine, real.clone()),
            ours,
        };
        let in_onrush = (Engine::Onrush, address.to_owned());
        let Some(text) = modules::libraries::text(address) else {
            // Onrush replaces the real file of formdata by the module.
            let other = engines.has_k6().then(|| pair("Onrush, the real file in k6", Engine::K6, in_onrush));
            return Ok(other.into_iter().collect());
        };
        let mut pairs = vec![pair("Onrush", Engine::Onrush, in_onrush)];
        if engines.has_k6() {
            pairs.push(pair("k6", Engine::K6, (Engine::K6, engines.write_module(path, &text)?)));
        }
        Ok(pairs)
    }

    fn compare(&self, engines: &Engines, selection: &Selection) -> Result<Comparison, String> {
        let outcomes = |(engine, subject): &(Engine, String)| {
            let lines = engines.run(*engine, &self.library, subject, selection.seed, selection.count)?;
            CallOutcomes::read(&lines).map_err(|problem| format!("{} ({subject}): {problem}", self.title))
        };
        Ok(Comparison::of(&self.library, &outcomes(&self.real)?, &outcomes(&self.ours)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_has_calls() {
        for address in modules::libraries::addresses() {
            let library = address.trim_start_matches(modules::libraries::HOST).split('/').next().unwrap_or_default();
            assert!(engines::calls(library).is_some(), "{address}");
        }
    }
}
