//! What tools do that call `k6` by its name, with our binary behind it: their own command lines, their environment, and
//! what they read of the output.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::lab::{Lab, Run, binary, finish};
use crate::peer::{Peer, Then, say};

/// A lab whose folder `bin` has a `k6`.
fn lab_with(script: &str) -> Lab {
    let lab = Lab::with(script);
    std::fs::create_dir(lab.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(binary(), lab.path().join("bin/k6")).unwrap();
    lab
}

/// `k6` with these arguments, found on the search path, and nothing else in the environment but what is given.
fn k6(lab: &Lab, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let mut command = Command::new(lab.path().join("bin/k6"));
    command.args(arguments).current_dir(lab.path()).stdin(Stdio::null());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", lab.path()).envs(environment.iter().copied());
    finish(command)
}

/// A server that answers everything, and a script of one request to it with a check.
fn server_and_script() -> (Peer, String) {
    let server = Peer::on_tcp(|socket, _| {
        say(socket, "hello");
        Then::Next
    });
    let script = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';
        export default function () {{
          check(http.get('{}/page'), {{ 'status is 200': (response) => response.status === 200 }});
          console.log('done');
        }}",
        server.url
    );
    (server, script)
}

/// Each line of a log in JSON.
fn log_lines(run: &Run) -> Vec<Value> {
    run.stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// The first number of three parts, as `satisfies(version, '>=2.0.0')` and mcp-k6 look for it.
fn version(text: &str) -> Vec<u32> {
    let digits = |part: &str| part.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default().to_owned();
    let word = text.split_whitespace().find(|word| word.matches('.').count() == 2).unwrap();
    word.trim_start_matches('v').split('.').map(|part| digits(part).parse().unwrap()).collect()
}

/// grafana/run-k6-action: it asks the version, looks at each file, then runs those that are tests.
#[test]
fn run_k6_action() {
    let (server, script) = server_and_script();
    let lab = lab_with(&script);
    lab.file("broken.js", "export default function( {");
    let asked = k6(&lab, &["version"], &[]).code(0);
    assert!(asked.stdout.starts_with("k6 v") && version(&asked.stdout) >= vec![2, 0, 0], "{asked:?}");
    k6(&lab, &["inspect", "--execution-requirements", "script.js"], &[]).code(0);
    assert_ne!(k6(&lab, &["inspect", "--execution-requirements", "broken.js"], &[]).code, 0);
    k6(&lab, &["run", "--vus", "2", "--iterations", "4", "script.js"], &[])
        .code(0)
        .prints("checks_succeeded...: 100.00% 4");
    // What it says to versions from 0.54 on.
    k6(&lab, &["run", "--address=", "script.js"], &[]).code(0);
    k6(&lab, &["cloud", "run", "--local-execution", "script.js"], &[]).code(255).says("there is no cloud here");
    assert_eq!(server.count("/page"), 5);
}

/// mcp-k6: a script is valid when one iteration passes; runs have users and iterations or a duration.
#[test]
fn mcp_k6() {
    let (_server, script) = server_and_script();
    let lab = lab_with(&script);
    assert_eq!(version(&k6(&lab, &["version"], &[]).code(0).stdout).len(), 3);
    let validate = |name: &str| {
        let flags = ["--quiet", "--insecure-skip-tls-verify", "--log-format=json", "--no-usage-report"];
        let arguments = [&["run", "--vus", "1", "--iterations", "1"], &flags[..], &[name]].concat();
        k6(&lab, &arguments, &[])
    };
    let valid = validate("script.js").code(0);
    assert!(log_lines(&valid).iter().any(|line| line["msg"] == "done" && line["level"] == "info"), "{valid:?}");
    lab.file("throws.js", "export default function () { nothing.here(); }");
    let invalid = validate("throws.js");
    let named =
        |line: &Value| line["level"] == "error" && line["msg"].as_str().unwrap().contains("nothing is not defined");
    assert!(log_lines(&invalid).iter().any(named), "{invalid:?}");
    k6(&lab, &["run", "--vus", "1", "--iterations", "2", "script.js"], &[]).code(0).prints("http_reqs");
    k6(&lab, &["run", "--vus", "2", "--duration", "1s", "script.js"], &[]).code(0).prints("http_req_duration");
}

/// flagger-k6-webhook: the script is a temporary file without an ending, and both streams go to one place.
#[test]
fn flagger_k6_webhook() {
    let (_server, script) = server_and_script();
    let lab = lab_with("");
    lab.file("k6-script1234", &script);
    k6(&lab, &["run", "k6-script1234"], &[("K6_CLOUD_TOKEN", ""), ("K6_LOG_FORMAT", "json")]).code(0);
    k6(&lab, &["run", "--out", "cloud", "k6-script1234"], &[("K6_CLOUD_TOKEN", "abc")]).code(255).says("cloud");
}

/// The tar program, for what k6 Studio does with a library of its own.
fn tar(lab: &Lab, arguments: &[&str]) {
    let done = Command::new("tar").args(arguments).current_dir(lab.path()).status().unwrap();
    assert!(done.success(), "tar {arguments:?}");
}

/// k6 Studio: an archive on standard output, whose script is put aside for one that wraps it, run through a proxy.
#[test]
fn k6_studio() {
    let lab = lab_with(
        "import http from 'k6/http';
        import { expect } from 'https://jslib.k6.io/k6-testing/0.5.0/index.js';
        import { randomString } from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';
        export const options = { scenarios: { default: { executor: 'shared-iterations', vus: 3, iterations: 5 } } };
        export default function () {
          expect(http.get('http://shop.test/' + randomString(3)).status).toBe(200);
        }",
    );
    let shown = k6(&lab, &["inspect", "script.js"], &[]).code(0);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["scenarios"]["default"]["iterations"], 5);

    let mut pack = Command::new(lab.path().join("bin/k6"));
    pack.args(["archive", "--archive-out", "-", "--log-format", "json", "script.js"]).current_dir(lab.path());
    let packed = pack.output().unwrap();
    assert!(packed.status.success() && packed.stderr.is_empty(), "{}", String::from_utf8_lossy(&packed.stderr));
    std::fs::write(lab.path().join("test.tar"), &packed.stdout).unwrap();
    std::fs::create_dir(lab.path().join("in")).unwrap();
    tar(&lab, &["-xf", "test.tar", "-C", "in"]);
    wrap(&lab.path().join("in"));
    tar(&lab, &["-cf", "rewritten.tar", "-C", "in", "metadata.json", "data", "file", "https"]);

    let proxy = Peer::on_tcp(|socket, _| {
        say(socket, "of the proxy");
        Then::Next
    });
    let address = proxy.url.clone();
    let environment = [
        ("HTTP_PROXY", address.as_str()),
        ("HTTPS_PROXY", &address),
        ("NO_PROXY", "jslib.k6.io"),
        ("K6_TRACKING_SERVER_PORT", "1"),
        ("K6_BROWSER_ARGS", "proxy-server,disable-web-security"),
        ("K6_TESTING_COLORIZE", "false"),
        ("SCENARIO_NAME", "default"),
    ];
    let flags = ["run", "--log-format", "json", "--quiet", "--insecure-skip-tls-verify", "--no-usage-report"];
    let run = k6(&lab, &[&flags[..], &["rewritten.tar"]].concat(), &environment).code(0);
    for text in ["wrapped default", "seen 200"] {
        assert!(log_lines(&run).iter().any(|line| line["msg"] == text), "{text}: {run:?}");
    }
    assert_eq!(proxy.count("http://shop.test/"), 1);

    std::fs::write(lab.path().join("broken.js"), "export default function( {").unwrap();
    let refused = k6(&lab, &["archive", "--archive-out", "-", "--log-format", "json", "broken.js"], &[]);
    assert!(refused.code != 0 && refused.stdout.is_empty(), "{refused:?}");
    assert!(log_lines(&refused)[0]["msg"].as_str().unwrap().contains("SyntaxError"), "{refused:?}");
}

/// What it does to an archive: a script of its own beside the user's, and a module in front of k6-testing.
fn wrap(folder: &Path) {
    let manifest = std::fs::read_to_string(folder.join("metadata.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
    let script = manifest["filename"].as_str().unwrap().strip_prefix("file:///").unwrap().to_owned();
    let entry = Path::new(&script).with_file_name(".abc.k6-studio.js");
    // Both names lead to one file, of which the user's stays as it is.
    std::fs::remove_file(folder.join("data")).unwrap();
    let text = "import * as mine from './script.js';
        export const options = { vus: 1, iterations: 1 };
        export default function () { mine.default(); console.log('wrapped ' + __ENV.SCENARIO_NAME); }";
    std::fs::write(folder.join("data"), text).unwrap();
    std::fs::hard_link(folder.join("data"), folder.join("file").join(&entry)).unwrap();
    manifest["filename"] = format!("file:///{}", entry.display()).into();
    manifest["options"] = serde_json::json!({ "vus": 1, "iterations": 1 });
    std::fs::write(folder.join("metadata.json"), manifest.to_string()).unwrap();
    let library = folder.join("https/jslib.k6.io/k6-testing/0.5.0");
    std::fs::rename(library.join("index.js"), library.join("index.original.js")).unwrap();
    let shim = "import { expect as original } from 'https://jslib.k6.io/k6-testing/0.5.0/index.original.js';
        export * from 'https://jslib.k6.io/k6-testing/0.5.0/index.original.js';
        export const expect = (value) => { console.log('seen ' + value); return original(value); };";
    std::fs::write(library.join("index.js"), shim).unwrap();
}
