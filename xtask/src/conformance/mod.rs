//! `cargo xtask conformance`: other people's suites for the protocols spoken here.
//!
//! ```text
//! cargo xtask conformance autobahn [client|server] [CASE…]    Autobahn|Testsuite, WebSocket, both ends
//! cargo xtask conformance h2spec [SECTION…]                   h2spec, HTTP/2, the target over tcp and TLS
//! cargo xtask conformance url                                 the web platform's tests of URLs, the class of scripts
//! cargo xtask conformance wycheproof                          Wycheproof's vectors, `crypto.subtle`
//! ```
//!
//! Not part of `cargo test`: the first time it needs Python or Go and their package indices, and each time minutes. A
//! case that may differ is in the suite's list of exclusions with its reason.

mod autobahn;
mod h2spec;
mod script;
mod url;
mod wycheproof;

/// Runs the suites that the arguments name; all without any.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let rest = arguments.get(1..).unwrap_or_default();
    match arguments.first().map(String::as_str) {
        None => [url::run, wycheproof::run, h2spec::run, autobahn::run].iter().try_for_each(|suite| suite(rest)),
        Some("autobahn") => autobahn::run(rest),
        Some("h2spec") => h2spec::run(rest),
        Some("url") => url::run(rest),
        Some("wycheproof") => wycheproof::run(rest),
        Some(other) => Err(format!("unknown suite {other:?}, expected autobahn, h2spec, url or wycheproof")),
    }
}
