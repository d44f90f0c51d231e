//! Every flag and variable of `k6 run`, version 2.3, and what Onrush does with it. The reference
//! (`docs/reference/k6-flags.md`) and the warnings of a run are made from this table; a test holds it against the flags
//! and variables that are read.

/// A row: a flag of k6, a variable, or both where they say the same.
pub struct OfK6 {
    /// The long flag; empty when there is a variable alone.
    pub flag: &'static str,
    /// The variable; empty when there is a flag alone. One that ends with `_` stands for all that begin so.
    pub variable: &'static str,
    /// What becomes of it.
    pub treated: Treated,
}

/// What Onrush does with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Treated {
    /// What k6 does.
    Obeyed,
    /// It does so, but for this.
    But(&'static str),
    /// Taken and without effect, because of this.
    WithoutEffect(&'static str),
    /// A run warns of it and goes on without: what to do instead.
    Warned(&'static str),
}

use Treated::{But, Obeyed, Warned, WithoutEffect};

const fn row(flag: &'static str, variable: &'static str, treated: Treated) -> OfK6 {
    OfK6 { flag, variable, treated }
}

const NO_CLOUD: &str = "there is no cloud; --out sends samples to databases";
const NOTHING_FETCHED: &str = "nothing is fetched: extensions are built in or missing";

/// The table.
pub static OF_K6: &[OfK6] = &[
    row("address", "K6_ADDRESS", But("the REST API has no profiles and no `/metrics` of its own")),
    row("batch", "K6_BATCH", Obeyed),
    row("batch-per-host", "K6_BATCH_PER_HOST", Obeyed),
    row("blacklist-ip", "K6_BLACKLIST_IPS", Obeyed),
    row("block-hostnames", "K6_BLOCK_HOSTNAMES", Obeyed),
    row("compatibility-mode", "K6_COMPATIBILITY_MODE", Obeyed),
    row("config", "K6_CONFIG", Obeyed),
    row("console-output", "K6_CONSOLE_OUTPUT", Obeyed),
    row("discard-response-bodies", "K6_DISCARD_RESPONSE_BODIES", Obeyed),
    row("dns", "K6_DNS", Obeyed),
    row("duration", "K6_DURATION", Obeyed),
    row("env", "", Obeyed),
    row("execution-segment", "K6_EXECUTION_SEGMENT", Obeyed),
    row("execution-segment-sequence", "K6_EXECUTION_SEGMENT_SEQUENCE", Obeyed),
    row("features", "K6_FEATURES", But("`native-histograms` is always on")),
    row("http-debug", "K6_HTTP_DEBUG", Obeyed),
    row("include-system-env-vars", "K6_INCLUDE_SYSTEM_ENV_VARS", Obeyed),
    row("insecure-skip-tls-verify", "K6_INSECURE_SKIP_TLS_VERIFY", Obeyed),
    row("iterations", "K6_ITERATIONS", Obeyed),
    row("linger", "K6_LINGER", Obeyed),
    row("local-ips", "K6_LOCAL_IPS", Obeyed),
    row("log-format", "K6_LOG_FORMAT", Obeyed),
    row("log-ns-timestamps", "", Obeyed),
    row("log-output", "K6_LOG_OUTPUT", Obeyed),
    row("max-redirects", "K6_MAX_REDIRECTS", Obeyed),
    row("min-iteration-duration", "K6_MIN_ITERATION_DURATION", Obeyed),
    row("new-machine-readable-summary", "K6_NEW_MACHINE_READABLE_SUMMARY", Obeyed),
    row("no-color", "K6_NO_COLOR", Obeyed),
    row("no-connection-reuse", "K6_NO_CONNECTION_REUSE", Obeyed),
    row("no-setup", "K6_NO_SETUP", Obeyed),
    row("no-teardown", "K6_NO_TEARDOWN", Obeyed),
    row("no-thresholds", "K6_NO_THRESHOLDS", Obeyed),
    row("no-usage-report", "K6_NO_USAGE_REPORT", WithoutEffect("Onrush never reports usage")),
    row("no-vu-connection-reuse", "K6_NO_VU_CONNECTION_REUSE", Obeyed),
    row(
        "out",
        "K6_OUT",
        But("`cloud` is refused, `web-dashboard` is the page of `--web`; `statsd` and `xk6-influxdb` are built in"),
    ),
    row("paused", "K6_PAUSED", But("refused without `--address`, because nobody could resume the test")),
    row(
        "profiling-enabled",
        "K6_PROFILING_ENABLED",
        Warned("the REST API has no profiles; see where time goes with `perf`"),
    ),
    row("once", "", Obeyed),
    row("quiet", "", Obeyed),
    row("rps", "K6_RPS", Obeyed),
    row("scenario", "", Obeyed),
    row("secret-source", "K6_SECRET_SOURCE", Obeyed),
    row("stage", "K6_STAGES", Obeyed),
    row("summary-export", "K6_SUMMARY_EXPORT", Obeyed),
    row("summary-mode", "K6_SUMMARY_MODE", Obeyed),
    row("summary-time-unit", "K6_SUMMARY_TIME_UNIT", Obeyed),
    row("summary-trend-stats", "K6_SUMMARY_TREND_STATS", Obeyed),
    row("system-tags", "K6_SYSTEM_TAGS", Obeyed),
    row("tag", "K6_TAGS", Obeyed),
    row("throw", "K6_THROW", Obeyed),
    row(
        "traces-output",
        "K6_TRACES_OUTPUT",
        But("sends spans of HTTP requests, and puts `traceparent` on them; k6 makes spans in `k6/browser` alone"),
    ),
    row("type", "K6_TYPE", Obeyed),
    row("user-agent", "K6_USER_AGENT", Obeyed),
    row("verbose", "", Obeyed),
    row("vus", "K6_VUS", Obeyed),
    row("", "K6_AUTO_EXTENSION_RESOLUTION", WithoutEffect(NOTHING_FETCHED)),
    row("", "K6_BINARY_CACHE_", Warned(NOTHING_FETCHED)),
    row("", "K6_BROWSER_", WithoutEffect("there is no browser; keep k6 for tests that need one")),
    row("", "K6_BUILD_SERVICE_", Warned(NOTHING_FETCHED)),
    row("", "K6_CLOUDRUN_TEST_RUN_ID", WithoutEffect(NO_CLOUD)),
    row("", "K6_CLOUD_", Warned(NO_CLOUD)),
    row("", "K6_CLOUD_TOKEN", WithoutEffect(NO_CLOUD)),
    row("", "K6_DEPENDENCIES_MANIFEST", Warned(NOTHING_FETCHED)),
    row("", "K6_DOWNLOAD_", Warned(NOTHING_FETCHED)),
    row("", "K6_EXIT_ON_RUNNING", WithoutEffect(NO_CLOUD)),
    row("", "K6_HANDLE_SUMMARY_TIMEOUT", Obeyed),
    row("", "K6_HOSTS", Warned("write `hosts` into the options of the script or the config file")),
    row("", "K6_INSTANCE_SCENARIOS", WithoutEffect("there is no browser; keep k6 for tests that need one")),
    row("", "K6_METRIC_SAMPLES_BUFFER_SIZE", WithoutEffect("Onrush buffers no samples")),
    row("", "K6_NO_ARCHIVE_UPLOAD", WithoutEffect(NO_CLOUD)),
    row("", "K6_NO_COOKIES_RESET", Obeyed),
    row("", "K6_PROVISION_", Warned(NOTHING_FETCHED)),
    row("", "K6_SETUP_TIMEOUT", Obeyed),
    row("", "K6_SHOW_CLOUD_LOGS", WithoutEffect(NO_CLOUD)),
    row("", "K6_TEARDOWN_TIMEOUT", Obeyed),
    row(
        "",
        "K6_THRESHOLDS",
        Warned("write `thresholds` into the options of the script or the config file, or use --threshold"),
    ),
    row("", "K6_TLSAUTH", Warned("write `tlsAuth` into the options of the script or the config file")),
    row(
        "",
        "K6_TLS_CIPHER_SUITES",
        Warned("write `tlsCipherSuites` into the options of the script or the config file"),
    ),
    row("", "K6_TLS_AIA_FETCH", Obeyed),
    row("", "K6_USAGE_REPORT_URL", WithoutEffect("Onrush never reports usage")),
    row("", "K6_WEB_DASHBOARD", But("the page is ours; the run does not wait until its browser is closed")),
    row("", "K6_WEB_DASHBOARD_EXPORT", But("the report is ours, that of `onrush report`")),
    row("", "K6_WEB_DASHBOARD_HOST", But("the default is 127.0.0.1; k6 listens on all addresses")),
    row("", "K6_WEB_DASHBOARD_OPEN", Obeyed),
    row("", "K6_WEB_DASHBOARD_PERIOD", But("the default is a second")),
    row("", "K6_WEB_DASHBOARD_PORT", Obeyed),
    row("", "K6_WEB_DASHBOARD_RECORD", Warned("--save DIR keeps what was measured")),
    row("", "K6_WEB_DASHBOARD_TAGS", Warned("the page has no charts by tag; `onrush report` has tables by tag")),
];

impl OfK6 {
    /// Whether this variable is meant: `K6_CLOUD_` means `K6_CLOUD`, too.
    pub fn means(&self, name: &str) -> bool {
        match self.variable.strip_suffix('_') {
            Some(short) => name == short || name.starts_with(self.variable),
            None => !self.variable.is_empty() && name == self.variable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RUN_FLAGS, names};
    use super::*;
    use script::options::OPTIONS;

    /// The flags that `k6 run --help` of version 2.2 lists, and those that 2.3 adds.
    const FLAGS: &str = "address batch batch-per-host blacklist-ip block-hostnames compatibility-mode config \
        console-output discard-response-bodies dns duration env execution-segment execution-segment-sequence features \
        http-debug include-system-env-vars insecure-skip-tls-verify iterations linger local-ips log-format \
        log-ns-timestamps log-output max-redirects min-iteration-duration new-machine-readable-summary no-color \
        no-connection-reuse no-setup no-teardown no-thresholds no-usage-report no-vu-connection-reuse once out paused \
        profiling-enabled quiet rps scenario secret-source stage summary-export summary-mode summary-time-unit \
        summary-trend-stats system-tags tag throw traces-output type user-agent verbose vus";

    #[test]
    fn every_flag_of_k6_has_a_row_and_every_row_is_true() {
        for flag in FLAGS.split_whitespace() {
            assert!(OF_K6.iter().any(|row| row.flag == flag), "--{flag} has no row");
        }
        let known: Vec<_> = names().collect();
        let variables: Vec<_> = OPTIONS
            .iter()
            .filter_map(|option| option.env)
            .chain(RUN_FLAGS.iter().filter_map(|flag| flag.env))
            .collect();
        for row in OF_K6 {
            assert!(row.flag.is_empty() || known.contains(&row.flag), "--{} is not read", row.flag);
            let is_read = variables.contains(&row.variable);
            let is_true = match row.treated {
                _ if row.variable.is_empty() => true,
                // Variables of what Onrush has not, and one whose value is checked.
                WithoutEffect(_) => true,
                Warned(_) if row.flag.is_empty() => !is_read,
                _ => is_read,
            };
            assert!(is_true, "{} is read: {is_read}", row.variable);
        }
    }

    #[test]
    fn flag_and_variable_of_a_row_say_the_same() {
        let options = OPTIONS.iter().map(|option| (option.flag.unwrap_or_default(), option.env));
        let pairs: Vec<_> = options.chain(RUN_FLAGS.iter().map(|flag| (flag.name, flag.env))).collect();
        for row in OF_K6.iter().filter(|row| !row.flag.is_empty() && !row.variable.is_empty()) {
            assert!(pairs.contains(&(row.flag, Some(row.variable))), "--{} and {}", row.flag, row.variable);
        }
    }

    #[test]
    fn a_beginning_means_all_variables_that_begin_so() {
        let row = |name| OF_K6.iter().find(|row| row.variable == name).expect(name);
        let cloud = row("K6_CLOUD_");
        assert!(cloud.means("K6_CLOUD") && cloud.means("K6_CLOUD_TOKEN") && !cloud.means("K6_CLOUDY"));
        assert!(row("K6_HOSTS").means("K6_HOSTS") && !row("K6_HOSTS").means("K6_HOSTS_"));
    }
}
