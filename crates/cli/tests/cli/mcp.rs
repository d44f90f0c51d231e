//! `onrush mcp`: a client's lines in, answers out, by the real binary: the protocol, each tool, and the bounds of a
//! test.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::lab::Lab;

const SCRIPT: &str = "import http from 'k6/http'
import { check } from 'k6'
export default () => check(http.get(`${__ENV.TARGET}/get`), { 'is 200': (r) => r.status === 200 })
";

/// What a client says first, to have this version of the protocol.
fn greeting(version: &str) -> [String; 2] {
    let client = json!({ "protocolVersion": version, "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } });
    [request(0, "initialize", client), json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()]
}

/// Sends the lines, ends standard input, and reads the answers.
fn told(lab: &Lab, flags: &[&str], lines: &[String]) -> Vec<Value> {
    let mut command = lab.command(&[&["mcp"], flags].concat());
    let mut server =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut input = server.stdin.take().expect("piped");
    lines.iter().for_each(|line| writeln!(input, "{line}").expect("it reads"));
    drop(input);
    let output = server.wait_with_output().expect("it ends with its input");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn request(id: u32, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Calls one tool; its result.
fn call(lab: &Lab, flags: &[&str], tool: &str, arguments: Value) -> Value {
    let [hello, begin] = greeting("2025-06-18");
    let called = request(1, "tools/call", json!({ "name": tool, "arguments": arguments }));
    let answers = told(lab, flags, &[hello, begin, called]);
    answers[1]["result"].clone()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

#[test]
fn it_speaks_the_protocol() {
    let lab = Lab::new();
    let [hello, begin] = greeting("2025-03-26");
    let lines = [
        hello,
        begin,
        request(2, "tools/list", json!({})),
        request(3, "ping", json!({})),
        request(4, "no/such", json!({})),
        String::from("{ no JSON"),
        request(5, "tools/call", json!({ "name": "no_such_tool", "arguments": {} })),
    ];
    let mut answers = told(&lab, &[], &lines);
    let unread = answers.iter().position(|answer| answer["id"].is_null()).expect("an answer to what is no JSON");
    assert_eq!(answers.remove(unread)["error"]["code"], -32700);
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.iter().map(|answer| answer["id"].as_u64()).collect::<Vec<_>>(), [0, 2, 3, 4, 5].map(Some));
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "onrush");
    let tools = answers[1]["result"]["tools"].as_array().expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["validate_script", "run_test", "explain_result", "compare_results"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
    assert_eq!(answers[2]["result"], json!({}));
    assert_eq!([3, 4].map(|at| answers[at]["error"]["code"].as_i64()), [-32601, -32602].map(Some));
    let newest = told(&lab, &[], &greeting("1999-01-01"));
    assert!(newest[0]["result"]["protocolVersion"].as_str() > Some("2025-06-18"), "{newest:?}");
}

/// A client that calls before it greets learns why the server ends.
#[test]
fn a_client_that_does_not_greet_is_told_so() {
    let lab = Lab::new();
    let mut command = lab.command(&["mcp"]);
    let mut server =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut input = server.stdin.take().expect("piped");
    writeln!(input, "{}", request(1, "tools/list", json!({}))).expect("it reads");
    drop(input);
    let output = server.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("expected a client's request 'initialize'"), "{said}");
}

#[test]
fn scripts_are_validated_with_the_place_of_what_is_wrong() {
    let lab = Lab::with("export const options = { vus: 3, duration: '7s' }\nexport default () => {}\n");
    let fine = call(&lab, &[], "validate_script", json!({ "script": "script.js" }));
    assert_eq!(fine["isError"], false);
    assert_eq!(text(&fine), "valid: at most 3 virtual users for 37s");
    assert_eq!(fine["structuredContent"]["options"]["maxVUs"], 3);
    let wrong = call(&lab, &[], "validate_script", json!({ "source": "export default () => {\n  let = ;\n}" }));
    assert_eq!(wrong["isError"], true);
    assert!(text(&wrong).contains("script.js:2:"), "{}", text(&wrong));
    let both = call(&lab, &[], "validate_script", json!({ "script": "a", "source": "b" }));
    assert!(text(&both).starts_with("expected one of script"), "{}", text(&both));
}

#[test]
fn a_test_runs_is_explained_and_is_compared() {
    let lab = Lab::with(SCRIPT);
    let run = |dir: &str| {
        let arguments = json!({ "script": "script.js", "iterations": 5, "serve": true, "save": dir,
            "thresholds": ["http_reqs: count>9"] });
        call(&lab, &[], "run_test", arguments)
    };
    let ran = run("a");
    let value = &ran["structuredContent"];
    assert_eq!((&ran["isError"], &value["exit"]["code"]), (&json!(false), &json!(99)), "{ran}");
    assert_eq!(value["checks"][0]["passes"], 5);
    assert_eq!(
        value["thresholds"][0],
        json!({ "metric": "http_reqs", "source": "count>9", "ok": false, "value": 5.0, "inside": false })
    );
    assert!(text(&ran).contains("**failed: 1 of 1 threshold did not hold**"), "{}", text(&ran));
    run("b");
    let explained = call(&lab, &[], "explain_result", json!({ "result": "a" }));
    assert_eq!(explained["structuredContent"]["started_at"], value["started_at"]);
    let compared = call(&lab, &[], "compare_results", json!({ "a": "a", "b": "b", "fail_on": ["p(95) +5%"] }));
    assert_eq!(compared["structuredContent"]["conclusion"], "cannot tell", "{compared}");
    assert!(text(&compared).contains("p(95) +5% cannot tell"), "{}", text(&compared));
    let missing = call(&lab, &[], "explain_result", json!({ "result": "none" }));
    assert_eq!(missing["isError"], true);
}

/// The block of documentation, 192.0.2.0/24, belongs to nobody: what is allowed fails in another way, or times out.
#[test]
fn a_test_has_bounds() {
    let lab = Lab::new();
    let away = "import http from 'k6/http'
export default () => { const r = http.get('http://192.0.2.1/', { timeout: '50ms' }); console.warn(r.error) }";
    let arguments = json!({ "source": away, "iterations": 1 });
    let refused = call(&lab, &[], "run_test", arguments.clone());
    let log = refused["structuredContent"]["log"].as_str().expect("a log");
    assert!(log.contains("192.0.2.1") && log.contains("blacklist"), "{log}");
    let allowed = call(&lab, &["--allow-host", "192.0.2.0/24"], "run_test", arguments);
    let log = allowed["structuredContent"]["log"].as_str().expect("a log");
    assert!(!log.contains("blacklist"), "{log}");
    let endless = json!({ "source": "import { sleep } from 'k6'\nexport default () => sleep(0.01)", "duration": "1h" });
    let ended = call(&lab, &["--max-duration", "500ms"], "run_test", endless);
    assert_eq!(ended["structuredContent"]["ended_by_max_duration"], true, "{ended}");
    assert_eq!(ended["structuredContent"]["exit"]["code"], 105);
    let own = "import http from 'k6/http'
export const options = { rps: 7, blacklistIPs: ['127.0.0.0/8'] }
export default () => http.get(`${__ENV.TARGET}/get`)";
    let narrow =
        call(&lab, &[], "run_test", json!({ "source": own, "iterations": 1, "serve": true, "save": "narrow" }));
    let result: Value = serde_json::from_str(&lab.read("narrow/result.json")).expect("a result");
    assert_eq!(result["options"]["rps"], 7, "the script's own bounds hold where they are narrower");
    assert!(narrow["structuredContent"]["log"].as_str().expect("a log").contains("blacklist"), "{narrow}");
    let stuck = call(&lab, &["--max-duration", "300ms"], "validate_script", json!({ "source": "for (;;) {}" }));
    assert_eq!(stuck["isError"], true, "{stuck}");
    let many = call(&lab, &["--max-vus", "5"], "run_test", json!({ "source": "export default () => {}", "vus": 6 }));
    assert_eq!(text(&many), "vus: found 6, expected at most 5, by --max-vus of this server");
    let bad = lab.onrush(&["mcp", "--max-duration", "5"]).code(255);
    bad.says("--max-duration: found '5', expected a time, such as 30s or 5m");
}
