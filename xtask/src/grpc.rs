//! `cargo xtask grpc`: the list of cases by which gRPC's implementations prove that they understand each other, against
//! gRPC for Go, in cleartext and over TLS with a client's certificate.
//!
//! Not part of `cargo test`, because it needs Go, and its module proxy the first time. The server is
//! `xtask/grpc/server.go`; `xtask/grpc/interop.js` has the cases, and says which do not apply. Without a go command the
//! suite is skipped.

use std::path::Path;
use std::process::Command;

use crate::{go, parity};

const FILES: [(&str, &str); 2] =
    [("go.mod", include_str!("../grpc/go.mod")), ("server.go", include_str!("../grpc/server.go"))];
const CASES: &str = include_str!("../grpc/interop.js");
/// How many cases the script has: one that is not run is a failure.
const COUNT: usize = 19;

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
    let mut serve = Command::new(&program);
    serve.arg(&folder);
    // In cleartext, there without reflection, and over TLS.
    let server = go::Server::start(serve, &["plain", "mute", "tls"])?;
    let [plain, mute, tls] = &*server.addresses else { unreachable!("as many as were asked for") };
    let failed: Vec<String> = [("cleartext", plain, Path::new("")), ("TLS", tls, &folder)]
        .into_iter()
        .filter_map(|(over, address, certificates)| {
            println!("{over}:");
            let mut command = Command::new(&onrush);
            command.args(["run", "--quiet", "--no-color", "-e", &format!("ADDRESS={address}")]);
            command.args(["-e", &format!("MUTE={mute}")]);
            command.args(["-e", &format!("CERTIFICATES={}", certificates.display())]).arg(&script);
            go::cases(command, COUNT).err().map(|why| format!("{over}: {why}"))
        })
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}
