//! `cargo xtask connect`: the Connect protocol between Onrush and Connect for Go, each in both roles: each codec, by
//! HTTP/1.1 and HTTP/2, in cleartext and over TLS.
//!
//! Not part of `cargo test`, because it needs Go, and its module proxy the first time. `xtask/connect/main.go` is the
//! other side, `xtask/connect/interop.js` has the cases of our client. Without a go command the suite is skipped.

use std::process::Command;

use crate::{go, parity};

const FILES: [(&str, &str); 2] =
    [("go.mod", include_str!("../connect/go.mod")), ("main.go", include_str!("../connect/main.go"))];
const CASES: [(&str, &str); 2] = [
    ("interop.proto", include_str!("../connect/interop.proto")),
    ("interop.js", include_str!("../connect/interop.js")),
];
/// Cases of our client, with two codecs by two versions of HTTP.
const OF_CLIENT: usize = 12 * 4;
/// Cases of our target: as many with and without compression.
const OF_TARGET: usize = 4 * 8;

/// Prints one line a case.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(argument) = arguments.first() {
        return Err(format!("found {argument:?}, expected no arguments"));
    }
    let root = parity::workspace()?;
    let folder = root.join("target/connect");
    let Some(program) = go::build(&folder, ".", "connect-for-go", &FILES)? else {
        println!("skipped: the other side is Connect for Go, and there is no go command");
        return Ok(());
    };
    let onrush = parity::build_onrush(&root)?;
    for (name, text) in CASES {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let mut serve = Command::new(&program);
    serve.arg("serve").arg(&folder);
    let server = go::Server::start(serve, &["plain", "tls"])?;
    let [plain, tls] = &*server.addresses else { unreachable!("as many as were asked for") };
    let certificate = folder.join("ca.pem").display().to_string();
    let mut failed = Vec::new();
    for (over, address, certificate) in [("cleartext", plain, ""), ("TLS", tls, &*certificate)] {
        println!("our client, {over}:");
        let mut command = Command::new(&onrush);
        command.args(["run", "--quiet", "--no-color", "-e", &format!("ADDRESS={address}")]);
        command.args(["-e", &format!("CERTIFICATE={certificate}")]).arg(folder.join("interop.js"));
        failed.extend(go::cases(command, OF_CLIENT).err().map(|why| format!("our client, {over}: {why}")));
    }
    println!("our target:");
    let target = parity::start_target()?;
    let mut call = Command::new(&program);
    call.arg("call").arg(target.addresses().tcp[0].to_string());
    failed.extend(go::cases(call, OF_TARGET).err().map(|why| format!("our target: {why}")));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}
