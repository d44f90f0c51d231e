//! The `onrush` binary: flags in, exit code out. The only crate that reads flags and environment and that prints.

mod commands;
mod config;
mod exit_code;
mod failure;
mod flags;
mod log;
mod progress;
mod signals;

use std::process::ExitCode;

/// A VU makes many small allocations; see the dependency's comment for the measured difference.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::main(std::env::args_os().collect()).into()
}
