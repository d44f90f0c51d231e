//! Heavier suites than `cargo test`: what needs another program, or minutes.
//!
//! [`suites`] has the table of them; `cargo xtask` alone shows it. Each command is one file or folder. None is part of
//! `cargo test`, which must pass on a machine that has nothing but Rust.

mod book;
mod browser;
mod conformance;
mod connect;
mod convert;
mod curl;
mod daemon;
mod dist;
mod extensions;
mod fleet;
mod forms;
mod go;
mod grpc;
mod image;
mod libraries;
mod npm;
mod outputs;
mod parity;
mod programs;
mod receivers;
mod sanitize;
mod soak;
mod socketio;
mod stats;
mod suites;
mod test262;
mod timing;
mod truth;
mod types;
mod witness;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &*arguments {
        // The fuzzer starts itself anew for what may not survive.
        [first, rest @ ..] if first == "fuzz-child" => fuzz::run_child(rest),
        all => suites::dispatch(all),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
