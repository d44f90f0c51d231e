//! `onrush matrix` and `onrush table`: real servers and loads, short runs; what goes wrong is marked, said and
//! survived.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::Lab;

/// Two settings of the built-in target; runs of 300 requests.
const PLAN: &str = r#"
rounds = 2
warm_up = "0s"
[axes]
size = ["1k", { name = "8k", bytes = 8192 }]
[load]
url = "{base}/bytes/{size.bytes}"
connections = 2
requests = 300
[[variants]]
name = "one"
serve = {}
[[variants]]
name = "two"
serve = { flags = ["--workers", "2"] }
"#;

fn plan() -> String {
    PLAN.replace("\"1k\"", "{ name = \"1k\", bytes = 1024 }")
}

fn result(lab: &Lab) -> Value {
    serde_json::from_str(&lab.read("plan.matrix.json")).expect("JSON")
}

fn runs(result: &Value) -> &Vec<Value> {
    result["runs"].as_array().expect("a list")
}

#[test]
fn variants_run_by_turns_in_every_cell() {
    let lab = Lab::new();
    lab.file("plan.toml", &plan());
    let run =
        lab.onrush(&["matrix", "-q", "plan.toml"]).code(0).prints("size  variant").says("result: plan.matrix.json");
    assert!(
        run.stdout.contains("no best yet, because 2 rounds are valid and it takes 6 to tell two apart"),
        "{}",
        run.stdout
    );
    let result = result(&lab);
    assert_eq!((&result["kind"], &result["schema"]), (&Value::from("onrush-matrix"), &Value::from(2)));
    let runs = runs(&result);
    assert_eq!(runs.len(), 8);
    for (at, run) in runs.iter().enumerate() {
        assert_eq!((&run["outcome"], &run["position"]), (&Value::from("ok"), &Value::from(at + 1)), "{run}");
        let metrics = run["result"]["metrics"].as_array().expect("metrics");
        let times = metrics.iter().find(|m| m["name"] == "http_req_duration").expect("kept");
        assert!(times["value"]["counts"].as_str().is_some_and(|counts| !counts.is_empty()), "a histogram");
        assert_eq!(run["result"]["labels"]["variant"], run["variant"]);
        assert!(
            run["result"]["script"].as_str().is_some_and(|url| url.starts_with("{base}/bytes/")),
            "the plan's, not a port"
        );
        assert!(run["server"]["peak_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{}", run["server"]);
    }
    // A B in the first round of a cell, B A in the second.
    let of_cell = |round: u32| {
        let in_cell = runs.iter().filter(|run| run["axes"]["size"] == "1k" && run["round"] == round);
        in_cell.map(|run| run["variant"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (first, mut second) = (of_cell(1), of_cell(2));
    second.reverse();
    assert_eq!(first, second);
    let bytes_of = |size: &str| {
        let run = runs.iter().find(|run| run["axes"]["size"] == size).expect("there");
        let metrics = run["result"]["metrics"].as_array().unwrap();
        let count =
            |name: &str| metrics.iter().find(|m| m["name"] == name).unwrap()["value"]["count"].as_f64().unwrap();
        count("data_received") / count("http_reqs")
    };
    assert!(bytes_of("8k") > 8192.0 && bytes_of("1k") < 2048.0, "fields of an axis fill templates");
    shown_again(&lab);
}

fn shown_again(lab: &Lab) {
    let table = |arguments: &[&str]| lab.onrush(&[&["table", "plan.matrix.json"], arguments].concat());
    table(&["--format", "markdown", "--group-by", "size"]).code(0).prints("### size=1k\n\n| variant | http\\_reqs/s |");
    table(&["--format", "html", "-o", "page.html"]).code(0);
    let page = lab.read("page.html");
    assert!(page.starts_with("<!doctype html>") && page.matches("<figure").count() == 4, "{page}");
    table(&["--format", "csv"]).code(0).prints("size,variant,rate,lowest,highest,");
    let lines = table(&["--layout", "lines"]).code(0).stdout;
    assert_eq!(lines.lines().count(), 8);
    assert!(lines.lines().all(|line| line.starts_with("plan size=")), "{lines}");
    let json: Value = serde_json::from_str(&table(&["--format", "json"]).code(0).stdout).expect("JSON");
    assert_eq!(json["groups"].as_array().map(Vec::len), Some(2));
    table(&["--group-by", "sise"]).code(255).says("--group-by: unknown axis 'sise', expected some of size, variant");
    table(&["--format", "xml"]).code(255).says("--format: found 'xml', expected text, markdown, csv, json, html");
    table(&["--percentiles", "101"])
        .code(255)
        .says("--percentiles: found '101', expected numbers above 0 and up to 100");
    lab.file("other.json", "{\"kind\":\"onrush-matrix\",\"schema\":3}");
    lab.onrush(&["table", "other.json"])
        .code(255)
        .says("other.json: found schema 3, this version reads schemas 1 and 2");
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let lab = Lab::new();
    let refused = |from: &str, to: &str, complaint: &str| {
        let text = plan().replacen(from, to, 1);
        assert_ne!(text, plan(), "{from}");
        lab.file("plan.toml", &text);
        lab.onrush(&["matrix", "plan.toml"]).code(104).says(complaint);
    };
    refused("{size.bytes}", "{sise}", "plan.toml:7:8: unknown name {sise}: the axes are size; also {variant}, {base}");
    refused(
        "rounds = 2",
        "rouns = 2",
        "plan.toml:2:1: unknown field `rouns`, expected one of `name`, `seed`, `rounds`",
    );
    refused("rounds = 2", "rounds = \"two\"", "plan.toml:2:10: invalid type: string \"two\", expected u32");
    refused("rounds = 2", "rounds = 0", "plan.toml:2:1: rounds: found 0, expected 1 or more");
    refused("requests = 300", "requests = 0", "requests: found '0', expected a whole number, 1 or more");
    refused("requests = 300", "duration = \"150ms\"", "duration: found 150ms, expected 1s or more");
    refused("[[variants]]", "[[variants]", "plan.toml:10:");
    refused("rounds = 2", "pin = { server = [999] }", "pin.server: core 999 cannot be used here, those that can are 0");
    lab.file("plan.toml", "rounds = 1\n[load]\nurl = 'http://127.0.0.1:1/'\n");
    lab.onrush(&["matrix", "plan.toml"])
        .code(104)
        .says("plan.toml: there are no variants: expected one or more [[variants]]");
    lab.onrush(&["matrix", "nowhere.toml"]).code(255).says("cannot read the plan nowhere.toml: No such file");
    lab.file("plan.toml", &plan());
    lab.onrush(&["matrix", "plan.toml", "--only", "size=2k"])
        .code(255)
        .says("--only: found 'size=2k', expected one of 1k, 8k");
    lab.onrush(&["matrix", "plan.toml", "--group-by", "x"]).code(255).says("--group-by: unknown axis 'x'");
    assert!(!lab.path().join("plan.matrix.json").exists(), "nothing ran");
    lab.onrush(&["matrix", "plan.toml", "-o", "no/where.json"])
        .code(255)
        .says("cannot write the matrix's result no/where.json: No such file or directory");
}

#[test]
fn a_dry_run_tells_the_order_and_does_nothing() {
    let lab = Lab::new();
    lab.file("plan.toml", &plan());
    let said = lab
        .onrush(&["matrix", "--dry-run", "--rounds", "3", "--duration", "2s", "--seed", "4", "plan.toml"])
        .code(0)
        .stdout;
    assert!(said.starts_with("plan: 2 variants in 2 cells, 3 rounds: 12 runs, about 26s, more where"), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("round ")).count(), 6, "{said}");
    let again =
        lab.onrush(&["matrix", "--dry-run", "--rounds", "3", "--duration", "2s", "--seed", "4", "plan.toml"]).stdout;
    assert_eq!(said, again);
    let few = lab.onrush(&["matrix", "--dry-run", "--only", "variant=two,size=1k", "plan.toml"]).code(0).stdout;
    assert!(few.contains("1 variant in 1 cell,") && few.contains("round 2 size=1k: two"), "{few}");
}

/// The built-in target as a command of the user.
const SERVER: &str = "{onrush} serve --listen tcp://127.0.0.1:{port}";

fn small(variants: &str) -> String {
    format!(
        "rounds = 1\nwarm_up = \"0s\"\n[load]\nurl = \"{{base}}/bytes/10\"\nconnections = 1\nrequests = \
         100\n{variants}\n\
         [[variants]]\nname = \"good\"\nserve = {{}}\n"
    )
}

#[test]
fn what_fails_is_marked_and_the_rest_goes_on() {
    let dying = format!("{SERVER} & pid=$!; sleep 0.5; echo dying now; kill -9 $pid; exit 7");
    let lab = Lab::new();
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("bound").port();
    lab.file(
        "plan.toml",
        &small(&format!(
            "[[variants]]\nname = \"broken\"\ncommand = \"echo no such module; exit 3\"\n\
             [[variants]]\nname = \"dying\"\ncommand = \"{dying}\"\nload = {{ duration = \"20s\" }}\n\
             [[variants]]\nname = \"taken\"\nport = {port}\ncommand = \"{SERVER}\"\n\
             [[variants]]\nname = \"missing\"\ncommand = [\"./no-such-program\"]\n\
             [[variants]]\nname = \"late\"\ncommand = \"sleep 60\"\nready = {{ timeout = \"100ms\" }}\n\
             [[variants]]\nname = \"down\"\naddress = \"http://127.0.0.1:1\"\n\
             [[variants]]\nname = \"refusing\"\nserve = {{}}\nload = {{ url = \"{{base}}/status/500\" }}"
        )),
    );
    let run = lab.onrush(&["matrix", "plan.toml"]).code(112);
    for said in [
        "variant=broken: ✗ the server ended before it was ready: exit code 3\n    no such module",
        "variant=dying: ✗ the server died during the run: exit code 7",
        "    dying now",
        &format!("variant=taken: ✗ port {port} is taken by process {} (", std::process::id()),
        "variant=missing: ✗ the server ended before it was ready: exit code 127\n    ",
        "variant=late: ✗ the server was not ready after 0.1 s: 127.0.0.1:",
        "variant=down: ✗ nothing answers at http://127.0.0.1:1: Connection refused",
        "variant=refusing: ✗ ",
        " requests failed",
    ] {
        assert!(run.stderr.contains(said), "expected {said:?} in\n{}", run.stderr);
    }
    let result = result(&lab);
    let outcome = |variant: &str| {
        let run = runs(&result).iter().find(|run| run["variant"] == variant).expect("recorded");
        run["outcome"].as_str().unwrap().to_owned()
    };
    let all = ["broken", "dying", "taken", "missing", "late", "down", "refusing", "good"].map(outcome);
    assert_eq!(all, ["dead", "dead", "dead", "dead", "dead", "dead", "failed", "ok"]);
}

#[test]
fn loads_may_be_other_programs_and_scripts() {
    let lab = Lab::new();
    lab.file(
        "load.js",
        "import http from 'k6/http';\nexport default () => http.get(`${__ENV.BASE}/bytes/${__ENV.SIZE}`);\n",
    );
    lab.file("idle.js", "export default () => {};\n");
    let variant = |name: &str, load: &str| format!("[[variants]]\nname = \"{name}\"\nload = {{ {load} }}\n");
    let figures = "figures = ['Requests/sec: (?<rate>\\S+) p99 (?<p99>\\S+)']";
    lab.file(
        "plan.toml",
        &format!(
            "rounds = 1\nwarm_up = \"0s\"\n[axes]\nsize = [100]\n[server]\nserve = {{}}\n[load]\nduration = \
             \"1s\"\n{}{}{}{}{}",
            variant("script", "script = \"load.js\", connections = 2, requests = 50"),
            variant(
                "program",
                &format!("command = \"echo {{seconds}} $SIZE Requests/sec: 1234.5 p99 1.5ms\", {figures}")
            ),
            variant("silent", &format!("command = \"echo nothing\", {figures}")),
            variant("zero", &format!("command = [\"echo\", \"Requests/sec: 0 p99 1\"], {figures}")),
            variant("idle", "script = \"idle.js\", connections = 1, requests = 5"),
        ),
    );
    let run = lab.onrush(&["matrix", "plan.toml"]).code(112);
    for said in [
        "variant=program: 1234.5 http_reqs/s",
        "variant=silent: ✗ the output has no rate: nothing in it matches Requests/sec:",
        "variant=zero: ✗ the output has a rate of 0: no request was made",
        "variant=idle: ✗ nothing was measured: the metric 'http_reqs' has no samples; did the load make requests?",
    ] {
        assert!(run.stderr.contains(said), "expected {said:?} in\n{}", run.stderr);
    }
    let result = result(&lab);
    let of = |variant: &str| runs(&result).iter().find(|run| run["variant"] == variant).expect("recorded").clone();
    assert_eq!(of("program")["figures"]["percentiles_ms"]["99"], 1.5);
    assert!(of("program")["machine"]["cores"].as_u64().is_some_and(|cores| cores > 0), "the machine meanwhile");
    assert_eq!((&of("script")["outcome"], &of("silent")["output"]), (&"ok".into(), &serde_json::json!(["nothing"])));
}

#[test]
fn a_module_may_export_the_plan() {
    let lab = Lab::new();
    let text = "const sizes = [1].map((n) => n * 10)\nexport default {\n  rounds: 1, warm_up: '1s', axes: { size: \
        sizes },\n  \
                load: { url: '{base}/bytes/{size}', requests: 100 },\n  variants: [{ name: 'a', serve: {} }],\n}\n";
    lab.file("plan.js", text);
    lab.onrush(&["matrix", "-q", "plan.js"]).code(0).prints("size  variant");
    let result = result(&lab);
    assert_eq!(runs(&result)[0]["axes"]["size"], "10");
    assert!(result["timing"]["warm_up_s"].as_f64().is_some_and(|seconds| seconds >= 1.0), "{}", result["timing"]);
    lab.file("bad.js", &text.replace("rounds", "rouns"));
    lab.onrush(&["matrix", "bad.js"])
        .code(104)
        .says("bad.js: the plan that it exports: unknown field `rouns`, expected one of");
    lab.file("none.js", "export const plan = {}\n");
    lab.onrush(&["matrix", "none.js"]).code(107);
}

/// A plan whose server leaves its process number in a file.
fn traced() -> String {
    small(&format!("[[variants]]\nname = \"traced\"\ncommand = \"echo $$ > {{folder}}/pid; exec {SERVER}\""))
        .replace("rounds = 1", "rounds = 50")
}

fn wait_for_runs(path: &Path, count: usize) {
    let end = Instant::now() + Duration::from_secs(60);
    let recorded = || std::fs::read_to_string(path).map_or(0, |text| text.matches("\"outcome\"").count());
    while recorded() < count {
        assert!(Instant::now() < end, "no runs in {}", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn assert_gone(lab: &Lab) {
    let pid = lab.read("pid").trim().to_owned();
    let end = Instant::now() + Duration::from_secs(20);
    let runs = || std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("serve"));
    while runs() {
        assert!(Instant::now() < end, "the server {pid} is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn an_interrupted_matrix_keeps_what_is_done_and_goes_on() {
    let lab = Lab::new();
    lab.file("plan.toml", &traced());
    let matrix = lab.start(&["matrix", "plan.toml"]);
    wait_for_runs(&lab.path().join("plan.matrix.json"), 3);
    signal(matrix.pid(), "INT");
    matrix.wait().code(105).says("interrupted: finished runs are kept; --resume continues");
    assert_gone(&lab);
    let kept = runs(&result(&lab)).len();
    assert!((2..100).contains(&kept) && kept.is_multiple_of(2), "whole turns: {kept}");
    let rounds = (kept / 2 + 1).to_string();
    lab.onrush(&["matrix", "plan.toml"]).code(255).says("plan.matrix.json exists already: --resume continues it");
    lab.onrush(&["matrix", "plan.toml", "--resume", "--rounds", &rounds]).code(104).says(&format!(
        "the plan is not the one of plan.matrix.json; runs of two plans cannot be paired:\n  rounds: \
            50 there, {rounds} now"
    ));
    let written = lab.read("plan.matrix.json");
    let machine =
        written.split("\"machine_id\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("told").to_owned();
    lab.file("plan.matrix.json", &written.replace(&machine, "another"));
    lab.onrush(&["matrix", "plan.toml", "--resume"])
        .code(104)
        .says("--resume: plan.matrix.json was begun on another machine");
    lab.file("plan.matrix.json", &written.replacen("\"schema\":2", "\"schema\":3", 1));
    lab.onrush(&["matrix", "plan.toml", "--resume"])
        .code(104)
        .says("plan.matrix.json: found schema 3, this version reads schemas 1 and 2");
    lab.file("plan.matrix.json", &written);
    lab.file("plan.toml", &traced().replace("connections = 1", "connections = 2"));
    lab.onrush(&["matrix", "plan.toml", "--resume"]).code(104).says("\n  load.connections: 1 there, 2 now\nundo that");
}

#[test]
fn resuming_makes_what_is_missing_and_more_rounds() {
    let lab = Lab::new();
    lab.file("plan.toml", &traced().replace("rounds = 50", "rounds = 1"));
    lab.onrush(&["matrix", "-q", "plan.toml"]).code(0);
    let first = result(&lab);
    lab.onrush(&["matrix", "plan.toml", "--resume", "--rounds", "2"]).code(0).says("4 runs, 2 of them left");
    let second = result(&lab);
    assert_eq!(runs(&second)[..2], runs(&first)[..]);
    assert_eq!(runs(&second).len(), 4);
    assert_eq!(runs(&second)[3]["position"], 4);
}

#[test]
fn commands_run_around_cells_and_processes_on_their_cores() {
    let lab = Lab::new();
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("there").trim();
    let core = allowed.split([',', '-']).next().expect("one").to_owned();
    let cores = |file: &str| format!("grep Cpus_allowed_list /proc/self/status > {{folder}}/{file}");
    lab.file(
        "plan.toml",
        &format!(
            "rounds = 1\nwarm_up = \"0s\"\npin = {{ server = [{core}], load = [{core}] }}\nenv = {{ WHERE = \
             \"{{size}}\" }}\n\
             setup = [\"echo setup > {{folder}}/log\"]\nteardown = [\"echo teardown >> {{folder}}/log\"]\n\
             before_cell = [\"echo before {{size}} $SIZE >> {{folder}}/log\"]\nafter_cell = [\"echo after >> \
             {{folder}}/log\"]\n\
             [axes]\nsize = [7]\n[load]\ncommand = \"echo load $WHERE $BASE >> {{folder}}/log; {load}; echo rate=5\"\n\
             figures = [\"rate=(?<rate>.)\"]\nduration = \"1s\"\n\
             [[variants]]\nname = \"v\"\ncommand = \"{server}; exec {SERVER}\"\n",
            load = cores("load"),
            server = cores("server"),
        ),
    );
    lab.onrush(&["matrix", "-q", "plan.toml"]).code(0);
    let log = lab.read("log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!([lines[0], lines[1], lines[3], lines[4]], ["setup", "before 7 7", "after", "teardown"], "{log}");
    assert!(lines[2].starts_with("load 7 http://127.0.0.1:"), "{log}");
    for file in ["server", "load"] {
        let found = lab.read(file);
        assert_eq!(found.split_whitespace().last(), Some(core.as_str()), "{file}: {found}");
    }
    lab.file("plan.toml", &small("").replace("rounds = 1", "rounds = 1\nsetup = [\"echo no database; exit 4\"]"));
    lab.onrush(&["matrix", "-q", "--force", "plan.toml"])
        .code(255)
        .says("setup or teardown: 'echo no database; exit 4' failed with exit code 4\nno database");
}

#[test]
fn failed_runs_are_made_again_when_asked_for() {
    let lab = Lab::new();
    let first = format!("test -e {{folder}}/there || exit 1; exec {SERVER}");
    lab.file("plan.toml", &small(&format!("[[variants]]\nname = \"first\"\ncommand = \"{first}\"")));
    lab.onrush(&["matrix", "-q", "plan.toml"]).code(112);
    lab.file("there", "");
    lab.onrush(&["matrix", "-q", "plan.toml", "--resume"]).code(112).prints("✗ round 1 of first is left out: ");
    lab.onrush(&["matrix", "-q", "plan.toml", "--resume", "--retry"]).code(0);
    assert!(runs(&result(&lab)).iter().all(|run| run["outcome"] == "ok"));
}

#[test]
fn servers_end_even_when_the_matrix_is_killed() {
    let lab = Lab::new();
    lab.file("plan.toml", &traced().replace("requests = 100", "duration = \"30s\""));
    let matrix = lab.start(&["matrix", "-q", "--only", "variant=traced", "plan.toml"]);
    let end = Instant::now() + Duration::from_secs(60);
    while std::fs::read_to_string(lab.path().join("pid")).map_or(true, |text| text.trim().is_empty()) {
        assert!(Instant::now() < end, "the server does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    signal(matrix.pid(), "KILL");
    assert_eq!(matrix.wait().code, -1);
    assert_gone(&lab);
}
