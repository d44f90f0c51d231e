//! A Debian package: an `ar` archive of a version, the control files and the files of the system.

use sha2::{Digest, Sha256};

use super::release::{DESCRIPTION, Release, SUMMARY, VERSION};
use crate::image::layer::Layer;

/// dpkg wants a maintainer, with an address. This one says that there is none: `.invalid` is nobody's.
const NOBODY: &str = "built locally <nobody@localhost.invalid>";

/// The name and the package.
pub(super) fn package(release: &Release) -> Result<(String, Vec<u8>), String> {
    let name = format!("onrush_{VERSION}-1_{}.deb", release.architecture);
    let mut data = release.contents.layer(&release.program, "usr");
    data.file("usr/share/doc/onrush/copyright", 0o644, copyright(release));
    let size = data.size();
    let data = data.pack()?.bytes;
    let mut control = Layer::default();
    control.file("control", 0o644, control_file(release, size.div_ceil(1024)));
    let members =
        [("debian-binary", b"2.0\n".to_vec()), ("control.tar.gz", control.pack()?.bytes), ("data.tar.gz", data)];
    Ok((name, archive(&members)))
}

fn control_file(release: &Release, kilobytes: usize) -> String {
    let depends = match release.needs.glibc {
        Some((major, minor)) => format!("Depends: libc6 (>= {major}.{minor}), libgcc-s1\n"),
        None => String::new(),
    };
    let homepage = release.names.repository.as_ref().map(|url| format!("Homepage: {url}\n")).unwrap_or_default();
    format!(
        "Package: onrush\nVersion: {VERSION}-1\nArchitecture: {}\nMaintainer: {}\n\
         Installed-Size: {kilobytes}\n{depends}Recommends: ca-certificates\nSection: net\nPriority: optional\n\
         {homepage}Description: {SUMMARY}\n {DESCRIPTION}\n",
        release.architecture,
        release.names.maintainer.as_deref().unwrap_or(NOBODY)
    )
}

/// Both terms, of which a user may choose.
fn copyright(release: &Release) -> Vec<u8> {
    let mut text = b"Onrush is licensed under MIT or Apache-2.0, at your choice.\n\n".to_vec();
    text.extend(release.contents.named("LICENSE-MIT"));
    text.extend(b"\n\n");
    text.extend(release.contents.named("LICENSE-APACHE"));
    text
}

/// `ar`, as dpkg reads it: a head of 60 bytes before each member, which begins at an even place.
fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, content) in members {
        out.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len()).as_bytes());
        out.extend(content);
        out.extend((out.len() % 2 == 1).then_some(b'\n'));
    }
    out
}

/// A digest as checksum files have it.
pub(super) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    #[test]
    fn members_have_a_head_and_begin_at_even_places() {
        let found = super::archive(&[("odd", b"abc".to_vec()), ("even", b"de".to_vec())]);
        let text = String::from_utf8(found).unwrap();
        let head = |name: &str, size: u32| format!("{name:<16}0           0     0     100644  {size:<10}`\n");
        assert_eq!(text, format!("!<arch>\n{}abc\n{}de", head("odd", 3), head("even", 2)));
    }
}
