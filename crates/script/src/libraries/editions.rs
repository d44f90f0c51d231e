//! The versions of libraries that are built in, each made of files of this folder.
//!
//! A version that behaves in another way has another EDITION, a number that its files ask. Exports are of the kind
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

const fn edition(
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
const MARKED: &str = "Object.defineProperty(exports, '__esModule', { value: true });";

const CHAI_VALUES: &str = include_str!("k6chaijs/values.js");
const CHAI_EQUAL: &str = include_str!("k6chaijs/equal.js");
const CHAI_DISPLAY: &str = include_str!("k6chaijs/display.js");
const CHAI_ASSERTION: &str = include_str!("k6chaijs/assertion.js");
const CHAI_PROXY: &str = include_str!("k6chaijs/proxy.js");
const CHAI_WORDS: &str = include_str!("k6chaijs/words.js");
const CHAI_SIZES: &str = include_str!("k6chaijs/sizes.js");
const CHAI_BEHAVIOUR: &str = include_str!("k6chaijs/behaviour.js");
const CHAI_INTERFACES: &str = include_str!("k6chaijs/interfaces.js");
const CHAI_CHAI: &str = include_str!("k6chaijs/chai.js");
const CHAI_DESCRIBE: &str = include_str!("k6chaijs/describe.js");
const CHAI: &[&str] = &[
    CHAI_VALUES,
    CHAI_EQUAL,
    include_str!("k6chaijs/show.js"),
    CHAI_DISPLAY,
    CHAI_ASSERTION,
    CHAI_PROXY,
    CHAI_WORDS,
    CHAI_SIZES,
    CHAI_BEHAVIOUR,
    CHAI_INTERFACES,
    CHAI_CHAI,
    include_str!("k6chaijs/checks.js"),
    CHAI_DESCRIBE,
];
const CHAI_FIRST: &[&str] = &[
    CHAI_VALUES,
    CHAI_EQUAL,
    include_str!("k6chaijs/show-4.3.4.js"),
    CHAI_DISPLAY,
    CHAI_ASSERTION,
    CHAI_PROXY,
    CHAI_WORDS,
    CHAI_SIZES,
    CHAI_BEHAVIOUR,
    CHAI_INTERFACES,
    CHAI_CHAI,
    include_str!("k6chaijs/checks-4.3.4.js"),
    CHAI_DESCRIBE,
];

const HTTPX: &[&str] = &[include_str!("httpx/library.js")];
const PAPAPARSE: &[&str] = &[
    include_str!("papaparse/parser.js"),
    include_str!("papaparse/handle.js"),
    include_str!("papaparse/unparse.js"),
    include_str!("papaparse/library.js"),
];
const TOTP: &[&str] = &[include_str!("totp/library.js")];

const AWS: &[&str] = &[include_str!("aws/names.js"), include_str!("aws/signature.js")];
const AWS_REQUIRES: &str = "const EDITION = 13, k6crypto = require('k6/crypto'), { parseHTML } = require('k6/html');";
const AWS_IMPORTS: &str = "import k6crypto from 'k6/crypto'; import { parseHTML } from 'k6/html'; const EDITION = 14;";
const AWS_COMMON: &str = include_str!("aws/exports-0.13.js");
const AWS_ES: &str = include_str!("aws/exports-0.14.js");

/// All of them.
#[rustfmt::skip]
pub(super) static EDITIONS: &[LibraryVersion] = &[
    edition("k6-utils", "1.0.0", "const EDITION = 0;", &[RANDOM], UTILS_1_0),
    edition("k6-utils", "1.1.0", "const EDITION = 1;", &[RANDOM, BETWEEN], UTILS_1_1),
    edition("k6-utils", "1.2.0", "const EDITION = 2;", &[RANDOM, BETWEEN, BELL], UTILS_1_2),
    edition("k6-utils", "1.3.0", "const EDITION = 3;", UTILS, MARKED),
    edition("k6-utils", "1.4.0", "const EDITION = 4;", UTILS, MARKED),
    edition("k6-utils", "1.5.0", "const EDITION = 5;", UTILS_CHECK, MARKED),
    edition("k6-utils", "1.6.0", "const EDITION = 6;", UTILS_CHECK, MARKED),
    edition("k6-summary", "0.0.1", "const EDITION = 1;", SUMMARY, ""),
    edition("k6-summary", "0.0.2", "const EDITION = 2;", SUMMARY, ""),
    edition("k6-summary", "0.0.3", "const EDITION = 3;", SUMMARY, ""),
    edition("k6-summary", "0.0.4", "const EDITION = 4;", SUMMARY, ""),
    edition("k6-summary", "0.1.0", "const EDITION = 10;", SUMMARY, MARKED),
    edition("k6chaijs", "4.3.4.0", "const EDITION = 40;", CHAI_FIRST, ""),
    edition("k6chaijs", "4.3.4.1", "const EDITION = 41;", CHAI_FIRST, ""),
    edition("k6chaijs", "4.3.4.2", "const EDITION = 42;", CHAI, ""),
    edition("k6chaijs", "4.3.4.3", "const EDITION = 43;", CHAI, ""),
    edition("k6chaijs", "4.5.0.0", "const EDITION = 50;", CHAI, ""),
    edition("k6chaijs", "4.5.0.1", "const EDITION = 51;", CHAI, ""),
    edition("httpx", "0.0.1", "const EDITION = 1;", HTTPX, ""),
    edition("httpx", "0.0.2", "const EDITION = 2;", HTTPX, ""),
    edition("httpx", "0.0.3", "const EDITION = 3;", HTTPX, ""),
    edition("httpx", "0.0.4", "const EDITION = 4;", HTTPX, ""),
    edition("httpx", "0.0.5", "const EDITION = 5;", HTTPX, ""),
    edition("httpx", "0.0.6", "const EDITION = 6;", HTTPX, ""),
    edition("httpx", "0.1.0", "const EDITION = 10;", HTTPX, "export { Head, Connect, Trace };"),
    edition("papaparse", "5.1.1", "", PAPAPARSE, ""),
    edition("totp", "1.0.0", "", TOTP, ""),
    signature("0.13.0", AWS_REQUIRES, AWS, AWS_COMMON),
    signature("0.14.0", AWS_IMPORTS, AWS, AWS_ES),
];
