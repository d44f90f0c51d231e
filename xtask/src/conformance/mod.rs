//! `cargo xtask conformance`: other people's suites for the protocols spoken here.
//!
//! ```text
//! cargo xtask conformance autobahn [client|server] [CASE…]    Autobahn|Testsuite, WebSocket, both ends
//! ```
//!
//! Not part of `cargo test`: it needs Python and the package index the first time, and minutes each time. A case that may
//! differ stands in the suite's list of exclusions with its reason.

mod autobahn;

/// Runs the suites that the arguments name; all without any.
pub fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        None | Some("autobahn") => autobahn::run(arguments.get(1..).unwrap_or_default()),
        Some(other) => Err(format!("unknown suite {other:?}, expected autobahn")),
    }
}
