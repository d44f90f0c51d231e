//! Compiles QuickJS with the patches of the folder `quickjs`, in the order of its file `series`. `quickjs/UPGRADING.md`
//! says what each is for, which test guards it, and what to do when one does not fit. A script cannot tell that they
//! are there, but by what they mend. `cargo xtask test262` compares the two.
//!
//! The source is that of the package rquickjs-sys, wherever cargo keeps it: `cargo metadata` tells. The linker takes a
//! function from the first library that has it, and a crate stands before what it depends on, so this copy of the
//! engine is linked and that of rquickjs-sys is not. A test of `runtime.rs` notices when it is the other way round.
//! A patch that no longer fits ends the build.
//!
//! The build also writes a table of the engine's functions (`build/function_table.rs`): a stripped program has it too.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "cargo speaks with build scripts this way")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "build/function_table.rs"]
mod function_table;

/// The package, as the root Cargo.toml pins it. Its Rust side knows the layout of the engine's structures, so the two
/// go together.
const PACKAGE: (&str, &str) = ("rquickjs-sys", "0.14.0");

/// The patches of `quickjs.c`, one a line, in the order in which they are applied.
const SERIES: &str = "quickjs/series";

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

/// Flags of the C compiler for the engine alone, with spaces between.
const EXTRA_FLAGS: &str = "ONRUSH_ENGINE_CFLAGS";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=quickjs");
    println!("cargo:rerun-if-changed=../../Cargo.lock");
    let original = package().join("quickjs");
    let out = PathBuf::from(variable("OUT_DIR"));
    write_patched(&original.join("quickjs.c"), &out.join("quickjs.c"));
    let mut build = cc::Build::new();
    for name in SOURCES {
        let own = out.join(name);
        build.file(if own.exists() { own } else { original.join(name) });
    }
    build.include(original).define("_GNU_SOURCE", None).define("NDEBUG", None).warnings(false).extra_warnings(false);
    // One section of code a file, so that distances between its functions are known before linking.
    build.flag("-fno-function-sections");
    // For sanitizers (`cargo xtask sanitize`).
    println!("cargo:rerun-if-env-changed={EXTRA_FLAGS}");
    for flag in env::var(EXTRA_FLAGS).unwrap_or_default().split_whitespace() {
        build.flag(flag);
    }
    // As for rquickjs-sys in the root Cargo.toml: too slow to test with when unoptimised, and no frame pointers.
    let objects = build.opt_level(3).debug(false).compile_intermediates();
    cc::Build::new().objects(&objects).compile("onrush_quickjs");
    function_table::write(&objects, &out.join("engine_functions.rs"));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}

/// The folder of the package.
fn package() -> PathBuf {
    let manifest = Path::new(&variable("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut command = Command::new(variable("CARGO"));
    command.args(["metadata", "--format-version=1", "--locked", "--filter-platform", &variable("TARGET")]);
    let output = command.arg("--manifest-path").arg(manifest).output().expect("cargo can be run");
    assert!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let known: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata writes JSON");
    let packages = known["packages"].as_array().into_iter().flatten();
    let mut named =
        packages.filter(|package| (&package["name"], &package["version"]) == (&PACKAGE.0.into(), &PACKAGE.1.into()));
    let manifest = named.next().and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.unwrap_or_else(|| {
        panic!("the lock file has no {} {}: quickjs/UPGRADING.md says how to try another one", PACKAGE.0, PACKAGE.1)
    });
    Path::new(manifest).parent().expect("a file is in a folder").to_owned()
}

fn write_patched(from: &Path, to: &Path) {
    let mut text = fs::read_to_string(from).unwrap_or_else(|error| panic!("cannot read {}: {error}", from.display()));
    let series = fs::read_to_string(SERIES).unwrap_or_else(|error| panic!("cannot read {SERIES}: {error}"));
    for name in series.lines() {
        let path = format!("quickjs/{name}");
        let patch = fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
        let patch = diffy::Patch::from_str(&patch).unwrap_or_else(|error| panic!("{path} is no patch: {error}"));
        text = diffy::apply(&text, &patch)
            .unwrap_or_else(|error| panic!("{path} does not fit: {error}; see quickjs/UPGRADING.md"));
    }
    fs::write(to, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", to.display()));
}
