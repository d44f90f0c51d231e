//! The one list of options: JSON name, flag, environment name, how a text becomes JSON. The command line, its help, the
//! environment layer and the flag layer are all made from it.
//!
//! What is not an option of the test (where logs go, which summary, which file) is in `RunFlags`; those have flags and
//! environment names but no JSON name.

use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};

/// How the text of a flag or an environment variable becomes a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A whole number.
    Integer,
    /// A flag without value, or true/false.
    Switch,
    /// Kept as it is.
    Text,
    /// Items between commas.
    List,
    /// `10s:5`, several by comma or by repeating the flag.
    Stages,
    /// `name=value` (flag) or `name:value` (environment), repeated or by comma.
    Pairs,
    /// `ttl=5m,select=random,policy=preferIPv4`.
    Fields,
}

/// One option of a test.
pub struct TestOption {
    /// Its name in `export const options` and in the config file.
    pub json: &'static str,
    /// Long flag.
    pub flag: Option<&'static str>,
    /// Short flag.
    pub short: Option<char>,
    /// Environment variable.
    pub env: Option<&'static str>,
    /// How text becomes JSON.
    pub form: Form,
    /// What the value is called in the help.
    pub value: &'static str,
    /// Help text.
    pub help: &'static str,
}

macro_rules! options {
    ($($json:literal $flag:expr, $short:expr, $env:expr, $form:ident, $value:literal, $help:literal;)*) => {
        /// Every option of a test that can be set outside the script.
        pub static OPTIONS: &[TestOption] = &[$(TestOption {
            json: $json, flag: $flag, short: $short, env: $env, form: Form::$form, value: $value, help: $help,
        }),*];
    };
}

options! {
    "vus" Some("vus"), Some('u'), Some("K6_VUS"), Integer, "N", "Virtual users";
    "duration" Some("duration"), Some('d'), Some("K6_DURATION"), Text, "TIME", "How long to run, as 30s or 1h30m";
    "iterations" Some("iterations"), Some('i'), Some("K6_ITERATIONS"), Integer, "N", "Iterations in all, shared by the virtual users";
    "stages" Some("stage"), Some('s'), Some("K6_STAGES"), Stages, "TIME:VUS", "Ramp to so many virtual users over this time; repeat for more stages";
    "executionSegment" Some("execution-segment"), None, Some("K6_EXECUTION_SEGMENT"), Text, "FROM:TO", "Run only this part of the test: 0:1/3, 25%:50%";
    "executionSegmentSequence" Some("execution-segment-sequence"), None, Some("K6_EXECUTION_SEGMENT_SEQUENCE"), Text, "0,..,1", "Borders of all parts of the test";
    "noSetup" Some("no-setup"), None, Some("K6_NO_SETUP"), Switch, "", "Do not call setup()";
    "noTeardown" Some("no-teardown"), None, Some("K6_NO_TEARDOWN"), Switch, "", "Do not call teardown()";
    "setupTimeout" None, None, Some("K6_SETUP_TIMEOUT"), Text, "TIME", "Time limit of setup()";
    "teardownTimeout" None, None, Some("K6_TEARDOWN_TIMEOUT"), Text, "TIME", "Time limit of teardown()";
    "handleSummaryTimeout" None, None, Some("K6_HANDLE_SUMMARY_TIMEOUT"), Text, "TIME", "Time limit of handleSummary()";
    "minIterationDuration" Some("min-iteration-duration"), None, Some("K6_MIN_ITERATION_DURATION"), Text, "TIME", "Shortest time from one iteration's start to the next";
    "rps" Some("rps"), None, Some("K6_RPS"), Integer, "N", "At most so many requests per second in all";
    "batch" Some("batch"), None, Some("K6_BATCH"), Integer, "N", "Requests of one http.batch at a time";
    "batchPerHost" Some("batch-per-host"), None, Some("K6_BATCH_PER_HOST"), Integer, "N", "Requests of one http.batch at a time to one host";
    "maxRedirects" Some("max-redirects"), None, Some("K6_MAX_REDIRECTS"), Integer, "N", "Redirects to follow";
    "userAgent" Some("user-agent"), None, Some("K6_USER_AGENT"), Text, "TEXT", "User-Agent of requests that bring none";
    "maskParams" Some("mask-params"), None, Some("ONRUSH_MASK_PARAMS"), List, "NAMES", "Query parameters whose values are masked in results and messages [default: token, password and the like]";
    "throw" Some("throw"), Some('w'), Some("K6_THROW"), Switch, "", "Throw an exception when a request fails";
    "httpDebug" Some("http-debug"), None, Some("K6_HTTP_DEBUG"), Text, "headers|full", "Log requests and responses";
    "discardResponseBodies" Some("discard-response-bodies"), None, Some("K6_DISCARD_RESPONSE_BODIES"), Switch, "", "Read response bodies but do not keep them";
    "noConnectionReuse" Some("no-connection-reuse"), None, Some("K6_NO_CONNECTION_REUSE"), Switch, "", "A new connection for every request";
    "noVUConnectionReuse" Some("no-vu-connection-reuse"), None, Some("K6_NO_VU_CONNECTION_REUSE"), Switch, "", "New connections for every iteration";
    "noCookiesReset" None, None, Some("K6_NO_COOKIES_RESET"), Switch, "", "Keep cookies from one iteration to the next";
    "insecureSkipTLSVerify" Some("insecure-skip-tls-verify"), None, Some("K6_INSECURE_SKIP_TLS_VERIFY"), Switch, "", "Accept any TLS certificate";
    "dns" Some("dns"), None, Some("K6_DNS"), Fields, "ttl=..,select=..,policy=..", "How names are resolved";
    "blockHostnames" Some("block-hostnames"), None, Some("K6_BLOCK_HOSTNAMES"), List, "PATTERNS", "Host names never to connect to; a leading * is allowed";
    "blacklistIPs" Some("blacklist-ip"), None, Some("K6_BLACKLIST_IPS"), List, "RANGES", "Addresses never to connect to, as CIDR or IP";
    "localIPs" Some("local-ips"), None, Some("K6_LOCAL_IPS"), Text, "RANGES", "Addresses to connect from: IPs, ranges a-b, CIDRs";
    "network" Some("network"), None, None, Text, "LINK", "The link of every virtual user: 3g, 4g, cable, speedtest-2022, or download=10mbps,upload=5mbps,latency=20ms,jitter=2ms,loss=1%";
    "maxDecodedBody" Some("max-decoded-body"), None, Some("ONRUSH_MAX_DECODED_BODY"), Text, "SIZE", "Fail a response whose body decodes to more than this, as 64m or 1g [default: 100m]";
    "maxDecodedRatio" Some("max-decoded-ratio"), None, Some("ONRUSH_MAX_DECODED_RATIO"), Integer, "N", "Fail a response whose body decodes to more than 10 MiB and N times its size [default: 1000]";
    "tags" Some("tag"), None, Some("K6_TAGS"), Pairs, "NAME=VALUE", "A tag for every sample; repeat for more";
    "systemTags" Some("system-tags"), None, Some("K6_SYSTEM_TAGS"), List, "NAMES", "Which system tags to keep";
    "summaryTrendStats" Some("summary-trend-stats"), None, Some("K6_SUMMARY_TREND_STATS"), List, "STATS", "Columns of trends in the summary: avg,min,med,max,p(95),count";
    "summaryTimeUnit" Some("summary-time-unit"), None, Some("K6_SUMMARY_TIME_UNIT"), Text, "s|ms|us", "Unit of times in the summary";
}

/// The `run` command with every flag.
pub fn run_command() -> Command {
    let mut command = Command::new("run").about("Run a test").arg(
        Arg::new("script").value_name("SCRIPT|URL").required(true).help("JavaScript or TypeScript file, or a URL"),
    );
    for option in OPTIONS {
        command = match option.flag {
            Some(flag) => command.arg(option_arg(option, flag)),
            None => command,
        };
    }
    for flag in RUN_FLAGS {
        command = command.arg(run_arg(flag));
    }
    command
}

fn option_arg(option: &TestOption, flag: &'static str) -> Arg {
    let arg = Arg::new(option.json).long(flag).help(option.help).help_heading("Options of the test");
    let arg = match option.short {
        Some(short) => arg.short(short),
        None => arg,
    };
    match option.form {
        Form::Switch => switch(arg),
        Form::Stages | Form::Pairs | Form::List => arg.value_name(option.value).action(ArgAction::Append),
        _ if option.json == "httpDebug" => {
            arg.value_name(option.value).num_args(0..=1).require_equals(true).default_missing_value("headers")
        }
        _ => arg.value_name(option.value).allow_hyphen_values(true),
    }
}

fn switch(arg: Arg) -> Arg {
    arg.num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .value_name("true|false")
        .hide_possible_values(true)
}

/// A flag that concerns this run rather than the test.
pub struct RunFlag {
    /// Long flag.
    pub name: &'static str,
    short: Option<char>,
    /// Environment variable.
    pub env: Option<&'static str>,
    value: Option<&'static str>,
    repeat: bool,
    help: &'static str,
}

const fn run_flag(
    name: &'static str,
    env: Option<&'static str>,
    value: Option<&'static str>,
    help: &'static str,
) -> RunFlag {
    RunFlag { name, short: None, env, value, repeat: false, help }
}

/// Flags of `run` that are not options of the test.
pub static RUN_FLAGS: &[RunFlag] = &[
    RunFlag {
        short: Some('e'),
        repeat: true,
        ..run_flag("env", None, Some("NAME=VALUE"), "Set a variable of __ENV; repeat for more")
    },
    run_flag(
        "include-system-env-vars",
        Some("K6_INCLUDE_SYSTEM_ENV_VARS"),
        None,
        "Pass the environment to the script [default: true]",
    ),
    RunFlag { short: Some('c'), ..run_flag("config", Some("K6_CONFIG"), Some("FILE"), "JSON file with options") },
    RunFlag {
        repeat: true,
        ..run_flag(
            "threshold",
            None,
            Some("METRIC: CONDITION"),
            "What must hold, as 'http_req_duration: p(95)<200', else the exit code is 99; joins those of the script; repeat for more",
        )
    },
    RunFlag {
        repeat: true,
        ..run_flag(
            "fail-on",
            None,
            Some("LIMIT"),
            "End with exit code 99 when there are more errors, as 'errors>1%' or 'exceptions>0'; repeat for more",
        )
    },
    run_flag("no-thresholds", Some("K6_NO_THRESHOLDS"), None, "Ignore thresholds"),
    run_flag("summary-mode", Some("K6_SUMMARY_MODE"), Some("compact|full|disabled"), "Which end-of-test summary"),
    run_flag("summary-export", Some("K6_SUMMARY_EXPORT"), Some("FILE"), "Write the end-of-test summary as JSON"),
    run_flag(
        "new-machine-readable-summary",
        Some("K6_NEW_MACHINE_READABLE_SUMMARY"),
        None,
        "Give handleSummary and the export k6's newer shape",
    ),
    run_flag("console-output", Some("K6_CONSOLE_OUTPUT"), Some("FILE"), "Write what the script logs to a file"),
    run_flag("log-format", Some("K6_LOG_FORMAT"), Some("text|raw|json"), "How log lines look"),
    run_flag("log-output", Some("K6_LOG_OUTPUT"), Some("stderr|stdout|none|file=PATH"), "Where log lines go"),
    run_flag("no-color", Some("K6_NO_COLOR"), None, "No colours"),
    RunFlag { short: Some('q'), ..run_flag("quiet", None, None, "No progress lines") },
    RunFlag { short: Some('v'), ..run_flag("verbose", None, None, "Log more") },
    run_flag(
        "compatibility-mode",
        Some("K6_COMPATIBILITY_MODE"),
        Some("base|extended"),
        "extended also offers `global`",
    ),
    RunFlag { short: Some('t'), ..run_flag("type", Some("K6_TYPE"), Some("js|archive"), "What the script is") },
    RunFlag {
        short: Some('o'),
        repeat: true,
        ..run_flag("out", Some("K6_OUT"), Some("NAME[=ARG]"), "Send samples somewhere (no output is there yet)")
    },
    RunFlag {
        short: Some('a'),
        ..run_flag("address", Some("K6_ADDRESS"), Some("HOST:PORT"), "REST API (not there yet; empty is accepted)")
    },
    run_flag("no-usage-report", Some("K6_NO_USAGE_REPORT"), None, "Accepted for k6's sake: Onrush never reports usage"),
    run_flag("workers", Some("ONRUSH_WORKERS"), Some("N"), "Threads that run virtual users [default: one a core]"),
    run_flag(
        "vu-memory-limit",
        Some("ONRUSH_VU_MEMORY_LIMIT"),
        Some("BYTES"),
        "Memory of one virtual user, as 64m or 1g [default: 1g]",
    ),
    run_flag(
        "save",
        None,
        Some("DIR"),
        "Keep the result in this directory, for `onrush report` and `onrush compare`: options, figures, names, facts about the machine; passwords are masked",
    ),
    run_flag(
        "save-messages",
        None,
        None,
        "Keep every received WebSocket message in the result's directory too (with --save)",
    ),
    RunFlag {
        repeat: true,
        ..run_flag("label", None, Some("NAME=VALUE"), "Name the saved result by this; repeat for more")
    },
    run_flag(
        "accept-late",
        None,
        None,
        "Let the run count although its generator was late or the limit; every output is marked",
    ),
    run_flag(
        "serve",
        None,
        None,
        "Start a target beside the test, or an app: --serve=app.js; __ENV.TARGET, TARGET_TLS, TARGET_WS and TARGET_UNIX say where",
    ),
];

fn run_arg(flag: &RunFlag) -> Arg {
    let arg = Arg::new(flag.name).long(flag.name).help(flag.help);
    let arg = match flag.short {
        Some(short) => arg.short(short),
        None => arg,
    };
    match flag.value {
        None if flag.name == "serve" => switch(arg).value_name("APP"),
        None => switch(arg),
        Some(value) if flag.repeat => arg.value_name(value).action(ArgAction::Append),
        Some(value) => arg.value_name(value),
    }
}

/// Long names of all flags of `run`.
pub fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().filter_map(|option| option.flag).chain(RUN_FLAGS.iter().map(|flag| flag.name))
}

/// Whether the word behind a long flag of `run` belongs to it; `None` when there is no such flag.
pub fn takes_value(name: &str) -> Option<bool> {
    if let Some(option) = OPTIONS.iter().find(|option| option.flag == Some(name)) {
        return Some(option.form != Form::Switch && option.json != "httpDebug");
    }
    RUN_FLAGS.iter().find(|flag| flag.name == name).map(|flag| flag.value.is_some())
}

/// A text that does not fit its option.
#[derive(Debug, PartialEq, Eq)]
pub struct BadText {
    /// Ready to print.
    pub message: String,
}

impl TestOption {
    /// Turns text into the JSON that a script would have written. `origin` names the flag or variable in errors.
    pub fn parse(&self, texts: &[String], origin: &str) -> Result<Value, BadText> {
        let first = texts.first().map_or("", String::as_str);
        let bad = |expected: &str| BadText { message: format!("{origin}: found '{first}', expected {expected}") };
        match self.form {
            Form::Integer => first.trim().parse::<i64>().map(|n| json!(n)).map_err(|_| bad("a whole number, as in 10")),
            Form::Switch => parse_switch(first).map(|b| json!(b)).ok_or_else(|| bad("true or false")),
            Form::Text => Ok(json!(first)),
            Form::List => Ok(json!(items(texts).collect::<Vec<_>>())),
            Form::Stages => {
                items(texts).map(|item| stage(item, origin)).collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Form::Pairs => pairs(items(texts), &['=', ':'], origin).map(Value::Object),
            Form::Fields => pairs(items(texts), &['='], origin).map(Value::Object),
        }
    }
}

/// true, false, 1, 0, t, f, in any case: what Go's flag parser accepts.
pub fn parse_switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "t" => Some(true),
        "false" | "0" | "f" => Some(false),
        _ => None,
    }
}

fn items(texts: &[String]) -> impl Iterator<Item = &str> {
    texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|item| !item.is_empty())
}

fn stage(item: &str, origin: &str) -> Result<Value, BadText> {
    let bad = || BadText { message: format!("{origin}: found '{item}', expected TIME:VUS, as in 30s:10") };
    let (duration, target) = item.rsplit_once(':').ok_or_else(bad)?;
    let target: i64 = target.trim().parse().map_err(|_| bad())?;
    Ok(json!({ "duration": duration.trim(), "target": target }))
}

fn pairs<'a>(
    items: impl Iterator<Item = &'a str>,
    marks: &[char],
    origin: &str,
) -> Result<Map<String, Value>, BadText> {
    items
        .map(|item| match item.split_once(|c| marks.contains(&c)) {
            Some((name, value)) => Ok((name.trim().to_owned(), json!(value.trim()))),
            None => Err(BadText { message: format!("{origin}: found '{item}', expected NAME=VALUE") }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(json: &str) -> &'static TestOption {
        OPTIONS.iter().find(|o| o.json == json).expect("in the list")
    }

    fn parse(json: &str, texts: &[&str]) -> Result<Value, BadText> {
        let texts: Vec<String> = texts.iter().map(|t| t.to_string()).collect();
        option(json).parse(&texts, "--flag")
    }

    #[test]
    fn texts_become_the_json_a_script_would_write() {
        assert_eq!(parse("vus", &["7"]), Ok(json!(7)));
        assert_eq!(parse("throw", &["true"]), Ok(json!(true)));
        assert_eq!(parse("duration", &["1m"]), Ok(json!("1m")));
        let stages = json!([{"duration": "5s", "target": 10}, {"duration": "1m", "target": 0}]);
        assert_eq!(parse("stages", &["5s:10,1m:0"]), Ok(stages.clone()));
        assert_eq!(parse("stages", &["5s:10", "1m:0"]), Ok(stages));
        assert_eq!(parse("tags", &["a=b", "c:d"]), Ok(json!({"a": "b", "c": "d"})));
        assert_eq!(parse("dns", &["ttl=0,select=first"]), Ok(json!({"ttl": "0", "select": "first"})));
        assert_eq!(parse("summaryTrendStats", &["avg,p(95)"]), Ok(json!(["avg", "p(95)"])));
    }

    #[test]
    fn errors_name_flag_finding_and_expectation() {
        let message = |r: Result<Value, BadText>| r.expect_err("refused").message;
        assert_eq!(message(parse("vus", &["x"])), "--flag: found 'x', expected a whole number, as in 10");
        assert_eq!(message(parse("stages", &["5s"])), "--flag: found '5s', expected TIME:VUS, as in 30s:10");
        assert_eq!(message(parse("tags", &["a"])), "--flag: found 'a', expected NAME=VALUE");
    }

    #[test]
    fn the_command_is_well_formed() {
        run_command().debug_assert();
    }
}
