//! `cargo xtask socketio`: the test script of `onrush/socketio` against npm's socket.io server.
//!
//! Not part of `cargo test`, because it needs Node, and npm's registry the first time. The server is
//! `xtask/socketio/server.cjs`; the script is the module's own, which also runs against our server. Without node or npm
//! the suite is skipped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{npm, parity};

const FILES: [(&str, &str); 2] = [
    ("package.json", include_str!("../socketio/package.json")),
    ("server.cjs", include_str!("../socketio/server.cjs")),
];
const SCRIPT: &str = "crates/modules/src/socketio/test.js";

/// The server; it ends with this.
struct NpmServer {
    process: Child,
    port: String,
}

/// Prints what the run says.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let root = parity::workspace()?;
    let folder = root.join("target/socketio");
    if let Some(missing) = npm::missing() {
        println!("skipped: the server is npm's socket.io, and there is no {missing}");
        return Ok(());
    }
    npm::install(&folder, &FILES, "socket.io")?;
    let onrush = parity::build_onrush(&root)?;
    let peer = NpmServer::start(&folder)?;
    let mut command = Command::new(&onrush);
    command.args(["run", "--quiet", "--no-color", "-e", &format!("BASE=http://127.0.0.1:{}", peer.port)]);
    let status = command.arg(root.join(SCRIPT)).status();
    let status = status.map_err(|error| format!("cannot run {}: {error}", onrush.display()))?;
    if status.success() { Ok(()) } else { Err(format!("checks of {SCRIPT} failed against npm's socket.io: {status}")) }
}

impl NpmServer {
    fn start(folder: &Path) -> Result<NpmServer, String> {
        let mut command = Command::new("node");
        command.arg("server.cjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot run node: {error}"))?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let port = BufReader::new(output).lines().next().and_then(Result::ok).unwrap_or_default();
        // Made before the check, so that the process ends in any case.
        let peer = NpmServer { process, port };
        match peer.port.parse::<u16>() {
            Ok(_) => Ok(peer),
            Err(_) => Err(format!("the server said {:?}, expected its port", peer.port)),
        }
    }
}

impl Drop for NpmServer {
    fn drop(&mut self) {
        // It ends by itself too when its input does.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
