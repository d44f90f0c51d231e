//! The options of a test, composed from the parts that the engine, the metrics and the wire obey.
//!
//! `table.rs` is the one list. A layer is JSON (the script, a config file) or texts (flags, the environment); it is
//! read here once, and `merge` puts a higher layer on top.

mod form;
mod http2;
mod link;
mod name_rules;
mod network;
mod read;
mod row;
mod settings;
mod table;
mod trace;
mod written;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use host::DEFAULT_MEMORY_LIMIT;
use metrics::{SystemTag, SystemTags};
use serde_json::{Map, Value};
use units::{field, suggest};
use wire::mask::Mask;
use wire::settings::BatchLimits;

pub use form::{ValueForm, parse_switch};
pub use http2::Http2Choice;
pub use name_rules::NameRules;
pub use read::DebugDetail;
pub use row::TestOption;
pub use table::{OPTIONS, Options};
pub use trace::TraceContext;
pub use written::Written;

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

/// What `exec.test.options` shows in k6, in its order.
#[rustfmt::skip]
const IN_K6_ORDER: &[&str] = &[
    "paused", "scenarios", "executionSegment", "executionSegmentSequence", "noSetup", "setupTimeout", "noTeardown",
    "teardownTimeout", "handleSummaryTimeout", "rps", "dns", "maxRedirects", "userAgent", "batch", "batchPerHost",
    "httpDebug", "insecureSkipTLSVerify", "tlsCipherSuites", "tlsVersion", "tlsAuth", "throw", "thresholds",
    "blacklistIPs", "blockHostnames", "hosts", "noConnectionReuse", "noVUConnectionReuse", "minIterationDuration",
    "cloud", "ext", "summaryTrendStats", "summaryTimeUnit", "systemTags", "tags", "metricSamplesBufferSize",
    "noCookiesReset", "discardResponseBodies", "features", "consoleOutput", "localIPs",
];

/// k6's statistics of a Trend, where the options name none.
const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// Fields of k6's config file that are no options of a test.
const CONFIG_ONLY: &[&str] = &["collectors", "out", "linger", "noUsageReport", "webDashboard", "noArchiveUpload"];

/// k6's options have one form in JSON, while flags and variables give text for everything: a text is no switch and no
/// list there.
fn check_form(option: &TestOption, value: &Value) -> Result<(), String> {
    let is_of_k6 = IN_K6_ORDER.contains(&option.json);
    match (option.form, value) {
        (ValueForm::Switch, Value::String(_)) if is_of_k6 => read::expected(value, "true or false"),
        (ValueForm::List, Value::String(_)) if is_of_k6 => read::expected(value, "a list of texts"),
        _ => Ok(()),
    }
}

impl Options {
    /// Reads one layer. `origin` names it in errors and warnings: `the script`, or the path of a config file. Also
    /// returns warnings about fields that no option has.
    pub fn from_json(layer: &Value, origin: &str) -> Result<(Options, Vec<String>), OptionsError> {
        let fail = |text: String| OptionsError { message: format!("options of {origin}: {text}") };
        let nothing = Map::new();
        let fields = match layer {
            Value::Object(fields) => fields,
            // `export const options = null`, as in k6.
            Value::Null => &nothing,
            _ => return Err(fail(format!("found {layer}, expected an object"))),
        };
        let (mut options, mut warnings) = (Options::default(), Vec::new());
        for option in OPTIONS {
            if let Some(value) = field::find(fields, option.json) {
                check_form(option, value).map_err(|problem| fail(option.named(problem)))?;
                let problem = (option.read)(&mut options, value).map_err(|problem| option.named(problem));
                match problem {
                    // As in k6, which looks at the unit of a flag only.
                    Err(problem) if option.json == "summaryTimeUnit" => {
                        warnings.push(format!("options of {origin}: {problem}; each value has its own unit"));
                    }
                    problem => problem.map_err(fail)?,
                }
            }
        }
        let known = || OPTIONS.iter().map(|option| option.json);
        for (name, _) in fields.iter().filter(|(_, value)| !value.is_null()) {
            if !known().chain(CONFIG_ONLY.iter().copied()).any(|known| field::is(name, known)) {
                let hint = suggest::hint(name, known());
                warnings.push(format!("options of {origin}: unknown option '{name}'{hint}"));
            }
        }
        Ok((options, warnings))
    }

    /// Sets an option to what a flag or a variable says: one text for each time that it was given. `origin` names the
    /// flag or the variable in errors.
    pub fn set(&mut self, option: &TestOption, texts: &[String], origin: &str) -> Result<(), OptionsError> {
        let read = option.form.json(texts).and_then(|value| (option.read)(self, &value));
        read.map_err(|problem| OptionsError { message: format!("{origin}: {problem}") })
    }

    /// The options as `exec.test.options` shows them: those of k6 in its order, null where nothing was set, then what
    /// was set of ours, and shortcuts that have not been made a scenario.
    pub fn to_json(&self) -> Value {
        self.shown(&[])
    }

    /// The same as archives have them: with the shortcuts, null where nothing was set.
    pub fn to_archive_json(&self) -> Value {
        self.shown(&["vus", "duration", "iterations", "stages"])
    }

    /// The same without k6's values for what was not set.
    pub fn to_inspect_json(&self) -> Value {
        let mut shown = self.to_archive_json();
        for (name, is_set) in
            [("summaryTrendStats", self.summary_trend_stats.is_some()), ("systemTags", self.system_tags.is_some())]
        {
            if !is_set {
                shown[name] = Value::Null;
            }
        }
        shown
    }

    /// `shortcuts` stand behind the first one.
    fn shown(&self, shortcuts: &[&str]) -> Value {
        let mut set: Map<String, Value> = OPTIONS
            .iter()
            .map(|option| (option.json.to_owned(), (option.show)(self)))
            .filter(|(_, value)| !value.is_null())
            .collect();
        let mut shown = Map::new();
        // Those at the end are of exec alone.
        let end = if shortcuts.is_empty() { IN_K6_ORDER.len() } else { IN_K6_ORDER.len() - 2 };
        let (first, others) = IN_K6_ORDER[..end].split_at(1);
        for &name in first.iter().chain(shortcuts).chain(others) {
            let value = match (name, set.remove(name)) {
                ("dns", given) => {
                    let given = given.unwrap_or_default();
                    let part = |name: &str| given.get(name).cloned().unwrap_or_default();
                    serde_json::json!({ "ttl": part("ttl"), "select": part("select"), "policy": part("policy") })
                }
                ("summaryTrendStats", None) => serde_json::json!(TREND_STATS),
                ("systemTags", _) => {
                    let mut names: Vec<&str> = self.enabled_system_tags().iter().map(SystemTag::name).collect();
                    names.sort_unstable();
                    names.into()
                }
                ("cloud", None) => continue,
                (_, given) => given.unwrap_or_default(),
            };
            shown.insert(name.to_owned(), value);
        }
        shown.extend(set);
        Value::Object(shown)
    }

    /// Names in `systemTags` that no system tag has: they select nothing.
    pub fn unknown_system_tags(&self) -> Vec<String> {
        let names = serde_json::to_value(&self.system_tags).ok().and_then(|names| read::list(&names).ok());
        names.into_iter().flatten().filter(|name| SystemTags::parse([name]).is_err()).collect()
    }

    /// Memory of one user in bytes: what its script holds, and what native code holds for it.
    pub fn memory_limit(&self) -> usize {
        self.vu_memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT)
    }

    /// How long init code may take, each time that it runs.
    pub fn init_time_limit(&self) -> Duration {
        limit(self.init_timeout.as_ref(), 60)
    }

    /// How long `setup()` may take.
    pub fn setup_time_limit(&self) -> Duration {
        limit(self.setup_timeout.as_ref(), 60)
    }

    /// How long `teardown()` may take.
    pub fn teardown_time_limit(&self) -> Duration {
        limit(self.teardown_timeout.as_ref(), 60)
    }

    /// How long `handleSummary()` may take.
    pub fn summary_time_limit(&self) -> Duration {
        limit(self.handle_summary_timeout.as_ref(), 120)
    }

    /// From one iteration's start to the next at least.
    pub fn shortest_iteration(&self) -> Duration {
        limit(self.min_iteration_duration.as_ref(), 0)
    }

    /// Redirects to follow.
    pub fn redirect_limit(&self) -> u32 {
        self.max_redirects.unwrap_or(10)
    }

    /// Requests of one batch at a time, in all and to one host.
    pub fn batch_limits(&self) -> BatchLimits {
        BatchLimits { in_all: self.batch.unwrap_or(20) as usize, per_host: self.batch_per_host.unwrap_or(6) as usize }
    }

    /// Tags of every sample of the run.
    pub fn run_tags(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let tags = self.tags.iter().flatten();
        tags.map(|(name, value)| (Arc::from(name.as_str()), Arc::from(value.as_str()))).collect()
    }

    /// What is hidden of URLs where they become tags and messages.
    pub fn url_mask(&self) -> Mask {
        self.mask_params.as_deref().map_or_else(Mask::standard, Mask::clone)
    }

    /// System tags that are on.
    pub fn enabled_system_tags(&self) -> SystemTags {
        self.system_tags.as_deref().copied().unwrap_or_default()
    }
}

fn limit(given: Option<&Written<Duration>>, standard_s: u64) -> Duration {
    given.map_or(Duration::from_secs(standard_s), |time| **time)
}

impl serde::Serialize for Options {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

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
        assert!(refused(json!({ "thresholds": { "a": 5 } })).contains("'thresholds'"));
        // Stages that other options replace are no error, as in k6: it is told where they would be used.
        let later = read(json!({ "stages": [{ "duration": "1s" }] })).execution.stages_problem;
        assert_eq!(later.as_deref(), Some("stages[0]: target is missing, expected a whole number"));
    }

    /// A flag and a variable name themselves; beyond that the messages are those of the script.
    #[test]
    fn texts_are_read_as_json_is() {
        let set = |json: &str, text: &str, origin: &str| {
            let option = OPTIONS.iter().find(|option| option.json == json).expect("in the list");
            let mut options = Options::default();
            options.set(option, &[text.to_owned()], origin).map(|()| options).map_err(|error| error.message)
        };
        assert_eq!(set("vus", "7", "-u"), Ok(read(json!({ "vus": 7 }))));
        assert_eq!(
            set("dns", "ttl=0,select=first", "--dns"),
            Ok(read(json!({ "dns": { "ttl": "0", "select": "first" } })))
        );
        assert_eq!(set("systemTags", "url, status", "x"), Ok(read(json!({ "systemTags": ["url", "status"] }))));
        for (json, text, origin, message) in [
            ("vus", "many", "--vus", "--vus: found 'many', expected a whole number, as in 10"),
            (
                "dns",
                "ttl=x",
                "K6_DNS",
                "K6_DNS: ttl: 'x' is not a duration: expected a form like 10s, 1h30m, 1d or a number of \
                milliseconds, or inf",
            ),
            (
                "executionSegment",
                "1:0",
                "--execution-segment",
                "--execution-segment: execution segment 1:0 is empty: expected its end after its start",
            ),
            (
                "maxDecodedBody",
                "lots",
                "--max-decoded-body",
                "--max-decoded-body: found \"lots\", expected bytes, as 64m or 1g",
            ),
        ] {
            assert_eq!(set(json, text, origin), Err(String::from(message)));
        }
    }

    /// The table tells the defaults as text; what obeys them has them as values.
    #[test]
    fn defaults_are_those_of_the_table() {
        let mut told = Options::default();
        // Given, it holds for bodies as they came, too; see `network_settings`.
        let is_like_given = |option: &&TestOption| !option.default.is_empty() && option.json != "maxDecodedBody";
        for option in OPTIONS.iter().filter(is_like_given) {
            told.set(option, &[option.default.to_owned()], option.json).expect("a value of the option");
        }
        let obeyed = |options: &Options| {
            let limits = [options.setup_time_limit(), options.teardown_time_limit(), options.summary_time_limit()];
            format!("{limits:?} {} {:?}", options.redirect_limit(), options.network_settings())
        };
        assert_eq!(obeyed(&told), obeyed(&Options::default()));
        assert_eq!((told.execution.vus, told.rps), (Some(1), Some(0)));
    }

    #[test]
    fn every_name_stands_once() {
        let once = |names: Vec<&str>| {
            let set: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(set.len(), names.len(), "{names:?}");
        };
        let folded: Vec<String> = OPTIONS.iter().map(|option| option.json.to_ascii_lowercase()).collect();
        once(folded.iter().map(String::as_str).collect());
        once(OPTIONS.iter().filter_map(|option| option.flag).collect());
        once(OPTIONS.iter().filter_map(|option| option.env).collect());
    }

    /// Public scripts spell option names in many ways; k6 runs the test that they mean.
    #[test]
    fn case_makes_no_difference() {
        let layer = json!({
            "VUs": 2, "STAGES": [{ "Duration": "1s", "TARGET": 3 }], "tlsversion": { "MIN": "tls1.2" },
            "Dns": { "TTL": "1s" }, "Thresholds": { "checks": [{ "Threshold": "rate>0.5", "abortonfail": true }] },
        });
        let (read_so, warnings) = Options::from_json(&layer, "the script").expect("valid");
        let usual = read(json!({
            "vus": 2, "stages": [{ "duration": "1s", "target": 3 }], "tlsVersion": { "min": "tls1.2" },
            "dns": { "ttl": "1s" }, "thresholds": { "checks": [{ "threshold": "rate>0.5", "abortOnFail": true }] },
        }));
        assert_eq!(read_so, usual);
        assert!(warnings.is_empty(), "{warnings:?}");
        let wrong = refused(json!({ "VUs": "many" }));
        assert_eq!(wrong, "options of the script: 'vus': found \"many\", expected a whole number");
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
        assert_eq!(read(options.to_json()).to_json(), options.to_json());
    }
}
