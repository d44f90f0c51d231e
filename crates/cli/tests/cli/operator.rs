//! What the operator of k6 does with an image, done with our binary behind a link with the name `k6`: shell lines of
//! its initializer, runners that wait, setup data carried from one to all, a common start, polling until they end.
//!
//! `K6=/path/to/k6 cargo test --workspace --test cli -- operator` holds the same against k6 itself.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::api::{ask, free_port, get, status, until};
use crate::lab::{Lab, Run, Started, begin};

/// Our binary, and k6 where the environment names one.
fn programs() -> Vec<PathBuf> {
    let given = std::env::var_os("K6").map(PathBuf::from);
    [crate::lab::binary()].into_iter().chain(given).collect()
}

/// A lab with a folder `bin` in which `k6` is this program.
fn lab_with(program: &Path, script: &str) -> Lab {
    let lab = Lab::with(script);
    std::fs::create_dir(lab.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(program, lab.path().join("bin/k6")).unwrap();
    lab
}

/// A line of a shell, as the command of a container; what it names on the search path is found there.
fn sh(lab: &Lab, line: &str) -> Started {
    let path = std::env::var("PATH").unwrap();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).current_dir(lab.path()).stdin(Stdio::null());
    command.env("PATH", format!("{}:{path}", lab.path().join("bin").display()));
    command.env("XDG_CONFIG_HOME", lab.path()).env("HOME", lab.path());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("K6_")) {
        command.env_remove(name);
    }
    begin(command)
}

/// The shell lines of the operator's initializers, the oldest first: all pack the script and print what it needs.
fn initializers(arguments: &str) -> [String; 3] {
    let (pack, show) = ("k6 archive script.js", "k6 inspect --execution-requirements");
    [
        format!("{pack} --log-output=none -O ./a.tar {arguments} && {show} --log-output=none ./a.tar"),
        format!(
            "mkdir -p $(dirname ./t/a.tar) && {pack} -O ./t/a.tar {arguments} 2> logs && {show} ./t/a.tar 2> logs ; \
             ! cat logs | grep 'level=error'"
        ),
        format!(
            "export A='with space'; \
             if ! {pack} -e A=\"${{A}}\" -O ./a.tar {arguments} 2> logs; then cat logs; exit 1; fi; \
             if ! {show} ./a.tar 2> logs; then cat logs; exit 1; fi; if grep 'level.*error' logs; then exit 1; fi"
        ),
    ]
}

#[test]
fn an_initializer_prints_what_a_test_needs() {
    let script = "import http from 'k6/http'; console.warn('of the init code'); export default function () {}
        export const options = { cloud: { name: 'mine' }, thresholds: { http_req_duration: ['p(95)<500'] },
          scenarios: { a: { executor: 'constant-arrival-rate', rate: 1, duration: '90s', preAllocatedVUs: 3 },
                       b: { executor: 'per-vu-iterations', vus: 4, startTime: '10s', maxDuration: '1m' } } };";
    for program in programs() {
        for line in initializers("--tag testid=1 -e B=c") {
            let lab = lab_with(&program, script);
            let run = sh(&lab, &line).wait().code(0);
            // The operator takes the whole log of the pod for JSON.
            let shown: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", run.stdout));
            assert_eq!((&shown["maxVUs"], &shown["totalDuration"]), (&json!(7), &json!("2m0s")), "{line}");
            assert_eq!(shown["thresholds"]["http_req_duration"], json!(["p(95)<500"]));
            assert_eq!(shown["cloud"]["name"], "mine");
        }
    }
}

#[test]
fn an_initializer_fails_with_a_line_of_the_log() {
    let broken = [
        ("export default function( {", ""),
        ("import './none.js'; export default function () {}", ""),
        ("throw new Error('boo'); export default function () {}", ""),
        ("export const options = { thresholds: { nothing: ['avg<1'] } }; export default function () {}", ""),
        ("export const options = { scenarios: { a: { executor: 'no' } } }; export default function () {}", ""),
        ("export default function () {}", "--nope"),
        ("export default function () {}", "--vus many"),
    ];
    for program in programs() {
        for (script, arguments) in broken {
            for line in &initializers(arguments)[1..] {
                let lab = lab_with(&program, script);
                let run = sh(&lab, line).wait().code(1);
                assert_eq!(run.stdout.matches("level=error msg=").count(), 1, "{line}\n{run:?}");
            }
        }
    }
}

/// The runners of a test: one process each, on a port of its own.
struct Runners {
    lab: Lab,
    ports: Vec<u16>,
    processes: Vec<Started>,
}

const PLAN: &str = "import exec from 'k6/execution'; import { sleep } from 'k6';
    export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 6, iterations: 9 } } };
    export function setup() { console.log('set up'); return { token: 'abc' }; }
    export function teardown(data) { console.log(`tore down ${data.token}`); }
    export default function (data) {
      sleep(0.05);
      console.log(`iteration ${data.token} ${exec.vu.metrics.tags.instance_id} ${__ENV.OF_ENV}`);
    }";

impl Runners {
    /// Starts them with the flags of the operator and waits, as it does, until each answers.
    fn start(program: &Path, script: &str, all: usize, flags: &str) -> Runners {
        let lab = lab_with(program, script);
        let ports: Vec<u16> = (0..all).map(|_| free_port()).collect();
        let inner = (1..all).map(|part| format!("{part}/{all},")).collect::<String>();
        let bound = |part: usize| match part {
            0 => String::from("0"),
            part if part == all => String::from("1"),
            part => format!("{part}/{all}"),
        };
        let process = |part: usize| {
            let (from, to) = (bound(part), bound(part + 1));
            let segment = format!("--execution-segment={from}:{to} --execution-segment-sequence=0,{inner}1");
            let line = format!(
                "export OF_ENV=env; exec k6 run --quiet {segment} script.js --address=127.0.0.1:{} --paused \
                 --tag instance_id={} --tag testrun_name=mine {flags}",
                ports[part],
                part + 1
            );
            sh(&lab, &line)
        };
        let processes = (0..all).map(process).collect();
        let runners = Runners { processes, ports, lab };
        for &port in &runners.ports {
            until("an answer of a runner", || ask(port, "GET", "/v1/status", "").0 == 200);
        }
        runners
    }

    /// What its starter and its stopper send to each.
    fn tell(&self, attributes: &Value) {
        let body = json!({ "data": { "attributes": attributes, "id": "default", "type": "status" } }).to_string();
        for &port in &self.ports {
            let (code, answer) = ask(port, "PATCH", "/v1/status", &body);
            assert_eq!(code, 200, "{answer}");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let told = &answer["data"]["attributes"];
            let key = if attributes["stopped"] == true { "stopped" } else { "paused" };
            assert_eq!(told[key], attributes[key], "{told}");
        }
    }

    /// Waits until none runs any more.
    fn until_ended(&self) {
        self.ports.iter().for_each(|&port| until("an end", || status(port)["status"].as_u64() >= Some(9)));
        self.ports.iter().for_each(|&port| assert_eq!(status(port)["running"], false));
    }

    /// Deletes the pods, if they have not ended yet.
    fn delete(self, sends_signal: bool) -> Vec<Run> {
        if sends_signal {
            for process in &self.processes {
                kill_process(Pid::from_raw(process.pid() as i32).unwrap(), Signal::TERM).unwrap();
            }
        }
        let runs = self.processes.into_iter().map(Started::wait).collect();
        drop(self.lab);
        runs
    }
}

const START: (&str, bool) = ("paused", false);
const STOP: (&str, bool) = ("stopped", true);

fn wanted((name, value): (&str, bool)) -> Value {
    let mut attributes = json!({ "paused": false, "stopped": false });
    attributes[name] = value.into();
    attributes
}

fn count(runs: &[Run], text: &str) -> usize {
    runs.iter().map(|run| run.stderr.matches(text).count()).sum()
}

#[test]
fn runners_share_a_test_and_end_with_its_verdict() {
    for program in programs() {
        for (threshold, code) in [("count>0", 0), ("count>100", 99)] {
            let script = format!("{PLAN}\noptions.thresholds = {{ iterations: ['{threshold}'] }};");
            let runners = Runners::start(&program, &script, 3, "");
            runners.tell(&wanted(START));
            let runs = runners.delete(false);
            runs.iter().for_each(|run| assert_eq!(run.code, code, "{run:?}"));
            assert_eq!((count(&runs, "iteration abc"), count(&runs, "set up"), count(&runs, "tore down")), (9, 3, 3));
            for (part, run) in runs.iter().enumerate() {
                assert_eq!(run.stderr.matches(&format!("iteration abc {} env", part + 1)).count(), 3, "{run:?}");
            }
        }
    }
}

#[test]
fn setup_is_called_once_and_given_to_all() {
    for program in programs() {
        let runners = Runners::start(&program, PLAN, 3, "--no-setup --no-teardown --linger");
        let first = runners.ports[0];
        let (code, answer) = ask(first, "POST", "/v1/setup", "");
        assert_eq!(code, 200, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let data = answer["data"]["attributes"]["data"].to_string();
        runners.ports.iter().for_each(|&port| assert_eq!(ask(port, "PUT", "/v1/setup", &data).0, 200));
        runners.tell(&wanted(START));
        runners.until_ended();
        assert_eq!(ask(first, "POST", "/v1/teardown", "").0, 200);
        let runs = runners.delete(true);
        runs.iter().for_each(|run| assert_eq!(run.code, 0, "{run:?}"));
        assert_eq!((count(&runs, "iteration abc"), count(&runs, "set up")), (9, 1), "{runs:?}");
        assert_eq!((count(&runs, "tore down abc"), runs[0].stderr.matches("tore down").count()), (1, 1));
    }
}

#[test]
fn a_setup_that_returns_nothing_is_passed_on_and_one_that_throws_is_reported() {
    let nothing = "export function setup() {} export default function (data) { console.log(`got ${data}`); }";
    let throws = "export function setup() { throw new Error('no login'); } export default function () {}";
    for program in programs() {
        let runners = Runners::start(&program, nothing, 1, "--no-setup --no-teardown --linger");
        let port = runners.ports[0];
        let answer = ask(port, "POST", "/v1/setup", "");
        assert_eq!(serde_json::from_str::<Value>(&answer.1).unwrap()["data"]["attributes"], json!({}));
        assert_eq!(ask(port, "PUT", "/v1/setup", "").0, 200);
        assert_eq!(get(port, "/v1/setup")["data"]["attributes"], json!({}));
        runners.tell(&wanted(START));
        runners.until_ended();
        assert_eq!(count(&runners.delete(true), "got undefined"), 1);

        let runners = Runners::start(&program, throws, 1, "--no-setup --no-teardown --linger");
        let (code, answer) = ask(runners.ports[0], "POST", "/v1/setup", "");
        assert_eq!(code, 500, "{answer}");
        let error: Value = serde_json::from_str(&answer).unwrap();
        assert!(error["errors"][0]["detail"].as_str().unwrap().contains("Error: no login"), "{answer}");
        // One signal ends a runner that waits, though it lingers.
        let runs = runners.delete(true);
        assert_eq!((runs[0].code, count(&runs, "level=error msg=\"Error executing setup\"")), (105, 1), "{runs:?}");
    }
}

#[test]
fn who_gets_an_answer_may_start_the_test() {
    // Users take a while to be made: the port opens before they are, and what comes then is not lost.
    let script = "const end = Date.now() + 150; while (Date.now() < end) {}
        export const options = { vus: 4, iterations: 4 }; export default function () { console.log('iteration'); }";
    for program in programs() {
        let runners = Runners::start(&program, script, 1, "");
        runners.tell(&wanted(START));
        let runs = runners.delete(false);
        assert_eq!((runs[0].code, count(&runs, "msg=iteration")), (0, 4), "{runs:?}");
    }
}

#[test]
fn a_stopper_ends_runners_that_run_and_that_wait() {
    let script = "import { sleep } from 'k6'; export const options = { vus: 3, duration: '50s' };
        export default function () { sleep(0.1); }";
    for program in programs() {
        for starts in [true, false] {
            let runners = Runners::start(&program, script, 2, "");
            if starts {
                runners.tell(&wanted(START));
                runners.ports.iter().for_each(|&port| until("load", || status(port)["vus"].as_u64() > Some(0)));
            }
            runners.tell(&wanted(STOP));
            let runs = runners.delete(false);
            runs.iter().for_each(|run| assert_eq!(run.code, 103, "{run:?}"));
        }
    }
}

#[test]
fn a_script_in_the_image_is_run_by_a_shell_that_a_signal_goes_through() {
    for program in programs() {
        let lab = lab_with(&program, "import { sleep } from 'k6'; export default function () { sleep(50); }");
        let port = free_port();
        let run = format!("k6 run --quiet script.js --address=127.0.0.1:{port} --duration 50s");
        let line = format!(r#"set -- script.js {run}; if [ ! -f "$1" ]; then exit 1; fi; shift; exec "$@""#);
        let runner = sh(&lab, &line);
        until("load", || ask(port, "GET", "/v1/status", "").0 == 200 && status(port)["vus"] == 1);
        kill_process(Pid::from_raw(runner.pid() as i32).unwrap(), Signal::TERM).unwrap();
        assert_eq!(runner.wait().code, 105);
    }
}

#[test]
fn programs_that_ask_for_the_version_find_one_of_k6() {
    for program in programs() {
        let lab = lab_with(&program, "");
        for line in ["k6 version", "k6 --version"] {
            let shown = sh(&lab, line).wait().code(0).stdout;
            let version = shown.strip_prefix("k6 v2.").unwrap_or_else(|| panic!("{shown}"));
            assert!(version.contains(&format!("{}/", std::env::consts::OS)), "{shown}");
        }
        let shown = sh(&lab, "k6 version --json").wait().code(0).stdout;
        assert!(serde_json::from_str::<Value>(&shown).unwrap()["version"].as_str().unwrap().starts_with("v2."));
    }
    // Under its own name it has its own.
    Lab::new().onrush(&["version"]).code(0).prints("onrush v");
}
