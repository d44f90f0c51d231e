//! Differences that somebody accepted, each with one of a few reasons.
//!
//! Whoever adds a line has to find its reason here. A sixth reason is a sign that something should be mended instead.

/// Why a difference stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A row of the table "Different on purpose".
    OnPurpose,
    /// An error has other words, or another class, at the same place.
    ErrorText,
    /// k6 is wrong, panics, or gives something else each time.
    K6Defect,
    /// ECMAScript leaves it to the engine.
    Engine,
    /// The script imports by `https://`.
    NoNetwork,
}

impl Reason {
    /// All, in the order of the report.
    pub const ALL: &[Reason] =
        &[Reason::OnPurpose, Reason::ErrorText, Reason::K6Defect, Reason::Engine, Reason::NoNetwork];

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Reason::OnPurpose => "different on purpose: docs/coming-from/k6.md has the row",
            Reason::ErrorText => "an error at the same place in other words, or of another class",
            Reason::K6Defect => "k6 panics, loses or mixes up what happened",
            Reason::Engine => "ECMAScript leaves it to the engine",
            Reason::NoNetwork => "k6 fetches a library that Onrush has built in, and the kit has no network",
        }
    }
}

use Reason::{Engine, ErrorText, K6Defect, NoNetwork, OnPurpose};

/// Part of a script's path, part of the difference's text (empty: all), and why.
#[rustfmt::skip]
const ACCEPTED: &[(&str, &str, Reason)] = &[
    // Without the system tag group k6 loses the checks of root_group; they were made all the same.
    ("parity/options.js", "::", K6Defect),
    ("parity/options.js", "group '': checks", K6Defect),
    ("url_library/test.js", "", NoNetwork),
    // A colon in a password shows the rest of the password in k6's tags.
    ("http/test.js", "****", K6Defect),
    ("http_auth.js", "****", K6Defect),
    // Digest: SHA-256 and SHA-512-256 work; a password is not sent in the clear first.
    ("http_auth.js", "console line 004", OnPurpose),
    ("http_auth.js", "console line 005", OnPurpose),
    ("http_auth.js", "console line 006", OnPurpose),
    ("http_auth.js", "/digest-auth/auth/u/p", OnPurpose),
    ("http_auth.js", "/basic-auth/u/p,", OnPurpose),
    ("http_auth.js", "/basic-auth/u/p\"", OnPurpose),
    ("http_auth.js", "metric http_req", OnPurpose),
    // A stream's second pull begins before the first has ended.
    ("streams/test.js", "pulls wait for one another", K6Defect),
    ("streams/test.js", "metric checks", K6Defect),
    ("streams/test.js", "exit code", K6Defect),
    // A text as checks or as tags is taken letter by letter.
    ("check_arguments.js", "console line", ErrorText),
    ("check_arguments.js", "", K6Defect),
    ("metric_tags.js", "\"0\":\"t\"", K6Defect),
    ("metric_tags.js", "things", K6Defect),
    ("metric_tags.js", "console line", ErrorText),
    ("http_params_wrong.js", "http_req", K6Defect),
    ("check_async.js", "console line", ErrorText),
    ("group_values.js", "console line 004", ErrorText),
    ("console_classes.js", "{ d: {} }", Engine),
    ("console_collections.js", "Uint8ClampedArray", K6Defect),
    // Unknown algorithms, addresses and blobs' ends let k6 panic.
    ("crypto_unknown_algorithm.js", "", K6Defect),
    ("http_cookie_url_bad.js", "", K6Defect),
    ("websockets_blob_beyond.js", "", K6Defect),
    ("crypto_wrong.js", "console line", ErrorText),
    ("encoding_base64.js", "invalid type", ErrorText),
    ("dns_unknown.js", "no such host", ErrorText),
    ("env_written.js", "console line 001", OnPurpose),
    // After the test, k6 takes teardown() and handleSummary() for init code.
    ("exec_in_setup.js", "console line 009", K6Defect),
    ("summary_context.js", "console line 003", K6Defect),
    ("experimental_websockets_alias.js", "warning", ErrorText),
    // The status is no number there, and a health check has no tags.
    ("grpc_async.js", "console line 000", OnPurpose),
    ("grpc_async.js", "grpc_req_duration", K6Defect),
    ("grpc_wrong.js", "console line 013", ErrorText),
    ("html_wrong.js", "console line", ErrorText),
    ("http_async.js", "console line 004", ErrorText),
    ("http_async.js", "unknown request body type", ErrorText),
    ("http_bodies_wrong.js", "unknown request body type", ErrorText),
    // An empty body, of which k6's own server side sees no length.
    ("http_bodies.js", "[ \\\"0\\\" ]", OnPurpose),
    ("http_body_of_get.js", "http_req", K6Defect),
    ("http_constants.js", "console line 001", Engine),
    ("http_decompression_fails.js", "x-gzip", OnPurpose),
    ("http_decompression_fails.js", "metric http_req", OnPurpose),
    ("http_decompression_fails.js", "error decompressing", ErrorText),
    // What came of a body that broke off.
    ("http_faults.js", "console line", OnPurpose),
    ("http_faults.js", "failed request", ErrorText),
    ("http_timeouts.js", "console line 003", OnPurpose),
    ("http_timeouts.js", "failed request", ErrorText),
    ("http_file_names.js", "name=\\\"fi", K6Defect),
    ("http_redirects.js", "ftp://a.test/", ErrorText),
    ("http_redirects.js", "Stopped after 11", ErrorText),
    ("http_response_added.js", "", OnPurpose),
    // Spaces and letters beyond ASCII in a query are sent as they are, and the server answers 400.
    ("http_url_forms.js", "", K6Defect),
    ("language_absent.js", "GoError", ErrorText),
    ("language_dates.js", "(UTC)", Engine),
    ("language_function_text.js", "", OnPurpose),
    ("metric_in_iteration.js", "console line 003", Engine),
    ("shared_array.js", "console line 006", Engine),
    ("shared_array.js", "console line 008", ErrorText),
    ("shared_array_wrong.js", "console line", ErrorText),
    ("metric_infinity.js", "a_counter", K6Defect),
    ("metric_names_bad.js", "GoError", ErrorText),
    ("metric_same_other_contents.js", "GoError", ErrorText),
    ("missing_name_of_es_module.js", "thrown SyntaxError", ErrorText),
    ("syntax_kinds.js", "thrown SyntaxError", ErrorText),
    ("modules_dynamic_import.js", "thrown Uncaught", ErrorText),
    ("modules_meta.js", "k6/http", K6Defect),
    ("modules_meta.js", "TypeError", ErrorText),
    ("websockets_blob.js", "blobParts", ErrorText),
    // k6 does not send a blob that a script made.
    ("websockets_blob.js", "", K6Defect),
    ("websockets_wrong.js", "unsupported send type", ErrorText),
    ("websockets_wrong.js", "AccessError", ErrorText),
    ("websockets_wrong.js", "SyntaxError", ErrorText),
    ("open_forms.js", "console line 008", ErrorText),
    ("option_duration_and_scenarios.js", "error ", ErrorText),
    ("option_duration_and_stages.js", "error ", ErrorText),
    ("option_iterations_below_vus.js", "error ", ErrorText),
    ("option_unknown.js", "warning", ErrorText),
    ("proxies.js", "", OnPurpose),
    ("scenario_dropped.js", "Insufficient VUs", ErrorText),
    // k6 lets an iteration that was cut off go on until it waits again.
    ("scenario_graceful_stop.js", "console line", K6Defect),
    ("secrets_mock.js", "console line", ErrorText),
    ("secrets_without.js", "console line", ErrorText),
    ("streams_errors.js", "NotSupportedError", ErrorText),
    ("summary_handle_not_object.js", "error ", ErrorText),
    ("summary_handle_returns.js", "error ", ErrorText),
    ("summary_handle_timeout.js", "standard output", OnPurpose),
    ("teardown_timeout.js", "error ", ErrorText),
    ("threshold_of_missing_metric.js", "error ", ErrorText),
    ("threshold_abort.js", "error thresholds", ErrorText),
    ("throw_strings.js", "thrown null", ErrorText),
    ("timers_wrong.js", "console line", ErrorText),
    ("tls_unknown_authority.js", "console line 002", ErrorText),
    ("tls_unknown_authority.js", "failed request", ErrorText),
    ("tls_unknown_authority.js", "malformed HTTP response", ErrorText),
    ("tls_unknown_authority.js", "unexpected EOF", ErrorText),
    ("web_crypto_global.js", "GoError", ErrorText),
    // What waits to be sent becomes negative.
    ("websockets_after_close.js", "console line 002", K6Defect),
    // A frame that breaks the protocol is no error event there, or one that says the session was closed.
    ("websockets_server_closes.js", "bad-frame", K6Defect),
    ("ws_server_closes.js", "console line 008", K6Defect),
    // A handler that nobody set is shown as a function.
    ("websockets_unset_handler.js", "console line 000", K6Defect),
];

/// The reason for a difference of a script, if there is one.
pub fn reason(script: &str, difference: &str) -> Option<Reason> {
    ACCEPTED
        .iter()
        .find(|(path, part, _)| script.contains(path) && difference.contains(part))
        .map(|(_, _, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_at_most_five_reasons_and_each_is_used() {
        assert!(Reason::ALL.len() <= 5);
        for reason in Reason::ALL {
            assert!(ACCEPTED.iter().any(|(_, _, used)| used == reason), "{reason:?} is the reason of nothing");
        }
        for (script, part, reason) in ACCEPTED {
            assert!(Reason::ALL.contains(reason), "{script}, {part}: {reason:?} is not in the list");
        }
    }

    #[test]
    fn a_difference_has_a_reason_only_in_its_script() {
        assert_eq!(reason("tests/parity/options.js", "check '::a': k6 1, Onrush 2"), Some(Reason::K6Defect));
        assert_eq!(reason("tests/parity/options.js", "exit code: k6 0, Onrush 99"), None);
        assert_eq!(reason("tests/parity/other.js", "check '::a': k6 1, Onrush 2"), None);
    }
}
