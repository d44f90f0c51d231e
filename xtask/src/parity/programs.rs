//! The programs that suites run: k6, the target, and Onrush as it is built now.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use server::server::{Server, ServerConfig};

/// The target, in cleartext and over TLS.
pub(crate) fn start_target() -> Result<Server, String> {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::start(ServerConfig { tcp: vec![any_port], tls: vec![any_port], ..ServerConfig::default() })
        .map_err(|error| format!("the target does not start: {error}"))
}

/// `$K6`, else the one on `PATH`.
pub(crate) fn find_k6() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("K6") {
        return Ok(PathBuf::from(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("k6"))
        .find(|file| file.is_file())
        .ok_or_else(|| "no k6 found: install it, or name its binary in $K6".to_owned())
}

/// The folder of the repository.
pub(crate) fn workspace() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.map(Path::to_path_buf).ok_or_else(|| "xtask has no parent folder".to_owned())
}

/// The binary in $ONRUSH, else one built now with all features. With k6 in $ONRUSH the command shows which facts are
/// not stable.
pub(crate) fn build_onrush(root: &Path) -> Result<PathBuf, String> {
    build(root, &[], "debug")
}

/// The same, optimised: for what is measured.
pub(crate) fn build_release(root: &Path) -> Result<PathBuf, String> {
    build(root, &["--release"], "release")
}

fn build(root: &Path, flags: &[&str], profile: &str) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("ONRUSH") {
        return Ok(PathBuf::from(path));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--package", "onrush-cli", "--features", "full"])
        .args(flags)
        .current_dir(root)
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !status.success() {
        return Err("onrush does not build".to_owned());
    }
    let own = std::env::current_exe().map_err(|error| format!("cannot find the target folder: {error}"))?;
    let target = own.parent().and_then(Path::parent).ok_or("xtask is not in a target folder")?;
    Ok(target.join(profile).join("onrush"))
}
