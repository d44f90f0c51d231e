//! `cargo xtask book`: builds the book of docs/ into target/book, and fails on dead links, lost pages and warnings.
//!
//! The check of links and pages needs nothing but Rust, so `cargo test` runs it too. The build needs mdbook. Cargo
//! compiles it once into target/tools, which takes the registry and a few minutes; the version is pinned, because
//! warnings fail the build. Where the registry cannot be reached, the command says so and succeeds: the links were
//! checked all the same.

mod links;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::parity::workspace;

/// The version of mdbook that builds the book.
const MDBOOK: &str = "0.5.4";

/// Checks the pages, then builds the book.
pub fn run() -> Result<(), String> {
    let root = workspace()?;
    let problems = links::problems(&root)?;
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    println!("every link leads somewhere, and docs/SUMMARY.md lists every page");
    match mdbook(&root)? {
        Some(mdbook) => build(&root, &mdbook),
        None => {
            println!("the book was not built: the crates registry, which has mdbook, cannot be reached");
            Ok(())
        }
    }
}

/// The pinned mdbook, compiled when it is missing; none without a registry.
fn mdbook(root: &Path) -> Result<Option<PathBuf>, String> {
    let tools = root.join("target/tools");
    let mdbook = tools.join("bin/mdbook");
    let version = Command::new(&mdbook).arg("--version").output();
    if version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == format!("mdbook v{MDBOOK}")) {
        return Ok(Some(mdbook));
    }
    let crate_name = format!("mdbook@{MDBOOK}");
    let known = Command::new("cargo").args(["info", "--quiet", &crate_name]).output();
    if !known.map_err(|error| format!("cannot run cargo: {error}"))?.status.success() {
        return Ok(None);
    }
    println!("compiling mdbook {MDBOOK} into {}", tools.display());
    let mut install = Command::new("cargo");
    install.args(["install", "--quiet", "--locked", "--force", "--root"]).arg(&tools);
    // Without its server and its watcher it has half of the dependencies.
    install.args([&crate_name, "--no-default-features", "--features", "search"]);
    let status = install.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(Some(mdbook)) } else { Err(format!("mdbook {MDBOOK} does not compile")) }
}

fn build(root: &Path, mdbook: &Path) -> Result<(), String> {
    let output = Command::new(mdbook).arg("build").arg(root.join("docs")).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", mdbook.display()))?;
    let told = String::from_utf8_lossy(&output.stderr);
    let complains = told.lines().any(|line| line.contains("WARN") || line.contains("ERROR"));
    if !output.status.success() || complains {
        return Err(format!("mdbook complains about docs/:\n{told}"));
    }
    println!("the book is in {}", root.join("target/book/index.html").display());
    Ok(())
}
