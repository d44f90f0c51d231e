//! Compiles QuickJS with the patches of the folder `quickjs`: `arenas.patch` makes a user smaller by a third,
//! `literals.patch` makes functions and the fields of object literals without looking for what a new object cannot
//! have, `names.patch` keeps names once a thread instead of once a user: 40 KB of 147, and `tables.patch` gives back
//! room in tables that init code left. A script cannot tell. `thrown.patch` names in an error what was called and is
//! no function, and keeps where values were thrown that are no Errors. `own_data.patch` lets plain data be looked at
//! without lists and counts, and `shapes.patch` keeps shapes of objects that are gone for those that are made alike.
//! `dates.patch` makes local times right near clock changes and writes dates as k6 does, and `sources.patch` lets
//! functions find their sources in the text of their module, of which there is one for all users. `spread.patch`
//! copies the characters of a text into an object, as `{...text}` says. `recent.patch` hands blocks out again that were
//! just freed, while the processor's caches have them.
//! All are fit to be offered to QuickJS.
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

/// The package, as the lock file has it. Its Rust side knows the layout of the engine's structures, so the two go
/// together.
const PACKAGE: (&str, &str) = ("rquickjs-sys", "0.14.0");

/// To be applied to `quickjs.c`, in this order.
const PATCHES: [&str; 11] = [
    "quickjs/arenas.patch",
    "quickjs/literals.patch",
    "quickjs/names.patch",
    "quickjs/tables.patch",
    "quickjs/thrown.patch",
    "quickjs/own_data.patch",
    "quickjs/shapes.patch",
    "quickjs/dates.patch",
    "quickjs/sources.patch",
    "quickjs/spread.patch",
    "quickjs/recent.patch",
];

const SOURCES: [&str; 4] = ["quickjs.c", "libregexp.c", "libunicode.c", "dtoa.c"];

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
        panic!("the lock file has no {} {}: see whether the patches fit another version", PACKAGE.0, PACKAGE.1)
    });
    Path::new(manifest).parent().expect("a file is in a folder").to_owned()
}

fn write_patched(from: &Path, to: &Path) {
    let mut text = fs::read_to_string(from).unwrap_or_else(|error| panic!("cannot read {}: {error}", from.display()));
    for name in PATCHES {
        let patch = fs::read_to_string(name).unwrap_or_else(|error| panic!("cannot read {name}: {error}"));
        let patch = diffy::Patch::from_str(&patch).unwrap_or_else(|error| panic!("{name} is no patch: {error}"));
        text = diffy::apply(&text, &patch).unwrap_or_else(|error| panic!("{name} does not fit: {error}"));
    }
    fs::write(to, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", to.display()));
}
