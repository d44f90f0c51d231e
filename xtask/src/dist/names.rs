//! Who hands the packages out, and where: what no code can know, from `[workspace.metadata.release]` of Cargo.toml.
//! What is empty there is left out of packages, never made up.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::release::VERSION;

/// The image that GitLab's template names where nobody has said another.
const LOCAL_IMAGE: &str = "onrush:latest";

/// Names of a release.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// `Name <address>`.
    pub(super) maintainer: Option<String>,
    /// The https address of the repository.
    pub(super) repository: Option<String>,
    /// The image of a container, without its tag: `registry.test/onrush`.
    pub(super) image: Option<String>,
}

impl Names {
    /// Asks cargo.
    pub(super) fn of_workspace(root: &Path) -> Result<Names, String> {
        let words = ["metadata", "--format-version", "1", "--no-deps"];
        let output = Command::new("cargo").args(words).current_dir(root).output();
        let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        Names::read(&metadata["metadata"]["release"])
    }

    fn read(release: &Value) -> Result<Names, String> {
        let one = |name: &str, is_good: fn(&str) -> bool, expected: &str| match release[name].as_str() {
            None | Some("") => Ok(None),
            Some(text) if is_good(text) => Ok(Some(text.to_owned())),
            Some(text) => Err(format!("workspace.metadata.release.{name}: found '{text}', expected {expected}")),
        };
        let is_person = |text: &str| text.contains(" <") && text.contains('@') && text.ends_with('>');
        let is_address = |text: &str| text.starts_with("https://") && !text.ends_with('/');
        let is_image = |text: &str| text.contains('/') && !text.contains("://") && !text.ends_with(":latest");
        Ok(Names {
            maintainer: one("maintainer", is_person, "Name <address>")?,
            repository: one("repository", is_address, "an https address without a slash at its end")?,
            image: one("image", is_image, "an image in a registry without a tag, as in registry.test/onrush")?,
        })
    }

    /// Those that nobody has set.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let all = [("maintainer", &self.maintainer), ("repository", &self.repository), ("image", &self.image)];
        all.into_iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect()
    }

    /// The template of ci/gitlab with the image of this version, where it has a place.
    pub(super) fn gitlab_template(&self, root: &Path) -> Result<Option<(String, Vec<u8>)>, String> {
        let Some(image) = &self.image else { return Ok(None) };
        let path = root.join("ci/gitlab/onrush.yml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let named = with_image(&text, &format!("{image}:{VERSION}"))
            .ok_or_else(|| format!("{} does not name the image {LOCAL_IMAGE}", path.display()))?;
        Ok(Some((String::from("onrush-gitlab.yml"), named.into_bytes())))
    }
}

fn with_image(template: &str, image: &str) -> Option<String> {
    let line = format!("name: {LOCAL_IMAGE}\n");
    template.contains(&line).then(|| template.replace(&line, &format!("name: {image}\n")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_or_missing_or_refused() {
        let good = json!({ "maintainer": "Ada <ada@example.org>", "repository": "https://example.org/o/onrush",
            "image": "registry.example.org/onrush" });
        assert_eq!(Names::read(&good).expect("good").missing(), Vec::<&str>::new());
        let empty = Names::read(&json!({ "maintainer": "" })).expect("empty");
        assert_eq!(empty.missing(), ["maintainer", "repository", "image"]);
        for bad in [
            json!({ "maintainer": "Ada" }),
            json!({ "repository": "example.org" }),
            json!({ "image": "onrush:latest" }),
        ] {
            assert!(Names::read(&bad).expect_err("bad").contains("expected"), "{bad}");
        }
    }

    #[test]
    fn the_template_gets_the_image_of_the_release() {
        let template = include_str!("../../../ci/gitlab/onrush.yml");
        let named = with_image(template, "registry.example.org/onrush:1.2.3").expect("the template names an image");
        assert!(named.contains("    name: registry.example.org/onrush:1.2.3\n") && !named.contains(LOCAL_IMAGE));
    }
}
