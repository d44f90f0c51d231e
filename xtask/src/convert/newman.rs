//! What newman sends for the collection of the tests (`NEWMAN=path`, or one in PATH): `cargo test` compares our scripts
//! with what is kept of it; this compares with the newman that is installed, and with `ONRUSH_BLESS=1` keeps it.

#[path = "../../../crates/cli/tests/cli/convert/newman.rs"]
mod table;

use std::path::Path;
use std::process::Command;

use crate::curl::capture::{Capture, arrived, cases};
use crate::parity::workspace;

const TABLE: &str = "crates/cli/tests/convert/newman.txt";

/// Has newman send the collection, and compares or keeps what arrives.
pub(super) fn run(folder: &Path) -> Result<(), String> {
    let path = workspace()?.join(TABLE);
    let kept = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {TABLE}: {error}"))?;
    let server = Capture::start().map_err(|error| format!("cannot listen: {error}"))?;
    let collection = table::collection(&kept, &server.address);
    std::fs::write(folder.join("newman.json"), collection).map_err(|error| error.to_string())?;
    let newman = std::env::var("NEWMAN").unwrap_or_else(|_| String::from("newman"));
    let done = Command::new(&newman).args(["run", "newman.json", "--silent"]).current_dir(folder).output();
    done.map_err(|error| format!("cannot run {newman}: {error}"))?;
    let sent: Vec<String> = arrived(&server).iter().map(|request| table::comparable(request)).collect();
    let known = cases(&kept);
    if sent.len() != known.len() {
        return Err(format!("newman sent {} requests, expected {}", sent.len(), known.len()));
    }
    if std::env::var_os("ONRUSH_BLESS").is_some() {
        let intro = kept.split("\n$ ").next().unwrap_or_default().trim_end();
        let blocks = known.iter().zip(&sent).map(|((item, _), sent)| format!("\n$ {item}\n{sent}\n"));
        let text = format!("{intro}\n{}", blocks.collect::<String>());
        return std::fs::write(&path, text).map_err(|error| format!("cannot write {TABLE}: {error}"));
    }
    let pairs = known.iter().zip(&sent).filter(|((_, kept), sent)| kept.trim_end() != sent.trim_end());
    let wrong: Vec<String> =
        pairs.map(|((item, kept), sent)| format!("{item}\n  newman sends\n{sent}\n  expected\n{kept}")).collect();
    println!("newman: {} requests, {} wrong", sent.len(), wrong.len());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
}
