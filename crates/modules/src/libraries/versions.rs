//! The versions of libraries that are built in, each made of files of this folder.
//!
//! A version that behaves in another way has another VERSION, a number that its files ask. Exports are of the kind
//! that the real file has, ES or CommonJS, because scripts import what there is: a default or none.

/// One version of a library.
pub(super) struct LibraryVersion {
    /// The first part of its path.
    pub library: &'static str,
    version: &'static str,
    file: &'static str,
    /// Lines in front: its number, imports.
    head: &'static str,
    parts: &'static [&'static str],
    /// Exports behind.
    tail: &'static str,
}

impl LibraryVersion {
    pub fn address(&self) -> String {
        format!("{}{}/{}/{}", super::HOST, self.library, self.version, self.file)
    }

    /// The whole module.
    pub fn text(&self) -> String {
        let parts = [self.head].into_iter().chain(self.parts.iter().copied()).chain([self.tail]);
        parts.collect::<Vec<_>>().join("\n")
    }
}

const fn index(
    library: &'static str,
    version: &'static str,
    head: &'static str,
    parts: &'static [&'static str],
    tail: &'static str,
) -> LibraryVersion {
    LibraryVersion { library, version, file: "index.js", head, parts, tail }
}

const fn signature(
    version: &'static str,
    head: &'static str,
    parts: &'static [&'static str],
    tail: &'static str,
) -> LibraryVersion {
    LibraryVersion { library: "aws", version, file: "signature.js", head, parts, tail }
}

const RANDOM: &str = include_str!("k6-utils/random.js");
const BETWEEN: &str = include_str!("k6-utils/between.js");
const BELL: &str = include_str!("k6-utils/bell.js");
const UTILS: &[&str] =
    &[RANDOM, BETWEEN, BELL, include_str!("k6-utils/stages.js"), include_str!("k6-utils/exports.js")];
const UTILS_CHECK: &[&str] = &[
    RANDOM,
    BETWEEN,
    BELL,
    include_str!("k6-utils/stages.js"),
    include_str!("k6-utils/check.js"),
    include_str!("k6-utils/exports.js"),
];
const UTILS_1_0: &str = "export { fastUuid as uuidv4, randomIntBetween, randomItem, randomString };";
const UTILS_1_1: &str =
    "export { fastUuid as uuidv4, randomIntBetween, randomItem, randomString, findFirst as findBetween };";
const UTILS_1_2: &str =
    "export { fastUuid as uuidv4, randomIntBetween, randomItem, randomString, findBetween, normalDistributionStages };";

const SUMMARY: &[&str] = &[include_str!("k6-summary/text.js"), include_str!("k6-summary/junit.js")];
const TEMPO_MARKED: &str = "export const __esModule = true;";
const MARKED: &str = "Object.defineProperty(exports, '__esModule', { value: true });";

/// Versions differ in how values and checks are shown.
macro_rules! chai {
    ($show:literal, $checks:literal) => {
        &[
            include_str!("k6chaijs/values.js"),
            include_str!("k6chaijs/equal.js"),
            include_str!($show),
            include_str!("k6chaijs/display.js"),
            include_str!("k6chaijs/assertion.js"),
            include_str!("k6chaijs/proxy.js"),
            include_str!("k6chaijs/words.js"),
            include_str!("k6chaijs/sizes.js"),
            include_str!("k6chaijs/behaviour.js"),
            include_str!("k6chaijs/interfaces.js"),
            include_str!("k6chaijs/chai.js"),
            include_str!($checks),
            include_str!("k6chaijs/describe.js"),
        ]
    };
}
const CHAI: &[&str] = chai!("k6chaijs/show.js", "k6chaijs/checks.js");
const CHAI_FIRST: &[&str] = chai!("k6chaijs/show-4.3.4.js", "k6chaijs/checks-4.3.4.js");

const HTTPX: &[&str] = &[include_str!("httpx/library.js")];
const PAPAPARSE: &[&str] = &[
    include_str!("papaparse/parser.js"),
    include_str!("papaparse/handle.js"),
    include_str!("papaparse/unparse.js"),
    include_str!("papaparse/library.js"),
];
const TOTP: &[&str] = &[include_str!("totp/library.js")];
const TESTING: &[&str] = &[include_str!("k6-testing/library.js")];
const TEMPO: &[&str] = &[include_str!("http-instrumentation-tempo/library.js")];

const AWS: &[&str] = &[include_str!("aws/names.js"), include_str!("aws/signature.js")];
const AWS_REQUIRES: &str = "const VERSION = 13, k6crypto = require('k6/crypto'), { parseHTML } = require('k6/html');";
const AWS_IMPORTS: &str = "import k6crypto from 'k6/crypto'; import { parseHTML } from 'k6/html'; const VERSION = 14;";
const AWS_COMMON: &str = include_str!("aws/exports-0.13.js");
const AWS_ES: &str = include_str!("aws/exports-0.14.js");

/// All of them.
#[rustfmt::skip]
pub(super) static VERSIONS: &[LibraryVersion] = &[
    index("k6-utils", "1.0.0", "const VERSION = 0;", &[RANDOM], UTILS_1_0),
    index("k6-utils", "1.1.0", "const VERSION = 1;", &[RANDOM, BETWEEN], UTILS_1_1),
    index("k6-utils", "1.2.0", "const VERSION = 2;", &[RANDOM, BETWEEN, BELL], UTILS_1_2),
    index("k6-utils", "1.3.0", "const VERSION = 3;", UTILS, MARKED),
    index("k6-utils", "1.4.0", "const VERSION = 4;", UTILS, MARKED),
    index("k6-utils", "1.5.0", "const VERSION = 5;", UTILS_CHECK, MARKED),
    index("k6-utils", "1.6.0", "const VERSION = 6;", UTILS_CHECK, MARKED),
    index("k6-summary", "0.0.1", "const VERSION = 1;", SUMMARY, ""),
    index("k6-summary", "0.0.2", "const VERSION = 2;", SUMMARY, ""),
    index("k6-summary", "0.0.3", "const VERSION = 3;", SUMMARY, ""),
    index("k6-summary", "0.0.4", "const VERSION = 4;", SUMMARY, ""),
    index("k6-summary", "0.1.0", "const VERSION = 10;", SUMMARY, MARKED),
    index("k6chaijs", "4.3.4.0", "const VERSION = 40;", CHAI_FIRST, ""),
    index("k6chaijs", "4.3.4.1", "const VERSION = 41;", CHAI_FIRST, ""),
    index("k6chaijs", "4.3.4.2", "const VERSION = 42;", CHAI, ""),
    index("k6chaijs", "4.3.4.3", "const VERSION = 43;", CHAI, ""),
    index("k6chaijs", "4.5.0.0", "const VERSION = 50;", CHAI, ""),
    index("k6chaijs", "4.5.0.1", "const VERSION = 51;", CHAI, ""),
    index("httpx", "0.0.1", "const VERSION = 1;", HTTPX, ""),
    index("httpx", "0.0.2", "const VERSION = 2;", HTTPX, ""),
    index("httpx", "0.0.3", "const VERSION = 3;", HTTPX, ""),
    index("httpx", "0.0.4", "const VERSION = 4;", HTTPX, ""),
    index("httpx", "0.0.5", "const VERSION = 5;", HTTPX, ""),
    index("httpx", "0.0.6", "const VERSION = 6;", HTTPX, ""),
    index("httpx", "0.1.0", "const VERSION = 10;", HTTPX, "export { Head, Connect, Trace };"),
    index("papaparse", "5.1.1", "", PAPAPARSE, ""),
    index("totp", "1.0.0", "", TOTP, ""),
    index("http-instrumentation-tempo", "1.0.0", "", TEMPO, TEMPO_MARKED),
    index("http-instrumentation-tempo", "1.0.1", "", TEMPO, TEMPO_MARKED),
    index("k6-testing", "0.1.0", "const VERSION = 1;", TESTING, ""),
    index("k6-testing", "0.2.0", "const VERSION = 2;", TESTING, ""),
    index("k6-testing", "0.3.0", "const VERSION = 3;", TESTING, ""),
    index("k6-testing", "0.4.0", "const VERSION = 4;", TESTING, ""),
    index("k6-testing", "0.5.0", "const VERSION = 5;", TESTING, ""),
    index("k6-testing", "0.6.0", "const VERSION = 6;", TESTING, ""),
    index("k6-testing", "0.6.1", "const VERSION = 7;", TESTING, ""),
    signature("0.13.0", AWS_REQUIRES, AWS, AWS_COMMON),
    signature("0.14.0", AWS_IMPORTS, AWS, AWS_ES),
];
