//! Differences that are wanted, each with its reason. `docs/reference/libraries.md` says the same to users.

/// A difference that is accepted where all of it applies.
struct WantedDifference {
    library: &'static str,
    /// What the export's name begins with.
    export: &'static str,
    /// Whether it is this difference: arguments, the real outcome, ours.
    applies: fn(&str, &str, &str) -> bool,
    why: &'static str,
}

/// Exports that no call reaches.
pub struct NotCalled {
    pub library: &'static str,
    pub names: &'static [&'static str],
    why: &'static str,
}

/// Whether both throw.
fn both_throw(_: &str, real: &str, ours: &str) -> bool {
    real.contains("throws ") && ours.contains("throws ")
}

const REASONS: &[WantedDifference] = &[
    WantedDifference {
        library: "httpx",
        export: "Httpx.",
        applies: |_, real, ours| both_throw("", real, ours) && real.contains("number of arguments"),
        why: "calls with less than a method and a URL are refused in words of our own",
    },
    WantedDifference {
        library: "aws",
        export: "AWSConfig",
        applies: |_, real, ours| both_throw("", real, ours) && ours.contains("invalid AWS "),
        why: "what a config is missing is said in words of our own",
    },
    WantedDifference {
        library: "aws",
        export: "SignatureV4.presign",
        applies: |_, real, ours| both_throw("", real, ours) && ours.contains("InvalidSignatureError: expiresIn"),
        why: "what holds longer than seven days is refused in words of our own",
    },
    WantedDifference {
        library: "aws",
        export: "",
        applies: |_, real, ours| ours.contains("the request failed with the error code") && real.contains("Error\""),
        why: "errors of requests say k6's error code, in words of our own",
    },
    WantedDifference {
        library: "aws",
        export: "NetworkError",
        applies: |_, _, ours| ours.contains("the request failed with the error code"),
        why: "errors of requests say k6's error code, in words of our own",
    },
    WantedDifference {
        library: "url",
        export: "exports",
        applies: |_, real, ours| ours == format!("{real},default"),
        why: "modules of Rust have a default export, too",
    },
    WantedDifference {
        library: "url",
        export: "URL odd",
        applies: |_, _, _| true,
        why: "where k6's file leaves the URL Standard (hosts with % or forbidden characters, opaque paths, setters, \
              bytes behind % that are no UTF-8), Onrush follows it; `cargo xtask conformance url` runs its tests",
    },
    WantedDifference {
        library: "formdata",
        export: "exports",
        applies: |_, real, ours| ours == format!("{real},default"),
        why: "modules of Rust have a default export, too",
    },
    WantedDifference {
        library: "formdata",
        export: "FormData odd",
        applies: |_, _, _| true,
        why: "numbers, booleans and bytes, of which the library sends nothing, are sent; values without bytes \
              throw; quotes and line breaks in names are escaped; text beyond U+00FF, which the library spoils, is \
              UTF-8",
    },
];

/// Exports without calls.
pub const NOT_CALLED: &[NotCalled] = &[
    NotCalled {
        library: "k6chaijs",
        names: &["expect"],
        why: "called under the names of what they have: `assert.…`, `util.…`, `expect …`",
    },
    NotCalled {
        library: "http-instrumentation-tempo",
        names: &["instrumentHTTP", "__esModule"],
        why: "it changes k6/http for the whole script; `served/tempo` tries it against a server",
    },
    NotCalled { library: "k6-testing", names: &["expect"], why: "called under the names of its matchers" },
    NotCalled {
        library: "papaparse",
        names: &[
            "default",
            "NetworkStreamer",
            "FileStreamer",
            "ReadableStreamStreamer",
            "RECORD_SEP",
            "UNIT_SEP",
            "BYTE_ORDER_MARK",
            "BAD_DELIMITERS",
            "WORKERS_SUPPORTED",
            "NODE_STREAM_INPUT",
            "LocalChunkSize",
            "RemoteChunkSize",
            "DefaultDelimiter",
        ],
        why: "streams of the network and of files need what scripts have not, in k6 as here; constants are in \
              the row of that name",
    },
    NotCalled {
        library: "aws",
        names: &[
            "AMZ_ALGORITHM_QUERY_PARAM",
            "AMZ_CONTENT_SHA256_HEADER",
            "AMZ_CREDENTIAL_QUERY_PARAM",
            "AMZ_DATE_HEADER",
            "AMZ_DATE_QUERY_PARAM",
            "AMZ_EXPIRES_QUERY_PARAM",
            "AMZ_SIGNATURE_QUERY_PARAM",
            "AMZ_SIGNED_HEADERS_QUERY_PARAM",
            "AMZ_TOKEN_QUERY_PARAM",
            "AUTHORIZATION_HEADER",
            "HOST_HEADER",
            "SIGNING_ALGORITHM_IDENTIFIER",
            "UNSIGNED_PAYLOAD",
        ],
        why: "constants are in the row of that name",
    },
];

/// Whether a difference is one of the list.
pub fn accepts(library: &str, export: &str, arguments: &str, real: &str, ours: &str) -> bool {
    let is_of = |reason: &&WantedDifference| reason.library == library && export.starts_with(reason.export);
    REASONS.iter().filter(is_of).any(|reason| (reason.applies)(arguments, real, ours))
}

/// The lists, for who reads the table.
pub fn print() {
    println!("\naccepted:");
    REASONS.iter().for_each(|WantedDifference { library, export, why, .. }| println!("  {library} {export}: {why}"));
    println!("not called:");
    NOT_CALLED.iter().for_each(|NotCalled { library, names, why }| println!("  {library} {}: {why}", names.join(", ")));
}
