//! What a program needs of the machine it was linked on.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The name that images have for the processor of an ELF program.
pub(crate) fn architecture(program: &[u8]) -> Option<&'static str> {
    let machine = program.strip_prefix(b"\x7fELF\x02\x01")?.get(12..14)?;
    match u16::from_le_bytes([machine[0], machine[1]]) {
        62 => Some("amd64"),
        183 => Some("arm64"),
        _ => None,
    }
}

/// The loader and the libraries, by the paths at which they are looked for; none of a static program.
pub(super) fn needed_by(program: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("ldd").arg(program).output().map_err(|error| format!("cannot run ldd: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("statically linked") || text.contains("not a dynamic executable") {
        return Ok(Vec::new());
    }
    match output.status.success() {
        true => text.lines().filter_map(|line| library(line).transpose()).collect(),
        false => Err(format!("ldd {}: {}", program.display(), text.trim())),
    }
}

/// The path in a line of ldd: `libm.so.6 => /lib/libm.so.6 (0x…)`, `/lib64/ld-linux.so.2 (0x…)`; the kernel's own has
/// none.
fn library(line: &str) -> Result<Option<PathBuf>, String> {
    let (name, path) = line.split_once("=>").unwrap_or((line, line));
    let path = path.split(" (0x").next().unwrap_or_default().trim();
    if path == "not found" {
        return Err(format!("{} is not on this machine", name.trim()));
    }
    Ok(path.starts_with('/').then(|| PathBuf::from(path)))
}

/// The programs that a busybox is.
pub(super) fn applets(busybox: &Path) -> Result<Vec<String>, String> {
    if !needed_by(busybox)?.is_empty() {
        return Err(format!("{} is not linked statically, as that of Debian's busybox-static is", busybox.display()));
    }
    let output = Command::new(busybox).arg("--list").output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", busybox.display()))?;
    let names: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    match names.iter().any(|name| name == "sh") {
        true => Ok(names),
        false => Err(format!("{} is no busybox with a shell", busybox.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ldd() {
        let path = |text: &str| Ok(Some(PathBuf::from(text)));
        assert_eq!(library("\tlinux-vdso.so.1 (0x00007fa486592000)"), Ok(None));
        assert_eq!(library("\tlibm.so.6 => /lib/x/libm.so.6 (0x00007fa4810f6000)"), path("/lib/x/libm.so.6"));
        assert_eq!(library("\t/lib64/ld-linux-x86-64.so.2 (0x00007fa486594000)"), path("/lib64/ld-linux-x86-64.so.2"));
        assert_eq!(library("\tlibx.so.1 => not found"), Err(String::from("libx.so.1 is not on this machine")));
    }

    #[test]
    fn the_head_of_a_program_names_its_processor() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let expected = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
        assert_eq!((architecture(&own), architecture(b"#!/bin/sh\n")), (Some(expected), None));
    }
}
