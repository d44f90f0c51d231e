//! k6's libraries at the addresses that scripts import them from: written here, so that nothing is fetched.
//!
//! They are modules of JavaScript over what any script can import. An address of any version gives the same module,
//! which has the names of all versions. `FormData` and `URL` are native: `modules/form_data`, `modules/url_library`.

/// Where they are.
const HOST: &str = "https://jslib.k6.io/";

/// The libraries by name.
const TEXTS: &[(&str, &str)] = &[
    ("aws", include_str!("aws.js")),
    ("httpx", include_str!("httpx.js")),
    ("k6-summary", include_str!("k6-summary.js")),
    ("k6-utils", include_str!("k6-utils.js")),
    ("k6chaijs", include_str!("k6chaijs.js")),
    ("papaparse", include_str!("papaparse.js")),
    ("totp", include_str!("totp.js")),
];

/// TypeScript declarations of all of them, as modules of their addresses.
pub const TYPES: &str = include_str!("types.d.ts");

/// The text of the library that an import path means.
pub fn text(path: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| is_address(path, name)).map(|(_, text)| *text)
}

/// Whether an import path is that of a library, in any version.
pub fn is_address(path: &str, library: &str) -> bool {
    let rest = path.strip_prefix(HOST).and_then(|rest| rest.strip_prefix(library)?.strip_prefix('/'));
    let files: &[&str] = if library == "aws" { &["/aws.js", "/signature.js"] } else { &["/index.js"] };
    let version = rest.and_then(|rest| files.iter().find_map(|file| rest.strip_suffix(file)));
    version.is_some_and(|version| !version.is_empty() && !version.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that a text exports, in order.
    fn exported(text: &str) -> Vec<&str> {
        let exports = text.lines().filter_map(|line| line.trim_start().strip_prefix("export "));
        let mut names: Vec<&str> = exports
            .flat_map(|export| match export.split_once(['{', '[']) {
                Some((before, list)) if before.trim().is_empty() || before == "const " => {
                    let list = list.split(['}', ']']).next().unwrap_or_default();
                    list.split(',').filter_map(|one| one.split_whitespace().last()).collect()
                }
                _ => vec![export.split([' ', '(', '=', ':', ';', '<']).nth(1).unwrap_or_default()],
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    #[test]
    fn what_is_declared_is_what_there_is() {
        for (name, text) in TEXTS {
            let begin = format!("declare module \"{HOST}{name}/*\" {{");
            let declared = TYPES.split_once(begin.as_str()).unwrap_or_else(|| panic!("{name} is not declared")).1;
            let declared = declared.split("\n}").next().unwrap_or_default();
            let without_types: String = declared
                .lines()
                .filter(|line| !line.contains("export interface") && !line.contains("export type"))
                .collect::<Vec<_>>()
                .join("\n");
            let mut wanted = exported(text);
            wanted.retain(|name| !matches!(*name, "chai;" | "Assertion"));
            assert_eq!(exported(&without_types), wanted, "{name}");
        }
    }

    #[test]
    fn an_address_of_any_version_means_the_library() {
        for version in ["1.1.0", "1.4.0", "latest"] {
            assert!(text(&format!("https://jslib.k6.io/k6-utils/{version}/index.js")).is_some(), "{version}");
            assert!(text(&format!("https://jslib.k6.io/aws/{version}/signature.js")).is_some(), "{version}");
        }
        for other in [
            "https://jslib.k6.io/k6-utils/index.js",
            "https://jslib.k6.io/k6-utils/1.1.0/other.js",
            "https://jslib.k6.io/aws/0.14.0/s3.js",
            "https://jslib.k6.io/k6-utils/a/b/index.js",
            "https://jslib.k6.io/k6-utilsx/1.1.0/index.js",
            "https://h.test/k6-utils/1.1.0/index.js",
        ] {
            assert!(text(other).is_none(), "{other}");
        }
    }
}
