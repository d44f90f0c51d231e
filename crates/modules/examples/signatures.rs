//! Prints the signatures of classes that may be k6's FormData library: `signatures FILE…`. They go into
//! `form_data::texts::KNOWN`.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a program of its own")]

use script::loader::library::{assembly_signatures, signatures};
use script::loader::transpile::to_javascript;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in std::env::args().skip(1) {
        let output = to_javascript(&format!("file://{file}"), &std::fs::read_to_string(&file)?, &[])?;
        for known in &output.libraries {
            println!("{file}: known as {}", known.version);
        }
        for (class, signature) in signatures(&output.code, output.kind) {
            println!("{file}: {class} {signature}");
        }
        for signature in assembly_signatures(&output.code, output.kind) {
            println!("{file}: body() {signature}");
        }
    }
    Ok(())
}
