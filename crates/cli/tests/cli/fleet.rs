//! `--agents` and `onrush agent`: one test by several processes, one result; and what becomes of it when one of them
//! fails.

#![allow(clippy::unwrap_used)]

mod rows;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::api::{free_port, until};
use crate::lab::{Lab, Started, begin};

const RATE: &str = "import http from 'k6/http'; import exec from 'k6/execution'; import { check } from 'k6'
    import { Trend, Counter } from 'k6/metrics'
    const numbers = new Trend('numbers'), sum = new Counter('sum')
    export const options = {
      scenarios: { a: { executor: 'constant-arrival-rate', rate: 100, duration: '2s', preAllocatedVUs: 60 } },
      thresholds: { checks: ['rate==1'], 'http_reqs{kind:mine}': ['count>=200'] },
    }
    export function setup() { console.log('setup once'); return { word: 'of setup' } }
    export default function (data) {
      const answer = http.get(`${__ENV.TARGET}/get`, { tags: { kind: 'mine' } })
      check(answer, { 'is 200': (answer) => answer.status === 200, 'has data': () => data.word === 'of setup' })
      const number = exec.scenario.iterationInTest
      numbers.add(number); sum.add(number * number + 0.1)
    }
    export function teardown(data) { console.log(`teardown once, ${data.word}`) }";

/// A metric of a result, but for its rate, which divides by a time.
pub fn metric(document: &Value, name: &str) -> Value {
    let all = document["metrics"].as_array().unwrap();
    let mut value =
        all.iter().find(|metric| metric["name"] == name && metric["filter"].is_null()).unwrap()["value"].clone();
    value.as_object_mut().unwrap().remove("rate");
    value
}

pub fn result(lab: &Lab, folder: &str) -> Value {
    serde_json::from_str(&lab.read(&format!("{folder}/result.json"))).unwrap()
}

/// A coordinator that waits for agents; its invitation.
pub fn coordinator(lab: &Lab, agents: &str, more: &[&str]) -> (Started, String) {
    let port = free_port();
    let listen = format!("127.0.0.1:{port}");
    let log = lab.path().join("coordinator.log");
    let flag = format!("--log-output=file={}", log.display());
    let mut arguments = vec!["run", "--agents", agents, "--fleet-listen", &listen, &flag];
    arguments.extend(more);
    arguments.push("script.js");
    let started = begin(lab.command(&arguments));
    let text = || std::fs::read_to_string(&log).unwrap_or_default();
    until("the invitation", || text().contains(" onrush agent"));
    let invitation = text().split("ONRUSH_JOIN=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    (started, invitation)
}

pub fn agent(lab: &Lab, invitation: &str, more: &[&str]) -> Started {
    let mut command = lab.command(&[&["agent"], more].concat());
    command.env("ONRUSH_JOIN", invitation);
    begin(command)
}

#[test]
fn agents_come_to_the_counts_of_one_process() {
    let lab = Lab::with(RATE);
    let alone = lab.run(&["--serve", "--save", "alone"]).code(0);
    for agents in ["1", "3"] {
        let run = lab.run(&["--serve", "--agents", agents, "--save", "fleet"]).code(0);
        assert_eq!(run.stderr.matches("setup once").count(), 1, "{}", run.stderr);
        assert_eq!(run.stderr.matches("teardown once, of setup").count(), 1, "{}", run.stderr);
        let (one, all) = (result(&lab, "alone"), result(&lab, "fleet"));
        // Numbers of iterations are unique over all agents: sums, extremes and percentiles are those of one process.
        for name in ["numbers", "sum", "checks", "iterations", "http_reqs"] {
            assert_eq!(metric(&all, name), metric(&one, name), "{name}");
        }
        let figures = all["generator"]["agents"].as_array().unwrap();
        assert_eq!(figures.len().to_string(), agents);
        assert!(
            figures.iter().all(|agent| agent["lost"].is_null() && agent["start_late_ms"].is_number()),
            "{figures:?}"
        );
        let sum = |field: &str| figures.iter().map(|agent| agent["load"][field].as_u64().unwrap()).sum::<u64>();
        let count = |name: &str| metric(&all, name)["count"].as_f64().unwrap() as u64;
        let counts = (sum("requests"), sum("iterations"), sum("failed_requests"));
        assert_eq!(counts, (count("http_reqs"), count("iterations"), 0));
        for agent in figures {
            let trends = agent["load"]["trends"].as_array().unwrap();
            let of = |name: &str| trends.iter().find(|trend| trend["metric"] == name).unwrap();
            assert_eq!(of("http_req_duration")["count"], agent["load"]["requests"]);
            assert!(of("http_req_duration")["p95"].as_f64() >= of("http_req_duration")["p50"].as_f64());
            assert_eq!(of("numbers")["contains"], "default");
            assert!(agent["clock_bound_ms"].as_f64().is_some_and(|bound| bound > 0.0), "{agent}");
            assert!(agent["allowed_cores"].as_u64().is_some_and(|cores| cores > 0), "{agent}");
        }
        assert!(all["generator"]["start_bound_ms"].as_f64().is_some_and(|bound| bound > 0.0));
        assert!(one["generator"]["agents"].is_null());
    }
    alone.prints("http_reqs");
    let page = lab.onrush(&["report", "fleet", "-o", "-"]).code(0);
    page.prints("http_req_duration by agent").prints("clock within");
}

#[test]
fn an_agent_that_is_killed_makes_the_run_invalid_and_is_named() {
    let lab = Lab::with(
        "import { sleep } from 'k6'; export const options = { vus: 4, duration: '6s' }
         export default function () { sleep(0.05) }",
    );
    let (run, invitation) = coordinator(&lab, "2", &["--save", "r"]);
    let (first, second) = (agent(&lab, &invitation, &["--index", "0"]), agent(&lab, &invitation, &["--index", "1"]));
    until("the second agent", || lab.read("coordinator.log").contains("agent 1 ("));
    std::thread::sleep(Duration::from_millis(2_500));
    kill_process(Pid::from_raw(second.pid() as i32).unwrap(), Signal::KILL).unwrap();
    first.wait().code(0);
    run.wait().code(117).prints("INVALID: agents lost (1 of 2 agents)");
    assert!(lab.read("coordinator.log").contains("is lost: its connection is gone"), "{}", lab.read("coordinator.log"));
    let document = result(&lab, "r");
    assert_eq!(document["generator"]["judgement"]["causes"][0]["cause"], "agents_lost");
    assert!(document["generator"]["agents"][1]["lost"].is_string());
    assert_eq!(document["exit"]["code"], 117);
}

#[test]
fn a_script_that_fails_on_one_agent_alone_is_told_by_that_agents_name() {
    let lab = Lab::with("if (__ENV.BAD) throw new Error('no such luck'); export default function () {}");
    let (run, invitation) = coordinator(&lab, "2", &[]);
    let good = agent(&lab, &invitation, &["--index", "0"]);
    until("the good agent", || lab.read("coordinator.log").contains("has joined"));
    let mut command = lab.command(&["agent", "--index", "1"]);
    command.env("ONRUSH_JOIN", &invitation).env("BAD", "1");
    let bad = begin(command).wait().code(107);
    bad.says("no such luck");
    run.wait().code(107).says("agent 1 (").says("no such luck");
    good.wait().code(0);
}

#[test]
fn an_abort_of_one_agents_script_ends_the_test_everywhere() {
    let lab = Lab::with(
        "import exec from 'k6/execution'; import { sleep } from 'k6'
         export const options = { vus: 2, duration: '1m' }
         export default function () { sleep(0.3); if (exec.vu.idInTest === 2) exec.test.abort('enough of it') }",
    );
    lab.run(&["--agents", "2"]).code(108).says("enough of it");
}

#[test]
fn a_threshold_judges_all_agents_together_and_ends_the_test() {
    let lab = Lab::with(
        "import { Counter } from 'k6/metrics'; import { sleep } from 'k6'; const mine = new Counter('mine')
         export const options = { vus: 2, duration: '1m',
           thresholds: { mine: [{ threshold: 'count<30', abortOnFail: true }] } }
         export default function () { mine.add(1); sleep(0.05) }",
    );
    let run = lab.run(&["--agents", "2"]).code(99);
    run.says("thresholds on metrics 'mine' have been crossed");
}

#[test]
fn invitations_that_are_none_are_refused_without_repeating_a_token() {
    let lab = Lab::new();
    lab.onrush(&["agent"]).code(255).says("nobody has invited it");
    let refused = lab.onrush(&["agent", "--join", "secret@host:1"]).code(255).says("found 6 characters, expected 64");
    assert!(!refused.stderr.contains("secret@"), "{}", refused.stderr);
    lab.onrush(&["agent", "--join", "@nowhere"]).code(255).says("cannot read the invitation in nowhere");
    lab.onrush(&["agent", "--join", "x", "--index", "-1"]).code(255);
}

#[test]
fn the_token_of_another_run_is_worth_nothing() {
    let lab = Lab::with("export default function () {}");
    let (other, old) = coordinator(&lab, "1", &[]);
    kill_process(Pid::from_raw(other.pid() as i32).unwrap(), Signal::TERM).unwrap();
    other.wait().code(105);
    std::fs::remove_file(lab.path().join("coordinator.log")).unwrap();
    let (run, invitation) = coordinator(&lab, "1", &[]);
    let (token, _) = old.rsplit_once('@').unwrap();
    let (_, address) = invitation.rsplit_once('@').unwrap();
    let refused = agent(&lab, &format!("{token}@{address}"), &[]).wait().code(255);
    refused.says("is another one than the token was made by");
    // Whoever speaks something else, or nothing, harms nobody.
    let mut garbage = TcpStream::connect(address).unwrap();
    garbage.write_all(&[0xff; 4096]).unwrap();
    let silent = TcpStream::connect(address).unwrap();
    agent(&lab, &invitation, &[]).wait().code(0);
    run.wait().code(0);
    drop(silent);
}

#[test]
fn too_many_agents_and_doubled_indices_are_turned_away_by_name() {
    let lab = Lab::with("import { sleep } from 'k6'; export default function () { sleep(1) }");
    let (run, invitation) = coordinator(&lab, "2", &[]);
    let first = agent(&lab, &invitation, &["--index", "1"]);
    until("the first agent", || lab.read("coordinator.log").contains("has joined"));
    agent(&lab, &invitation, &["--index", "1"]).wait().code(255).says("it wants to be agent 1, which ");
    agent(&lab, &invitation, &["--index", "7"]).wait().code(255).says("expected a number from 0 to 1");
    let second = agent(&lab, &invitation, &[]);
    first.wait().code(0);
    second.wait().code(0);
    run.wait().code(0);
    assert_eq!(lab.read("coordinator.log").matches("was turned away").count(), 2);
}

#[test]
fn credentials_in_a_file_make_the_same_invitation_again() {
    let lab = Lab::with("export default function () {}");
    let (run, invitation) = coordinator(&lab, "1", &["--fleet-credentials", "keys"]);
    agent(&lab, &invitation, &[]).wait().code(0);
    run.wait().code(0);
    let log = lab.path().join("second.log");
    let port = free_port();
    let listen = format!("127.0.0.1:{port}");
    let flag = format!("--log-output=file={}", log.display());
    let run = begin(lab.command(&[
        "run",
        "--agents",
        "1",
        "--fleet-listen",
        &listen,
        "--fleet-credentials",
        "keys",
        &flag,
        "script.js",
    ]));
    let (token, _) = invitation.rsplit_once('@').unwrap();
    agent(&lab, &format!("{token}@{listen}"), &[]).wait().code(0);
    run.wait().code(0);
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(told.contains("waiting for 1 agents") && !told.contains(token), "{told}");
    lab.file("keys", "nonsense");
    let refused = lab.run(&["--agents", "1", "--fleet-listen", "127.0.0.1:0", "--fleet-credentials", "keys"]);
    refused.code(255).says("--fleet-credentials keys: ").says("remove the file for a new one");
}

#[test]
fn samples_of_all_agents_go_to_outputs() {
    let lab = Lab::with(RATE);
    let flags = ["--serve", "--agents", "2", "--save", "fleet", "--out", "json=samples.json.gz", "--out", "csv=s.csv"];
    lab.run(&flags).code(0);
    let points = |name: &str, metric: &str| {
        let (mut text, path) = (String::new(), lab.path().join(name));
        let mut file = flate2::read::GzDecoder::new(std::fs::File::open(&path).unwrap());
        file.read_to_string(&mut text).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["type"] == "Point" && line["metric"] == metric).collect::<Vec<_>>()
    };
    let mut all = 0;
    for agent in ["0", "1"] {
        let own = points(&format!("samples-{agent}.json.gz"), "iterations");
        assert!(own.iter().all(|point| point["data"]["tags"]["agent"] == agent), "{own:?}");
        let csv = lab.read(&format!("s-{agent}.csv"));
        assert_eq!(csv.lines().filter(|line| line.starts_with("iterations,")).count(), own.len());
        all += own.len();
    }
    assert_eq!(metric(&result(&lab, "fleet"), "iterations")["count"], all as f64);
    assert!(points("samples.json.gz", "iterations").is_empty(), "the coordinator's own has what setup() measured");

    // One that cannot be opened keeps the test from its start, and is named.
    let nowhere = lab.run(&["--serve", "--agents", "2", "--out", "json=/no/such/folder/x.json"]);
    nowhere.code(255).says("--out json=/no/such/folder/x.json: ");
}

#[test]
fn what_does_not_go_with_agents_is_refused() {
    let lab = Lab::with("export default function () {}");
    for (arguments, said) in [
        (&["--agents", "0"][..], "--agents: found '0', expected a whole number from 1 to 1000"),
        (&["--agents", "many"], "--agents: found 'many'"),
        (&["--fleet-listen", "127.0.0.1:1"], "--fleet-listen is about agents: give --agents N as well"),
        (&["--agents", "2", "--out", "json"], "--out to standard output does not go with --agents"),
        (&["--agents", "2", "--on-loss", "cry"], "--on-loss: found 'cry', expected continue or abort"),
        (&["--agents", "2", "--join-timeout", "soon"], "--join-timeout: found 'soon'"),
        (&["--agents", "2", "--fleet-listen", "nowhere"], "--fleet-listen nowhere: "),
        (
            &["--agents", "2", "--serve", "--fleet-listen", "127.0.0.1:0"],
            "--serve starts a target that this machine alone",
        ),
    ] {
        lab.run(arguments).code(255).says(said);
    }
    lab.run(&["--agents", "2", "--execution-segment", "0:1/2"]).code(104).says("divides the test into segments itself");
    let late = lab.run(&["--agents", "1", "--fleet-listen", "127.0.0.1:0", "--join-timeout", "300ms"]);
    late.code(117).says("no agent has joined as number 0 within 0.3 s");
}

#[test]
fn a_coordinator_that_was_killed_is_followed_by_another_and_nothing_is_lost() {
    let lab = Lab::with(
        "import { Counter, Trend } from 'k6/metrics'; import exec from 'k6/execution'
         const numbers = new Trend('numbers'), sum = new Counter('sum'), before = new Trend('before')
         export const options = { scenarios: {
           a: { executor: 'constant-arrival-rate', rate: 50, duration: '7s', preAllocatedVUs: 50 } } }
         export function setup() { console.log('setup once'); before.add(7); sum.add(0.3); return 0.1 }
         export default function (data) { numbers.add(exec.scenario.iterationInTest); sum.add(data) }
         export function teardown(data) { console.log(`teardown with ${data}`) }",
    );
    lab.run(&["--save", "alone"]).code(0);
    let (run, invitation) = coordinator(&lab, "2", &["--save", "fleet"]);
    let agents = [agent(&lab, &invitation, &["--index", "0"]), agent(&lab, &invitation, &["--index", "1"])];
    // The file says in which life of the machine the test began, once it has.
    until("the start", || {
        let state = std::fs::read_to_string(lab.path().join("fleet/fleet.state")).unwrap_or_default();
        !state.is_empty() && !state.contains("\"boot\":\"\"")
    });
    std::thread::sleep(Duration::from_millis(3_000));
    kill_process(Pid::from_raw(run.pid() as i32).unwrap(), Signal::KILL).unwrap();
    assert_eq!(run.wait().code, -1);
    let (_, address) = invitation.rsplit_once('@').unwrap();
    let again = |agents: &str, more: &[&str]| {
        let flags = ["--agents", agents, "--fleet-listen", address, "--save", "fleet", "--resume"];
        lab.run(&[&flags[..], more].concat())
    };
    again("3", &[]).code(255).says("--resume: the test was begun by 2 agents, found 3");
    again("2", &["--tag", "a=b"]).code(255).says("give the same script, files, variables and options");
    let second = again("2", &[]).code(0).says("going on with a test that had begun").says("teardown with 0.1");
    assert!(!second.stderr.contains("setup once"), "{}", second.stderr);
    agents.into_iter().for_each(|agent| drop(agent.wait().code(0)));
    let (one, all) = (result(&lab, "alone"), result(&lab, "fleet"));
    for name in ["numbers", "sum", "before", "iterations"] {
        assert_eq!(metric(&all, name), metric(&one, name), "{name}");
    }
    assert!(!lab.path().join("fleet/fleet.state").exists(), "the test is over");
}

/// Its agents know the run by its number: the coordinator that follows is the same run.
#[test]
fn a_coordinator_that_dies_before_the_start_gets_its_agents_back() {
    let lab = Lab::with(
        "import { Counter } from 'k6/metrics'; const mine = new Counter('mine')
         export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 5 } } }
         export default function () { mine.add(1) }",
    );
    let (run, invitation) = coordinator(&lab, "2", &["--save", "fleet"]);
    let first = agent(&lab, &invitation, &["--index", "0"]);
    let log = || std::fs::read_to_string(lab.path().join("coordinator.log")).unwrap_or_default();
    until("the first agent", || log().contains("has joined"));
    kill_process(Pid::from_raw(run.pid() as i32).unwrap(), Signal::KILL).unwrap();
    assert_eq!(run.wait().code, -1);
    let (_, address) = invitation.rsplit_once('@').unwrap();
    let flags = ["run", "-q", "--agents", "2", "--fleet-listen", address, "--save", "fleet", "--resume", "script.js"];
    let second = lab.start(&flags);
    let late = agent(&lab, &invitation, &["--index", "1"]);
    let second = second.wait().code(0).says("the test has not begun; its agents join again");
    assert!(!second.stderr.contains("turned away"), "{}", second.stderr);
    [first, late].into_iter().for_each(|agent| drop(agent.wait().code(0)));
    assert_eq!(metric(&result(&lab, "fleet"), "mine")["count"], 20.0);
    assert!(!lab.path().join("fleet/fleet.state").exists(), "the test is over");
}

#[test]
fn agents_that_have_no_user_are_told_before_the_start() {
    let lab = Lab::with("export default function () {}");
    let idle = "2 of 3 agents have nothing to do: the script runs 1 virtual user";
    lab.run(&["--agents", "3"]).code(0).says(idle);
    let busy = lab.run(&["--agents", "3", "--vus", "3", "--iterations", "3"]).code(0);
    assert!(!busy.stderr.contains("nothing to do"), "{}", busy.stderr);
}

#[test]
fn users_of_all_agents_meet() {
    let lab = Lab::with(
        "import { ready } from 'onrush/together'; import { Trend } from 'k6/metrics'; import { sleep } from 'k6'
         import exec from 'k6/execution'
         const begun = new Trend('begun'), there = new Trend('there')
         export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 1 } } }
         export default async function () {
           sleep(0.05 * exec.vu.idInTest)
           const start = await ready()
           begun.add(start.at % 1e6); there.add(start.users)
         }",
    );
    lab.run(&["--agents", "2", "--save", "r"]).code(0);
    let document = result(&lab, "r");
    assert_eq!((&metric(&document, "there")["min"], &metric(&document, "there")["max"]), (&4.0.into(), &4.0.into()));
    let begun = metric(&document, "begun");
    let apart = begun["max"].as_f64().unwrap() - begun["min"].as_f64().unwrap();
    // Wall clocks are read once a process; what a machine does in between is far below what users of two starts are
    // apart.
    assert!(apart < 20.0, "{begun}");
}

#[test]
fn a_folder_carries_a_fleet_where_nobody_can_be_dialled() {
    let lab = Lab::with(
        "import { Counter } from 'k6/metrics'; const mine = new Counter('mine')
         export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 5 } } }
         export default function () { mine.add(0.1) }",
    );
    let store = format!("file://{}", lab.path().join("store").display());
    std::fs::create_dir(lab.path().join("store")).unwrap();
    let log = lab.path().join("coordinator.log");
    let flag = format!("--log-output=file={}", log.display());
    let run = lab.start(&["run", "--agents", "2", "--fleet", &store, &flag, "--save", "r", "script.js"]);
    let text = || std::fs::read_to_string(&log).unwrap_or_default();
    until("the invitation", || text().contains(" onrush agent"));
    let invitation = text().split("ONRUSH_JOIN=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let agents = [agent(&lab, &invitation, &[]), agent(&lab, &invitation, &[])];
    run.wait().code(0);
    agents.into_iter().for_each(|agent| drop(agent.wait().code(0)));
    assert_eq!(metric(&result(&lab, "r"), "mine")["count"], 2.0);
}
