//! `cargo xtask grpc`: the list of cases by which gRPC's implementations prove that they understand each other, against
//! gRPC for Go, in cleartext and over TLS with a client's certificate.
//!
//! Not part of `cargo test`, because it needs Go, and its module proxy the first time. The server is
//! `xtask/grpc/server.go`; `xtask/grpc/interop.js` has the cases, and says which do not apply. Without a go command the
//! suite is skipped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{go, parity};

const FILES: [(&str, &str); 2] =
    [("go.mod", include_str!("../grpc/go.mod")), ("server.go", include_str!("../grpc/server.go"))];
const CASES: &str = include_str!("../grpc/interop.js");
/// How many cases the script has: one that is not run is a failure.
const COUNT: usize = 19;

/// gRPC for Go: its addresses in cleartext, there without reflection, and over TLS.
struct Peer {
    process: Child,
    plain: String,
    mute: String,
    tls: String,
}

/// Prints one line a case.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let root = parity::workspace()?;
    let folder = root.join("target/grpc");
    let Some(program) = go::build(&folder, ".", "interop-server", &FILES)? else {
        println!("skipped: the server is gRPC for Go, and there is no go command");
        return Ok(());
    };
    let onrush = parity::build_onrush(&root)?;
    let script = folder.join("interop.js");
    std::fs::write(&script, CASES).map_err(|error| format!("cannot write {}: {error}", script.display()))?;
    let peer = Peer::start(&program, &folder)?;
    let failed: Vec<String> = [("cleartext", &peer.plain, Path::new("")), ("TLS", &peer.tls, &folder)]
        .into_iter()
        .filter_map(|(over, address, certificates)| {
            println!("{over}:");
            let mut command = Command::new(&onrush);
            command.args(["run", "--quiet", "--no-color", "-e", &format!("ADDRESS={address}")]);
            command.args(["-e", &format!("MUTE={}", peer.mute)]);
            command.args(["-e", &format!("CERTIFICATES={}", certificates.display())]).arg(&script);
            cases(command).err().map(|why| format!("{over}: {why}"))
        })
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Runs the script and shows its lines.
fn cases(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    told.lines().for_each(|line| println!("  {line}"));
    let passed = told.lines().filter(|line| line.starts_with("ok ")).count();
    if output.status.success() && passed == COUNT {
        return Ok(());
    }
    Err(format!("{passed} of {COUNT} cases passed, {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

impl Peer {
    fn start(program: &Path, folder: &Path) -> Result<Peer, String> {
        let mut command = Command::new(program);
        command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut lines = BufReader::new(output).lines();
        let mut address = |name: &str| {
            let line = lines.next().and_then(Result::ok).unwrap_or_default();
            let address = line.strip_prefix(name).map(|rest| rest.trim().to_owned());
            address.ok_or_else(|| format!("the server said {line:?}, expected the address of {name:?}"))
        };
        let (plain, mute, tls) = (address("plain"), address("mute"), address("tls"));
        let peer = Peer { process, plain: plain?, mute: mute?, tls: tls? };
        Ok(peer)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends by itself too when its input does.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
