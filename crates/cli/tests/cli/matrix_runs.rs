//! Runs of a matrix: generated bodies, short warm-ups, what failed runs keep, what is said before the first one.

use serde_json::Value;

use crate::lab::Lab;

fn result(lab: &Lab) -> Value {
    serde_json::from_str(&lab.read("plan.matrix.json")).expect("JSON")
}

fn metric<'a>(run: &'a Value, name: &str) -> &'a Value {
    let metrics = run["result"]["metrics"].as_array().expect("metrics");
    let found = metrics.iter().find(|metric| metric["name"] == name && metric["filter"].is_null());
    &found.unwrap_or_else(|| panic!("{name} in {metrics:?}"))["value"]
}

#[test]
fn a_body_of_a_size_is_generated_and_whole() {
    let lab = Lab::new();
    // The app refuses a body that is not the pattern.
    lab.file(
        "app.js",
        "export default {\n  async fetch(request) {\n    const body = new Uint8Array(await \
         request.arrayBuffer());\n    \
         const whole = body.length === Number(new URL(request.url).pathname.slice(1)) && \
         body.every((byte, n) => byte === ((n * 167) & 255));\n    \
         return new Response(null, { status: whole ? 204 : 400 });\n  },\n};\n",
    );
    lab.file(
        "plan.toml",
        "rounds = 1\nwarm_up = '100ms'\n[axes]\nsize = [0, 1, 1000, 100000]\n\
         [load]\nurl = '{base}/{size}'\nmethod = 'POST'\nbody = { size = '{size}' }\nconnections = 3\nrequests = 20\n\
         [[variants]]\nname = 'v'\nserve = { app = 'app.js' }\n",
    );
    lab.onrush(&["matrix", "plan.toml"]).code(0);
    for run in result(&lab)["runs"].as_array().expect("a list") {
        let size: f64 = run["axes"]["size"].as_str().expect("a text").parse().expect("a number");
        let sent = metric(run, "data_sent")["count"].as_f64().expect("a number");
        assert!((size * 20.0..size * 20.0 + 20_000.0).contains(&sent), "{size}: {sent}");
    }
}

#[test]
fn warm_ups_may_be_shorter_than_a_second() {
    let lab = Lab::new();
    lab.file("load.js", "import http from 'k6/http';\nexport default () => http.get(`${__ENV.BASE}/get`);\n");
    lab.file(
        "plan.toml",
        "rounds = 1\nwarm_up = '200ms'\n[server]\nserve = {}\n[load]\nconnections = 2\nrequests = 20\n\
         [[variants]]\nname = 'url'\nload = { url = '{base}/get' }\n\
         [[variants]]\nname = 'rate'\nload = { url = '{base}/get', rate = 50, duration = '1s' }\n\
         [[variants]]\nname = 'script'\nload = { script = 'load.js' }\n",
    );
    lab.onrush(&["matrix", "plan.toml"]).code(0);
    let warmed = result(&lab)["timing"]["warm_up_s"].as_f64().expect("a number");
    assert!((warmed - 0.6).abs() < 1e-3, "three warm-ups of 0.2 s as the plan has them: {warmed}");
}

#[test]
fn a_failed_run_keeps_its_result_and_what_went_wrong() {
    let lab = Lab::new();
    lab.file(
        "load.js",
        "import http from 'k6/http';\nexport default () => {\n  http.get(`${__ENV.BASE}/status/${__ITER % 2 ? 503 : \
         404}`);\n  \
         http.get(`${__ENV.BASE}/get`);\n  if (__ITER % 5 === 0) http.get('http://127.0.0.1:1/');\n};\n",
    );
    let figures = "figures = ['(?<rate>\\S+)/s', 'of (?<count>\\d+)', 'timeouts (?<errors_timeout>\\d+)', 'reset \
        (?<errors_reset>\\d+)']";
    lab.file(
        "plan.toml",
        &format!(
            "rounds = 1\nwarm_up = '0s'\n[server]\nserve = {{}}\n[load]\nconnections = 1\n\
             [[variants]]\nname = 'good'\nload = {{ url = '{{base}}/get', requests = 10 }}\n\
             [[variants]]\nname = 'bad'\nload = {{ script = 'load.js', requests = 10 }}\n\
             [[variants]]\nname = 'program'\nload = {{ command = 'echo 5/s of 100 timeouts 3 reset 0', {figures}, \
             duration = '1s' }}\n"
        ),
    );
    let run = lab.onrush(&["matrix", "plan.toml"]).code(112);
    for said in [
        "variant=bad: ✗ 12 of 22 requests failed: 5 × status 404, 5 × status 503, 2 × dial: connection refused",
        "variant=program: ✗ 3 of 100 requests failed: 3 × timeout",
    ] {
        assert!(run.stderr.contains(said), "expected {said:?} in\n{}", run.stderr);
    }
    let result = result(&lab);
    let of = |name: &str| result["runs"].as_array().unwrap().iter().find(|run| run["variant"] == name).expect("made");
    assert_eq!(of("bad")["outcome"], "failed");
    assert_eq!(of("bad")["result"]["errors"]["answers"][0]["count"], 5);
    assert_eq!(metric(of("bad"), "http_reqs")["count"], 22.0);
    assert_eq!(of("program")["figures"]["errors_by_kind"]["timeout"], 3.0);
    let head = run.stdout.lines().find(|line| line.starts_with("variant ")).expect("a table").to_owned();
    let columns = ["errors", "status 404", "status 503", "timeout", "connection refused"];
    assert!(columns.iter().all(|column| head.contains(column)), "{head}");
    // What is kept of a failed run is no evidence.
    assert!(run.stdout.lines().any(|line| line.starts_with("bad ") && line.ends_with("0/1")), "{}", run.stdout);
}

#[test]
fn rounds_that_can_prove_nothing_are_told_before_they_run() {
    let lab = Lab::new();
    let variants: String =
        ["a", "b", "c"].map(|name| format!("[[variants]]\nname = '{name}'\nserve = {{}}\n")).concat();
    lab.file(
        "plan.toml",
        &format!(
            "rounds = 6\nwarm_up = '0s'\n[load]\nurl = '{{base}}/get'\nconnections = 100\nduration = '2s'\n{variants}"
        ),
    );
    let warning = "warning: 6 rounds can never prove which of 3 variants is the best (exact signed-rank tests with \
        Holm's correction over 2 comparisons): 7 are needed\n";
    let dry = lab.onrush(&["matrix", "--dry-run", "plan.toml"]).code(0).prints(warning).stdout;
    // 18 runs of 2 s, starting their processes (0.15 s) and making 100 users (0.1 s).
    assert!(dry.starts_with("plan: 3 variants in 1 cell, 6 rounds: 18 runs, about 41s, more where servers"), "{dry}");
    let enough = lab.onrush(&["matrix", "--dry-run", "--rounds", "7", "plan.toml"]).code(0).stdout;
    assert!(!enough.contains("warning"), "{enough}");
    let one =
        "warning: 1 round can never prove which of 2 variants is the best (an exact signed-rank test): 6 are needed\n";
    lab.onrush(&["matrix", "--rounds", "1", "--duration", "1s", "--only", "variant=a,variant=b", "plan.toml"])
        .code(0)
        .says(one);
}

#[test]
fn a_load_may_be_a_fleet() {
    let lab = Lab::new();
    lab.file("load.js", "import http from 'k6/http';\nexport default () => http.get(`${__ENV.BASE}/get`);\n");
    lab.file(
        "plan.toml",
        "rounds = 1\nwarm_up = '200ms'\n[server]\nserve = {}\n[load]\nscript = 'load.js'\nconnections = 4\n\
         duration = '1s'\n[[variants]]\nname = 'one'\n\
         [[variants]]\nname = 'two agents'\nload = { flags = ['--agents', '2'] }\n",
    );
    lab.onrush(&["matrix", "plan.toml"]).code(0);
    let result = result(&lab);
    let runs = result["runs"].as_array().expect("a list");
    let agents = |run: &Value| run["result"]["generator"]["agents"].as_array().map_or(0, Vec::len);
    assert_eq!(runs.iter().map(agents).collect::<Vec<_>>(), [0, 2], "the result is that of both agents");
    for run in runs {
        assert!(metric(run, "http_reqs")["count"].as_f64() > Some(10.0), "{run}");
        assert_eq!(metric(run, "vus_max")["max"].as_f64(), Some(4.0), "{run}");
    }
}
