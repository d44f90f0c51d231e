//! What is wrong gets a message that says what, where, what was expected; the documented exit code; and no hang.

use crate::lab::Lab;

/// A script, arguments, exit code, and what standard error must hold.
struct Case {
    name: &'static str,
    script: &'static str,
    arguments: &'static [&'static str],
    code: i32,
    says: &'static [&'static str],
}

const EMPTY: &str = "export default function () {}";

const CASES: &[Case] = &[
    Case {
        name: "syntax error",
        script: "export default function () {\n  let x = ;\n}\n",
        arguments: &[],
        code: 107,
        says: &["script.js:2:11", "let x = ;", "^"],
    },
    Case { name: "unknown flag", script: EMPTY, arguments: &["--vuss", "3"], code: 255, says: &["--vuss", "--vus"] },
    Case {
        name: "unknown option",
        script: "export const options = { vuss: 2 };\nexport default function () {}",
        arguments: &[],
        code: 0,
        says: &["vuss", "did you mean", "vus"],
    },
    Case {
        name: "wrong type of option",
        script: "export const options = { vus: 'many' };\nexport default function () {}",
        arguments: &[],
        code: 104,
        says: &["vus", "many", "expected"],
    },
    Case {
        name: "wrong type in a flag",
        script: EMPTY,
        arguments: &["--vus", "many"],
        code: 255,
        says: &["--vus: found 'many', expected a whole number"],
    },
    Case {
        name: "unreachable import",
        script: "import 'https://127.0.0.1:1/lib.js';\nexport default function () {}",
        arguments: &[],
        code: 107,
        says: &["https://127.0.0.1:1/lib.js", "connection refused", "script.js:1"],
    },
    Case {
        name: "import of a file that is not there",
        script: "import './nope.js';\nexport default function () {}",
        arguments: &[],
        code: 107,
        says: &["./nope.js", "script.js:1"],
    },
    Case {
        name: "import of an extension that is not built in",
        script: "import icmp from 'k6/x/icmp';\nexport default function () {}",
        arguments: &[],
        code: 107,
        says: &["the extension k6/x/icmp is not built in", "those that are: k6/x/fasthttp, k6/x/sse, "],
    },
    Case {
        name: "exception in init",
        script: "const a = 1;\nthrow new Error('boo');\nexport default function () {}",
        arguments: &[],
        code: 107,
        says: &["Error: boo", "script.js:2"],
    },
    Case {
        name: "exception in setup",
        script: "export function setup() {\n  throw new Error('boo');\n}\nexport default function () {}",
        arguments: &[],
        code: 107,
        says: &["Error: boo", "at setup", "script.js:2"],
    },
    Case {
        name: "exception in an iteration",
        script: "export default function () {\n  null.x;\n}",
        arguments: &[],
        code: 0,
        says: &["TypeError", "at default", "script.js:2", "scenario=default"],
    },
    Case {
        name: "exception in teardown",
        script: "export function teardown() { throw new Error('boo'); }\nexport default function () {}",
        arguments: &[],
        code: 107,
        says: &["Error: boo", "at teardown"],
    },
    Case {
        name: "exception in handleSummary",
        script: "export function handleSummary() { throw new Error('boo'); }\nexport default function () {}",
        arguments: &[],
        code: 0,
        says: &["Error: boo", "at handleSummary"],
    },
    Case {
        name: "unknown executor",
        script: "export const options = { scenarios: { a: { executor: 'constant-vuss', vus: 1, duration: '1s' } } \
            };\nexport default function () {}",
        arguments: &[],
        code: 104,
        says: &["constant-vuss", "constant-vus", "scenario"],
    },
    Case {
        name: "unknown field of a scenario",
        script: "export const options = { scenarios: { a: { executor: 'constant-vus', vu: 1, duration: '1s' } } \
            };\nexport default function () {}",
        arguments: &[],
        code: 104,
        says: &["vu", "did you mean", "vus"],
    },
    Case {
        name: "exec of a function that is not exported",
        script: "export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', exec: 'nope' } \
            } };\nexport default function () {}",
        arguments: &[],
        code: 104,
        says: &["nope", "scenario", "a"],
    },
    Case {
        name: "threshold that does not parse",
        script: "export const options = { thresholds: { iterations: ['count>'] } };\nexport default function () {}",
        arguments: &[],
        code: 104,
        says: &["count>", "iterations"],
    },
    Case {
        name: "threshold on an unknown metric",
        script: "export const options = { thresholds: { iteration: ['count>1'] } };\nexport default function () {}",
        arguments: &[],
        code: 104,
        says: &["iteration", "did you mean", "iterations"],
    },
    Case {
        name: "aggregation that the metric does not have",
        script: "export const options = { thresholds: { iterations: ['avg<5'] } };\nexport default function () {}",
        arguments: &[],
        code: 104,
        says: &["avg<5", "iterations", "counter", "count"],
    },
    Case {
        name: "bad URL",
        script: "import http from 'k6/http';\nexport default function () { http.get('foo:bar'); }",
        arguments: &[],
        code: 0,
        says: &["Request Failed", "foo:bar"],
    },
    Case {
        name: "refused connection",
        script: "import http from 'k6/http';\nexport default function () { http.get('http://127.0.0.1:1/'); }",
        arguments: &[],
        code: 0,
        says: &["Request Failed", "dial tcp 127.0.0.1:1: connect: connection refused"],
    },
    Case {
        name: "host that does not exist",
        script: "import http from 'k6/http';\nexport default function () { http.get('http://no.such.host.invalid/'); }",
        arguments: &[],
        code: 0,
        says: &["Request Failed", "no.such.host.invalid"],
    },
    Case {
        name: "certificate of another name",
        script: "import http from 'k6/http';\nexport const options = { hosts: { 'other.test': '127.0.0.1' } };\n\
            export default function () { http.get(__ENV.TARGET_TLS.replace('127.0.0.1', 'other.test')); }",
        arguments: &["--serve"],
        code: 0,
        says: &["Request Failed", "x509: certificate is valid for localhost, 127.0.0.1"],
    },
    Case {
        name: "invalid chunked body",
        script: "import http from 'k6/http';\nexport default function () { \
            http.get(`${__ENV.TARGET}/fault/bad-chunk`); }",
        arguments: &["--serve"],
        code: 0,
        says: &["Request Failed", "chunk"],
    },
    Case {
        name: "header larger than 10 MiB",
        script: "import http from 'k6/http';\nexport default function () { \
            http.get(`${__ENV.TARGET}/fault/big-header?kb=11000`); }",
        arguments: &["--serve"],
        code: 0,
        says: &["Request Failed", "server response headers exceeded 10485760 bytes"],
    },
    Case {
        name: "too many redirects",
        script: "import http from 'k6/http';\nexport default function () { http.get(`${__ENV.TARGET}/redirect/13`); }",
        arguments: &["--serve"],
        code: 0,
        says: &["Stopped after 11 redirects and returned the redirection"],
    },
    Case {
        name: "no function to run",
        script: "export function other() {}",
        arguments: &[],
        code: 104,
        says: &["default"],
    },
    Case {
        name: "shortcuts that exclude each other",
        script: EMPTY,
        arguments: &["-d", "1s", "-s", "1s:1"],
        code: 104,
        says: &["duration", "stages"],
    },
    Case {
        name: "fewer iterations than users",
        script: EMPTY,
        arguments: &["-u", "3", "-i", "1"],
        code: 104,
        says: &["iterations is 1, expected at least as many as vus (3)"],
    },
    Case {
        name: "test aborted by the script",
        script: "import exec from 'k6/execution';\nexport default function () { exec.test.abort('enough'); }",
        arguments: &[],
        code: 108,
        says: &["test aborted: enough"],
    },
];

#[test]
fn every_bad_input_is_answered() {
    let mut wrong = Vec::new();
    for case in CASES {
        let run = Lab::with(case.script).run(case.arguments);
        let missing: Vec<_> = case.says.iter().filter(|text| !run.stderr.contains(**text)).collect();
        let panicked = run.stderr.contains("panicked");
        if run.code != case.code || !missing.is_empty() || panicked {
            wrong.push(format!(
                "{}: exit code {} (expected {}), missing {missing:?}, stderr:\n{}\nstdout:\n{}",
                case.name, run.code, case.code, run.stderr, run.stdout
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
}

#[test]
fn a_missing_script_is_named() {
    Lab::new().onrush(&["run", "nofile.js"]).code(255).says("nofile.js");
}

#[test]
fn an_unknown_command_gets_a_suggestion() {
    Lab::new().onrush(&["rum", "x.js"]).code(255).says("run");
}

#[test]
fn too_few_file_descriptors_are_said_before_starting() {
    let lab = Lab::with("export const options = { vus: 500, duration: '1s' };\nexport default function () {}");
    let mut command = std::process::Command::new("sh");
    let line = format!("ulimit -n 200; exec '{}' run -q script.js", crate::lab::binary().display());
    command.args(["-c", &line]).current_dir(lab.path());
    crate::lab::finish(command).code(104).says("file descriptors").says("500").says("ulimit -n");
}

/// However few there are: the limit is named, and nothing is called a bug.
#[test]
fn almost_no_file_descriptors_are_a_limit_and_no_bug() {
    let lab = Lab::with("export default function () {}");
    for descriptors in [8, 12, 20, 30, 36, 40, 60] {
        let mut command = std::process::Command::new("sh");
        let line = format!("ulimit -n {descriptors}; exec '{}' run -q script.js", crate::lab::binary().display());
        command.args(["-c", &line]).current_dir(lab.path());
        let run = crate::lab::finish(command);
        assert!(!run.stderr.contains("bug") && run.code != 109, "{descriptors}: {run:?}");
        assert!(run.code == 0 || run.stderr.contains("ulimit -n"), "{descriptors}: {run:?}");
    }
}
