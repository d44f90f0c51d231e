//! The texts of k6's FormData library: where they are imported from, which copies are known, and what replaces each.

use super::form::Edition;
use super::{MODULE, load_edition};
use crate::libraries;
use script::builtins::LibraryText;
use script::builtins::ModuleDef;

/// What takes the place of texts that behave in another way: no script names these.
static OTHERS: [ModuleDef; 3] = [
    ModuleDef { name: SETS_FIRST, load: |ctx| load_edition(ctx, Edition::SetsFirst), ..MODULE },
    ModuleDef { name: UNTYPED, load: |ctx| load_edition(ctx, Edition::Untyped), ..MODULE },
    ModuleDef { name: FILES_ALONE, load: |ctx| load_edition(ctx, Edition::FilesAlone), ..MODULE },
];
const SETS_FIRST: &str = "onrush/formdata#sets-first";
const UNTYPED: &str = "onrush/formdata#untyped";
const FILES_ALONE: &str = "onrush/formdata#files-alone";

/// The texts of the library that are known: those of <https://jslib.k6.io> and of its repository. Missing is the first
/// text of 0.0.1, which gives parts other types and names. `cargo run -p onrush-script --example signatures FILE` tells
/// those of other texts.
pub static KNOWN: &[LibraryText] = &[
    LibraryText { signature: "1422edd6f2001cd5f825b2d59c1f2ec5", version: "0.0.1", module: FILES_ALONE },
    LibraryText { signature: "50704b3e8d6834a267ba07a1fbb390ea", version: "0.0.2, its first text", module: UNTYPED },
    LibraryText { signature: "00611e52ddc00966be44f0baa97402d1", version: "0.0.2", module: MODULE.name },
    LibraryText { signature: "3f25cec487cb9d26f7af8d88da1c62ba", version: "0.0.2", module: MODULE.name },
    LibraryText { signature: "aca51ef0730a10aacbe6da8e2f88e94a", version: "with set, after 0.0.2", module: SETS_FIRST },
    // `body` of all of these, however it is written. It takes no text itself: `append` makes parts of that.
    LibraryText { signature: "89f0fc6247600bc8cf0fb37e24b2b905", version: "another form of it", module: FILES_ALONE },
];

/// The module that an import path means: the library's address in a known version, or what the loader writes.
pub fn module(path: &str) -> Option<&'static ModuleDef> {
    static LIBRARY: ModuleDef = MODULE;
    let other = |name: &str| OTHERS.iter().find(|module| module.name == name);
    match libraries::native_version(path, "formdata") {
        Some("0.0.1") => other(FILES_ALONE),
        Some(_) => Some(&LIBRARY),
        None => other(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_of_the_library_has_its_module() {
        let module = |path: &str| module(path).map(|module| module.name);
        assert_eq!(module("https://jslib.k6.io/formdata/0.0.1/index.js"), Some(FILES_ALONE));
        assert_eq!(module("https://jslib.k6.io/formdata/0.0.2/index.js"), Some(MODULE.name));
        for other in [
            "https://jslib.k6.io/formdata/latest/index.js",
            "https://jslib.k6.io/formdata/index.js",
            "https://jslib.k6.io/formdata/0.0.1/other.js",
            "https://jslib.k6.io/formdata/a/b/index.js",
            "https://jslib.k6.io/form-urlencoded/3.0.0/index.js",
        ] {
            assert_eq!(module(other), None, "{other}");
        }
    }
}
