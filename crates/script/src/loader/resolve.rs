//! From what an `import` says to the one name of a module, and from that name to its text.
//!
//! Names are built-in paths (`k6/http`), `file:///…` or `https://…`. Paths are exact, as in k6: no extension is guessed
//! and `node_modules` is not searched.

use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};

use crate::builtins::Builtins;
use crate::error::{ScriptError, exit_code};
use crate::sources::disk::Disk;

/// The one name of the module that `specifier` means in the module `base`.
pub fn resolve(builtins: &Builtins, base: &str, specifier: &str) -> Result<String, ScriptError> {
    if builtins.find(specifier).is_some() {
        return Ok(specifier.to_string());
    }
    if specifier.starts_with("https://") {
        return Ok(specifier.to_string());
    }
    if specifier.starts_with("http://") {
        return Err(failure(format!("cannot import {specifier}: only https URLs can be imported")));
    }
    if let Some(path) = specifier.strip_prefix("file://") {
        return Ok(file_name(Path::new(path)));
    }
    let relative = specifier.starts_with("./") || specifier.starts_with("../");
    if specifier.starts_with('/') || relative {
        return join(base, specifier);
    }
    Err(failure(unknown_module(builtins, specifier)))
}

fn join(base: &str, specifier: &str) -> Result<String, ScriptError> {
    if let Some(rest) = base.strip_prefix("https://") {
        let host_end = rest.find('/').unwrap_or(rest.len());
        let (host, path) = rest.split_at(host_end);
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let directory = Path::new(path).parent().unwrap_or(Path::new("/"));
        return Ok(format!("https://{host}{}", normalize(&directory.join(specifier)).display()));
    }
    let base_path = Path::new(base.strip_prefix("file://").unwrap_or(base));
    let directory = base_path.parent().unwrap_or(Path::new("/"));
    Ok(file_name(&directory.join(specifier)))
}

fn unknown_module(builtins: &Builtins, specifier: &str) -> String {
    if let Some((name, feature)) = builtins.left_out.iter().find(|(name, _)| *name == specifier) {
        return format!("{name}: {}", units::left_out(feature));
    }
    if specifier.starts_with("k6/x/") {
        let known = builtins.modules().map(|module| module.name).filter(|name| name.starts_with("k6/x/"));
        let known: Vec<&str> = known.collect();
        let built_in = if known.is_empty() { String::from("none") } else { known.join(", ") };
        return format!("the extension {specifier} is not built in; those that are: {built_in}");
    }
    if specifier.starts_with("k6/experimental/") {
        return format!("module {specifier} is not supported yet");
    }
    if specifier == "k6" || specifier.starts_with("k6/") || specifier.starts_with("onrush/") {
        return format!("unknown module {specifier}: no built-in module has this name");
    }
    format!(
        "unknown module {specifier}: expected a built-in module, a path that begins with ./, ../ or /, or an https URL"
    )
}

/// The name of a file's module.
pub fn file_name(path: &Path) -> String {
    format!("file://{}", normalize(path).display())
}

/// Removes `.` and `..` without asking the file system, as URLs do.
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    out.push("/");
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// The text of a module.
pub fn read(disk: &Disk, name: &str) -> Result<String, ScriptError> {
    if let Some(path) = name.strip_prefix("file://") {
        let place = disk.place(Path::new(path));
        // Standard input and what a shell puts in place of a command are pipes; devices have no end.
        if std::fs::metadata(&place).is_ok_and(|found| is_device(found.file_type())) {
            return Err(failure(format!("cannot read {path}: it is a device, expected a file")));
        }
        let bytes = std::fs::read(&place).map_err(|error| {
            let what = match error.kind() {
                std::io::ErrorKind::NotFound => format!("there is no file {path}"),
                _ => format!("cannot read {path}: {error}"),
            };
            failure(format!("{what}; imported files are looked for exactly as written, extension included"))
        })?;
        return String::from_utf8(bytes).map_err(|_| failure(format!("{path} is not UTF-8 text")));
    }
    Err(failure(format!("cannot import {name}: only files and https URLs can be read")))
}

fn is_device(kind: std::fs::FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

fn failure(message: String) -> ScriptError {
    ScriptError::new(message, exit_code::SCRIPT_EXCEPTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    static NONE: Builtins = Builtins {
        lists: &[],
        left_out: &[("k6/x/redis", "redis")],
        alias: |_| None,
        text: |_| None,
        advice: |_| None,
        libraries: &[],
        globals: &[],
        as_data: |_| Ok(None),
        on_iteration_start: &[],
    };

    fn resolve(base: &str, specifier: &str) -> Result<String, ScriptError> {
        super::resolve(&NONE, base, specifier)
    }

    #[test]
    fn relative_paths_start_at_the_importing_module() {
        assert_eq!(resolve("file:///a/b/c.js", "./d.js").unwrap(), "file:///a/b/d.js");
        assert_eq!(resolve("file:///a/b/c.js", "../d.js").unwrap(), "file:///a/d.js");
        assert_eq!(resolve("file:///a/b/c.js", "/x/./y.js").unwrap(), "file:///x/y.js");
        assert_eq!(resolve("https://h.io/a/b.js?x=1", "./c.js").unwrap(), "https://h.io/a/c.js");
        assert_eq!(resolve("https://h.io/a/b.js", "/c.js").unwrap(), "https://h.io/c.js");
    }

    #[test]
    fn unknown_names_say_what_is_expected() {
        let message = |specifier: &str| resolve("file:///a.js", specifier).unwrap_err().message;
        assert_eq!(message("k6/x/kafka"), "the extension k6/x/kafka is not built in; those that are: none");
        assert!(message("k6/x/redis").starts_with("k6/x/redis: this Onrush was built without 'redis'"));
        assert_eq!(message("k6/nope"), "unknown module k6/nope: no built-in module has this name");
        assert!(message("lodash").contains("a path that begins with ./"));
        assert!(message("http://x/y.js").contains("only https"));
    }
}
