//! `cargo xtask image`: the image of a container, written without a daemon as an OCI image layout. What reads one
//! (skopeo, umoci, podman, crane, buildah) copies it to a registry.
//!
//! The binary is linked with glibc, so the first layer brings what the loader needs from this machine, with the trust
//! anchors of this machine, a user, and, where it is asked for, a busybox: k6's operator starts its pods with `sh`.
//! The second layer is the binary, called `onrush` and `k6`. The same files make the same image, bit for bit.

mod check;
pub(crate) mod layer;
mod layout;
pub(crate) mod libraries;

use std::fs;
use std::path::{Path, PathBuf};

use layer::Layer;
use layout::Image;

use crate::parity;

/// The user and group of k6's image: volumes that belong to it stay readable.
const USER: u32 = 12345;
const HOME: &str = "home/onrush";
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";
/// What the shell lines of k6's operator call, and what a person looks around with.
const APPLETS: [&str; 14] =
    ["sh", "cat", "cp", "date", "dirname", "env", "grep", "head", "ls", "mkdir", "sleep", "tail", "test", "wget"];

/// What was asked for.
struct Asked {
    binary: PathBuf,
    out: PathBuf,
    tag: String,
    certificates: Option<PathBuf>,
    shell: Option<PathBuf>,
    checks: bool,
}

/// Writes the image, and tries it out with `--check`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let root = parity::workspace()?;
    let asked = Asked::read(arguments, &root)?;
    let binary = fs::read(&asked.binary).map_err(|error| format!("cannot read {}: {error}", asked.binary.display()))?;
    let architecture = libraries::architecture(&binary)
        .ok_or_else(|| format!("{} is no program for x86-64 or arm64 Linux", asked.binary.display()))?;
    let image = Image {
        architecture,
        tag: asked.tag.clone(),
        user: format!("{USER}:{USER}"),
        home: format!("/{HOME}"),
        layers: vec![system(&asked, &root)?.pack()?, program(binary)?.pack()?],
    };
    let size = image.write(&asked.out)?;
    println!("{}:{}: {} MB for {architecture}", asked.out.display(), asked.tag, size / 1_000_000);
    println!("skopeo copy oci:{}:{} docker://REGISTRY/onrush:{}", asked.out.display(), asked.tag, asked.tag);
    if asked.checks { check::run(&asked.out, asked.shell.is_some()) } else { Ok(()) }
}

impl Asked {
    fn read(arguments: &[String], root: &Path) -> Result<Asked, String> {
        let mut asked = Asked {
            binary: PathBuf::new(),
            out: root.join("target/image"),
            tag: String::from(env!("CARGO_PKG_VERSION")),
            certificates: Some(Path::new("/").join(CERTIFICATES)).filter(|path| path.exists()),
            shell: None,
            checks: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} has no value"));
            match word.as_str() {
                "--out" => asked.out = PathBuf::from(value()?),
                "--tag" => asked.tag = value()?.clone(),
                "--certificates" => asked.certificates = Some(PathBuf::from(value()?)),
                "--shell" => asked.shell = Some(PathBuf::from(value()?)),
                "--check" => asked.checks = true,
                word if word.starts_with('-') => return Err(format!("unknown flag {word}; see `cargo xtask`")),
                binary => asked.binary = PathBuf::from(binary),
            }
        }
        match asked.binary.as_os_str().is_empty() {
            true => Err(String::from(
                "no BINARY given; `cargo build --release -p onrush-cli --features full` leaves one in \
                 target/release/onrush",
            )),
            false => Ok(asked),
        }
    }
}

/// What the program needs of a system.
fn system(asked: &Asked, root: &Path) -> Result<Layer, String> {
    let mut layer = Layer::default();
    for path in libraries::needed_by(&asked.binary)? {
        layer.copy(&path, path.to_str().unwrap_or_default().trim_start_matches('/'), 0o755)?;
    }
    match &asked.certificates {
        Some(path) => layer.copy(path, CERTIFICATES, 0o644)?,
        None => eprintln!("warning: no trust anchors: /{CERTIFICATES} is missing, and there is no --certificates FILE"),
    }
    layer.file("etc/passwd", 0o644, format!("root:x:0:0::/:\nonrush:x:{USER}:{USER}::/{HOME}:/bin/sh\n"));
    layer.file("etc/group", 0o644, format!("root:x:0:\nonrush:x:{USER}:\n"));
    layer.file("etc/nsswitch.conf", 0o644, "hosts: files dns\n");
    layer.folder("tmp", 0o1777, 0);
    layer.folder(HOME, 0o755, USER);
    // Programs of others go along with their terms.
    for package in ["libc6", "libgcc-s1", "ca-certificates", "busybox-static"] {
        let terms = format!("usr/share/doc/{package}/copyright");
        if Path::new("/").join(&terms).exists() {
            layer.copy(&Path::new("/").join(&terms), &terms, 0o644)?;
        }
    }
    for terms in ["LICENSE-APACHE", "LICENSE-MIT"] {
        layer.copy(&root.join(terms), &format!("usr/share/doc/onrush/{terms}"), 0o644)?;
    }
    if let Some(shell) = &asked.shell {
        layer.copy(shell, "bin/busybox", 0o755)?;
        let applets = libraries::applets(shell)?;
        let offered = APPLETS.iter().filter(|name| applets.iter().any(|applet| applet == *name));
        offered.for_each(|name| layer.link(&format!("bin/{name}"), "busybox"));
    }
    Ok(layer)
}

fn program(binary: Vec<u8>) -> Result<Layer, String> {
    let mut layer = Layer::default();
    layer.file("usr/bin/onrush", 0o755, binary);
    layer.link("usr/bin/k6", "onrush");
    Ok(layer)
}
