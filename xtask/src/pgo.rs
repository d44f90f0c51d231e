//! A release build that knows what is usual: profile-guided optimisation of our Rust and of QuickJS's C.
//!
//! Three steps: a build that counts branches, the workloads of `cargo xtask cost` run with it, and a build that lays
//! out what they run through closely and puts the rest aside. The code of an iteration is some hundred lines of the
//! processor's first-level cache, so what the layout decides is how many of them have to be fetched anew.
//!
//! Needs LLVM's `llvm-profdata` in the version of rustc's LLVM, and clang in that version for the C code; without
//! clang the C code is built as always. Nothing is downloaded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::parity;

/// What this compiler says of itself.
struct Rustc {
    host: String,
    sysroot: PathBuf,
    /// The major version of its LLVM.
    llvm: String,
}

impl Rustc {
    fn ask() -> Result<Rustc, String> {
        let version = said(Command::new("rustc").arg("-vV"))?;
        let sysroot = said(Command::new("rustc").args(["--print", "sysroot"]))?;
        let field = |name: &str| {
            let found = version.lines().find_map(|line| line.strip_prefix(name));
            found.map(|value| value.trim().to_owned()).ok_or_else(|| format!("rustc -vV has no line {name:?}"))
        };
        let llvm = field("LLVM version:")?;
        let llvm = llvm.split('.').next().unwrap_or_default().to_owned();
        Ok(Rustc { host: field("host:")?, sysroot: PathBuf::from(sysroot.trim()), llvm })
    }

    /// LLVM's tool for profiles: from $LLVM_PROFDATA, the toolchain's own component, or the system.
    fn profdata(&self) -> Result<PathBuf, String> {
        let given = std::env::var_os("LLVM_PROFDATA").map(PathBuf::from);
        let own = self.sysroot.join("lib/rustlib").join(&self.host).join("bin/llvm-profdata");
        let versioned = PathBuf::from(format!("llvm-profdata-{}", self.llvm));
        let all = given.into_iter().chain([own, versioned, PathBuf::from("llvm-profdata")]);
        all.into_iter().find(|program| self.fits(program)).ok_or_else(|| {
            format!(
                "profiles are merged by llvm-profdata {0}, which was not found: install the rustup component \
                 llvm-tools or the package llvm-{0}, or set LLVM_PROFDATA",
                self.llvm
            )
        })
    }

    /// A C compiler whose profiles the linker can use together with rustc's.
    fn clang(&self) -> Option<PathBuf> {
        let names = [format!("clang-{}", self.llvm), "clang".to_owned()];
        names.into_iter().map(PathBuf::from).find(|program| self.fits(program))
    }

    /// Whether a program of LLVM is of the compiler's version.
    fn fits(&self, program: &Path) -> bool {
        let version = said(Command::new(program).arg("--version")).unwrap_or_default();
        version.split("version ").nth(1).and_then(|rest| rest.split('.').next()) == Some(&*self.llvm)
    }
}

/// What a program writes to standard output.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Builds `target/pgo/onrush`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    if let Some(first) = arguments.first() {
        return Err(format!("pgo takes no arguments, found {first:?}"));
    }
    let root = parity::workspace()?;
    let (rustc, folder) = (Rustc::ask()?, root.join("target/pgo"));
    let (profdata, clang) = (rustc.profdata()?, rustc.clang());
    if clang.is_none() {
        println!("no clang {}: the C code of QuickJS is built without a profile", rustc.llvm);
    }
    let (raw, merged) = (folder.join("raw"), folder.join("merged.profdata"));
    // Counts of an earlier build would fit no function of this one.
    let _none_yet = fs::remove_dir_all(&raw);
    fs::create_dir_all(&raw).map_err(|error| format!("cannot make {}: {error}", raw.display()))?;
    let build = Build { root: &root, rustc: &rustc, clang: clang.as_deref() };
    let flag = |name: &str, path: &Path| format!("{name}={}", path.display());
    let counting = build.run("instrumented", &flag("profile-generate", &raw), false)?;
    cost::train(&root, &counting)?;
    let mut merge = Command::new(&profdata);
    said(merge.arg("merge").arg("-o").arg(&merged).arg(&raw))?;
    let built = build.run("optimised", &flag("profile-use", &merged), true)?;
    let target = folder.join("onrush");
    fs::copy(&built, &target).map_err(|error| format!("cannot write {}: {error}", target.display()))?;
    println!("built {}", target.display());
    Ok(())
}

struct Build<'a> {
    root: &'a Path,
    rustc: &'a Rustc,
    clang: Option<&'a Path>,
}

impl Build<'_> {
    /// Builds in a folder of its own, with one option that both compilers know; where the binary is.
    fn run(&self, folder: &str, option: &str, links_optimised: bool) -> Result<PathBuf, String> {
        let (host, target) = (&self.rustc.host, self.root.join("target/pgo").join(folder));
        let mut cargo = Command::new("cargo");
        // With --target, flags of the compiler are not those of build scripts and macros.
        cargo.args(["build", "--release", "--package", "onrush-cli", "--target", host]).current_dir(self.root);
        cargo.env("CARGO_TARGET_DIR", &target);
        let variable = format!("CARGO_TARGET_{}_RUSTFLAGS", host.to_uppercase().replace('-', "_"));
        cargo.env(variable, format!("-C{option}"));
        if !links_optimised {
            // Counts are taken before code of several crates meets.
            cargo.env("CARGO_PROFILE_RELEASE_LTO", "off");
        }
        if let Some(clang) = self.clang {
            let name = host.replace('-', "_");
            cargo.env(format!("CC_{name}"), clang);
            cargo.env(format!("CFLAGS_{name}"), format!("-f{option} -Wno-profile-instr-unprofiled"));
        }
        let status = cargo.status().map_err(|error| format!("cannot run {cargo:?}: {error}"))?;
        if !status.success() {
            return Err(format!("{cargo:?} failed: {status}"));
        }
        Ok(target.join(host).join("release/onrush"))
    }
}
