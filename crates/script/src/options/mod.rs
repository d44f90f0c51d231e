//! The options of a test, composed from the parts that the engine, the metrics and the wire obey.
//!
//! One table lists every plain option: field, JSON name, how it is read. A layer (script, config file, environment, flags) is
//! one JSON object; `Options::from_json` reads it and `merge` puts a higher layer on top. An option that is not set is
//! `None`, so that a lower layer shows through.

mod link;
mod network;
mod read;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use engine::scenario::{Scenarios, Shortcuts};
use metrics::{SystemTags, ThresholdSpecs, suggest};
use serde_json::{Map, Value};
use units::Span;
use wire::mask::Mask;

pub use network::{Dns, TlsAuth, TlsVersions};

use crate::host::runtime::DEFAULT_MEMORY_LIMIT;

/// An option that cannot be used; ready to print. k6's exit code for it is 104.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    /// Which option in which layer, what was found, what was expected.
    pub message: String,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OptionsError {}

macro_rules! options {
    ($($field:ident: $type:ty = $json:literal, $read:path, $doc:literal;)*) => {
        /// Options of one layer, or of all layers together.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Options {
            /// `vus`, `duration`, `iterations`, `stages`, `scenarios`.
            pub execution: Shortcuts,
            /// JavaScript memory of one virtual user in bytes. Not an option of k6: a flag sets it.
            pub vu_memory_limit: Option<usize>,
            /// Proxies as the environment gives them. Not an option of k6.
            pub proxies: wire::settings::Proxies,
            /// Certificates as PEM that are trusted beside the machine's: those of a target beside the test. Not an option of k6.
            pub trusted_pem: Option<String>,
            $(#[doc = $doc] pub $field: Option<$type>,)*
        }

        /// Every name that `from_json` knows.
        const NAMES: &[&str] = &["vus", "duration", "iterations", "stages", "scenarios", $($json),*];

        impl Options {
            /// Reads one plain option; `None` when the name is not one.
            fn read_plain(&mut self, name: &str, value: &Value) -> Option<Result<(), String>> {
                match name {
                    $($json => Some($read(value).map(|value| self.$field = Some(value))),)*
                    _ => None,
                }
            }

            /// These options with a higher layer on top. The execution shortcuts of the higher layer replace scenarios of
            /// the lower one; every other option is replaced whole (`tags` too, as in k6).
            pub fn merge(self, higher: Options) -> Options {
                let proxies = if higher.proxies == Default::default() { self.proxies } else { higher.proxies };
                Options {
                    execution: self.execution.overlaid(higher.execution),
                    vu_memory_limit: higher.vu_memory_limit.or(self.vu_memory_limit),
                    proxies,
                    trusted_pem: higher.trusted_pem.or(self.trusted_pem),
                    $($field: higher.$field.or(self.$field),)*
                }
            }

            fn show_plain(&self, shown: &mut Map<String, Value>) {
                $(shown.insert($json.to_owned(), serde_json::to_value(&self.$field).unwrap_or_default());)*
            }
        }
    };
}

options! {
    execution_segment: String = "executionSegment", read::text, "Part of the test to run, `0:1/3`.";
    execution_segment_sequence: String = "executionSegmentSequence", read::text, "Borders of all parts, `0,1/3,1`.";
    paused: bool = "paused", read::switch, "Start paused (needs the REST API, which is not there yet).";
    no_setup: bool = "noSetup", read::switch, "Do not call `setup`.";
    no_teardown: bool = "noTeardown", read::switch, "Do not call `teardown`.";
    setup_timeout: Span = "setupTimeout", read::span, "Time limit of `setup`; 60 s.";
    teardown_timeout: Span = "teardownTimeout", read::span, "Time limit of `teardown`; 60 s.";
    handle_summary_timeout: Span = "handleSummaryTimeout", read::span, "Time limit of `handleSummary`; 120 s.";
    min_iteration_duration: Span = "minIterationDuration", read::span, "Shortest time of an iteration.";
    rps: u32 = "rps", read::whole, "Requests per second of all users together; 0: no limit.";
    batch: u32 = "batch", read::whole, "Requests of one batch at a time; 20.";
    batch_per_host: u32 = "batchPerHost", read::whole, "Requests of one batch at a time to one host; 6.";
    max_redirects: u32 = "maxRedirects", read::whole, "Redirects to follow; 10.";
    user_agent: String = "userAgent", read::header_value, "User-Agent of requests that bring none.";
    throw: bool = "throw", read::switch, "Whether what is only a warning by default throws.";
    http_debug: String = "httpDebug", read::debug, "`headers` or `full`: log requests and responses.";
    discard_response_bodies: bool = "discardResponseBodies", read::switch, "Read bodies but do not keep them.";
    no_connection_reuse: bool = "noConnectionReuse", read::switch, "A new connection for every request.";
    no_vu_connection_reuse: bool = "noVUConnectionReuse", read::switch, "New connections for every iteration.";
    no_cookies_reset: bool = "noCookiesReset", read::switch, "Keep cookies from one iteration to the next.";
    insecure_skip_tls_verify: bool = "insecureSkipTLSVerify", read::switch, "Accept any certificate.";
    tls_version: TlsVersions = "tlsVersion", network::tls_versions, "TLS versions to offer.";
    tls_cipher_suites: Vec<String> = "tlsCipherSuites", read::list, "TLS cipher suites to offer.";
    tls_auth: Vec<TlsAuth> = "tlsAuth", network::tls_auth, "Client certificates.";
    dns: Dns = "dns", network::dns, "How names are resolved.";
    mask_params: Vec<String> = "maskParams", read::list, "Query parameters whose values are masked; not k6's.";
    hosts: BTreeMap<String, String> = "hosts", read::text_map, "Fixed addresses by host name.";
    block_hostnames: Vec<String> = "blockHostnames", read::list, "Host patterns never connected to.";
    blacklist_ips: Vec<String> = "blacklistIPs", read::list, "Addresses never connected to.";
    send_buffer: u32 = "sendBuffer", read::whole, "Bytes of a socket's send buffer; not k6's.";
    max_decoded_body: u64 = "maxDecodedBody", read::size, "Bytes of a decoded response body; 100 MiB; not k6's.";
    max_decoded_ratio: u32 = "maxDecodedRatio", read::positive, "Times a body may grow by decoding; 1,000; not k6's.";
    network: Value = "network", link::network, "The link of every virtual user; not k6's.";
    local_ips: String = "localIPs", network::local_ips, "Addresses to connect from.";
    thresholds: ThresholdSpecs = "thresholds", read::thresholds, "Thresholds by metric.";
    tags: BTreeMap<String, String> = "tags", read::text_map, "Tags of every sample.";
    system_tag_names: Vec<String> = "systemTags", read::system_tags, "System tags to keep.";
    summary_trend_stats: Vec<String> = "summaryTrendStats", read::list, "Columns of trends in the summary.";
    summary_time_unit: String = "summaryTimeUnit", read::text, "Unit of times in the summary.";
    metric_samples_buffer_size: u32 = "metricSamplesBufferSize", read::whole, "For k6's sake: nothing is buffered.";
    features: Vec<String> = "features", read::list, "Accepted for k6's sake.";
    cloud: Value = "cloud", read::anything, "Accepted for k6's sake.";
    ext: Value = "ext", read::anything, "Accepted for k6's sake.";
}

/// Fields of k6's config file that are no options of a test.
const CONFIG_ONLY: &[&str] = &["collectors", "out", "linger", "noUsageReport", "webDashboard", "noArchiveUpload"];

impl Options {
    /// Reads one layer. `origin` names it in errors and warnings: `the script`, `environment`. Also returns warnings about
    /// fields that no option has.
    pub fn from_json(layer: &Value, origin: &str) -> Result<(Options, Vec<String>), OptionsError> {
        let fail = |text: String| OptionsError { message: format!("options of {origin}: {text}") };
        let Value::Object(fields) = layer else {
            return Err(fail(format!("found {layer}, expected an object")));
        };
        let (mut options, mut warnings) = (Options::default(), Vec::new());
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            if options.read_execution(name, value).map_err(fail)? {
                continue;
            }
            match options.read_plain(name, value) {
                Some(read) => read.map_err(|problem| fail(format!("'{name}': {problem}")))?,
                None if CONFIG_ONLY.contains(&name.as_str()) => {}
                None => {
                    let hint = suggest::hint(name, NAMES.iter().copied());
                    warnings.push(format!("options of {origin}: unknown option '{name}'{hint}"));
                }
            }
        }
        Ok((options, warnings))
    }

    /// Reads an option that says how to execute; false when the name is none of them.
    fn read_execution(&mut self, name: &str, value: &Value) -> Result<bool, String> {
        let execution = &mut self.execution;
        let named = |problem: String| format!("'{name}': {problem}");
        match name {
            "vus" => execution.vus = Some(read::integer(value).map_err(named)?),
            "iterations" => execution.iterations = Some(read::integer(value).map_err(named)?),
            "duration" => execution.duration = Some(read::span(value).map_err(named)?),
            "stages" => execution.stages = Some(Shortcuts::stages_from_json(value).map_err(|e| e.to_string())?),
            "scenarios" if value.as_object().is_some_and(Map::is_empty) => {}
            "scenarios" => execution.scenarios = Some(Scenarios::from_json(value).map_err(|e| e.to_string())?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// All options as `exec.test.options` shows them: null where nothing was set.
    pub fn to_json(&self) -> Value {
        let mut shown = Map::new();
        let execution = &self.execution;
        shown.insert("vus".into(), execution.vus.into());
        shown.insert("duration".into(), serde_json::to_value(execution.duration).unwrap_or_default());
        shown.insert("iterations".into(), execution.iterations.into());
        let stages = execution.stages.as_ref().map(|stages| {
            let one = |stage: &engine::scenario::Stage| {
                serde_json::json!({ "duration": Span::from(stage.duration), "target": stage.target })
            };
            stages.iter().map(one).collect::<Vec<Value>>()
        });
        shown.insert("stages".into(), stages.into());
        shown.insert("scenarios".into(), execution.scenarios.as_ref().map_or(Value::Null, Scenarios::to_json));
        self.show_plain(&mut shown);
        Value::Object(shown)
    }

    /// Memory of one user in bytes: what its script holds, and what native code holds for it.
    pub fn memory_limit(&self) -> usize {
        self.vu_memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT)
    }

    /// How long `setup()` may take.
    pub fn setup_time_limit(&self) -> Duration {
        limit(self.setup_timeout, 60)
    }

    /// How long `teardown()` may take.
    pub fn teardown_time_limit(&self) -> Duration {
        limit(self.teardown_timeout, 60)
    }

    /// How long `handleSummary()` may take.
    pub fn summary_time_limit(&self) -> Duration {
        limit(self.handle_summary_timeout, 120)
    }

    /// Tags of every sample of the run.
    pub fn run_tags(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let tags = self.tags.iter().flatten();
        tags.map(|(name, value)| (Arc::from(name.as_str()), Arc::from(value.as_str()))).collect()
    }

    /// What is hidden of URLs where they become tags and messages.
    pub fn url_mask(&self) -> Mask {
        match &self.mask_params {
            Some(names) => Mask::of(names.iter().map(String::as_str)),
            None => Mask::standard(),
        }
    }

    /// System tags that are on.
    pub fn system_tags(&self) -> SystemTags {
        match &self.system_tag_names {
            Some(names) => SystemTags::parse(names).expect("checked when it was read"),
            None => SystemTags::default(),
        }
    }
}

fn limit(given: Option<Span>, standard_s: u64) -> Duration {
    given.and_then(Span::to_duration).unwrap_or(Duration::from_secs(standard_s))
}

impl serde::Serialize for Options {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(layer: Value) -> Options {
        Options::from_json(&layer, "the script").expect("valid").0
    }

    fn refused(layer: Value) -> String {
        Options::from_json(&layer, "the script").expect_err("invalid").message
    }

    #[test]
    fn higher_layers_win_and_unset_ones_show_through() {
        let low = read(json!({ "throw": true, "userAgent": "low", "tags": { "a": "1", "b": "2" }, "vus": 3 }));
        let high = read(json!({ "userAgent": "high", "tags": { "a": "9" }, "duration": "1s" }));
        let merged = low.merge(high);
        assert_eq!(merged.throw, Some(true));
        assert_eq!(merged.user_agent.as_deref(), Some("high"));
        assert_eq!(merged.tags, Some(BTreeMap::from([("a".to_owned(), "9".to_owned())])));
        assert_eq!(merged.execution.vus, Some(3));
    }

    #[test]
    fn errors_name_option_finding_and_expectation() {
        let many = refused(json!({ "vus": "many" }));
        assert_eq!(many, "options of the script: 'vus': found \"many\", expected a whole number");
        assert_eq!(refused(json!({ "throw": 3 })), "options of the script: 'throw': found 3, expected true or false");
        assert_eq!(refused(json!(3)), "options of the script: found 3, expected an object");
        assert!(refused(json!({ "systemTags": ["nope"] })).contains("unknown system tag 'nope'"));
        assert!(refused(json!({ "thresholds": { "a": 5 } })).contains("'thresholds'"));
    }

    #[test]
    fn unknown_options_are_warnings_with_a_suggestion() {
        let (_, warnings) = Options::from_json(&json!({ "vuss": 2 }), "the script").expect("only a warning");
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("unknown option 'vuss'") && warnings[0].contains("vus"), "{warnings:?}");
    }

    #[test]
    fn what_is_shown_reads_back_the_same() {
        let options = read(json!({
            "stages": [{ "duration": "10s", "target": 5 }], "rps": 7, "dns": { "ttl": "0", "select": "first" },
            "hosts": { "a.b": "127.0.0.1:80" }, "tlsVersion": { "min": "tls1.2" }, "setupTimeout": 500,
            "thresholds": { "checks": ["rate>0.9", { "threshold": "rate>0.5", "abortOnFail": true }] },
        }));
        assert_eq!(read(options.to_json()), options);
    }
}
