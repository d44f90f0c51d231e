//! The one table of what other tools' files say that means nothing for a script: what people read, what was measured,
//! what is said twice, and what happens anyway.
//!
//! A converter carries an element over, names it in a note, or finds it here. Paths are names from the top of the file,
//! of an entry or of an element of JMeter; `*` is one name, `**` any number, and `x-*` one that begins so. Names that a
//! file chooses itself, of schemas for example, are `_` in a path.

use std::sync::LazyLock;

use crate::Format;

/// Why something means nothing, and where it stands.
struct Row {
    format: Format,
    #[allow(dead_code, reason = "for readers: each row has its reason")]
    why: &'static str,
    paths: &'static [&'static str],
}

const fn row(format: Format, why: &'static str, paths: &'static [&'static str]) -> Row {
    Row { format, why, paths }
}

static TABLE: &[Row] = &[
    row(
        Format::Har,
        "who recorded, and what was measured",
        &[
            "version",
            "creator",
            "browser",
            "comment",
            "**/comment",
            "pages",
            "pages/**",
            "time",
            "timings",
            "cache",
            "serverIPAddress",
            "connection",
            "request/headersSize",
            "request/bodySize",
            "response/headersSize",
            "response/bodySize",
            "response/content/size",
            "response/content/compression",
        ],
    ),
    row(Format::Har, "fields of one exporter", &["_*", "**/_*"]),
    row(Format::Har, "the client and the server agree on it anew", &["request/httpVersion", "response/httpVersion"]),
    row(
        Format::Har,
        "said by headers or the URL too",
        &[
            "request/cookies/*",
            "request/queryString/*",
            "response/cookies",
            "response/cookies/**",
            "response/redirectURL",
            "response/statusText",
        ],
    ),
    row(Format::Har, "what an answer is, which --skip-static asks alone", &["response/content/mimeType"]),
    row(Format::Postman, "read by people", &["info", "info/**", "**/description", "**/response", "request/name"]),
    row(
        Format::Postman,
        "identifiers of Postman's own",
        &["**/id", "**/uid", "**/_*", "**/uuid", "**/owner", "**/lastUpdatedBy", "**/createdAt", "**/updatedAt"],
    ),
    row(
        Format::Postman,
        "said by other fields too",
        &[
            "**/url/raw",
            "**/url/hash",
            "**/url/variable/disabled",
            "**/variable/type",
            "**/variable/name",
            "**/variable/system",
            "**/urlencoded/type",
            "**/header/type",
            "**/header/name",
            "**/query/type",
            "**/auth/*/type",
            "**/script/type",
            "**/script/name",
            "**/script/id",
        ],
    ),
    row(
        Format::Postman,
        "a body has one mode, and authentication one type",
        &[
            "**/body/raw",
            "**/body/urlencoded",
            "**/body/formdata",
            "**/body/file",
            "**/body/graphql",
            "**/auth/*",
            "**/body/options",
            "**/body/options/**",
        ],
    ),
    row(
        Format::OpenApi,
        "read by people",
        &[
            "info",
            "info/**",
            "**/description",
            "**/title",
            "**/summary",
            "**/externalDocs",
            "**/deprecated",
            "**/tags",
            "tags/**",
            "**/$comment",
            "**/x-*",
            "jsonSchemaDialect",
            "**/$schema",
            "**/$id",
            "$self",
        ],
    ),
    row(
        Format::OpenApi,
        "what answers look like; the first status of success is a check",
        &["**/responses/_", "**/responses/_/headers", "**/responses/_/content/_", "**/responses/_/content/_/**"],
    ),
    row(
        Format::OpenApi,
        "alternatives, of which a request has one",
        &[
            "**/oneOf",
            "**/anyOf",
            "**/enum",
            "**/examples",
            "**/examples/**",
            "**/servers",
            "servers",
            "**/security",
            "security",
            "**/security/_",
            "security/_",
            "**/type",
            "servers/name",
            "**/servers/name",
            "**/schema/default",
            "**/example",
        ],
    ),
    row(
        Format::OpenApi,
        "nothing refers to it",
        &["components", "components/*", "components/*/_", "**/$defs/_", "**/definitions/_"],
    ),
    row(
        Format::OpenApi,
        "how a secret is obtained, which comes from -e",
        &["**/securitySchemes/_/flows", "**/securitySchemes/_/openIdConnectUrl", "**/securitySchemes/_/bearerFormat"],
    ),
    row(
        Format::OpenApi,
        "an example needs no more than what it has",
        &[
            "**/requestBody/required",
            "**/requestBodies/_/required",
            "**/allowEmptyValue",
            "**/nullable",
            "**/writeOnly",
            "**/readOnly",
            "**/additionalProperties",
            "**/maxItems",
            "**/maxProperties",
            "**/xml",
            "**/discriminator",
            "**/required",
            "**/format",
        ],
    ),
    row(
        Format::Jmeter,
        "read by people, or shown to them",
        &[
            "**/TestPlan.comments",
            "**/Argument.desc",
            "**/Assertion.custom_message",
            "TransactionController/*.parent",
            "ResultCollector/**",
            "Summariser/**",
            "DebugSampler/**",
            "DebugPostProcessor/**",
            "kg.apc.jmeter.vizualizers.*/**",
            "WorkBench/**",
            "ProxyControl/**",
            "HttpMirrorControl/**",
        ],
    ),
    row(
        Format::Jmeter,
        "how JMeter itself works",
        &[
            "TestPlan/TestPlan.functional_mode",
            "TestPlan/TestPlan.tearDown_on_shutdown",
            "TestPlan/TestPlan.user_define_classpath",
            "*/ThreadGroup.delayedStart",
            "*/ThreadGroup.start_time",
            "*/ThreadGroup.end_time",
            "*/HTTPSampler.implementation",
            "*/HTTPSampler.monitor",
            "CookieManager/CookieManager.policy",
            "CookieManager/CookieManager.implementation",
            "**/Cookie.expires",
            "**/Cookie.path_specified",
            "**/Cookie.domain_specified",
            "AuthManager/AuthManager.clearEachIteration",
            "AuthManager/AuthManager.controlledByThreadGroup",
            "**/Authorization.realm",
            "DNSCacheManager/DNSCacheManager.clearEachIteration",
            "DNSCacheManager/DNSCacheManager.isCustomResolver",
            "HtmlExtractor/HtmlExtractor.extractor_impl",
            "TestAction/ActionProcessor.target",
            "**/LoopController.continue_forever",
        ],
    ),
    row(
        Format::Jmeter,
        "said by other properties too",
        &[
            "**/Argument.metadata",
            "HTTPSamplerProxy/GraphQLHTTPSampler.*",
            "*/HTTPSampler.FILE_NAME",
            "*/HTTPSampler.FILE_FIELD",
            "*/HTTPSampler.mimetype",
        ],
    ),
    row(
        Format::Jmeter,
        "details of what a note names: embedded resources, and the proxy",
        &[
            "*/HTTPSampler.concurrentDwn",
            "*/HTTPSampler.concurrentPool",
            "*/HTTPSampler.embedded_url_re",
            "*/HTTPSampler.embedded_url_exclude_re",
            "*/HTTPSampler.proxyScheme",
            "*/HTTPSampler.proxyPort",
            "*/HTTPSampler.proxyUser",
            "*/HTTPSampler.proxyPass",
        ],
    ),
];

/// Whether what stands at this path means nothing for a script.
pub fn is_meaningless(format: Format, path: &[&str]) -> bool {
    // Large descriptions ask a hundred thousand times.
    static PATTERNS: LazyLock<Vec<(Format, Vec<&str>)>> = LazyLock::new(|| {
        let split = |row: &'static Row| row.paths.iter().map(|path| (row.format, path.split('/').collect()));
        TABLE.iter().flat_map(split).collect()
    });
    let path = if format == Format::OpenApi { with_places(path) } else { path.to_vec() };
    PATTERNS.iter().any(|(known, pattern)| *known == format && matches(pattern, &path))
}

fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => matches(rest, path) || !path.is_empty() && matches(pattern, &path[1..]),
        ([first, rest @ ..], [name, below @ ..]) => {
            let is_one = match first.split_once('*') {
                Some((start, end)) => name.starts_with(start) && name.ends_with(end),
                None => first == name,
            };
            is_one && matches(rest, below)
        }
        _ => false,
    }
}

/// Objects of OpenAPI whose fields a description names itself.
const MAPS: [&str; 21] = [
    "paths",
    "properties",
    "patternProperties",
    "schemas",
    "content",
    "responses",
    "headers",
    "examples",
    "securitySchemes",
    "requestBodies",
    "callbacks",
    "links",
    "variables",
    "encoding",
    "webhooks",
    "pathItems",
    "$defs",
    "definitions",
    "dependentSchemas",
    "security",
    "mediaTypes",
];

/// The names that a description chooses become `_`.
fn with_places<'p>(path: &[&'p str]) -> Vec<&'p str> {
    let mut shown: Vec<&str> = Vec::with_capacity(path.len());
    for name in path {
        let is_chosen = match shown[..] {
            ["components", "parameters"] => true,
            [.., last] => MAPS.contains(&last),
            [] => false,
        };
        shown.push(if is_chosen { "_" } else { name });
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_the_table() {
        let is = |format, path: &str| is_meaningless(format, &path.split('/').collect::<Vec<_>>());
        for (format, path, expected) in [
            (Format::Har, "timings", true),
            (Format::Har, "request/_x", true),
            (Format::Har, "request/method", false),
            (Format::OpenApi, "paths/a/get/description", true),
            (Format::OpenApi, "components/schemas/Pet/properties/description", false),
            (Format::OpenApi, "components/schemas/Pet/properties/description/description", true),
            (Format::OpenApi, "components/schemas/Pet", true),
            (Format::OpenApi, "components/schemas/Pet/uniqueItems", false),
            (Format::Postman, "item/request/url/raw", true),
            (Format::Postman, "item/request/proxy", false),
            (Format::Jmeter, "ResultCollector", true),
            (Format::Jmeter, "ResultCollector/filename", true),
            (Format::Jmeter, "HTTPSamplerProxy/HTTPSampler.path", false),
        ] {
            assert_eq!(is(format, path), expected, "{path}");
        }
    }
}
