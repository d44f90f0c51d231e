//! `onrush mcp`: tools for a program that speaks the Model Context Protocol, over standard input and output.
//!
//! The protocol is lines of JSON-RPC, and of its methods a server with tools alone needs four. They are a
//! hundred lines here. The crate `rmcp` 3.11 (the official one, Apache-2.0, rustc 1.88) was tried with its feature
//! `server` alone, without macros: five crates that we do not have (rmcp, futures, futures-executor, pastey,
//! unicode-general-category), 44 s of processor time unoptimised with everything it needs. It also knows the
//! versions of 2025-11-25 and 2026-07-28, which these lines do not.
//!
//! A tool that runs a test starts this binary again, so that a test can be ended and cannot take the server along.
//! Requests are answered one after the other. Only loopback can be reached unless `--allow-host` says more.

mod bounds;
mod protocol;
mod tools;

use std::io::{BufRead, Write};

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use bounds::Bounds;

const AFTER_HELP: &str = "\
The tools: validate_script, run_test, explain_result, compare_results. A client starts this command and speaks with it \
by standard input and output.

A test ends after --max-duration, makes no more HTTP requests than --max-requests, fetches no modules, and connects to \
loopback addresses and those of --allow-host alone. Its script runs with your rights: it can read files, and write \
those that handleSummary() names.";

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
    let mut out = std::io::stdout().lock();
    let failed = |error: std::io::Error| Failure::new(ExitCode::Generic, format!("mcp: {error}"));
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(failed)?;
        if let Some(answer) = protocol::answer(&line, &bounds) {
            writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(failed)?;
        }
    }
    Ok(ExitCode::Ok)
}
