//! `cargo xtask sanitize`: the tests of everything that touches the engine, under the compilers' sanitizers.
//!
//! - `address`: C and Rust; reads and writes outside of blocks or after their end. Leaks are not looked for: a user
//!   that is stopped while it computes is leaked on purpose.
//! - `undefined`: the engine in C, with our patches: overflows, shifts, null, alignment. The first finding ends a test.
//! - `interleavings`: every order of the steps of threads that wake users of another one (loom), in optimised code,
//!   because there are many.
//!
//! Blocks come from the C library then and not from mimalloc, which would hide their ends. Rust's part needs flags of
//! nightly compilers; `RUSTC_BOOTSTRAP` has a stable one take them. Threads are not checked: ThreadSanitizer knows
//! neither coroutines nor a standard library that was compiled without it. Miri is no part of stable toolchains.

use std::path::Path;
use std::process::Command;

use crate::parity;

const USAGE: &str = "usage: cargo xtask sanitize [address | undefined | interleavings]… [-- ARGUMENTS OF cargo test]";

/// A sanitizer: its name, flags of rustc, flags of the C compiler for the engine, and its options.
struct Sanitizer {
    name: &'static str,
    rust: &'static str,
    c: &'static str,
    options: (&'static str, &'static str),
    /// What is tested without further arguments.
    tested: &'static str,
}

const SANITIZERS: [Sanitizer; 3] = [
    Sanitizer {
        name: "address",
        rust: "-Zsanitizer=address",
        c: "-fsanitize=address -fno-omit-frame-pointer",
        // A user that is stopped while it computes is leaked on purpose (`host/src/coroutine/preemption.rs`), and
        // stacks of coroutines are not the thread's.
        options: ("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1"),
        tested: OF_THE_ENGINE,
    },
    Sanitizer {
        name: "undefined",
        rust: "-Clink-arg=-lubsan",
        c: "-fsanitize=undefined -fno-sanitize-recover=all",
        options: ("UBSAN_OPTIONS", "print_stacktrace=1"),
        tested: OF_THE_ENGINE,
    },
    Sanitizer {
        name: "interleavings",
        rust: "--cfg onrush_interleavings",
        c: "",
        options: ("LOOM_CHECKPOINT_INTERVAL", "100000"),
        tested: "-p onrush-engine --lib --profile quick remote_wakes",
    },
];

/// Tests of everything that touches the engine: the script host, the modules, and scripts. The test that is left out
/// reads the stack of a suspended user to tell which function it is in, and the address sanitizer takes gaps between
/// that stack's variables for none of its business.
const OF_THE_ENGINE: &str = "-p onrush-host -p onrush-modules -p onrush-script \
                             --features onrush-host/system-allocator -- \
                             --skip a_user_that_stays_in_native_code_is_given_up_and_the_next_one_lives";

/// The words are those behind the name of the suite; the error says whose tests failed.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    let root = parity::workspace()?;
    let split = words.iter().position(|word| word == "--");
    let (names, arguments) = words.split_at(split.unwrap_or(words.len()));
    if let Some(unknown) = names.iter().find(|name| SANITIZERS.iter().all(|known| known.name != **name)) {
        return Err(format!("found {unknown:?}, expected address, undefined or interleavings\n{USAGE}"));
    }
    let wanted = |sanitizer: &&Sanitizer| names.is_empty() || names.iter().any(|name| name == sanitizer.name);
    let failed: Vec<&str> = SANITIZERS
        .iter()
        .filter(wanted)
        .filter(|sanitizer| !passes(sanitizer, &root, arguments.get(1..).unwrap_or_default()))
        .map(|sanitizer| sanitizer.name)
        .collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("tests failed under the sanitizer of {}", failed.join(" and "))),
    }
}

fn passes(sanitizer: &Sanitizer, root: &Path, arguments: &[String]) -> bool {
    println!("sanitizer: {}", sanitizer.name);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // With a target named, build scripts and macros are compiled without the flags.
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    cargo.current_dir(root).args(["test", "--no-fail-fast", "--target", &host]);
    cargo.arg("--target-dir").arg(root.join("target/sanitize").join(sanitizer.name));
    match arguments.is_empty() {
        true => cargo.args(sanitizer.tested.split(' ')),
        false => cargo.args(arguments),
    };
    cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", sanitizer.rust).env("ONRUSH_ENGINE_CFLAGS", sanitizer.c);
    cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    let (variable, options) = sanitizer.options;
    cargo.env(variable, options);
    match cargo.status() {
        Ok(status) => status.success(),
        Err(error) => {
            println!("cannot start cargo: {error}");
            false
        }
    }
}
