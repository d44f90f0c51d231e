//! `--json`: what each command really prints keeps to its schema in docs/schema, and stands alone on standard output.

mod schema;

use std::path::Path;

use serde_json::{Value, json};

use crate::lab::{Lab, Run};

const SCRIPT: &str = "import http from 'k6/http';
    import { check } from 'k6';
    export const options = { iterations: 20, vus: 2, thresholds: { http_req_duration: ['p(95)<5000'] } };
    export default function () {
      check(http.get(__ENV.TARGET + '/get'), { fine: (r) => r.status === 200 });
      http.get(__ENV.TARGET + '/status/500');
    }";

/// Fails unless the text is one JSON value that keeps to this schema.
#[track_caller]
pub fn keeps_to(name: &str, text: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name);
    let schema = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let schema: Value = serde_json::from_str(&schema).expect("a schema");
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error} in\n{text}"));
    let problems = schema::problems(&schema, &value);
    assert!(problems.is_empty(), "{name}:\n{}\n{text}", problems.join("\n"));
    value
}

#[test]
fn of_a_run() {
    let lab = Lab::with(SCRIPT);
    let run = lab.onrush(&["run", "--json", "--serve", "--save", "saved/a", "script.js"]).code(0);
    let digest = keeps_to("digest-1.json", &run.stdout);
    assert_eq!((&digest["kind"], &digest["exit"]["code"]), (&json!("onrush-digest"), &json!(0)));
    assert_eq!(digest["checks"][0]["passes"], 20);
    assert!(run.stderr.contains("execution: local"), "people read the rest: {}", run.stderr);
    keeps_to("result-2.json", &lab.read("saved/a/result.json"));
    let saved = keeps_to("digest-1.json", &lab.onrush(&["report", "saved/a", "--json"]).code(0).stdout);
    assert_eq!(saved, digest, "the digest of the saved result is the same");

    // The exit code is the one that the process ends with.
    let failed = lab.run(&["--serve", "--json", "--threshold", "http_req_failed: rate<0.1"]).code(99);
    assert_eq!(keeps_to("digest-1.json", &failed.stdout)["exit"]["code"], 99);
    // The summary of a script does not stand between.
    lab.file("own.js", &format!("{SCRIPT}\nexport function handleSummary() {{ return {{ stdout: 'mine' }}; }}"));
    let own = lab.onrush(&["run", "-q", "--json", "--serve", "own.js"]).code(0).says("mine");
    keeps_to("digest-1.json", &own.stdout);
    lab.run(&["--serve", "--json", "--out", "json=-"]).code(255).says("writes to standard output too");

    let server = lab.onrush(&["run", "-q", "--summary-mode", "json", "-n", "1", "http://127.0.0.1:9/"]).code(113);
    let of_url = keeps_to("digest-1.json", &server.stdout);
    assert_eq!(of_url["script"], "http://127.0.0.1:9/");
}

#[test]
fn of_results() {
    let lab = Lab::with(SCRIPT);
    for name in ["a", "b"] {
        lab.run(&["--serve", "--save", &format!("runs/{name}")]).code(0);
    }
    let compare = |a: &str, b: &str, more: &[&str]| {
        let run = lab.onrush(&[&["compare", a, b, "--json"], more].concat());
        assert_eq!(run.code, 2, "{run:?}");
        keeps_to("comparison-1.json", &run.stdout)
    };
    let found = compare("runs/a", "runs/b", &["--fail-on", "p(95) +5%"]);
    assert_eq!(
        (&found["conclusion"], &found["conditions"][0]["condition"]),
        (&json!("cannot tell"), &json!("p(95) +5%"))
    );
    assert!(!found["metrics"].as_array().expect("metrics").is_empty());
    // A run whose generator was the limit is left out.
    let mut late: Value = serde_json::from_str(&lab.read("runs/a/result.json")).expect("a result");
    late["generator"]["judgement"]["verdict"] = json!("INVALID");
    late["generator"]["saturated"] = json!(true);
    std::fs::create_dir(lab.path().join("late")).expect("a folder");
    lab.file("late/result.json", &late.to_string());
    let found = lab.onrush(&["compare", "late,runs/a", "runs/b,runs/b", "--json"]).code(2);
    let found = keeps_to("comparison-1.json", &found.stdout);
    assert!(!found["left_out"].as_array().expect("a list").is_empty(), "{found}");

    let history = keeps_to("history-1.json", &lab.onrush(&["history", "runs", "--json"]).code(0).stdout);
    assert_eq!(history["runs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn of_a_matrix() {
    let lab = Lab::new();
    lab.file(
        "plan.toml",
        "rounds = 2\nwarm_up = '0s'\n[axes]\nsize = ['1k', '8k']\n\
         [load]\nurl = '{base}/body/string/{size}'\nconnections = 2\nrequests = 20\n\
         [[variants]]\nname = 'one'\nserve = {}\n[[variants]]\nname = 'two'\nserve = { flags = ['--workers', '2'] }\n",
    );
    let order = lab.onrush(&["matrix", "--dry-run", "--json", "plan.toml"]).code(0);
    let order = keeps_to("matrix-order-1.json", &order.stdout);
    assert_eq!((&order["runs"], &order["turns"][0]["round"]), (&json!(8), &json!(1)));
    let tables = keeps_to("tables-1.json", &lab.onrush(&["matrix", "-q", "--json", "plan.toml"]).code(0).stdout);
    assert_eq!(tables["rounds"], 2);
    keeps_to("matrix-2.json", &lab.read("plan.matrix.json"));
    let table = |more: &[&str]| lab.onrush(&[&["table", "plan.matrix.json", "--json"], more].concat()).code(0).stdout;
    assert_eq!(keeps_to("tables-1.json", &table(&[])), tables);
    assert_eq!(keeps_to("lines-1.json", &table(&["--layout", "lines"])).as_array().map(Vec::len), Some(8));
    let grids = keeps_to("grids-1.json", &table(&["--rows", "size"]));
    assert_eq!(grids[0]["columns"], json!(["one", "two"]));
}

#[test]
fn of_a_script() {
    let lab = Lab::with(SCRIPT);
    let answer = |schema: &str, arguments: &[&str]| keeps_to(schema, &lab.onrush(arguments).code(0).stdout);
    let inspected = answer("options-1.json", &["inspect", "script.js"]);
    assert_eq!(inspected, answer("options-1.json", &["inspect", "--json", "script.js"]));
    let whole = answer("options-1.json", &["inspect", "--execution-requirements", "script.js"]);
    assert_eq!((&inspected["iterations"], &whole["maxVUs"]), (&json!(20), &json!(2)));
    let modules = answer("dependencies-1.json", &["deps", "--json", "script.js"]);
    assert_eq!(modules["imports"].as_array().map(Vec::len), Some(3), "{modules}");
    let packed = answer("files-1.json", &["archive", "--json", "-O", "test.tar", "script.js"]);
    assert_eq!((&packed["command"], &packed["files"]), (&json!("archive"), &json!(["test.tar"])));
    assert!(lab.path().join("test.tar").exists());
    lab.onrush(&["archive", "--json", "-O", "-", "script.js"]).code(255).says("name a file with -O FILE");

    let objects = lab.onrush(&["k8s", "--agents", "2", "--json", "script.js"]).code(0).stdout;
    let objects: Value = serde_json::from_str(&objects).expect("JSON");
    assert_eq!((&objects["apiVersion"], &objects["kind"]), (&json!("v1"), &json!("List")));
    let items = objects["items"].as_array().expect("objects");
    assert!(items.iter().filter(|item| item["kind"] == "Job").count() == 2, "{objects}");
    assert!(items.iter().all(|item| item["apiVersion"].is_string() && item["metadata"]["name"].is_string()));
}

#[test]
fn of_commands_that_write_files() {
    let lab = Lab::new();
    let answer = |arguments: &[&str]| {
        let found = keeps_to("files-1.json", &lab.onrush(arguments).code(0).stdout);
        assert_eq!(found["command"], arguments[0]);
        let files: Vec<String> = serde_json::from_value(found["files"].clone()).expect("paths");
        assert!(!files.is_empty() && files.iter().all(|file| lab.path().join(file).is_file()), "{found}");
        files
    };
    assert_eq!(answer(&["new", "--json", "mine.js"]), ["mine.js"]);
    assert!(answer(&["types", "--json"]).contains(&String::from("tsconfig.json")));
    assert!(!answer(&["types", "--json"]).contains(&String::from("tsconfig.json")), "it was there already");
    assert!(answer(&["man", "--json", "pages"]).contains(&String::from("pages/onrush-run.1")));
}

#[test]
fn of_a_conversion() {
    let lab = Lab::new();
    lab.file("a.sh", "curl http://h/a\ncurl --http3 http://h/b\ncurl --http3 http://h/c\n");
    let text = keeps_to("conversion-1.json", &lab.onrush(&["convert", "a.sh", "--json"]).code(0).stdout);
    assert_eq!((&text["requests"], &text["script"]), (&json!(1), &Value::Null));
    assert_eq!(text["notes"][0]["count"], 2);
    assert_eq!(text["notes"][0]["places"], json!(["line 2", "line 3"]));
    lab.file("again.js", text["text"].as_str().expect("a script"));
    lab.onrush(&["inspect", "again.js"]).code(0);
    let run = lab.onrush(&["convert", "a.sh", "--json", "-O", "a.js"]).code(0);
    let written = keeps_to("conversion-1.json", &run.stdout);
    assert_eq!((&written["script"], &written["text"]), (&json!("a.js"), &Value::Null));
    assert_eq!(lab.read("a.js"), lab.read("again.js"));
    let Run { stdout, .. } = lab.onrush(&["convert", "none.sh", "--json"]).code(255);
    assert_eq!(stdout, "", "what fails prints no document");
}

#[test]
fn of_the_program() {
    let lab = Lab::new();
    let version = lab.onrush(&["version", "--json"]).code(0).stdout;
    keeps_to("version-1.json", &version);
    assert_eq!(version.lines().count(), 1, "{version}");
    keeps_to("features-1.json", &lab.onrush(&["features", "--json"]).code(0).stdout);
}

#[test]
fn of_a_target() {
    let lab = Lab::new();
    let listen = ["--listen", "tcp://127.0.0.1:0", "--listen", "unix:socket"];
    let serving = lab.start(&[&["serve", "--json"], &listen[..]].concat());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !lab.path().join("socket").exists() {
        assert!(std::time::Instant::now() < end, "the target does not listen");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    lab.onrush(&["run", "-q", "-n", "3", "-c", "1", "--unix-socket", "socket", "http://h/get"]).code(0);
    let pid = rustix::process::Pid::from_raw(serving.pid() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    let run = serving.wait().code(0);
    let (first, last) = run.stdout.trim_end().split_once('\n').expect("two lines");
    let first = keeps_to("serving-1.json", first);
    assert!(first["http"][0].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")), "{first}");
    assert_eq!(first["unix"], json!(["socket"]));
    let last = keeps_to("served-1.json", last);
    assert_eq!(last["counted"]["requests"], 3, "{last}");
}
