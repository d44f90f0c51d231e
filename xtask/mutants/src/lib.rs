//! Do a crate's own tests notice when its code is wrong? cargo-mutants changes one thing at a time; this chooses the
//! changes.
//!
//! Per crate 100 changes are drawn by a seed, so that a night's run says the same to everybody. A change is caught when
//! a test of the same crate fails or never ends, missed when all pass, unviable when it does not compile. Changes that
//! cannot be noticed are listed with their reason in `equivalent.txt` and do not count. A crate passes when 92 % of the
//! viable changes are caught.
//!
//! The changes are made in a copy of the working tree under `target/mutants`, which keeps its builds; your files are
//! only read.

mod change;
mod copy;
mod equivalent;
mod options;
mod outcome;
mod tool;

use std::path::Path;

use change::Change;
use equivalent::Equivalents;
pub use equivalent::LIST;
use options::Options;
use outcome::{Found, Tally};
use tool::Tool;

/// The share of viable changes that tests have to catch.
const LEAST_CAUGHT: f64 = 0.92;

/// A part of the source whose tests are held to account.
struct Subject {
    name: &'static str,
    package: &'static str,
    /// Globs of its files; none: the whole package.
    files: &'static [&'static str],
}

/// Crates with arithmetic and decisions, and of `wire` the codecs and the HTTP/1 exchange with its routes and pools.
/// Sockets, the script host and the command line are judged by other suites.
const SUBJECTS: [Subject; 6] = [
    Subject { name: "metrics", package: "onrush-metrics", files: &[] },
    Subject { name: "engine", package: "onrush-engine", files: &[] },
    Subject { name: "report", package: "onrush-report", files: &[] },
    Subject { name: "journal", package: "onrush-journal", files: &[] },
    Subject {
        name: "codecs",
        package: "onrush-wire",
        files: &[
            "crates/wire/src/syntax/codec.rs",
            "crates/wire/src/syntax/codec/**",
            "crates/wire/src/h1/**",
            "crates/wire/src/ws/**",
        ],
    },
    Subject {
        name: "wire",
        package: "onrush-wire",
        files: &[
            "crates/wire/src/client/exchange.rs",
            "crates/wire/src/client/hops.rs",
            "crates/wire/src/client/http1/**",
            "crates/wire/src/client/http2/pool.rs",
            "crates/wire/src/client/in_flight.rs",
            "crates/wire/src/client/known_requests.rs",
            "crates/wire/src/client/lease.rs",
            "crates/wire/src/client/pool.rs",
            "crates/wire/src/client/redirect.rs",
            "crates/wire/src/client/route/**",
        ],
    },
];

/// The arguments are those of `cargo xtask mutants`; the error says which subjects fell short.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let names = SUBJECTS.map(|subject| subject.name);
    let options = Options::read(arguments, &names)?;
    let folder = root.join("target/mutants");
    let tool = Tool::install(&root.join("target/tools"), &folder)?;
    let _alone = copy::alone(&folder)?;
    copy::mirror(root, &tool.tree)?;
    let equivalents = Equivalents::read(root)?;
    let mut short = Vec::new();
    for subject in SUBJECTS.iter().filter(|subject| options.wants(subject.name)) {
        if options.is_listing {
            list(subject, &tool, &options)?;
            continue;
        }
        let tally = judge(subject, &tool, &equivalents, &options)?;
        print!("{}", tally.text(subject.name));
        if tally.share() < LEAST_CAUGHT {
            short.push(subject.name);
        }
    }
    match short.is_empty() {
        true => Ok(()),
        false => Err(format!("tests of {} catch less than {:.0} %", short.join(", "), LEAST_CAUGHT * 100.0)),
    }
}

/// Names what would be changed.
fn list(subject: &Subject, tool: &Tool, options: &Options) -> Result<(), String> {
    for Change { name, code, .. } in options.draw(tool.list(subject)?) {
        println!("{name}\n    in: {code}");
    }
    Ok(())
}

fn judge(subject: &Subject, tool: &Tool, equivalents: &Equivalents, options: &Options) -> Result<Tally, String> {
    let all = tool.list(subject)?;
    equivalents.check(subject, &all)?;
    let total = all.len();
    let drawn = options.draw(all);
    let (listed, tested): (Vec<Change>, Vec<Change>) = drawn.into_iter().partition(|change| equivalents.has(change));
    println!("{}: {} of {total} changes, {} more are equivalent", subject.name, tested.len(), listed.len());
    let outcomes = tool.test(subject, &tested)?;
    let found = tested.into_iter().map(|change| {
        let outcome = outcomes.get(&change.name).copied().ok_or_else(|| format!("no outcome of {}", change.name))?;
        Ok(Found { change, outcome })
    });
    Ok(Tally { found: found.collect::<Result<_, String>>()?, equivalent: listed.len() })
}
