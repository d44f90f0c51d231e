//! `onrush debug`: an editor's messages in, answers and events out, by the real binary, with a real server as target.
//!
//! Lines of breakpoints and stops are those of the scripts as they stand here. The user 1 is the thread 2.

mod client;

use std::path::Path;

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::peer::{Peer, Then, say, wait_until};
use client::Client;

const SCRIPT: &str = "import http from 'k6/http'
import { total, type Order } from './order.ts'

interface Reply { n: number }

export default function () {
  const order: Order = { id: __VU, price: 2 }
  const res = http.get(`${__ENV.PEER}/first/${order.id}`)
  const reply = res.json() as unknown as Reply
  const sum = total([order], reply.n)
  console.log(`sum ${sum}`)
}
";

const ORDER: &str = "export interface Order { id: number; price: number }

export const total = (orders: Order[], factor: number): number => {
  let sum = 0
  for (const order of orders) sum += order.price * factor
  return sum
}
";

fn peer() -> Peer {
    Peer::on_tcp(|socket, _| {
        say(socket, "{\"n\":21}");
        Then::Next
    })
}

fn typescript() -> (Lab, std::path::PathBuf, std::path::PathBuf) {
    let lab = Lab::new();
    let (script, order) = (lab.file("plan.ts", SCRIPT), lab.file("order.ts", ORDER));
    (lab, script, order)
}

fn at(reason: &str, file: &str, line: u64) -> (String, String, u64) {
    (reason.to_owned(), file.to_owned(), line)
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn typescript_is_stopped_stepped_through_and_looked_at() {
    let (peer, (lab, script, order)) = (peer(), typescript());
    let launch = json!({ "program": script, "env": { "PEER": peer.url } });
    let mut client = Client::launch(&lab, launch, &[(&script, &[8]), (&order, &[6])]);
    assert_eq!(client.stopped(2), at("breakpoint", "plan.ts", 8));
    assert_eq!(peer.count("/first"), 0, "it stops before the request");
    let locals = client.scope(1, "Local");
    assert_eq!(locals[0], (String::from("order"), String::from("{id: 1, price: 2}")));
    assert_eq!(locals[1], (String::from("res"), String::from("<not initialised>")));
    assert_eq!(client.scope(1, "Last response"), []);
    assert_eq!(client.step(2, "next"), at("step", "plan.ts", 9));
    assert_eq!(peer.count("/first/1"), 1);
    assert_eq!(client.value("res.status"), "200");
    assert_eq!(client.value("res.status + order.price"), "202");
    assert_eq!(client.value("{ a: res.body, b: [order.id] }"), r#"{a: "{\"n\":21}", b: Array(1) […]}"#);
    let response = client.scope(1, "Last response");
    assert!(response.contains(&(String::from("status"), String::from("200"))), "{response:?}");
    let globals = client.scope(1, "Globals");
    assert_eq!(globals[..2], pairs(&[("__VU", "1"), ("__ITER", "0")]));
    let why = client.refused("evaluate", json!({ "expression": "no.such", "frameId": 1 }));
    assert_eq!(why, "ReferenceError: no is not defined");
    assert_eq!(client.step(2, "next"), at("step", "plan.ts", 10));
    assert_eq!(client.step(2, "stepIn"), at("step", "order.ts", 4));
    let frames = client.done("stackTrace", json!({ "threadId": 2 }))["stackFrames"].take();
    let names: Vec<_> =
        frames.as_array().expect("a list").iter().map(|frame| (&frame["name"], &frame["line"])).collect();
    assert_eq!(names, [(&json!("total"), &json!(4)), (&json!("default"), &json!(10))]);
    let locals = client.scope(1, "Local");
    assert_eq!(locals[1..], pairs(&[("factor", "21"), ("sum", "<not initialised>")])[..], "{locals:?}");
    let outer = client.done("evaluate", json!({ "expression": "reply.n", "frameId": 2 }));
    assert_eq!(outer["result"], "21");
    assert_eq!(client.step(2, "continue"), at("breakpoint", "order.ts", 6));
    assert_eq!(client.value("sum"), "42");
    assert_eq!(client.step(2, "stepOut"), at("step", "plan.ts", 11));
    client.done("continue", json!({ "threadId": 2 }));
    assert_eq!(client.exit_code(), 0);
    assert!(client.output("stderr").contains("sum 42"), "{}", client.output("stderr"));
    assert!(client.output("stdout").contains("http_reqs"), "{}", client.output("stdout"));
    assert_eq!(client.end(), (Some(0), String::new()));
}

/// One user is stopped; the other runs through the same place, again and again.
#[test]
fn other_users_run_on_while_one_is_stopped() {
    let peer = peer();
    let lab = Lab::with(
        "import http from 'k6/http'
export default function () {
  http.get(`${__ENV.PEER}/of/${__VU}`)
}
",
    );
    let script = lab.path().join("script.js");
    let args = ["--vus", "2", "--duration", "60s"];
    let launch = json!({ "program": script, "args": args, "env": { "PEER": peer.url } });
    let mut client = Client::start(&lab, &[]);
    client.done("initialize", json!({}));
    client.done("launch", launch);
    let breakpoint = json!({ "line": 3, "condition": "__VU === 1 && __ITER === 3" });
    client.done("setBreakpoints", json!({ "source": { "path": script }, "breakpoints": [breakpoint] }));
    client.done("configurationDone", json!({}));
    assert_eq!(client.stopped(2), at("breakpoint", "script.js", 3));
    let (first, second) = (peer.count("/of/1"), peer.count("/of/2"));
    assert_eq!(first, 3);
    wait_until("the second user makes requests", || peer.count("/of/2") > second + 50);
    assert_eq!(peer.count("/of/1"), first, "the first one is stopped");
    let threads = client.done("threads", json!({}))["threads"].take();
    let names: Vec<&Value> = threads.as_array().expect("a list").iter().map(|thread| &thread["name"]).collect();
    assert_eq!(names, ["outside of iterations", "user 1", "user 2"]);
    assert_eq!(client.refused("next", json!({ "threadId": 3 })), "user 2 is not stopped");
    client.done("continue", json!({ "threadId": 2 }));
    wait_until("the first user goes on", || peer.count("/of/1") > first + 50);
    client.done("pause", json!({ "threadId": 3 }));
    assert_eq!(client.event("stopped")["reason"], "pause");
    client.done("terminate", json!({}));
    assert_eq!(client.exit_code(), 105);
}

#[test]
fn uncaught_exceptions_show_where_they_were_thrown() {
    let lab = Lab::with(
        "const limit = 3
function check(depth) {
  const left = limit - depth
  if (left === 0) throw new Error(`too deep: ${depth}`)
  return check(depth + 1)
}
export default function () {
  try { check(limit) } catch { /* it is caught */ }
  check(1)
}
",
    );
    let script = lab.path().join("script.js");
    let mut client = Client::start(&lab, &["script.js"]);
    client.done("initialize", json!({}));
    client.done("launch", json!({ "stopOnEntry": true }));
    client.done("setExceptionBreakpoints", json!({ "filters": ["uncaught"] }));
    client.done("configurationDone", json!({}));
    assert_eq!(client.stopped(1), at("entry", "script.js", 1));
    client.done("continue", json!({ "threadId": 1 }));
    let stopped = client.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["text"]), (&json!("exception"), &json!("Error: too deep: 3")));
    let frames = client.done("stackTrace", json!({ "threadId": 2 }))["stackFrames"].take();
    let lines: Vec<_> = frames.as_array().expect("a list").iter().map(|frame| frame["line"].as_u64()).collect();
    assert_eq!(lines, [4, 5, 5, 9].map(Some));
    assert_eq!(frames[0]["source"]["path"], json!(script));
    for (frame, depth) in [(1, "3"), (2, "2"), (3, "1")] {
        let left = (3 - depth.parse::<i32>().expect("a number")).to_string();
        assert_eq!(client.scope(frame, "Local"), pairs(&[("depth", depth), ("left", &left)]));
    }
    assert_eq!(client.scope(1, "Module")[0], (String::from("limit"), String::from("3")));
    client.done("continue", json!({ "threadId": 2 }));
    assert_eq!(client.exit_code(), 0);
}

#[test]
fn asynchronous_functions_closures_and_odd_bodies_can_be_stepped_through() {
    let peer = peer();
    let lab = Lab::with(
        "import http from 'k6/http'
import { group } from 'k6'
export default async function () {
  const url = __ENV.PEER
  const res = await http.asyncRequest('GET', `${url}/async`)
  let seen = 0
  group('all', () => {
    for (const n of [1, 2]) if (n > 1) seen += n
    else seen += 10
    const twice = (x) => x * 2
    seen = twice(seen)
  })
  label: for (;;) { for (;;) break label }
  return seen
}
",
    );
    let script = lab.path().join("script.js");
    let launch = json!({ "program": script, "env": { "PEER": peer.url } });
    let mut client = Client::launch(&lab, launch, &[(&script, &[5])]);
    assert_eq!(client.stopped(2), at("breakpoint", "script.js", 5));
    assert_eq!(client.step(2, "next"), at("step", "script.js", 6));
    assert_eq!(client.value("res.status"), "200");
    let response = client.scope(1, "Last response");
    assert!(response.contains(&(String::from("status"), String::from("200"))), "{response:?}");
    client.step(2, "next");
    let lines = std::iter::repeat_with(|| client.step(2, "stepIn").2);
    let lines: Vec<u64> = lines.take(9).collect();
    assert_eq!(lines, [8, 8, 9, 8, 8, 10, 11, 10, 12]);
    assert_eq!((client.value("seen"), client.scope(1, "Closure")[0].0.as_str()), (String::from("24"), "url"));
    assert_eq!(client.step(2, "stepOut"), at("step", "script.js", 13));
    client.done("disconnect", json!({}));
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn breakpoints_go_to_statements_or_are_refused() {
    let (lab, script, _) = typescript();
    let mut client = Client::start(&lab, &[]);
    client.done("initialize", json!({}));
    client.done("launch", json!({ "program": script }));
    let place = |client: &mut Client, path: &Path, breakpoint: Value| {
        let wanted = json!({ "source": { "path": path }, "breakpoints": [breakpoint] });
        let placed = client.done("setBreakpoints", wanted)["breakpoints"][0].take();
        (placed["verified"] == true, placed["line"].as_u64(), placed["message"].as_str().map(str::to_owned))
    };
    let line = |line: u32| json!({ "line": line });
    assert_eq!(place(&mut client, &script, line(4)), (true, Some(7), None), "an interface runs nothing");
    assert_eq!(place(&mut client, &script, line(12)), (true, Some(12), None), "the end of a function");
    let behind = "there is no statement in line 13 or behind it";
    assert_eq!(place(&mut client, &script, line(13)), (false, Some(13), Some(behind.to_owned())));
    let missing = lab.path().join("none.js");
    let (is_verified, _, why) = place(&mut client, &missing, line(1));
    assert!(!is_verified && why.is_some_and(|why| why.starts_with("cannot read ")));
    let broken = lab.file("broken.js", "const = 1\n");
    let (_, _, why) = place(&mut client, &broken, line(1));
    assert!(why.is_some_and(|why| why.ends_with("is no script that can be read")));
    let pathless = json!({ "source": { "name": "x" }, "breakpoints": [] });
    assert_eq!(client.refused("setBreakpoints", pathless), "source.path: expected the path of a file");
}

#[test]
fn wrong_requests_and_messages_are_told() {
    let lab = Lab::with("export default () => {}\n");
    let mut client = Client::start(&lab, &[]);
    assert_eq!(client.refused("threads", json!({})), "no script runs: expected launch before");
    assert_eq!(
        client.refused("initialize", json!({ "linesStartAt1": false })),
        "linesStartAt1: found false, expected true"
    );
    client.done("initialize", json!({}));
    assert_eq!(client.refused("launch", json!({})), "program: expected the path of a script");
    let missing = lab.path().join("none.js");
    let why = client.refused("launch", json!({ "program": missing }));
    assert_eq!(why, format!("program: there is no script {}", missing.display()));
    let program = lab.path().join("script.js");
    let why = client.refused("launch", json!({ "program": program, "args": "--vus 2" }));
    assert_eq!(why, "args: found \"--vus 2\", expected a list of texts");
    client.refused("attach", json!({}));
    client.raw("Content-Length: 3\r\n\r\n{a}");
    assert!(client.event("output")["output"].as_str().expect("a text").contains("a message of 3 bytes is no JSON"));
    client.raw("Content-Length: 2\r\n\r\n[]");
    let told = client.event("output")["output"].take();
    assert_eq!(told, "onrush debug: a message is no request: expected the fields seq and command\n");
    client.done("launch", json!({ "program": program, "args": ["--no-such-flag"] }));
    assert_eq!(client.exit_code(), 255);
    assert!(client.output("stderr").contains("--no-such-flag"), "{}", client.output("stderr"));
    client.raw("GET / HTTP/1.1\r\n");
    let (code, said) = client.end();
    assert_eq!(code, Some(255));
    let expected = "found 'GET / HTTP/1.1', expected a head such as 'Content-Length: 123'";
    assert!(said.contains(expected), "{said}");
}

/// A launch without debugging is a run whose output the editor shows.
#[test]
fn a_launch_may_run_without_stopping() {
    let lab = Lab::with("export default () => console.log(`${__ENV.A} ${typeof __onrush_stop}`)\n");
    let script = lab.path().join("script.js");
    let launch = json!({ "program": "script.js", "cwd": lab.path(), "env": { "A": 7 }, "noDebug": true });
    let mut client = Client::launch(&lab, launch, &[(&script, &[1])]);
    assert_eq!(client.exit_code(), 0);
    assert!(client.output("stderr").contains("7 undefined"), "{}", client.output("stderr"));
    assert!(!client.events.iter().any(|event| event["event"] == "stopped"));
}

/// A run that is not debugged has nothing of it: its functions are as they were written.
#[test]
fn ordinary_runs_have_no_calls() {
    let script = "const f = (a) => a + 1
export default () => console.log(`${f} ${typeof __onrush_stop}`)
";
    let lab = Lab::with(script);
    lab.onrush(&["run", "script.js"]).code(0).says("(a) => a + 1 undefined");
}
