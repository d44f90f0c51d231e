//! Kept connections that the server ends while requests of many users come: what it has read is never sent again, and
//! each request is one of the summary's, whatever became of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lab::Lab;
use crate::peer::{Peer, Then, read_body, say};

/// What became of the requests by their paths, and how many the summary has.
struct Told {
    statuses: BTreeMap<String, (u64, u64)>,
    requests: u64,
}

/// Runs a script whose function `ask(method, path, body)` notes what each request came to.
fn run(peer: &Peer, users: usize, iterations: usize, body: &str) -> Told {
    let lab = Lab::with(&format!(
        "import http from 'k6/http';
         export const options = {{ scenarios: {{ all: {{
           executor: 'per-vu-iterations', vus: {users}, iterations: {iterations} }} }} }};
         const id = () => `${{__VU}}-${{__ITER}}`;
         function ask(method, path, body) {{
           const res = http.request(method, __ENV.PEER + path, body);
           console.log('asked', path, res.status, res.error_code);
         }}
         export default function () {{ {body} }}"
    ));
    let peer = format!("PEER={}", peer.url);
    let run = lab.run(&["--workers", "1", "--summary-export", "s.json", "--log-format", "raw", "-e", &peer]).code(0);
    let asked = run.stderr.lines().filter_map(|line| line.strip_prefix("asked "));
    let statuses = asked.map(|line| {
        let mut words = line.split(' ');
        let path = words.next().expect("a path").to_owned();
        let mut number = || words.next().and_then(|word| word.parse().ok()).expect("a number");
        (path, (number(), number()))
    });
    let summary: Value = serde_json::from_str(&lab.read("s.json")).expect("JSON");
    let requests = summary["metrics"]["http_reqs"]["count"].as_u64().expect("a count");
    Told { statuses: statuses.collect(), requests }
}

/// How often the server read each path.
fn times(paths: &[String]) -> BTreeMap<&str, usize> {
    let mut times = BTreeMap::new();
    paths.iter().for_each(|path| *times.entry(path.as_str()).or_default() += 1);
    times
}

#[test]
fn what_the_server_has_read_is_never_sent_again() {
    const USERS: usize = 60;
    // The second request on a connection is read and has no answer: `end` closes, and `reset` leaves a body unread,
    // which makes the kernel reset the connection.
    let peer = Peer::on_tcp(|socket, request| {
        if request.path.starts_with("/reset") {
            return Then::Close;
        }
        read_body(socket, request.length);
        if request.path.starts_with("/end") {
            return Then::Close;
        }
        say(socket, "ok");
        Then::Next
    });
    let kinds = ["'GET', `/end/get/${id()}`", "'POST', `/end/post/${id()}`, 'x'"];
    let resets = ["'GET', `/reset/get/${id()}`, 'x'.repeat(9)", "'POST', `/reset/post/${id()}`, 'x'.repeat(9)"];
    let pair = |arguments: &str| format!("ask('GET', `/first${{{}}}/${{id()}}`); ask({arguments});", arguments.len());
    let told = run(&peer, USERS, 2, &kinds.iter().chain(&resets).map(|one| pair(one)).collect::<String>());
    let paths = peer.paths();
    let wanted = USERS * 2 * 2 * (kinds.len() + resets.len());
    assert_eq!((paths.len(), told.requests), (wanted, wanted as u64), "nothing is sent twice or counted twice");
    for (path, (status, error)) in &told.statuses {
        let expected = match path {
            path if path.starts_with("/first") => *status == 200,
            path if path.starts_with("/end") => (*status, *error) == (0, 1000),
            _ => *status == 0 && [1000, 1220].contains(error),
        };
        assert!(expected, "{path} came to {status} with error {error}");
    }
}

#[test]
fn a_close_that_crosses_a_request_costs_no_count() {
    const USERS: usize = 100;
    const ITERATIONS: usize = 10;
    // It does not say that it will close, and closes at once: for many users the next request is on its way by then.
    let peer = Peer::on_tcp(|socket, request| {
        read_body(socket, request.length);
        say(socket, "ok");
        Then::Close
    });
    let told = run(
        &peer,
        USERS,
        ITERATIONS,
        "ask('GET', `/get/${id()}`); ask('POST', `/post/${id()}`, 'x'); ask('GET', `/last/${id()}`);",
    );
    let paths = peer.paths();
    let times = times(&paths);
    assert!(times.values().all(|times| *times == 1), "a request was read twice");
    assert_eq!((told.requests as usize, told.statuses.len()), (3 * USERS * ITERATIONS, 3 * USERS * ITERATIONS));
    let (answered, failed): (Vec<_>, Vec<_>) = told.statuses.iter().partition(|(_, (status, _))| *status == 200);
    let read_of = |requests: &[(&String, &(u64, u64))]| {
        requests.iter().filter(|(path, _)| times.contains_key(path.as_str())).count()
    };
    assert_eq!(read_of(&answered), answered.len(), "an answer to no request");
    assert_eq!(read_of(&failed), 0, "the server answers what it reads");
    assert!(failed.len() * 2 < answered.len(), "{} of {} failed", failed.len(), told.statuses.len());
}
