//! Converted scripts run by k6 (`K6=path`, or one in PATH). The requests are those of the tests, from one table; k6
//! must send them as Onrush does, without their order of headers.

#[path = "../../../crates/cli/tests/cli/convert/shapes.rs"]
mod shapes;

use std::path::Path;
use std::process::Command;

use serde_json::json;

use self::shapes::{SHAPES, Shape};
use super::done;
use crate::curl::capture::{Capture, arrived};

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
        // Postman escapes it in a query.
        keeps: |shape| !shape.target.contains('\''),
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

/// Converts the shapes from every format, has k6 run the scripts, and compares.
pub(super) fn run(onrush: &Path, folder: &Path) -> Result<(), String> {
    let k6 = std::env::var("K6").unwrap_or_else(|_| String::from("k6"));
    let mut wrong = Vec::new();
    for written in FORMATS {
        wrong.extend(by_k6(onrush, &k6, folder, written)?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
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
