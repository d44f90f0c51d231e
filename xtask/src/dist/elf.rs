//! What a program needs of a Linux system: the newest symbol of glibc it asks for, and its libraries. Read from the
//! program itself by `objdump`, because the machine that built it may have a newer glibc than it needs, or an older
//! one.

use std::fmt;
use std::path::Path;
use std::process::Command;

/// What the loader will look for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needs {
    /// The oldest glibc with all symbols; none of a program without glibc.
    pub(super) glibc: Option<(u32, u32)>,
    /// `libc.so.6`, …
    pub(super) libraries: Vec<String>,
    /// The symbols that need that glibc.
    newest: Vec<String>,
}

impl Needs {
    /// Asks `objdump`.
    pub(super) fn of(binary: &Path) -> Result<Needs, String> {
        let told = |flag: &str| {
            let output = Command::new("objdump").arg(flag).arg(binary).output();
            let output = output.map_err(|error| format!("cannot run objdump, of binutils: {error}"))?;
            Ok::<String, String>(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        Ok(Needs::read(&told("-T")?, &told("-p")?))
    }

    fn read(symbols: &str, headers: &str) -> Needs {
        let versioned: Vec<((u32, u32), &str)> = symbols.lines().filter_map(glibc_symbol).collect();
        let glibc = versioned.iter().map(|(version, _)| *version).max();
        let newest = versioned.iter().filter(|(version, _)| Some(*version) == glibc);
        let needed = headers.lines().filter_map(|line| line.trim().strip_prefix("NEEDED"));
        Needs {
            glibc,
            libraries: needed.map(|name| name.trim().to_owned()).collect(),
            newest: newest.map(|(_, name)| (*name).to_owned()).collect(),
        }
    }

    /// The platform of a wheel. Programs without glibc run anywhere; musl's oldest tag says so.
    pub(super) fn platform(&self, machine: &str) -> String {
        match self.glibc {
            // No tag is older than glibc 2.17's, and 2.5 and 2.12 have none for arm64.
            Some((major, minor)) => format!("manylinux_{major}_{}_{machine}", minor.max(17)),
            None => format!("musllinux_1_1_{machine}"),
        }
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.glibc {
            Some((major, minor)) => {
                write!(f, "glibc {major}.{minor} (for {}), {}", self.newest.join(", "), self.libraries.join(", "))
            }
            None => write!(f, "no glibc"),
        }
    }
}

/// Version and name in a line of `objdump -T` about a symbol that is not there: `… *UND* … (GLIBC_2.34) stat`.
fn glibc_symbol(line: &str) -> Option<((u32, u32), &str)> {
    // A weak symbol may be missing.
    if !line.contains("*UND*") || line.split_whitespace().nth(1) == Some("w") {
        return None;
    }
    let (_, rest) = line.split_once("GLIBC_")?;
    let (version, name) = rest.split_once(|c: char| c == ')' || c.is_whitespace())?;
    let mut parts = version.split('.');
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(((major, minor), name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "
DYNAMIC SYMBOL TABLE:
0000000000000000      DF *UND*	0000000000000000 (GLIBC_2.2.5) free
0000000000000000      DF *UND*	0000000000000000 (GLIBC_2.34) pthread_create
0000000000000000  w   DF *UND*	0000000000000000 (GLIBC_2.38) arc4random
0000000000000000      DF *UND*	0000000000000000 (GCC_3.0) _Unwind_Resume
00000000000aa000 g    DF .text	0000000000000010  Base        own_symbol
";

    #[test]
    fn the_newest_symbol_that_must_be_there_counts() {
        let needs =
            Needs::read(SYMBOLS, "  NEEDED               libgcc_s.so.1\n  NEEDED     libc.so.6\n  STRTAB 0x0\n");
        assert_eq!(needs.glibc, Some((2, 34)));
        assert_eq!(needs.libraries, ["libgcc_s.so.1", "libc.so.6"]);
        assert_eq!(needs.platform("x86_64"), "manylinux_2_34_x86_64");
        assert_eq!(needs.to_string(), "glibc 2.34 (for pthread_create), libgcc_s.so.1, libc.so.6");
        assert_eq!(Needs::read("", "").platform("aarch64"), "musllinux_1_1_aarch64");
        let old = Needs { glibc: Some((2, 5)), libraries: Vec::new(), newest: Vec::new() };
        assert_eq!(old.platform("x86_64"), "manylinux_2_17_x86_64");
    }
}
