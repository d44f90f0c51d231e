//! `onrush mcp`: tools for a program that speaks the Model Context Protocol, over standard input and output.
//!
//! The protocol is the crate `rmcp`'s; ours are the lines it travels in, and the tools.
//!
//! A tool that runs a test starts this binary again, so that a test can be ended and cannot take the server along.
//! Calls run one after the other, and a client can cancel one. Only loopback can be reached unless `--allow-host` says
//! more.

mod bounds;
mod client;
mod server;
mod tools;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use bounds::Bounds;
use client::McpClient;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use server::ToolServer;

const AFTER_HELP: &str = "\
The tools: validate_script, run_test, explain_result, compare_results. A client starts this command and speaks with it \
by standard input and output.

A test ends after --max-duration, makes no more HTTP requests than --max-requests, fetches no modules, and connects to \
loopback addresses and those of --allow-host alone. Its script runs with your rights: it can read files, and write \
those that handleSummary() names.";

const NO_CLIENT: &str = "standard input ended, expected a client's request 'initialize'; this command is started by a \
                         program that speaks the Model Context Protocol";

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
    let failed = |error: &dyn std::fmt::Display| Failure::new(ExitCode::Generic, format!("mcp: {error}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(|error| failed(&error))?;
    runtime.block_on(async {
        let client = McpClient::open().map_err(|error| failed(&error))?;
        let serving = ToolServer::new(bounds).serve(client).await.map_err(|error| match error {
            ServerInitializeError::ConnectionClosed(_) => failed(&NO_CLIENT),
            other => failed(&other),
        })?;
        serving.waiting().await.map_err(|error| failed(&error))?;
        Ok(ExitCode::Ok)
    })
}
