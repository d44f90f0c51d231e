//! A recording of 200 MB, whose answers do not fit into the memory that it is read in.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use super::done;

/// Bytes of answers in the recording.
const LARGE: usize = 200_000_000;
/// Memory that reading it may take.
const MEMORY_KIB: u64 = 100_000;

/// Writes it and converts it.
pub(super) fn run(onrush: &Path, folder: &Path) -> Result<(), String> {
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
