//! `cargo xtask dist BINARY`: everything that is handed out, made from a built binary: an archive, a Debian package, a
//! wheel, npm packages, a formula for Homebrew, the list of what is inside, and checksums.
//!
//! `cargo build --profile dist -p onrush-cli --features full` leaves the binary in target/dist. Nothing is published
//! here, nothing is signed, and nothing is downloaded. The same binary makes the same files, bit for bit. What a
//! package needs of a system is read from the binary, not from the machine that built it. `--ready TAG` makes nothing:
//! it says whether a tag may be released.

mod check;
mod contents;
mod deb;
mod elf;
mod formula;
mod names;
mod npm;
mod ready;
mod release;
mod sbom;
mod wheel;
mod zip;

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::parity;
use release::{Release, VERSION};

/// What was asked for.
struct Wanted {
    binary: PathBuf,
    out: PathBuf,
    /// Where the files will be downloaded from; a formula needs it.
    url: Option<String>,
    checks: bool,
}

/// Makes all files, and installs them with `--check`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let root = parity::workspace()?;
    if let [flag, tag] = arguments
        && flag == "--ready"
    {
        return ready::check(&root, tag);
    }
    let wanted = Wanted::read(arguments, &root)?;
    if wanted.out.exists() {
        fs::remove_dir_all(&wanted.out).map_err(|error| format!("{}: {error}", wanted.out.display()))?;
    }
    fs::create_dir_all(&wanted.out).map_err(|error| format!("{}: {error}", wanted.out.display()))?;
    let sbom = sbom::Sbom::of_workspace(&root)?;
    let bytes = fs::read(&wanted.binary).map_err(|error| format!("{}: {error}", wanted.binary.display()))?;
    let release = Release::prepare(&wanted.binary, &root, sbom.embedded_in(&wanted.binary, &bytes)?)?;
    println!("{}", release.told());
    release.names.missing().iter().for_each(|name| println!("{name} is not set in Cargo.toml: packages leave it out"));
    let mut files = vec![
        release.archive()?,
        deb::package(&release)?,
        wheel::package(&release)?,
        (format!("onrush-{VERSION}.cdx.json"), sbom.cyclonedx()),
    ];
    files.extend(npm::packages(&release)?);
    files.extend(release.names.gitlab_template(&root)?);
    match &wanted.url {
        Some(url) => files.push((String::from("onrush.rb"), formula::formula(url, &files[0], &release.names)?)),
        None => println!("no formula for Homebrew: it names where files are downloaded from, --url URL"),
    }
    write(&wanted.out, files)?;
    if wanted.checks { check::run(&wanted.binary, &wanted.out, &root) } else { Ok(()) }
}

impl Wanted {
    fn read(arguments: &[String], root: &Path) -> Result<Wanted, String> {
        let (mut binary, mut out) = (root.join("target/dist/onrush"), root.join("target/packages"));
        let (mut url, mut checks) = (None, false);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} has no value"));
            match word.as_str() {
                "--out" => out = PathBuf::from(value()?),
                "--url" => url = Some(value()?.trim_end_matches('/').to_owned()),
                "--check" => checks = true,
                word if word.starts_with('-') => return Err(format!("unknown flag {word}; see `cargo xtask`")),
                word => binary = PathBuf::from(word),
            }
        }
        match binary.exists() {
            true => Ok(Wanted { binary, out, url, checks }),
            false => Err(format!(
                "{} is missing; `cargo build --profile dist -p onrush-cli --features full` makes it",
                binary.display()
            )),
        }
    }
}

/// Writes the files and their checksums.
fn write(out: &Path, files: Vec<(String, Vec<u8>)>) -> Result<(), String> {
    let mut sums = String::new();
    let put = |name: &str, bytes: &[u8]| fs::write(out.join(name), bytes).map_err(|error| format!("{name}: {error}"));
    for (name, bytes) in files {
        let sum = format!("{:x}  {name}\n", Sha256::digest(&bytes));
        put(&name, &bytes)?;
        put(&format!("{name}.sha256"), sum.as_bytes())?;
        println!("{:>11} {name}", bytes.len());
        sums.push_str(&sum);
    }
    put("SHA256SUMS", sums.as_bytes())
}
