//! Option layers: default < config file < script < environment < flag.

mod name_rules;

use crate::lab::{Lab, finish};

const SHOW: &str = "import exec from 'k6/execution';
    export const options = { iterations: 2, userAgent: 'script', tags: { layer: 'script' } };
    export default function () {
      const o = exec.test.options;
      if (__ITER === 0) console.log(`agent=${o.userAgent} iterations=${o.scenarios.default.iterations} \
      layer=${exec.vu.metrics.tags.layer} throw=${o.throw}`);
    }";

#[test]
fn higher_layers_win() {
    let lab = Lab::with(SHOW);
    lab.file("conf.json", "{\"userAgent\": \"file\", \"throw\": true}");
    lab.run(&["-c", "conf.json"]).code(0).says("agent=script iterations=2 layer=script throw=true");
    let with_env = |arguments: &[&str]| {
        let all: Vec<&str> = ["run", "-q"].into_iter().chain(arguments.iter().copied()).chain(["script.js"]).collect();
        let mut command = lab.command(&all);
        command.env("K6_ITERATIONS", "3").env("K6_USER_AGENT", "env").env("K6_TAGS", "layer:env");
        finish(command)
    };
    with_env(&[]).code(0).says("agent=env iterations=3 layer=env");
    with_env(&["--user-agent", "flag", "-i", "4", "--tag", "layer=flag"])
        .code(0)
        .says("agent=flag iterations=4 layer=flag");
}

#[test]
fn variables_come_from_the_environment_and_flags_beat_them() {
    let lab = Lab::with("export default function () { console.log(`${__ENV.A} ${__ENV.B}`); }");
    let mut command = lab.command(&["run", "-q", "-e", "B=flag", "script.js"]);
    command.env("A", "env").env("B", "env");
    finish(command).code(0).says("env flag");
    let mut command = lab.command(&["run", "-q", "--include-system-env-vars=false", "script.js"]);
    command.env("A", "env");
    finish(command).code(0).says("undefined undefined");
}

#[test]
fn a_broken_config_file_is_shown_with_its_place() {
    let lab = Lab::with("export default function () {}");
    lab.file("conf.json", "{\n  \"vus\": ,\n}");
    lab.run(&["-c", "conf.json"]).code(104).says("conf.json:2:");
    lab.run(&["-c", "missing.json"]).code(104).says("missing.json");
}

#[test]
fn execution_flags_replace_the_scripts_scenarios() {
    let lab = Lab::with(
        "export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '10m' } } };
         export default function () { console.log('ran'); }",
    );
    let run = lab.run(&["-i", "2"]).code(0);
    assert_eq!(run.stderr.matches("msg=ran").count(), 2, "{}", run.stderr);
}

#[test]
fn logs_and_console_go_where_the_flags_say() {
    let lab = Lab::with("export default function () { console.log('hello there'); }");
    lab.run(&[]).code(0).says("level=info msg=\"hello there\" source=console");
    lab.run(&["--log-format", "raw"]).code(0).says("hello there\n");
    let run = lab.run(&["--console-output", "console.txt"]).code(0);
    assert!(!run.stderr.contains("hello there"), "{}", run.stderr);
    assert!(lab.read("console.txt").ends_with("level=info msg=\"hello there\"\n"));
    // Lines of earlier runs stay.
    lab.run(&["--console-output", "console.txt"]).code(0);
    assert_eq!(lab.read("console.txt").lines().count(), 2);
    // The format of the log is that of the file, too.
    lab.run(&["--console-output", "raw.txt", "--log-format", "raw"]).code(0);
    lab.run(&["--console-output", "json.txt", "--log-format", "json"]).code(0);
    assert_eq!(lab.read("raw.txt"), "hello there\n");
    assert!(lab.read("json.txt").starts_with(r#"{"level":"info","msg":"hello there","time":"#));
    lab.run(&["--log-output", "file=log.txt,level=warning", "--features", "none"]).code(0);
    assert!(lab.read("log.txt").contains("no feature 'none'") && !lab.read("log.txt").contains("hello"));
    lab.run(&["--log-output", "file=log.txt,level=loud"]).code(255).says("found 'level=loud', expected level=error");
    lab.run(&["--log-output", "syslog"])
        .code(255)
        .says("expected stderr, stdout, none, file=PATH[,level=LEVEL] or loki");
    lab.run(&["--log-format", "json"])
        .code(0)
        .says(r#"{"level":"info","msg":"hello there","source":"console","time":"#);
    let run = lab.run(&["--log-output", "none"]).code(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn vu_and_iter_are_metadata_where_they_are_enabled() {
    let lab = Lab::with(
        "import exec from 'k6/execution';
         export const options = { iterations: 2 };
         const all = () => Object.entries(exec.vu.metrics.metadata).sort().map((entry) => entry.join('=')).join(' ');
         export default function () {
           const before = all();
           exec.vu.metrics.metadata.vu = 'mine';
           delete exec.vu.metrics.metadata.iter;
           console.log(`turn ${__ITER}: [${before}] then [${all()}] tags ${exec.vu.metrics.tags.vu}`);
         }",
    );
    let run = lab.run(&["--system-tags", "vu,iter,scenario"]).code(0);
    run.says("turn 0: [iter=0 vu=1] then [vu=mine] tags undefined").says("turn 1: [iter=1 vu=mine] then [vu=mine]");
    lab.run(&[]).code(0).says("turn 0: [] then [vu=mine]");
}

/// An option, a wrong value of it as JSON, its flag, its variable, the value as text, and what is said of it.
const REFUSED: [[&str; 6]; 4] = [
    [
        "dns",
        r#"{ "select": "best" }"#,
        "--dns",
        "K6_DNS",
        "select=best",
        "select: found 'best', expected first, random or roundRobin",
    ],
    [
        "executionSegment",
        r#""1/2:1/4""#,
        "--execution-segment",
        "K6_EXECUTION_SEGMENT",
        "1/2:1/4",
        "execution segment 1/2:1/4 is empty: expected its end after its start",
    ],
    [
        "localIPs",
        r#""127.0.0.9-127.0.0.1""#,
        "--local-ips",
        "K6_LOCAL_IPS",
        "127.0.0.9-127.0.0.1",
        "local IPs: negative IP range 127.0.0.9-127.0.0.1; expected the lower address first",
    ],
    [
        "minIterationDuration",
        r#""soon""#,
        "--min-iteration-duration",
        "K6_MIN_ITERATION_DURATION",
        "soon",
        "'soon' is not a duration: expected a form like 10s, 1h30m, 1d or a number of milliseconds",
    ],
];

/// The same value, wrong in the same way, is refused in the same words wherever it is written; only the place differs.
#[test]
fn a_refused_value_names_the_place_where_it_is_written() {
    const EMPTY: &str = "export default function () {}";
    for [option, json, flag, env, text, problem] in REFUSED {
        // k6's code for a flag that cannot be read is another one.
        let refused = |run: crate::lab::Run, place: &str| {
            let code = if place.starts_with("--") { 255 } else { 104 };
            assert_eq!(run.code(code).stderr, format!("error: {place}: {problem}\n"), "{option}");
        };
        let lab = Lab::with(EMPTY);
        refused(lab.run(&[flag, text]), flag);
        let mut command = lab.command(&["run", "-q", "script.js"]);
        command.env(env, text);
        refused(finish(command), env);
        lab.file("config.json", &format!("{{ {option:?}: {json} }}"));
        refused(lab.run(&["-c", "config.json"]), &format!("options of config.json: '{option}'"));
        let lab = Lab::with(&format!("export const options = {{ {option}: {json} }}; {EMPTY}"));
        refused(lab.run(&[]), &format!("options of the script: '{option}'"));
    }
}

#[test]
fn flags_of_k6_that_are_not_there_are_told_by_name() {
    let script = "export default function () {}";
    let says = "--traces-output otle: found 'otle'; did you mean 'otel'?, expected none or otel";
    Lab::with(script).run(&["--traces-output=otle"]).code(255).says(says);
    for (flag, says) in [
        ("--features=nothing,native-histograms", "--features: there is no feature 'nothing'"),
        ("--profiling-enabled", "--profiling-enabled: the REST API has no profiles"),
        ("--traces-output=none", ""),
    ] {
        Lab::with(script).run(&[flag]).code(0).says(says);
    }
    let lab = Lab::with(script);
    let mut command = lab.command(&["run", "-q", "script.js"]);
    command.env("K6_WEB_DASHBOARD_RECORD", "x").env("K6_HOSTS", "{}");
    let run = finish(command).code(0).says("the variable K6_WEB_DASHBOARD_RECORD is not obeyed: --save DIR keeps");
    assert!(run.stderr.contains("the variable K6_HOSTS is not obeyed: write `hosts`"), "{}", run.stderr);
}

#[test]
fn the_users_own_config_is_ours_or_that_of_k6() {
    let lab = Lab::with(
        "export default function () {}
        export function handleSummary({ metrics }) {
            return { stdout: `iterations=${metrics.iterations.values.count}` };
        }",
    );
    // The folder of a test is its user's configuration folder, too.
    let run = || lab.run(&[]).code(0);
    run().prints("iterations=1");
    std::fs::create_dir(lab.path().join("k6")).unwrap();
    lab.file("k6/config.json", "{ \"iterations\": 3 }");
    run().prints("iterations=3");
    std::fs::create_dir(lab.path().join("onrush")).unwrap();
    lab.file("onrush/config.json", "{ \"iterations\": 2 }");
    run().prints("iterations=2");
}
