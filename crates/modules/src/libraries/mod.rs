//! k6's libraries at the addresses that scripts import them from: written here, so that nothing is fetched.
//!
//! They are modules of JavaScript over what any script can import, in the versions whose behaviour is known:
//! `cargo xtask libraries` compares each export of each version with the real file. Any other version or file is
//! downloaded, as by k6. `FormData` and `URL` are native: `modules/form_data`, `modules/url_library`.

mod versions;

use versions::{LibraryVersion, VERSIONS};

/// Where they are.
pub const HOST: &str = "https://jslib.k6.io/";

/// Those that modules of Rust answer, with their versions: `formdata`, `url`.
const NATIVE: &[(&str, &[&str])] = &[("formdata", &["0.0.1", "0.0.2"]), ("url", &["1.0.0"])];

/// TypeScript declarations of all of them, as modules of their addresses.
pub const TYPES: &str = include_str!("types.d.ts");

/// The addresses of all versions that are built in, native ones too.
pub fn addresses() -> Vec<String> {
    let texts = VERSIONS.iter().map(LibraryVersion::address);
    let native = NATIVE.iter().flat_map(|(name, versions)| versions.iter().map(move |version| address(name, version)));
    texts.chain(native).collect()
}

fn address(library: &str, version: &str) -> String {
    format!("{HOST}{library}/{version}/index.js")
}

/// The text of the library that an import path means.
pub fn text(path: &str) -> Option<String> {
    Some(VERSIONS.iter().find(|version| version.address() == path)?.text())
}

/// The version of a native library that an import path means.
pub fn native_version(path: &str, library: &str) -> Option<&'static str> {
    let (_, versions) = NATIVE.iter().find(|(name, _)| *name == library)?;
    versions.iter().copied().find(|version| address(library, version) == path)
}

/// Which versions of a library are built in, for the error of an address of it that could not be downloaded; `None` for
/// addresses of something else.
pub fn advice(path: &str) -> Option<String> {
    let library = path.strip_prefix(HOST)?.split('/').next()?;
    let prefix = format!("{HOST}{library}/");
    let addresses = addresses();
    let known: Vec<&str> = addresses.iter().filter_map(|address| address.strip_prefix(prefix.as_str())).collect();
    if known.is_empty() {
        return None;
    }
    let known: Vec<&str> = known.into_iter().map(|file| file.strip_suffix("/index.js").unwrap_or(file)).collect();
    Some(format!("this version or file of {library} is not built in; those that are: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that a text exports, in order.
    fn exported(text: &str) -> Vec<&str> {
        let exports = text.lines().filter_map(|line| line.trim_start().strip_prefix("export "));
        let mut names: Vec<&str> =
            exports.map(|export| export.split([' ', '(', '=', ':', ';', '<']).nth(1).unwrap_or_default()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    #[test]
    fn each_library_is_declared_with_its_versions() {
        for version in VERSIONS {
            let file = if version.library == "aws" { "signature.js" } else { "*" };
            let begin = format!("declare module \"{HOST}{}/{file}\" {{", version.library).replace("aws/", "aws/*/");
            let declared = TYPES.split_once(begin.as_str()).unwrap_or_else(|| panic!("no {begin}")).1;
            let declared = declared.split("\n}").next().unwrap_or_default();
            assert!(!exported(declared).is_empty(), "{begin}");
        }
    }

    #[test]
    fn an_address_means_its_own_version_alone() {
        for known in ["k6-utils/1.1.0/index.js", "k6-utils/1.4.0/index.js", "aws/0.14.0/signature.js"] {
            assert!(text(&format!("{HOST}{known}")).is_some(), "{known}");
        }
        for other in [
            "k6-utils/index.js",
            "k6-utils/1.1.0/other.js",
            "k6-utils/1.7.0/index.js",
            "k6-utils/latest/index.js",
            "aws/0.14.0/s3.js",
            "aws/0.14.0/aws.js",
            "k6-utils/a/b/index.js",
            "k6-utilsx/1.1.0/index.js",
        ] {
            assert!(text(&format!("{HOST}{other}")).is_none(), "{other}");
        }
        assert!(text("https://h.test/k6-utils/1.1.0/index.js").is_none());
        assert_eq!(native_version("https://jslib.k6.io/formdata/0.0.2/index.js", "formdata"), Some("0.0.2"));
        assert_eq!(native_version("https://jslib.k6.io/formdata/0.0.3/index.js", "formdata"), None);
        assert_eq!(native_version("https://jslib.k6.io/formdata/0.0.2/other.js", "formdata"), None);
    }

    #[test]
    fn what_is_built_in_is_said_of_known_libraries() {
        assert_eq!(
            advice("https://jslib.k6.io/papaparse/latest/index.js").unwrap(),
            "this version or file of papaparse is not built in; those that are: 5.1.1"
        );
        assert!(advice("https://jslib.k6.io/aws/0.14.0/s3.js").unwrap().contains(", 0.14.0/signature.js"));
        assert!(advice("https://jslib.k6.io/ajv/6.12.5/index.js").is_none());
        assert!(advice("https://h.test/papaparse/latest/index.js").is_none());
    }
}
