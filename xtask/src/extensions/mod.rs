//! `cargo xtask extensions`: the test scripts of the extensions against real servers.
//!
//! Not part of `cargo test`, because the servers are other programs: named, redis-server, mosquitto, postgres, …
//! They run in folders of their own below the target folder, at ports that were free, and end with the suite. What is
//! not installed is skipped by name.

mod dns;
mod folder;
mod kafka;
mod mqtt;
mod redis;
mod sql;
mod suite;
mod tcp;

use crate::parity;
use suite::Suite;

/// The cases of an extension.
type Cases = fn(&Suite) -> Result<(), String>;

/// Each extension by its folder. One line an extension.
#[rustfmt::skip]
const ALL: &[(&str, Cases)] = &[
    ("kv", folder::kv),
    ("dotenv", folder::dotenv),
    ("faker", |suite| suite.script("faker", "three users", &["XK6_FAKER_SEED=11"])),
    ("file", folder::file),
    ("redis", redis::cases),
    ("sql", sql::cases),
    ("dns", dns::cases),
    ("mqtt", mqtt::cases),
    ("tcp", tcp::cases),
    ("kafka", kafka::cases),
];

/// Runs each extension whose name is given, or all.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(unknown) = arguments.iter().find(|argument| ALL.iter().all(|(name, _)| name != argument)) {
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        return Err(format!("found {unknown:?}, expected one of {}", names.join(", ")));
    }
    let root = parity::workspace()?;
    let suite = Suite { onrush: parity::build_onrush(&root)?, folder: root.join("target/extensions"), root };
    let chosen = ALL.iter().filter(|(name, _)| arguments.is_empty() || arguments.iter().any(|given| given == name));
    let problems: Vec<String> =
        chosen.filter_map(|(name, run)| run(&suite).err().map(|why| format!("{name}: {why}"))).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}
