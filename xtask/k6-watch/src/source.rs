//! Names in source text: of k6's modules and variables, and of the variables that Onrush knows.
//!
//! Nothing but names is taken from k6's sources, and they stay where Go keeps them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder with this ending, tests left out.
pub(crate) fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if name.ends_with(ending) && !name.ends_with(&format!("_test{ending}")) {
            found.push(path);
        }
    }
    Ok(found)
}

/// The texts of these files.
pub(crate) fn texts(paths: &[PathBuf]) -> Result<Vec<String>, String> {
    let read = |path: &PathBuf| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    paths.iter().map(|path| Ok(String::from_utf8_lossy(&read(path)?).into_owned())).collect()
}

/// Variables of k6 that a text names in quotes, or, where all count, anywhere.
pub(crate) fn variables(text: &str, quoted: bool) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let found = text.match_indices("K6_").filter_map(|(at, _)| {
        let rest = &text[at..];
        let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let is_inside = text[..at].ends_with(is_part);
        let is_quoted = text[..at].ends_with(['"', '`']) && rest[name.len()..].starts_with(['"', '`']);
        (!is_inside && (!quoted || is_quoted) && name.len() > 3).then(|| name.to_owned())
    });
    found.collect()
}

/// Import paths of k6's modules that a text names in quotes; extensions are other projects.
pub(crate) fn modules(text: &str) -> BTreeSet<String> {
    let quoted = text.split('"').filter(|part| *part == "k6" || part.starts_with("k6/"));
    let is_path = |part: &&str| part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "/-_".contains(c));
    let is_own = |part: &&str| !part.starts_with("k6/x/") && !part.ends_with('/');
    quoted.filter(is_path).filter(is_own).map(str::to_owned).collect()
}

/// The names of options in the source of k6's structure of options: what their JSON is called.
pub(crate) fn options(text: &str) -> BTreeSet<String> {
    let fields = text.split_once("type Options struct {").map_or("", |(_, rest)| rest);
    let fields = fields.split_once("\n}").map_or(fields, |(fields, _)| fields);
    let found = fields.split("`json:\"").skip(1).filter_map(|rest| rest.split(['"', ',']).next());
    found.filter(|name| !name.is_empty() && *name != "-").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_are_quoted() {
        let text = "get(\"K6_A_1\", `K6_B`, \"XK6_C\", \"K6_\") // K6_D and \"K6_E is\"";
        let names = |quoted| variables(text, quoted).into_iter().collect::<Vec<_>>();
        assert_eq!(names(true), ["K6_A_1", "K6_B"]);
        assert_eq!(names(false), ["K6_A_1", "K6_B", "K6_D", "K6_E"]);
        let text = "m(\"k6\", \"k6/net/grpc\", \"k6/x/sql\", \"k6/x/\", \"k6/A b\", \"k6s\")";
        assert_eq!(modules(text).into_iter().collect::<Vec<_>>(), ["k6", "k6/net/grpc"]);
        let text = "X `json:\"x\"`\ntype Options struct {\nA int `json:\"a,omitempty\" b:\"c\"`\nB int `json:\"bC\"`\n\
                    D int `json:\"-\"`\n}\nY int `json:\"y\"`";
        assert_eq!(options(text).into_iter().collect::<Vec<_>>(), ["a", "bC"]);
    }
}
