//! What every package has besides the program: manual pages, completions, terms, the README. The program itself makes
//! pages and completions, so they are those of its version.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::image::layer::Layer;

/// Files by their paths below a prefix such as `usr`.
pub(super) struct Contents {
    files: Vec<(String, Vec<u8>)>,
}

impl Contents {
    /// Runs the program for what it makes, and reads the rest from the repository.
    pub(super) fn gather(binary: &Path, root: &Path) -> Result<Contents, String> {
        let mut files = Vec::new();
        for (shell, path) in [
            ("bash", "share/bash-completion/completions/onrush"),
            ("zsh", "share/zsh/site-functions/_onrush"),
            ("fish", "share/fish/vendor_completions.d/onrush.fish"),
        ] {
            files.push((path.to_owned(), said_by(binary, &["completion", shell])?));
        }
        let pages = std::env::temp_dir().join(format!("onrush-man-{}", std::process::id()));
        fs::create_dir_all(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
        said_by(binary, &["man", &pages.display().to_string()])?;
        let entries = fs::read_dir(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let text = fs::read(entry.path()).map_err(|error| format!("{}: {error}", entry.path().display()))?;
            files.push((format!("share/man/man1/{}", entry.file_name().display()), text));
        }
        fs::remove_dir_all(&pages).map_err(|error| format!("{}: {error}", pages.display()))?;
        for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"] {
            let text = fs::read(root.join(name)).map_err(|error| format!("{name}: {error}"))?;
            files.push((format!("share/doc/onrush/{name}"), text));
        }
        files.sort();
        Ok(Contents { files })
    }

    /// The program and all files below `prefix`.
    pub(super) fn layer(&self, program: &[u8], prefix: &str) -> Layer {
        let mut layer = Layer::default();
        layer.file(&format!("{prefix}/bin/onrush"), 0o755, program);
        self.files.iter().for_each(|(path, text)| layer.file(&format!("{prefix}/{path}"), 0o644, text.as_slice()));
        layer
    }

    /// One file by the end of its path.
    pub(super) fn named(&self, name: &str) -> Vec<u8> {
        let found = self.files.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, text)| text.clone()).unwrap_or_default()
    }
}

/// What a command of the program prints.
fn said_by(binary: &Path, words: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new(binary).args(words).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", binary.display()))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("onrush {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr))),
    }
}
