//! `cargo xtask convert`: converted scripts run by k6, and a recording of 200 MB.
//!
//! Not part of `cargo test`, because it needs k6 (`K6=path`, or one in PATH) and writes a large file. The requests are
//! those of the tests, from one table; k6 must send them as Onrush does, without their order of headers.

#[path = "../../crates/cli/tests/cli/convert/shapes.rs"]
mod shapes;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

use self::shapes::{SHAPES, Shape};
use crate::curl::capture::{Capture, arrived};
use crate::parity::{build_onrush, workspace};

/// Bytes of answers in the large recording.
const LARGE: usize = 200_000_000;
/// Bytes of memory that reading it may take.
const MEMORY_KIB: u64 = 100_000;

/// A format: its file, which shapes it can say, and how.
struct Written {
    name: &'static str,
    keeps: fn(&Shape) -> bool,
    write: fn(&[&Shape], &str) -> String,
}

const FORMATS: &[Written] = &[
    Written {
        name: "shapes.sh",
        keeps: |_| true,
        write: |shapes, at| shapes.iter().map(|shape| shape.curl(at)).collect(),
    },
    Written {
        name: "shapes.har",
        keeps: |_| true,
        write: |shapes, at| {
            let entries: Vec<_> = shapes.iter().map(|shape| shape.har(at)).collect();
            json!({ "log": { "version": "1.2", "entries": entries } }).to_string()
        },
    },
    Written {
        name: "targets.json",
        keeps: |_| true,
        write: |shapes, at| shapes.iter().map(|shape| format!("{}\n", shape.vegeta(at))).collect(),
    },
    Written {
        name: "targets.txt",
        keeps: |shape| shape.body.is_none(),
        write: |shapes, at| shapes.iter().map(|shape| shape.vegeta_lines(at)).collect(),
    },
    Written {
        name: "postman.json",
        keeps: |_| true,
        write: |shapes, at| {
            let items: Vec<_> = shapes.iter().map(|shape| shape.postman(at)).collect();
            json!({ "info": { "name": "shapes" }, "item": items }).to_string()
        },
    },
    Written {
        name: "plan.jmx",
        keeps: |shape| !shape.headers.iter().map(|(_, value)| *value).chain(shape.body).any(|text| text.contains("${")),
        write: |shapes, at| {
            let samplers: String = shapes.iter().map(|shape| shape.jmeter(at)).collect();
            format!("<jmeterTestPlan><hashTree>{samplers}</hashTree></jmeterTestPlan>")
        },
    },
];

/// Converts, runs, compares.
pub fn run() -> Result<(), String> {
    let root = workspace()?;
    let onrush = build_onrush(&root)?;
    let k6 = std::env::var("K6").unwrap_or_else(|_| String::from("k6"));
    let folder = std::env::temp_dir().join(format!("onrush-convert-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let outcome = large(&onrush, &folder).and_then(|()| {
        let mut wrong = Vec::new();
        for written in FORMATS {
            wrong.extend(by_k6(&onrush, &k6, &folder, written)?);
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
    });
    std::fs::remove_dir_all(&folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    outcome
}

fn done(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// What k6 sends for one file, where it is not what the file says.
fn by_k6(onrush: &Path, k6: &str, folder: &Path, written: &Written) -> Result<Vec<String>, String> {
    let server = Capture::start().map_err(|error| format!("cannot listen: {error}"))?;
    let shapes: Vec<&Shape> = SHAPES.iter().filter(|shape| (written.keeps)(shape)).collect();
    let path = folder.join(written.name);
    std::fs::write(&path, (written.write)(&shapes, &server.address)).map_err(|error| error.to_string())?;
    let convert = ["convert", written.name, "-O", "script.js", "--force", "--no-timing"];
    done(Command::new(onrush).args(convert).current_dir(folder))?;
    done(Command::new(k6).args(["run", "--quiet", "--no-usage-report", "script.js"]).current_dir(folder))?;
    let sent = arrived(&server);
    let pairs = shapes.iter().map(|shape| shape.shown()).zip(&sent);
    let mut wrong: Vec<String> = pairs
        .filter(|(expected, sent)| expected.trim_end() != sent.trim_end())
        .map(|(expected, sent)| format!("{}: expected\n{expected}k6 sent\n{sent}", written.name))
        .collect();
    if sent.len() != shapes.len() {
        wrong.push(format!("{}: k6 sent {} requests, expected {}", written.name, sent.len(), shapes.len()));
    }
    println!("{:<14} {} requests by k6, {} wrong", written.name, sent.len(), wrong.len());
    Ok(wrong)
}

/// A recording whose answers do not fit into the memory that it is read in.
fn large(onrush: &Path, folder: &Path) -> Result<(), String> {
    let path = folder.join("large.har");
    let answer = "lorem ipsum ".repeat(80_000);
    let mut written = 0;
    let mut file = BufWriter::new(File::create(&path).map_err(|error| error.to_string())?);
    let mut put = |text: &str| file.write_all(text.as_bytes()).map_err(|error| error.to_string());
    put("{\"log\":{\"entries\":[")?;
    let mut entries = 0;
    while written < LARGE {
        let comma = if entries == 0 { "" } else { "," };
        let entry = format!(
            "{comma}{{\"request\":{{\"method\":\"GET\",\"url\":\"http://h/{entries}\"}},\"response\":{{\"status\":200,\
             \"content\":{{\"text\":\"{answer}\"}}}}}}"
        );
        put(&entry)?;
        written += entry.len();
        entries += 1;
    }
    put("]}}")?;
    file.flush().map_err(|error| error.to_string())?;
    let begun = std::time::Instant::now();
    let line = format!("ulimit -d {MEMORY_KIB}; exec {} convert large.har -O large.js", onrush.display());
    let output = done(Command::new("bash").args(["-c", &line]).current_dir(folder))?;
    let said = String::from_utf8_lossy(&output.stderr);
    println!("{} MB of HAR in {:.1} s: {}", written / 1_000_000, begun.elapsed().as_secs_f64(), said.trim());
    match said.contains(&format!("{entries} requests")) {
        true => Ok(()),
        false => Err(format!("expected {entries} requests, found {said}")),
    }
}
