//! What the `onrush` binary does: flags in, exit code out. The only crate that reads flags and environment and that
//! prints.
//!
//! A library, so that `cargo xtask fuzz` reaches its readers; `main.rs` calls `main` and has the allocator.

mod api;
mod app;
mod archive;
mod backing;
mod browser;
mod builtins;
mod called_as;
mod ci;
mod commands;
mod config;
mod curl;
mod exit_code;
mod failure;
mod features;
mod flags;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod json_answer;
mod listener_guard;
mod live;
mod log;
mod messages;
mod output;
mod process;
mod quick;
#[cfg(test)]
mod reference;
mod secrets;
mod terminal;
mod viewers;

use std::io::Write as _;
use std::process::ExitCode;

/// The program, from its arguments to its exit code. Panics are told as bugs.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(say_it_is_a_bug));
    use_small_pages();
    if let Err(failure) = process::resources::check() {
        eprintln!("{}", failure.message);
        return failure.code.into();
    }
    if std::env::var("ONRUSH_PREEMPTION").is_ok_and(|text| text == "off") {
        host::watchdog::turn_off();
    }
    wire::trust_authorities_in(std::env::var("SSL_CERT_FILE").ok(), std::env::var("SSL_CERT_DIR").ok());
    let arguments = std::env::args_os().collect();
    let code =
        std::panic::catch_unwind(|| commands::main(arguments)).unwrap_or_else(|_| process::resources::code_of_panic());
    output::finish();
    if cfg!(feature = "faults") {
        let (rust, engine) = host::faults::asked();
        // A closed or full stream is one of the faults.
        _ = writeln!(std::io::stderr(), "allocations: {rust} of Rust's, {engine} of QuickJS's");
    }
    code.into()
}

/// The allocator asks for huge pages, and the kernel clears 2 MiB at each first touch: 18 MB more resident memory for
/// 64 VUs, a hundred milliseconds of start-up for 1,000, and nothing gained per request. Kernels without them need
/// nothing.
fn use_small_pages() {
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// A panic is our fault, never the script's or the target's; but for libraries that panic where the machine has nothing
/// left to give (`resources`).
fn say_it_is_a_bug(panic: &std::panic::PanicHookInfo<'_>) {
    // Else the text is gone with the screen.
    output::leave_screen();
    if let Some(text) = process::resources::shortage(&panic.to_string()) {
        eprintln!("{text}");
        return;
    }
    eprintln!(
        "onrush has panicked: this is a bug in Onrush, please report it with the script and this text\n{panic}\n{}",
        std::backtrace::Backtrace::capture()
    );
}
