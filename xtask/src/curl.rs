//! `cargo xtask curl`: curl's own requests beside those of `onrush curl`, byte for byte.
//!
//! Not part of `cargo test`, because it needs curl and bash. `cargo test` compares with what curl sent when the table
//! was recorded; this compares with the curl that is installed, and with `--record` writes the table again.

#[path = "../../crates/cli/tests/cli/capture.rs"]
pub(crate) mod capture;

use std::path::Path;
use std::process::Command;

use self::capture::{Capture, cases, with_address, write_files};
use crate::parity::{build_onrush, workspace};

const TABLE: &str = "crates/cli/tests/curl/requests.txt";

/// Compares, or records with `--record`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let records = match arguments {
        [] => false,
        [flag] if flag == "--record" => true,
        _ => return Err("expected --record or nothing".into()),
    };
    let root = workspace()?;
    let path = root.join(TABLE);
    let table = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {TABLE}: {error}"))?;
    let folder = std::env::temp_dir().join(format!("onrush-curl-{}", std::process::id()));
    let outcome = std::fs::create_dir_all(&folder)
        .and_then(|()| write_files(&folder))
        .map_err(|error| format!("cannot fill {}: {error}", folder.display()))
        .and_then(|()| {
            let sent = by_curl(&table, &folder)?;
            if records {
                let intro = table.split("\n$ ").next().unwrap_or_default();
                let blocks = sent.iter().map(|(command, sent)| format!("\n$ {command}\n{sent}"));
                let text = format!("{}\n{}", intro.trim_end(), blocks.collect::<String>());
                return std::fs::write(&path, text).map_err(|error| format!("cannot write {TABLE}: {error}"));
            }
            compare(&root, &folder, &table, &sent)
        });
    std::fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    outcome
}

/// Each command with what curl sends for it.
fn by_curl<'a>(table: &'a str, folder: &Path) -> Result<Vec<(&'a str, String)>, String> {
    let mut all = Vec::new();
    for (command, _) in cases(table) {
        let server = Capture::start().map_err(|error| format!("cannot listen: {error}"))?;
        let line = command.replacen("curl ", "curl --silent --max-time 20 ", 1);
        let line = with_address(&line, &server.address);
        let done = Command::new("bash").args(["-c", &line]).current_dir(folder).output();
        let done = done.map_err(|error| format!("cannot run bash: {error}"))?;
        if !done.status.success() {
            return Err(format!("{command}: curl failed: {}", String::from_utf8_lossy(&done.stderr)));
        }
        all.push((command, server.next()));
    }
    Ok(all)
}

fn compare(root: &Path, folder: &Path, table: &str, sent: &[(&str, String)]) -> Result<(), String> {
    let onrush = build_onrush(root)?;
    let mut wrong = 0;
    for ((command, recorded), (_, curls)) in cases(table).iter().zip(sent) {
        if curls.trim_end() != *recorded {
            println!("{command}\n  this curl sends\n{curls}\n  and the table says\n{recorded}");
            wrong += 1;
        }
        let server = Capture::start().map_err(|error| format!("cannot listen: {error}"))?;
        let line = with_address(command, &server.address);
        let arguments = ["curl", "--quiet", "--vus", "1", "--requests", "1", &line];
        let done = Command::new(&onrush).args(arguments).current_dir(folder).output();
        let done = done.map_err(|error| format!("cannot run onrush: {error}"))?;
        let ours =
            if done.status.success() { server.next() } else { String::from_utf8_lossy(&done.stderr).into_owned() };
        if ours != *curls {
            println!("{command}\n  curl sends\n{curls}\n  and onrush\n{ours}");
            wrong += 1;
        }
    }
    match wrong {
        0 => {
            println!("{} commands are sent alike", sent.len());
            Ok(())
        }
        _ => Err(format!("{wrong} differences")),
    }
}
