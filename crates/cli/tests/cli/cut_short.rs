//! Ends of a run with hundreds of requests in flight: each request that the server has read and each iteration that
//! began is in one count, whatever ended it.

use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Lab, Run};
use crate::peer::{Peer, Socket, Then, drain, say, wait_until};

/// Users, each of which has one request answered and waits for the answer to a second one.
const USERS: usize = 250;

/// A gate before the answers to `/held`.
type Gate = Arc<(Mutex<bool>, Condvar)>;

fn open(gate: &Gate) {
    *gate.0.lock().expect("nobody panics with it") = true;
    gate.1.notify_all();
}

/// Answers `/quick` at once, `/full` when every user waits, `/never` never and `/held` when the gate is open.
fn peer(gate: &Gate) -> Arc<Peer> {
    let (held, told) = (Arc::clone(gate), Arc::new(Mutex::new(None::<Arc<Peer>>)));
    let own = Arc::clone(&told);
    let peer = Arc::new(Peer::on_tcp(move |socket: &mut dyn Socket, request| {
        match request.path.as_str() {
            "/never" => {
                drain(socket);
                return Then::Close;
            }
            "/held" => {
                let is_open = held.0.lock().expect("nobody panics with it");
                drop(held.1.wait_while(is_open, |is_open| !*is_open));
            }
            "/full" => {
                let peer = own.lock().expect("nobody panics with it").clone().expect("it was put there");
                wait_until("all users wait", || peer.count("/never") >= USERS);
            }
            _ => {}
        }
        say(socket, "ok");
        Then::Next
    }));
    *told.lock().expect("nobody panics with it") = Some(Arc::clone(&peer));
    peer
}

/// A scenario of these users, each of which asks for `/quick` and then for `second`.
fn script(scenario: &str, second: &str, more: &str) -> String {
    format!(
        "import http from 'k6/http'; import exec from 'k6/execution';
         const each = {{ exec: 'all', vus: {USERS} }}, peer = __ENV.PEER;
         export const options = {{ {scenario} }};
         export function all() {{
           http.get(`${{peer}}/quick`);
           {second};
         }}
         {more}"
    )
}

struct Counted {
    run: Run,
    summary: Value,
    result: Value,
}

impl Counted {
    fn of(lab: &Lab, run: Run) -> Counted {
        let json = |name: &str| serde_json::from_str(&lab.read(name)).expect("JSON");
        Counted { run, summary: json("s.json"), result: json("r/result.json") }
    }

    fn count(&self, metric: &str) -> usize {
        self.summary["metrics"][metric]["count"].as_u64().unwrap_or(0) as usize
    }

    /// Completed and interrupted iterations.
    fn iterations(&self) -> (usize, usize) {
        let counts = &self.result["generator"]["judgement"]["iterations"];
        let part = |name: &str| counts[name].as_u64().unwrap_or_else(|| panic!("{name} in {counts}")) as usize;
        assert_eq!(part("planned"), part("ended") + part("dropped") + part("interrupted"), "{counts}");
        (part("ended"), part("interrupted"))
    }

    /// Every request that the server read is a request of the summary or an interrupted one.
    fn agrees_with(&self, peer: &Peer) {
        let (told, cut) = (self.count("http_reqs"), self.count("http_reqs_interrupted"));
        assert_eq!(told + cut, peer.paths().len(), "{told} and {cut}\n{}\n{}", self.run.stdout, self.run.stderr);
    }
}

const SAVED: [&str; 6] = ["--workers", "1", "--save", "r", "--summary-export", "s.json"];

/// Runs to the end.
fn counted(script: &str, peer: &Peer, code: i32) -> Counted {
    let lab = Lab::with(script);
    let env = format!("PEER={}", peer.url);
    let run = lab.run(&[&SAVED[..], &["-e", &env]].concat()).code(code);
    Counted::of(&lab, run)
}

const NEVER: &str = "http.get(`${peer}/never`)";

#[test]
fn a_signal() {
    let lab =
        Lab::with(&script("scenarios: { all: { ...each, executor: 'constant-vus', duration: '1h' } }", NEVER, ""));
    let peer = peer(&Gate::default());
    let env = format!("PEER={}", peer.url);
    let running = lab.start(&[&["run", "-q"], &SAVED[..], &["-e", &env, "script.js"]].concat());
    wait_until("all users wait", || peer.count("/never") == USERS);
    let pid = running.pid().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    let counted = Counted::of(&lab, running.wait().code(105));
    counted.agrees_with(&peer);
    assert_eq!(counted.iterations(), (0, USERS));
    assert_eq!((counted.count("http_reqs"), counted.count("http_reqs_interrupted")), (USERS, USERS));
}

#[test]
fn an_abort_by_the_script() {
    let peer = peer(&Gate::default());
    let scenarios = "scenarios: { all: { ...each, executor: 'constant-vus', duration: '1h' },
        end: { executor: 'shared-iterations', vus: 1, iterations: 1, exec: 'end' } }";
    let end = "export function end() { http.get(`${peer}/full`); exec.test.abort('enough'); }";
    let counted = counted(&script(scenarios, NEVER, end), &peer, 108);
    counted.agrees_with(&peer);
    // The iteration that aborts has ended where the script wanted it to.
    assert_eq!(counted.iterations(), (1, USERS));
    assert_eq!((counted.count("http_reqs"), counted.count("http_reqs_interrupted")), (USERS + 1, USERS));
}

#[test]
fn a_threshold() {
    let peer = peer(&Gate::default());
    let options = "scenarios: { all: { ...each, executor: 'constant-vus', duration: '1h' } },
        thresholds: { http_reqs: [{ threshold: `count<${each.vus}`, abortOnFail: true }] }";
    let counted = counted(&script(options, NEVER, ""), &peer, 99);
    counted.agrees_with(&peer);
    assert_eq!(counted.iterations(), (0, USERS));
    assert_eq!(counted.count("http_reqs"), USERS);
}

#[test]
fn the_end_of_a_scenario_without_grace() {
    let peer = peer(&Gate::default());
    let options = "scenarios: { all: { ...each, executor: 'constant-vus', duration: '3s', gracefulStop: '0s' } }";
    let counted = counted(&script(options, NEVER, ""), &peer, 0);
    counted.agrees_with(&peer);
    assert_eq!(counted.iterations(), (0, USERS));
}

#[test]
fn the_end_of_a_scenario_with_grace_for_the_answers() {
    let gate = Gate::default();
    let (peer, opener) = (peer(&gate), Arc::clone(&gate));
    let held = Arc::clone(&peer);
    std::thread::spawn(move || {
        wait_until("all users wait", || held.count("/held") >= USERS);
        // The scenario is over by then.
        std::thread::sleep(Duration::from_millis(1500));
        open(&opener);
    });
    let options = "scenarios: { all: { ...each, executor: 'constant-vus', duration: '1s', gracefulStop: '60s' } }";
    let counted = counted(&script(options, "http.get(`${peer}/held`, { timeout: '50s' })", ""), &peer, 0);
    counted.agrees_with(&peer);
    assert_eq!(counted.iterations(), (USERS, 0));
    assert_eq!((counted.count("http_reqs"), counted.count("http_reqs_interrupted")), (2 * USERS, 0));
}

#[test]
fn the_time_of_each_request() {
    let peer = peer(&Gate::default());
    // Two timeouts beside each other: an earlier deadline must not have to wait for a later one.
    let second = "const timeout = __VU % 2 ? 400 : 900, asked = Date.now();
        const res = http.get(`${peer}/never`, { timeout, tags: { timeout: `${timeout}` } });
        const took = Date.now() - asked;
        if (res.status !== 0 || res.error_code !== 1050 || took < timeout) throw new Error(`${res.error} ${took}`)";
    let options = "scenarios: { all: { ...each, executor: 'per-vu-iterations' } },
        thresholds: {
          'http_req_duration{timeout:400}': ['min>=399'], 'http_req_duration{timeout:900}': ['min>=899'] }";
    let counted = counted(&script(options, second, ""), &peer, 0);
    assert!(!counted.run.stderr.contains("Error"), "{}", counted.run.stderr);
    counted.agrees_with(&peer);
    assert_eq!(counted.iterations(), (USERS, 0));
    assert_eq!((counted.count("http_reqs"), counted.count("http_reqs_interrupted")), (2 * USERS, 0));
    let median = |timeout: u32| {
        let name = format!("http_req_duration{{timeout:{timeout}}}");
        counted.summary["metrics"][&name]["med"].as_f64().unwrap_or_else(|| panic!("{name}"))
    };
    assert!(median(400) < median(900), "the shorter time is over first");
}
