//! `cargo xtask dist --ready TAG`: whether a tag may be released. The tag is the version, every name is set that no
//! code can know, and no page still has a placeholder for one.

use std::fs;
use std::path::Path;

use super::names::Names;
use super::release::VERSION;

/// Pages that name the repository or the image, and what stands there until somebody knows them.
const PLACEHOLDERS: &[(&str, &str, &str)] = &[
    ("docs/guides/ci.md", "OWNER/onrush", "repository"),
    ("docs/guides/ci.md", "registry.example.com/onrush", "image"),
    ("docs/start/install.md", "\"$REPOSITORY\"", "repository"),
    ("docs/start/install.md", "There is no release yet", "release"),
];

/// Fails with everything that is in the way.
pub(super) fn check(root: &Path, tag: &str) -> Result<(), String> {
    let names = Names::of_workspace(root)?;
    let mut problems = in_the_way(tag, &names);
    for (page, placeholder, name) in PLACEHOLDERS {
        let text = fs::read_to_string(root.join(page)).map_err(|error| format!("{page}: {error}"))?;
        if text.contains(placeholder) {
            problems.push(format!("{page} still says {placeholder}: write the {name} there"));
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!("{tag} cannot be released:\n{}", problems.join("\n"))),
    }
}

fn in_the_way(tag: &str, names: &Names) -> Vec<String> {
    let expected = format!("v{VERSION}");
    let of_tag =
        (tag != expected).then(|| format!("found the tag {tag}, expected {expected}, the version in Cargo.toml"));
    let missing = names.missing().into_iter();
    let of_names = missing.map(|name| format!("{name} is empty in [workspace.metadata.release] of Cargo.toml"));
    of_tag.into_iter().chain(of_names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_needs_its_version_and_every_name() {
        let found = in_the_way("v9", &Names::default());
        assert_eq!(found.len(), 4, "{found:?}");
        let text = || Some(String::from("x"));
        let names = Names { maintainer: text(), repository: text(), image: text() };
        assert_eq!(in_the_way(&format!("v{VERSION}"), &names), Vec::<String>::new());
    }

    /// A placeholder that is nowhere would let a page with another one through.
    #[test]
    fn every_placeholder_stands_in_its_page_until_it_is_replaced() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        if !Names::of_workspace(&root).expect("names").missing().is_empty() {
            for (page, placeholder, _) in PLACEHOLDERS {
                let text = fs::read_to_string(root.join(page)).expect("a page");
                assert!(text.contains(placeholder), "{page} no longer says {placeholder}");
            }
            assert!(check(&root, &format!("v{VERSION}")).is_err());
        }
    }
}
