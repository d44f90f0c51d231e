//! The wheel `onrush-cli`: the program as a script of a Python package, so that `pip install` puts it into PATH.
//!
//! A wheel is a zip archive with a list of its files; nothing of it is Python code. Its platform tag is the glibc that
//! the program really needs, and pip refuses it elsewhere.

use base64_simd::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::release::{DESCRIPTION, LICENSE, Release, SUMMARY, VERSION};
use super::zip::Zip;

/// The name and the wheel.
pub(super) fn package(release: &Release) -> Result<(String, Vec<u8>), String> {
    let tag = format!("py3-none-{}", release.needs.platform(release.machine()));
    let info = format!("onrush_cli-{VERSION}.dist-info");
    let repository = release.names.repository.as_ref();
    let repository = repository.map(|url| format!("Project-URL: Repository, {url}\n")).unwrap_or_default();
    let metadata = format!(
        "Metadata-Version: 2.4\nName: onrush-cli\nVersion: {VERSION}\nSummary: {SUMMARY}\n{repository}\
         License-Expression: {LICENSE}\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Requires-Python: >=3.7\nDescription-Content-Type: text/plain\n\n{DESCRIPTION}\n"
    );
    let wheel = format!("Wheel-Version: 1.0\nGenerator: onrush xtask\nRoot-Is-Purelib: false\nTag: {tag}\n");
    let terms = ["LICENSE-APACHE", "LICENSE-MIT"];
    let mut files = vec![(format!("onrush_cli-{VERSION}.data/scripts/onrush"), 0o755, release.program.clone())];
    files.extend(terms.map(|name| (format!("{info}/licenses/{name}"), 0o644, release.contents.named(name))));
    files.push((format!("{info}/METADATA"), 0o644, metadata.into_bytes()));
    files.push((format!("{info}/WHEEL"), 0o644, wheel.into_bytes()));
    let mut record: String = files.iter().map(|(name, _, content)| recorded(name, content)).collect();
    record.push_str(&format!("{info}/RECORD,,\n"));
    files.push((format!("{info}/RECORD"), 0o644, record.into_bytes()));
    let mut zip = Zip::default();
    for (name, mode, content) in &files {
        zip.file(name, *mode, content)?;
    }
    Ok((format!("onrush_cli-{VERSION}-{tag}.whl"), zip.finish()?))
}

fn recorded(name: &str, content: &[u8]) -> String {
    format!("{name},sha256={},{}\n", URL_SAFE_NO_PAD.encode_to_string(Sha256::digest(content)), content.len())
}
