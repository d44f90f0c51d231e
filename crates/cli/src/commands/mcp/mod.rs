//! `onrush mcp`: tools for a program that speaks the Model Context Protocol, over standard input and output.
//!
//! The protocol is the crate `mcp`'s; here are the tools.
//!
//! A tool that runs a test starts this binary again, so that a test can be ended and cannot take the server along.
//! Calls run one after the other, and a client can cancel one. Only loopback can be reached unless `--allow-host` says
//! more.

mod bounds;
mod tools;

use std::io::Write;

use ::mcp::Server;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use bounds::Bounds;
use tools::BoundedTools;

const AFTER_HELP: &str = "\
The tools: validate_script, run_test, explain_result, compare_results. A client starts this command and speaks with it \
by standard input and output.

A test ends after --max-duration, makes no more HTTP requests than --max-requests, fetches no modules, and connects to \
loopback addresses and those of --allow-host alone. Its script runs with your rights: it can read files, and write \
those that handleSummary() names.";

const INSTRUCTIONS: &str = "Load tests with k6 scripts. Validate a script first, run it for some seconds, and read the \
                            judgement before the figures: figures of an INVALID run are no evidence. Differences \
                            between two runs prove little; compare_results says what is proven.";

const SERVER: Server = Server {
    name: "onrush",
    version: env!("CARGO_PKG_VERSION"),
    instructions: INSTRUCTIONS,
    print: |line| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush())
    },
};

/// The command and its flags.
pub fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("mcp")
        .about("Offer tools by the Model Context Protocol: validate, run, explain and compare tests")
        .after_help(AFTER_HELP)
        .arg(
            text(
                "allow-host",
                "HOST|CIDR",
                "Let tests connect to the addresses of this host, or of this block, too; repeat for more",
            )
            .action(ArgAction::Append),
        )
        .arg(text("max-duration", "TIME", "End a test after this time").default_value("60s"))
        .arg(text("max-requests", "N", "HTTP requests of a test, spread over its longest time").default_value("100000"))
        .arg(text("max-vus", "N", "Virtual users of a test").default_value("100"))
}

/// Answers until standard input ends.
pub fn main(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let bounds = Bounds::read(matches)?;
    let served = ::mcp::serve(SERVER, BoundedTools(bounds));
    served.map_err(|why| Failure::new(ExitCode::Generic, format!("mcp: {why}")))?;
    Ok(ExitCode::Ok)
}
