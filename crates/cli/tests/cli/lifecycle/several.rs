//! Several scripts as one test: side by side or in order, each with its own options, thresholds and result; one exit
//! code, and a line for each below the summaries.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::lab::{Lab, Run, begin, finish};
use crate::peer::{Peer, Then, say, wait_until};

/// Asks for its path so often, with a pause, and then does what `last` says.
fn script(path: &str, vus: u32, options: &str, last: &str) -> String {
    format!(
        "import http from 'k6/http'; import {{ check, sleep }} from 'k6'; import exec from 'k6/execution';
         export const options = {{ scenarios: {{ default: {{
           executor: 'per-vu-iterations', vus: {vus}, iterations: 10 }} }}, {options} }};
         export default function () {{
           check(http.get(__ENV.URL + '{path}'), {{ ok: (r) => r.status === 200 }});
           sleep(0.1);
           {last}
         }}
         export function teardown() {{ console.log('teardown of {path}'); }}"
    )
}

fn peer() -> Peer {
    Peer::on_tcp(|socket, _| {
        say(socket, "yes");
        Then::Next
    })
}

fn run(lab: &Lab, peer: &Peer, arguments: &[&str]) -> Run {
    let url = format!("URL={}", peer.url);
    lab.onrush(&[&["run", "-q", "-e", &url], arguments].concat())
}

fn result(lab: &Lab, folder: &str) -> Value {
    serde_json::from_str(&lab.read(&format!("{folder}/result.json"))).expect("JSON")
}

fn count(result: &Value, metric: &str) -> u64 {
    let all = result["metrics"].as_array().expect("metrics");
    let metric = all.iter().find(|one| one["name"] == metric && one["filter"].is_null()).expect("its metric");
    metric["value"]["count"].as_f64().unwrap_or_else(|| panic!("{metric}")) as u64
}

/// How often the path is another one than before.
fn turns(paths: &[String]) -> usize {
    paths.windows(2).filter(|two| two[0] != two[1]).count()
}

#[test]
fn scripts_run_side_by_side_or_one_after_the_other() {
    let lab = Lab::new();
    lab.file("a.js", &script("/a", 2, "", ""));
    lab.file("b.js", &script("/b", 3, "", ""));
    for (order, most_turns) in
        [(&["a.js", "--save", "r", "b.js"][..], usize::MAX), (&["--in-order", "a.js", "b.js"], 1)]
    {
        let peer = peer();
        let run = run(&lab, &peer, order).code(0);
        let paths = peer.paths();
        assert_eq!([peer.count("/a"), peer.count("/b")], [20, 30]);
        let turns = turns(&paths);
        assert!(turns <= most_turns && (most_turns == 1 || turns > 1), "{turns} turns, {paths:?}");
        run.prints("script: a.js")
            .prints("script: b.js")
            .prints("all 2 scripts: ")
            .prints("20 iterations, 20 requests")
            .prints("30 iterations, 30 requests, 0.00 % failed")
            .says("teardown of /a")
            .says("teardown of /b");
    }
    assert_eq!(["r/a", "r/b"].map(|folder| count(&result(&lab, folder), "http_reqs")), [20, 30]);
    assert_eq!(result(&lab, "r/a")["script"], "a.js");
}

#[test]
fn the_first_script_that_failed_gives_the_exit_code() {
    let lab = Lab::new();
    lab.file("good.js", &script("/good", 1, "thresholds: { checks: ['rate==1'] }", ""));
    lab.file("crossed.js", &script("/crossed", 1, "thresholds: { checks: ['rate<0.5'] }", ""));
    lab.file("aborts.js", &script("/aborts", 1, "", "exec.test.abort('enough');"));
    lab.file("broken.js", "export default function () {");
    let peer = peer();
    let code = |scripts: &[&str], code| run(&lab, &peer, &[&["--save", "r"], scripts].concat()).code(code);
    let crossed = code(&["good.js", "crossed.js", "aborts.js"], 99);
    crossed
        .prints("all 3 scripts: 2 failed")
        .prints("thresholds have been crossed (exit code 99)")
        .prints("the script aborted the test (exit code 108)")
        .prints("1 threshold held")
        .prints("1 of 1 threshold did not hold")
        .says("thresholds on metrics 'checks' have been crossed");
    assert_eq!(result(&lab, "r/crossed")["exit"]["code"], 99);
    // One that fails does not keep those after it from running.
    let aborted = code(&["--in-order", "aborts.js", "crossed.js", "good.js"], 108);
    aborted.prints("all 3 scripts: 2 failed").prints("good.js     passed");
    let broken = code(&["broken.js", "good.js"], 107);
    broken.prints("broken.js  the script threw an exception outside of an iteration (exit code 107); it has no result");
}

#[test]
fn each_has_flags_of_its_own_kind_and_standard_input_is_one_of_them() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path().join("more")).expect("a folder");
    lab.file("a.js", &script("/a", 1, "", ""));
    lab.file("more/a.js", &script("/more", 1, "", ""));
    lab.file("in.js", &script("/in", 1, "", ""));
    let peer = peer();
    let url = format!("URL={}", peer.url);
    let arguments = ["run", "-q", "a.js", "-e", &url, "-", "--save=r", "more/a.js", "--once", "--label", "x=y"];
    let mut command = lab.command(&arguments);
    command.stdin(std::fs::File::open(lab.path().join("in.js")).expect("it is there"));
    finish(command).code(0).prints("all 3 scripts: passed").prints("script: -");
    assert_eq!(["/a", "/more", "/in"].map(|path| peer.count(path)), [1, 1, 1], "--once is for each");
    let scripts = ["r/a", "r/stdin", "r/a-2"].map(|folder| result(&lab, folder)["script"].clone());
    assert_eq!(scripts, ["a.js", "-", "more/a.js"]);
    assert_eq!(result(&lab, "r/a-2")["labels"]["x"], "y");
    let quiet = run(&lab, &peer, &["--once", "--summary-mode", "disabled", "a.js", "more/a.js"]).code(0);
    assert_eq!(quiet.stdout, "", "no summary was wanted");
}

#[test]
fn a_signal_ends_all_of_them_as_it_would_end_one() {
    let lab = Lab::new();
    let endless = |path: &str| script(path, 1, "", "").replace("iterations: 10", "iterations: 100000");
    lab.file("a.js", &endless("/a"));
    lab.file("b.js", &endless("/b"));
    lab.file("c.js", &endless("/c"));
    for order in [&["a.js", "b.js"][..], &["--in-order", "a.js", "b.js", "c.js"]] {
        let peer = peer();
        let url = format!("URL={}", peer.url);
        let run = begin(lab.command(&[&["run", "-q", "-e", &url, "--save", "r"], order].concat()));
        let waits_for = if order.len() > 2 { &["/a"][..] } else { &["/a", "/b"] };
        wait_until("their requests", || waits_for.iter().all(|path| peer.count(path) > 3));
        let kill = Command::new("kill").args(["-INT", &run.pid().to_string()]).stdout(Stdio::null()).status();
        assert!(kill.expect("kill runs").success());
        let run = run.wait().code(105).says("teardown of /a").prints("the test was stopped by a signal");
        assert!(count(&result(&lab, "r/a"), "iterations") > 0);
        if order.len() > 2 {
            run.prints("2 did not run: the test was stopped");
            assert_eq!(peer.count("/b"), 0);
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let lab = Lab::new();
    lab.file("a.js", &script("/a", 1, "", ""));
    lab.file("b.js", &script("/b", 1, "", ""));
    std::fs::create_dir(lab.path().join("folder")).expect("a folder");
    let peer = peer();
    for (arguments, says) in [
        (&["a.js", "none.js"][..], "none.js: cannot read the script: No such file or directory"),
        (&["a.js", "b.js", "./a.js"], "found ./a.js twice: for more of the same load, give it more users"),
        (&["-", "a.js", "-"], "found - twice: standard input can be read once"),
        (&["a.js", "folder"], "folder: found a folder, expected a script"),
        (&["--in-order", "a.js"], "--in-order: found one script, a.js, expected several"),
        (&["a.js", "b.js", "--address", "127.0.0.1:0"], "--address: found several scripts: two runs cannot be led"),
        (&["a.js", "b.js", "--web"], "--web: found several scripts: two runs cannot share a page"),
        (&["a.js", "b.js", "--summary-export", "x"], "--summary-export: found several scripts: each run would write"),
        (&["a.js", "b.js", "--agents", "2"], "--agents: found several scripts: a fleet runs one script"),
        (&["a.js", "b.js", "--json"], "--json: found several scripts: there is one document for each script"),
        (&["a.js", "b.js", "-o", "json=x"], "--out json=x: found several scripts: each run would write this file"),
        (&["a.js", "b.js", "--nonsense"], "unexpected argument '--nonsense'"),
    ] {
        run(&lab, &peer, arguments).code(255).says(says);
    }
    let mut command = lab.command(&["run", "a.js", "b.js"]);
    command.env("K6_ADDRESS", "127.0.0.1:0");
    finish(command).code(255).says("K6_ADDRESS: found several scripts: two runs cannot be led at one address");
    assert_eq!(peer.count("/"), 0);
}
