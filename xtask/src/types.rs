//! `cargo xtask types`: what `onrush types` and `onrush new` write, and the examples, under TypeScript's own compiler.
//!
//! Not part of `cargo test`, because it needs Node, and npm's registry the first time. TypeScript must find no fault
//! with `xtask/types/test.ts`, whose wrong lines it must refuse; of scripts in JavaScript it may say only that it does
//! not know a property: `response.json()` may be anything. Without node or npm the suite is skipped.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{npm, parity};

const FILES: [(&str, &str); 2] =
    [("package.json", include_str!("../types/package.json")), ("test.ts", include_str!("../types/test.ts"))];
const TEMPLATES: [&str; 7] = ["minimal", "protocol", "upload", "websocket", "grpc", "arrival-rate", "sse"];
/// "Property … does not exist on type …".
const UNKNOWN_PROPERTY: &str = "error TS2339";

/// Says what TypeScript finds.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let root = parity::workspace()?;
    let folder = root.join("target/types");
    if let Some(missing) = npm::missing() {
        println!("skipped: TypeScript is npm's, and there is no {missing}");
        return Ok(());
    }
    npm::install(&folder, &FILES, "typescript")?;
    let onrush = parity::build_onrush(&root)?;
    let _none = fs::remove_file(folder.join("tsconfig.json"));
    write(&onrush, &folder, &["types"])?;
    for template in TEMPLATES {
        write(&onrush, &folder, &["new", "--force", "--template", template, &format!("new-{template}.js")])?;
    }
    for example in fs::read_dir(root.join("examples")).map_err(|error| error.to_string())?.filter_map(Result::ok) {
        let path = example.path();
        if path.extension().is_some_and(|extension| extension == "js" || extension == "ts") {
            fs::copy(&path, folder.join(example.file_name())).map_err(|error| error.to_string())?;
        }
    }
    let strict = check(&folder, &[])?;
    let loose: Vec<_> = check(&folder, &["--checkJs", "--strict", "false"])?
        .into_iter()
        .filter(|line| line.contains("error TS") && !line.contains(UNKNOWN_PROPERTY))
        .collect();
    for line in strict.iter().chain(&loose) {
        println!("{line}");
    }
    match strict.len() + loose.len() {
        0 => {
            println!("TypeScript finds no fault with the declarations, the examples and the templates");
            Ok(())
        }
        many => Err(format!("TypeScript has {many} complaints")),
    }
}

fn write(onrush: &Path, folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(onrush).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("onrush {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr))),
    }
}

/// The lines that the compiler prints.
fn check(folder: &Path, arguments: &[&str]) -> Result<Vec<String>, String> {
    let mut tsc = Command::new("node");
    tsc.args(["node_modules/typescript/bin/tsc", "-p", "."]).args(arguments).current_dir(folder);
    let output = tsc.output().map_err(|error| format!("cannot run node: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
