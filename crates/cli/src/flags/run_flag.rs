//! The flags of `onrush run` that are no options of the test: where logs go, which summary, which file. One table; they
//! have environment names but no JSON name.

use clap::{Arg, ArgAction};

use super::switch;

/// A flag that concerns this run rather than the test.
pub struct RunFlag {
    /// Long flag.
    pub name: &'static str,
    /// Short flag.
    pub short: Option<char>,
    /// Environment variable.
    pub env: Option<&'static str>,
    /// What the value is called in the help; none for a switch.
    pub value: Option<&'static str>,
    repeat: bool,
    /// What it does, in one line.
    pub help: &'static str,
}

pub(super) const fn run_flag(
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
    RunFlag {
        repeat: true,
        ..run_flag("scenario", None, Some("NAME[,NAME]"), "Run these scenarios of the script alone; repeat for more")
    },
    run_flag("in-order", None, None, "Of several scripts: run one after the other instead of side by side"),
    run_flag("once", None, None, "Run each scenario once: one user, one iteration, at once"),
    run_flag(
        "hold",
        None,
        Some("LOAD"),
        "One steady load in place of the script's shape: rate=250/s,time=20s or users=40,time=20s, for all scenarios \
         together in their proportions; ready=N and most=N are the users of a rate; thresholds do not end the test",
    ),
    RunFlag { short: Some('c'), ..run_flag("config", Some("K6_CONFIG"), Some("FILE"), "JSON file with options") },
    RunFlag {
        repeat: true,
        ..run_flag(
            "threshold",
            None,
            Some("METRIC: CONDITION"),
            "A threshold besides the script's, such as 'http_req_duration: p(95)<200'; when it does not hold, the exit \
             code is 99; repeat for more",
        )
    },
    RunFlag {
        repeat: true,
        ..run_flag(
            "fail-on",
            None,
            Some("LIMIT"),
            "End with exit code 99 when there are more errors, such as 'errors>1%' or 'exceptions>0'; repeat for more",
        )
    },
    run_flag("no-thresholds", Some("K6_NO_THRESHOLDS"), None, "Ignore thresholds"),
    run_flag(
        "summary-mode",
        Some("K6_SUMMARY_MODE"),
        Some("compact|full|json|disabled"),
        "Which end-of-test summary; json: what --json prints",
    ),
    run_flag(
        "json",
        None,
        None,
        "Print what decides as JSON (docs/schema/digest-1.json) instead of the summary, and nothing else on standard \
         output; of a URL, where --json is curl's body of a request: --summary-mode json",
    ),
    run_flag("summary-export", Some("K6_SUMMARY_EXPORT"), Some("FILE"), "Write the end-of-test summary as JSON"),
    run_flag(
        "new-machine-readable-summary",
        Some("K6_NEW_MACHINE_READABLE_SUMMARY"),
        None,
        "Use k6's newer format for handleSummary and --summary-export",
    ),
    run_flag("console-output", Some("K6_CONSOLE_OUTPUT"), Some("FILE"), "Write what the script logs to a file"),
    run_flag("log-format", Some("K6_LOG_FORMAT"), Some("text|raw|json"), "Format of log lines"),
    run_flag(
        "log-output",
        Some("K6_LOG_OUTPUT"),
        Some("stderr|stdout|none|file=PATH[,level=LEVEL]|loki[=URL,key=value,…]"),
        "Where log lines go",
    ),
    run_flag("log-ns-timestamps", None, None, "Times of log lines have nanoseconds"),
    RunFlag {
        repeat: true,
        ..run_flag(
            "secret-source",
            Some("K6_SECRET_SOURCE"),
            Some("TYPE[=CONFIG]"),
            "Where k6/secrets gets secrets: file=PATH, env[=prefix=TEXT], url=urlTemplate=http://host/{key} or \
             mock=key=value; repeat for more",
        )
    },
    run_flag(
        "offline",
        Some("ONRUSH_OFFLINE"),
        None,
        "Fetch no module: imports by https:// come from copies that an earlier run kept, or are refused",
    ),
    run_flag("no-color", Some("K6_NO_COLOR"), None, "No colours"),
    RunFlag { short: Some('q'), ..run_flag("quiet", None, None, "No progress lines") },
    run_flag(
        "no-tui",
        Some("ONRUSH_NO_TUI"),
        None,
        "No screen on a terminal, only k6's progress lines; --no-tui=false: a screen on every terminal [default: a \
         screen where a person sits in front of at least 60×16 characters]",
    ),
    RunFlag { short: Some('v'), ..run_flag("verbose", None, None, "Log more") },
    run_flag(
        "compatibility-mode",
        Some("K6_COMPATIBILITY_MODE"),
        Some("base|extended"),
        "extended also offers `global`",
    ),
    RunFlag { short: Some('t'), ..run_flag("type", Some("K6_TYPE"), Some("js|archive"), "Type of the script") },
    RunFlag {
        short: Some('o'),
        repeat: true,
        ..run_flag(
            "out",
            Some("K6_OUT"),
            Some("NAME[=ARG]"),
            "Send samples to an output while the test runs: json, csv, influxdb, xk6-influxdb, statsd, \
             opentelemetry or experimental-prometheus-rw; web-dashboard is the page of --web; repeat for more",
        )
    },
    RunFlag {
        short: Some('a'),
        ..run_flag("address", Some("K6_ADDRESS"), Some("HOST:PORT"), "Listen here for k6's REST API [default: off]")
    },
    RunFlag {
        repeat: true,
        ..run_flag(
            "features",
            Some("K6_FEATURES"),
            Some("NAME[,NAME]"),
            "Features of k6: async-metric-context, freeze-env, merge-run-tags; native-histograms is always on",
        )
    },
    RunFlag {
        short: Some('l'),
        ..run_flag("linger", Some("K6_LINGER"), None, "Stay until a signal comes when the test has ended")
    },
    run_flag(
        "profiling-enabled",
        Some("K6_PROFILING_ENABLED"),
        None,
        "Profiles of k6's REST API, which are not there: warns",
    ),
    run_flag(
        "traces-output",
        Some("K6_TRACES_OUTPUT"),
        Some("none|otel[=URL,proto=http|grpc,header.NAME=TEXT]"),
        "Send the spans of requests to a collector of OpenTelemetry [default: none]",
    ),
    run_flag(
        "no-usage-report",
        Some("K6_NO_USAGE_REPORT"),
        None,
        "Accepted for compatibility with k6: Onrush never reports usage",
    ),
    run_flag("web", Some("K6_WEB_DASHBOARD"), None, "Show the run as a page, at http://127.0.0.1:5665"),
    run_flag("web-host", Some("K6_WEB_DASHBOARD_HOST"), Some("HOST"), "Where the page is served [default: 127.0.0.1]"),
    run_flag(
        "web-port",
        Some("K6_WEB_DASHBOARD_PORT"),
        Some("PORT"),
        "Its port; 0: any that is free, -1: no page [default: 5665]",
    ),
    run_flag(
        "web-period",
        Some("K6_WEB_DASHBOARD_PERIOD"),
        Some("TIME"),
        "How often the page gets new figures [default: 1s]",
    ),
    run_flag("web-open", Some("K6_WEB_DASHBOARD_OPEN"), None, "Open the page in a browser"),
    run_flag(
        "web-export",
        Some("K6_WEB_DASHBOARD_EXPORT"),
        Some("FILE"),
        "Write the run's report to this file at the end; packed when its name ends in .gz",
    ),
    run_flag("workers", Some("ONRUSH_WORKERS"), Some("N"), "Threads that run virtual users [default: one a core]"),
    run_flag(
        "vu-memory-limit",
        Some("ONRUSH_VU_MEMORY_LIMIT"),
        Some("BYTES"),
        "Memory of one virtual user, such as 64m or 1g [default: 1g]",
    ),
    run_flag(
        "save",
        None,
        Some("DIR"),
        "Keep the result in this directory, for `onrush report` and `onrush compare`: options, figures, names, facts \
         about the machine; passwords are masked",
    ),
    run_flag(
        "save-messages",
        None,
        None,
        "Keep every received WebSocket message in the result's directory too (with --save); with --agents those of \
         all agents",
    ),
    run_flag(
        "shards",
        None,
        Some("URL"),
        "Send each second of what is measured to this object store, where `onrush report URL` makes one result of all \
         execution segments: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER",
    ),
    RunFlag { repeat: true, ..run_flag("label", None, Some("NAME=VALUE"), "Label the saved result; repeat for more") },
    run_flag(
        "accept-late",
        None,
        None,
        "Count the run even if its generator was late or the limit; every output says so",
    ),
    run_flag(
        "strict",
        None,
        None,
        "End with code 115 when the verdict is SUSPECT and with 116 when it is INVALID, unless another code says more",
    ),
    run_flag(
        "referee",
        None,
        None,
        "Ask for the same from a thread beside the workers, 50 times a second, and say by how much the generator's own \
         times differ: --referee or --referee=URL",
    ),
    run_flag(
        "agents",
        None,
        Some("N|HOST:PORT,…"),
        "Divide the test among N agents, which are started on this machine, or join from others with --fleet-listen; \
         or among agents that listen at these addresses",
    ),
    run_flag(
        "fleet-listen",
        None,
        Some("HOST:PORT"),
        "Wait here for agents of other machines (`onrush agent`) instead of starting them; prints the invitation",
    ),
    run_flag(
        "fleet",
        None,
        Some("URL"),
        "Carry the messages of agents that join by s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX, \
         file:///FOLDER or nats://HOST:PORT",
    ),
    run_flag(
        "fleet-credentials",
        None,
        Some("FILE"),
        "Keep the fleet's certificate, key and token in this file, so that the invitation stays the same",
    ),
    run_flag(
        "join-timeout",
        None,
        Some("TIME"),
        "How long agents may take to join [default: 1m, with --fleet-listen or --fleet 10m]",
    ),
    run_flag(
        "on-loss",
        None,
        Some("continue|abort"),
        "What becomes of the test when an agent is lost: it goes on, INVALID, or ends [default: continue]",
    ),
    run_flag(
        "resume",
        None,
        None,
        "Go on with the test of a coordinator that was killed, by what it left in --save DIR",
    ),
    run_flag(
        "serve",
        None,
        None,
        "Start a target beside the test, or an app: --serve=app.js; __ENV.TARGET, TARGET_TLS, TARGET_WS and \
         TARGET_UNIX have its addresses",
    ),
];

impl RunFlag {
    /// Whether the word behind the flag belongs to it.
    pub(super) fn takes_word(&self) -> bool {
        self.value.is_some()
    }

    /// The flag as clap knows it.
    pub fn arg(&self) -> Arg {
        let arg = Arg::new(self.name).long(self.name).help(self.help);
        let arg = match self.short {
            Some(short) => arg.short(short),
            None => arg,
        };
        match self.value {
            None if self.name == "serve" => switch(arg).value_name("APP"),
            None if self.name == "referee" => switch(arg).value_name("URL"),
            None => switch(arg),
            Some(value) if self.repeat => arg.value_name(value).action(ArgAction::Append),
            // -1 is a port here.
            Some(value) => arg.value_name(value).allow_hyphen_values(self.name == "web-port"),
        }
    }
}
