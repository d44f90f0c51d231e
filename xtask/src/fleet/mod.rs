//! `cargo xtask fleet`: fleets under what `cargo test` has no time or no programs for.

mod crowd;
mod kube;
mod outages;
mod simulate;

const USAGE: &str = "usage: cargo xtask fleet simulate [SEEDS [FIRST]]
       cargo xtask fleet crowd [AGENTS [SECONDS]]
       cargo xtask fleet kube [CASE…]
       cargo xtask fleet objects
       cargo xtask fleet nats";

/// Runs a part of the suite.
pub fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("simulate") => simulate::run(&arguments[1..]),
        Some("crowd") => crowd::run(&arguments[1..]),
        Some("kube") => kube::run(&arguments[1..]),
        Some("objects") => outages::objects(),
        Some("nats") => outages::nats(),
        _ => Err(USAGE.to_owned()),
    }
}
