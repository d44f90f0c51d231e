//! k6's libraries at the addresses that scripts import them from: written here, so that nothing is fetched.
//!
//! They are modules of JavaScript over what any script can import. An address of any version gives the same module,
//! which has the names of all versions. `FormData` and `URL` are native: `modules/form_data`, `modules/url_library`.

/// Where they are.
const HOST: &str = "https://jslib.k6.io/";

/// The libraries by name.
const TEXTS: &[(&str, &str)] = &[
    ("httpx", include_str!("httpx.js")),
    ("k6-summary", include_str!("k6-summary.js")),
    ("k6-utils", include_str!("k6-utils.js")),
    ("k6chaijs", include_str!("k6chaijs.js")),
    ("papaparse", include_str!("papaparse.js")),
    ("totp", include_str!("totp.js")),
];

/// The text of the library that an import path means.
pub fn text(path: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| is_address(path, name)).map(|(_, text)| *text)
}

/// Whether an import path is that of a library, in any version.
pub fn is_address(path: &str, library: &str) -> bool {
    let rest = path.strip_prefix(HOST).and_then(|rest| rest.strip_prefix(library)?.strip_prefix('/'));
    let version = rest.and_then(|rest| rest.strip_suffix("/index.js"));
    version.is_some_and(|version| !version.is_empty() && !version.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_any_version_means_the_library() {
        for version in ["1.1.0", "1.4.0", "latest"] {
            assert!(text(&format!("https://jslib.k6.io/k6-utils/{version}/index.js")).is_some(), "{version}");
        }
        for other in [
            "https://jslib.k6.io/k6-utils/index.js",
            "https://jslib.k6.io/k6-utils/1.1.0/other.js",
            "https://jslib.k6.io/k6-utils/a/b/index.js",
            "https://jslib.k6.io/k6-utilsx/1.1.0/index.js",
            "https://h.test/k6-utils/1.1.0/index.js",
        ] {
            assert!(text(other).is_none(), "{other}");
        }
    }
}
