//! The one list of options. The command line, its help, the environment, config files, scripts and the reference
//! (`docs/reference/options.md`) are made from it.
//!
//! A row has the field of `Options` with its type, the name in JSON, the function that reads it, the help, and how it
//! is set from outside a script. Reading happens once: the field holds what the engine, the metrics or the wire obey.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::scenario::{Scenarios, Shortcuts};
use engine::segment::{Segment, Sequence};
use metrics::{SystemTags, ThresholdSpecs};
use serde_json::{Map, Value};
use wire::IpNet;
use wire::hosts::{FixedHosts, HostPatterns};
use wire::link::LinkSettings;
use wire::mask::Mask;
use wire::settings::{CipherSuites, ClientIdentity, Dns, TlsVersions};

use super::http2::Http2Choice;
use super::name_rules::NameRules;
use super::row::{TestOption, fields, integer, items, json, list, mode, pairs, size, stages, switch, text, time};
use super::trace::TraceContext;
use super::written::Written;
use super::{network, read, trace};

macro_rules! options {
    (
        execution { $($name:literal, $read:expr, $show:expr, $execution_help:literal, $execution_row:expr;)* }
        others { $($field:ident: $type:ty = $json:literal, $reader:path, $help:literal, $row:expr;)* }
    ) => {
        /// Options of one layer, or of all layers together. What is not set is `None`, so that a lower layer shows
        /// through.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Options {
            /// `vus`, `duration`, `iterations`, `stages`, `scenarios`.
            pub execution: Shortcuts,
            /// The links of scenarios that have one of their own, once `read_scenarios` has read them.
            pub links: BTreeMap<String, LinkSettings>,
            /// What scenarios say of HTTP/2, once `read_scenarios` has read them.
            pub http2_choices: BTreeMap<String, Http2Choice>,
            /// What scenarios say of TLS sessions.
            pub tls_resumptions: BTreeMap<String, bool>,
            /// JavaScript memory of one virtual user in bytes. Not an option of k6: a flag sets it.
            pub vu_memory_limit: Option<usize>,
            /// Proxies as the environment gives them. Not an option of k6.
            pub proxies: wire::settings::Proxies,
            /// Requests go by HTTP/1.1 alone, as `GODEBUG=http2client=0` asks. Not an option of k6.
            pub no_http2: bool,
            /// Scripts cannot write to `__ENV`: `--features freeze-env`. Not an option of k6.
            pub freezes_env: bool,
            /// Asynchronous code keeps its tags and metadata: `--features async-metric-context`. Not an option of k6.
            pub keeps_async_contexts: bool,
            /// Certificates as PEM that are trusted beside the machine's: those of a target beside the test. Not an
            /// option of k6.
            pub trusted_pem: Option<String>,
            $(#[doc = $help] pub $field: Option<$type>,)*
        }

        /// Every option of a test, in the order in which they are shown.
        pub static OPTIONS: &[TestOption] = &[
            $(TestOption { json: $name, help: $execution_help, read: $read, show: $show, ..$execution_row },)*
            $(TestOption {
                json: $json,
                help: $help,
                read: |options, value| $reader(value).map(|value| options.$field = Some(value)),
                show: |options| serde_json::to_value(&options.$field).unwrap_or_default(),
                ..$row
            },)*
        ];

        impl Options {
            /// These options with a higher layer on top. The execution shortcuts of the higher layer replace scenarios
            /// of the lower one; every other option is replaced whole (`tags` too, as in k6).
            pub fn merge(self, higher: Options) -> Options {
                let proxies = if higher.proxies == Default::default() { self.proxies } else { higher.proxies };
                Options {
                    execution: self.execution.overlaid(higher.execution),
                    links: BTreeMap::new(),
                    http2_choices: BTreeMap::new(),
                    tls_resumptions: BTreeMap::new(),
                    vu_memory_limit: higher.vu_memory_limit.or(self.vu_memory_limit),
                    proxies,
                    no_http2: higher.no_http2 || self.no_http2,
                    freezes_env: higher.freezes_env || self.freezes_env,
                    keeps_async_contexts: higher.keeps_async_contexts || self.keeps_async_contexts,
                    trusted_pem: higher.trusted_pem.or(self.trusted_pem),
                    $($field: higher.$field.or(self.$field),)*
                }
            }
        }
    };
}

options! {
execution {
    "vus", |all, value| read::integer(value).map(|vus| all.execution.vus = Some(vus)),
        |all| all.execution.vus.into(), "Virtual users",
        integer().flag("vus").short('u').env("K6_VUS").default("1");
    "duration", |all, value| read::span(value).map(|time| all.execution.duration = Some(time)),
        |all| serde_json::to_value(all.execution.duration).unwrap_or_default(), "How long to run, such as 30s or 1h30m",
        time().flag("duration").short('d').env("K6_DURATION");
    "iterations", |all, value| read::integer(value).map(|count| all.execution.iterations = Some(count)),
        |all| all.execution.iterations.into(), "Iterations in all, shared by the virtual users",
        integer().flag("iterations").short('i').env("K6_ITERATIONS");
    "stages", read_stages, |all| read::stages_json(all.execution.stages.as_deref()),
        "Ramp to this many virtual users over this time; repeat for more stages",
        stages().flag("stage").short('s').env("K6_STAGES").names_itself();
    "scenarios", read_scenarios, |all| all.execution.scenarios.as_ref().map_or(Value::Null, Scenarios::to_json),
        "Scenarios by name, each with its executor",
        json("object of scenarios").names_itself()
            .more("`vus`, `duration`, `iterations` and `stages` of a higher layer replace them");
}
others {
    execution_segment: Written<Segment> = "executionSegment", read::segment,
        "Run only this part of the test: 0:1/3, 25%:50%",
        text("FROM:TO").flag("execution-segment").env("K6_EXECUTION_SEGMENT").default("0:1");
    execution_segment_sequence: Written<Sequence> = "executionSegmentSequence", read::sequence,
        "Borders of all parts of the test",
        text("0,..,1").flag("execution-segment-sequence").env("K6_EXECUTION_SEGMENT_SEQUENCE");
    paused: bool = "paused", read::switch, "Start paused",
        switch().flag("paused").short('p').env("K6_PAUSED")
            .more("it begins when a client of the REST API (`--address`) resumes it");
    no_setup: bool = "noSetup", read::switch, "Do not call setup()",
        switch().flag("no-setup").env("K6_NO_SETUP");
    no_teardown: bool = "noTeardown", read::switch, "Do not call teardown()",
        switch().flag("no-teardown").env("K6_NO_TEARDOWN");
    init_timeout: Written<Duration> = "initTimeout", read::time, "Time limit of init code, each time that it runs",
        time().flag("init-timeout").env("ONRUSH_INIT_TIMEOUT").default("60s")
            .more("only a flag or the environment reach the first run, which reads the script's options");
    setup_timeout: Written<Duration> = "setupTimeout", read::time_above_zero, "Time limit of setup()",
        time().env("K6_SETUP_TIMEOUT").default("60s");
    teardown_timeout: Written<Duration> = "teardownTimeout", read::time, "Time limit of teardown()",
        time().env("K6_TEARDOWN_TIMEOUT").default("60s");
    handle_summary_timeout: Written<Duration> = "handleSummaryTimeout", read::time, "Time limit of handleSummary()",
        time().env("K6_HANDLE_SUMMARY_TIMEOUT").default("2m");
    min_iteration_duration: Written<Duration> = "minIterationDuration", read::time_or_none,
        "Shortest time from one iteration's start to the next",
        time().flag("min-iteration-duration").env("K6_MIN_ITERATION_DURATION");
    rps: u32 = "rps", read::limit, "At most this many requests per second in all; 0: no limit",
        integer().flag("rps").env("K6_RPS").default("0");
    batch: u32 = "batch", read::limit, "Requests of one http.batch at a time",
        integer().flag("batch").env("K6_BATCH").default("20");
    batch_per_host: u32 = "batchPerHost", read::limit, "Requests of one http.batch at a time to one host",
        integer().flag("batch-per-host").env("K6_BATCH_PER_HOST").default("6");
    max_redirects: u32 = "maxRedirects", read::limit, "Redirects to follow",
        integer().flag("max-redirects").env("K6_MAX_REDIRECTS").default("10");
    user_agent: String = "userAgent", read::header_value, "User-Agent of requests that set none",
        text("TEXT").flag("user-agent").env("K6_USER_AGENT").default(network::USER_AGENT);
    mask_params: Written<Mask> = "maskParams", read::mask,
        "Query parameters whose values are masked in results and messages; by default token, password and similar \
         names",
        list("NAMES").flag("mask-params").env("ONRUSH_MASK_PARAMS");
    throw: bool = "throw", read::switch, "Throw an exception when a request fails",
        switch().flag("throw").short('w').env("K6_THROW");
    http_debug: read::DebugDetail = "httpDebug", read::debug, "Log requests and responses; full: with their bodies",
        mode("headers|full", "headers").flag("http-debug").env("K6_HTTP_DEBUG");
    ws_debug: bool = "wsDebug", read::switch, "Log each frame of WebSockets: direction, opcode, size, beginning of the \
        payload",
        switch().flag("ws-debug").env("ONRUSH_WS_DEBUG");
    debug_vu: u32 = "debugVU", read::whole, "`httpDebug` and `wsDebug` show this user alone, by its number in the test",
        integer().flag("debug-vu").env("ONRUSH_DEBUG_VU").more("0: `setup()` and `teardown()`");
    discard_response_bodies: bool = "discardResponseBodies", read::switch, "Read response bodies but do not keep them",
        switch().flag("discard-response-bodies").env("K6_DISCARD_RESPONSE_BODIES");
    no_connection_reuse: bool = "noConnectionReuse", read::switch, "A new connection for every request",
        switch().flag("no-connection-reuse").env("K6_NO_CONNECTION_REUSE");
    no_vu_connection_reuse: bool = "noVUConnectionReuse", read::switch, "New connections for every iteration",
        switch().flag("no-vu-connection-reuse").env("K6_NO_VU_CONNECTION_REUSE");
    no_cookies_reset: bool = "noCookiesReset", read::switch, "Keep cookies from one iteration to the next",
        switch().env("K6_NO_COOKIES_RESET");
    insecure_skip_tls_verify: bool = "insecureSkipTLSVerify", read::switch, "Accept any TLS certificate",
        switch().flag("insecure-skip-tls-verify").env("K6_INSECURE_SKIP_TLS_VERIFY");
    tls_aia_fetch: bool = "tlsAIAFetch", read::switch,
        "Fetch certificates of authorities that a server leaves out, from where its own certificate says (AIA)",
        switch().env("K6_TLS_AIA_FETCH")
            .more("over http, by the rules of `hosts`, `dns`, `blockHostnames` and `blacklistIPs`; the first \
                connection takes longer");
    tls_version: Written<TlsVersions> = "tlsVersion", network::tls_versions, "TLS versions to offer",
        json("text, or object with min and max").more("`tls1.2` or `tls1.3`, or `{ min, max }`");
    tls_cipher_suites: Written<CipherSuites> = "tlsCipherSuites", network::cipher_suites, "TLS cipher suites to offer, \
        by their IANA names",
        json("list of texts").more("this concerns TLS 1.2; the suites of TLS 1.3 are always on");
    tls_auth: Written<Vec<Arc<ClientIdentity>>> = "tlsAuth", network::tls_auth, "Client certificates",
        json("list of objects").more("`{ domains, cert, key, password }`; `cert` and `key` are PEM");
    tls_resumption: bool = "tlsResumption", read::switch,
        "Resume TLS sessions of earlier connections of the same user",
        switch().flag("tls-resumption").env("ONRUSH_TLS_RESUMPTION")
            .more("each user has its own sessions, as browsers have; a scenario may have its own field \
                `tlsResumption`, a request its own param");
    dns: Written<Dns> = "dns", network::dns, "How names are resolved",
        fields("ttl=..,select=..,policy=..").flag("dns").env("K6_DNS").default("ttl=5m,select=random,policy=preferIPv4")
            .more("ttl: a time, 0 or inf; select: first, random or roundRobin; \
                policy: preferIPv4, preferIPv6, onlyIPv4, onlyIPv6 or any");
    hosts: Written<FixedHosts> = "hosts", network::hosts, "Fixed addresses by host name",
        json("texts by name").more("`host`, `host:port` or `*.host`; an IP address, ip:port, unix:/path or unix:@name");
    block_hostnames: Written<HostPatterns> = "blockHostnames", network::host_patterns,
        "Host names never to connect to; a leading * is allowed",
        list("PATTERNS").flag("block-hostnames").env("K6_BLOCK_HOSTNAMES");
    blacklist_ips: Written<Vec<IpNet>> = "blacklistIPs", network::blocks, "Addresses never to connect to, as CIDR or \
        IP",
        list("RANGES").flag("blacklist-ip").env("K6_BLACKLIST_IPS");
    local_ips: Written<Vec<IpAddr>> = "localIPs", network::local_ips, "Addresses to connect from: IPs, ranges a-b, \
        CIDRs",
        text("RANGES").flag("local-ips").env("K6_LOCAL_IPS");
    network: Written<LinkSettings> = "network", super::link::network,
        "The link of every virtual user: 3g, 4g, cable, speedtest-2022, or \
         download=10mbps,upload=5mbps,latency=20ms,jitter=2ms,loss=1%",
        text("LINK").flag("network").more("a scenario may have its own field `network`");
    http2: Written<Http2Choice> = "http2", super::http2::http2,
        "Whether requests may use HTTP/2, and the connections to a host that the users of a scenario share",
        json("true, false, or object with connections and streams")
            .more("a scenario may have its own field `http2`; see [HTTP/2](../guides/http2.md)");
    send_buffer: u32 = "sendBuffer", read::whole, "Bytes of a socket's send buffer; 0: the kernel decides",
        json("whole number").more("by default 256 KiB when the server is near, else the kernel decides");
    max_decoded_body: u64 = "maxDecodedBody", read::size,
        "Fail a response whose body decodes to more than this, such as 64m or 1g",
        size().flag("max-decoded-body").env("ONRUSH_MAX_DECODED_BODY").default("100m");
    max_decoded_ratio: u32 = "maxDecodedRatio", read::positive,
        "Fail a response whose body decodes to more than 10 MiB and N times its size",
        integer().flag("max-decoded-ratio").env("ONRUSH_MAX_DECODED_RATIO").default("1000");
    trace_context: TraceContext = "traceContext", trace::context,
        "Put requests into distributed traces, by a header of this kind",
        text("w3c|b3|b3multi|jaeger|none").flag("trace-context").env("ONRUSH_TRACE_CONTEXT")
            .more("w3c where `--traces-output` names a receiver; see [Traces](../guides/traces.md)");
    trace_sampling: f64 = "traceSampling", trace::sampling, "Share of requests whose traces are sampled, from 0 to 1",
        text("SHARE").flag("trace-sampling").env("ONRUSH_TRACE_SAMPLING").default("1");
    thresholds: ThresholdSpecs = "thresholds", read::thresholds, "Thresholds by metric",
        json("object of lists").more("`--threshold` adds to them, `--no-thresholds` ignores them");
    name_rules: Written<NameRules> = "nameRules", super::name_rules::name_rules,
        "Name requests whose path matches a regular expression as a whole; repeat for more",
        items("'PATTERN → NAME'").flag("name-rule")
            .more("the first rule that matches; a `name` of the script counts before it; \
                see [names by rule](../guides/results.md#names-by-rule)");
    tags: BTreeMap<String, String> = "tags", read::text_map, "A tag for every sample; repeat for more",
        pairs().flag("tag").env("K6_TAGS");
    system_tags: Written<SystemTags> = "systemTags", read::system_tags, "Which system tags to keep",
        list("NAMES").flag("system-tags").env("K6_SYSTEM_TAGS")
            .more("by default all but iter, ip, ocsp_status and vu");
    summary_trend_stats: Vec<String> = "summaryTrendStats", read::list,
        "Columns of trends in the summary: avg,min,med,max,p(95),count",
        list("STATS").flag("summary-trend-stats").env("K6_SUMMARY_TREND_STATS").default("avg,min,med,max,p(90),p(95)");
    summary_time_unit: String = "summaryTimeUnit", read::time_unit,
        "Unit of times in the summary; by default each value has its own",
        text("s|ms|us").flag("summary-time-unit").env("K6_SUMMARY_TIME_UNIT");
    metric_samples_buffer_size: u32 = "metricSamplesBufferSize", read::whole,
        "Accepted for compatibility with k6: Onrush buffers no samples", integer().env("K6_METRIC_SAMPLES_BUFFER_SIZE");
    features: Vec<String> = "features", read::list, "Accepted for compatibility with k6", json("list of texts");
    cloud: Value = "cloud", read::anything, "Accepted for compatibility with k6", json("object");
    ext: Value = "ext", read::anything, "Accepted for compatibility with k6", json("object");
}
}

fn read_stages(all: &mut Options, value: &Value) -> Result<(), String> {
    match Shortcuts::stages_from_json(value) {
        Ok(stages) => (all.execution.stages, all.execution.stages_problem) = (Some(stages), None),
        // As in k6, wrong stages are an error where they are used: another shortcut may replace them.
        Err(error) if value.is_array() => {
            (all.execution.stages, all.execution.stages_problem) = (Some(Vec::new()), Some(error.to_string()));
        }
        Err(error) => return Err(error.to_string()),
    }
    Ok(())
}

/// k6 takes an empty object as absent.
fn read_scenarios(all: &mut Options, value: &Value) -> Result<(), String> {
    if value.as_object().is_some_and(Map::is_empty) {
        all.execution.has_empty_scenarios = true;
    } else {
        all.execution.scenarios = Some(Scenarios::from_json(value).map_err(|error| error.to_string())?);
    }
    Ok(())
}
