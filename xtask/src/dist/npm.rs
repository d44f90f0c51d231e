//! npm packages: `onrush-cli`, which has the command, and one for each platform with the program, of which npm installs
//! the one that fits (`optionalDependencies`). No script runs while installing.

use serde_json::{Value, json};

use super::release::{LICENSE, Release, SUMMARY, VERSION};
use crate::image::layer::Layer;

/// The command: finds the package with the program and becomes it, as far as Node can.
const COMMAND: &str = r#"#!/usr/bin/env node
const { spawn } = require("node:child_process");

const name = `onrush-cli-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/onrush`);
} catch {
  console.error(`onrush: the package ${name} is not installed: is this platform supported, and were optional ` +
    "dependencies left out?");
  process.exit(255);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`onrush: ${error.message}`);
  process.exit(255);
});
child.on("exit", (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
"#;

/// Platforms that have packages, as Node calls them. What has none yet is left out by npm, as all optional ones are.
const PLATFORMS: [&str; 3] = ["linux-x64", "linux-arm64", "darwin-arm64"];

/// That of this program's platform, and the one with the command.
pub(super) fn packages(release: &Release) -> Result<[(String, Vec<u8>); 2], String> {
    let cpu = if release.architecture == "amd64" { "x64" } else { "arm64" };
    let name = format!("onrush-cli-linux-{cpu}");
    let mut manifest = manifest(release, &name);
    manifest["os"] = json!(["linux"]);
    manifest["cpu"] = json!([cpu]);
    // npm leaves out what is linked with another C library.
    manifest["libc"] = json!([if release.needs.glibc.is_some() { "glibc" } else { "musl" }]);
    manifest["preferUnplugged"] = json!(true);
    let mut platform = layer(release, &manifest);
    platform.file("package/bin/onrush", 0o755, release.program.as_slice());
    let mut manifest = self::manifest(release, "onrush-cli");
    manifest["bin"] = json!({ "onrush": "bin/onrush.js" });
    let optional = PLATFORMS.map(|platform| (format!("onrush-cli-{platform}"), json!(VERSION)));
    manifest["optionalDependencies"] = Value::Object(optional.into_iter().collect());
    manifest["engines"] = json!({ "node": ">=16" });
    let mut command = layer(release, &manifest);
    command.file("package/bin/onrush.js", 0o755, COMMAND);
    command.file("package/README.md", 0o644, release.contents.named("README.md"));
    Ok([
        (format!("{name}-{VERSION}.tgz"), platform.pack()?.bytes),
        (format!("onrush-cli-{VERSION}.tgz"), command.pack()?.bytes),
    ])
}

fn manifest(release: &Release, name: &str) -> Value {
    let mut manifest = json!({ "name": name, "version": VERSION, "description": SUMMARY, "license": LICENSE });
    if let Some(url) = &release.names.repository {
        manifest["repository"] = json!({ "type": "git", "url": format!("git+{url}.git") });
    }
    manifest
}

fn layer(release: &Release, manifest: &Value) -> Layer {
    let mut layer = Layer::default();
    layer.file("package/package.json", 0o644, format!("{manifest:#}\n"));
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        layer.file(&format!("package/{name}"), 0o644, release.contents.named(name));
    }
    layer
}
