//! h2spec against the target: every rule of HTTP/2 and HPACK that it tests, strictly, on plain tcp and on TLS.
//!
//! The program is built once by the go command, from the module proxy, into the target folder. A case passes when
//! h2spec says so; a skipped one does not, and fewer cases than the suite has fail the command. Everything is bounded
//! in time.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use server::{Server, ServerConfig};

use crate::go;

/// Its version, and how many cases it has with `--strict`.
const VERSION: &str = "v2.2.1+incompatible";
const CASES: usize = 146;
/// Seconds that a case waits for the target.
const PATIENCE: &str = "5";

/// Where it looks.
#[derive(Clone, Copy, Debug)]
enum Over {
    Tcp,
    Tls,
}

/// `[SECTION…]`, such as `http2/6.5`; all without any.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let folder = crate::parity::workspace()?.join("target/conformance/h2spec");
    let program = install(&folder)?;
    let any = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let config = ServerConfig { tcp: any.clone(), tls: any, ..ServerConfig::default() };
    let server = Server::start(config).map_err(|error| format!("cannot start the target: {error}"))?;
    let addresses = server.addresses();
    let mut failed = Vec::new();
    for (over, address) in [(Over::Tcp, addresses.tcp[0]), (Over::Tls, addresses.tls[0])] {
        failed.extend(test(&program, &folder, over, address, arguments)?);
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("cases that did not pass:\n{}", failed.join("\n"))) }
}

/// Builds the program where it is not there.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let module = "github.com/summerwind/h2spec";
    let files = [
        ("go.mod", format!("module conformance.invalid/tools\n\ngo 1.25\n\nrequire {module} {VERSION}\n")),
        ("tools.go", format!("//go:build tools\n\npackage tools\n\nimport _ \"{module}/cmd/h2spec\"\n")),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    let program = go::build(folder, &format!("{module}/cmd/h2spec"), "h2spec", &files)?;
    program.ok_or_else(|| String::from("h2spec is built by go, and there is no go command"))
}

/// Runs it, prints its last line; the cases that did not pass, in h2spec's words.
fn test(
    program: &Path,
    folder: &Path,
    over: Over,
    address: SocketAddr,
    sections: &[String],
) -> Result<Vec<String>, String> {
    let mut command = Command::new(program);
    command.args(sections).args(["--strict", "--timeout", PATIENCE, "--host", "127.0.0.1"]);
    command.arg("--port").arg(address.port().to_string());
    if matches!(over, Over::Tls) {
        command.args(["--tls", "--insecure"]);
    }
    let output = command.output().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let report = folder.join(format!("{over:?}.txt").to_lowercase());
    std::fs::write(&report, told.as_bytes()).map_err(|error| format!("cannot write {}: {error}", report.display()))?;
    let last = told.lines().rev().find(|line| line.contains(" tests, ")).unwrap_or("no summary");
    println!("{over:?}: {last}; report in {}", report.display());
    let failures = told.split_once("\nFailures:").map_or("", |(_, rest)| rest);
    let mut failed: Vec<String> = failures
        .lines()
        .filter(|line| line.contains('\u{d7}'))
        .map(|line| format!("  {over:?}: {}", line.trim()))
        .collect();
    let passed = format!("{CASES} tests, {CASES} passed, 0 skipped, 0 failed");
    let whole = sections.is_empty() && last != passed;
    if failed.is_empty() && (whole || !output.status.success()) {
        failed.push(format!("  {over:?}: expected {passed:?}, found {last:?}"));
    }
    Ok(failed)
}
