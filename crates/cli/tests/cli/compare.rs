//! `onrush compare`: a real result, copies of it with known changes, and what the command says of them.

mod runs;

use serde_json::{Value, json};

use crate::lab::{Lab, Run};

const SCRIPT: &str = "
import http from 'k6/http'
export const options = { vus: 1, iterations: 3 }
export default () => http.get(__ENV.TARGET + '/get')
";

/// A folder with the result of a short run in `seed`.
fn lab() -> (Lab, Value) {
    let lab = Lab::with(SCRIPT);
    lab.run(&["--serve", "--save", "seed"]).code(0);
    let result = serde_json::from_str(&lab.read("seed/result.json")).expect("a result");
    (lab, result)
}

/// The result as if it had been `factor` times as fast, in round `round` of a session that ran A B B A.
fn changed(result: &Value, factor: f64, variant: &str, round: usize) -> Value {
    let mut result = result.clone();
    let noise = 1.0 + [0.003, -0.002, 0.001, -0.004, 0.005, -0.001, 0.002, -0.003][round % 8];
    for metric in result["metrics"].as_array_mut().expect("a list") {
        if metric["name"] == "http_reqs" {
            metric["value"]["rate"] = json!(1000.0 * factor * noise);
        }
    }
    let turn = 2 * round + usize::from((variant == "b") == round.is_multiple_of(2));
    result["started_at"] = json!(format!("2026-01-01T00:00:{turn:02}.000Z"));
    result["labels"] = json!({ "variant": variant, "round": round.to_string() });
    result["generator"]["saturated"] = json!(false);
    result
}

/// Writes `pairs` rounds into `runs`, B `factor` times as fast as A.
fn session(lab: &Lab, result: &Value, pairs: usize, factor: f64) {
    for round in 0..pairs {
        for (variant, factor) in [("a", 1.0), ("b", factor)] {
            let folder = format!("runs/{variant}{round}");
            std::fs::create_dir_all(lab.path().join(&folder)).expect("a folder");
            lab.file(&format!("{folder}/result.json"), &changed(result, factor, variant, round).to_string());
        }
    }
}

/// Compares the two variants in `runs` by requests/s.
fn compare(lab: &Lab, more: &[&str]) -> Run {
    let common = ["compare", "runs:variant=a", "runs:variant=b", "--metric", "http_reqs"];
    lab.onrush(&[&common, more].concat())
}

#[test]
fn exit_codes_tell_worse_from_the_same_and_from_too_little() {
    let (lab, result) = lab();
    session(&lab, &result, 8, 0.95);
    compare(&lab, &[]).code(1).prints("worse: http_reqs /s -").prints("8 pairs compared");
    compare(&lab, &["--fail-on", "http_reqs -10%"]).code(0).prints("http_reqs -10% holds: -");
    compare(&lab, &["--fail-on", "http_reqs -3%"]).code(1).prints("http_reqs -3% fails: -");
    compare(&lab, &["--fail-on", "http_reqs -5%"]).code(2).prints("http_reqs -5% cannot tell: -");
    compare(&lab, &["--margin", "10%"]).code(0).prints("same: no metric differs by more than the margin");
    lab.onrush(&["compare", "runs:variant=b", "runs:variant=a", "--metric", "http_reqs"]).code(0).prints("better: ");
    // One run each, which nobody can tell apart.
    lab.onrush(&["compare", "runs/a0", "runs/b0/result.json"]).code(2).prints("1 pair compared");
    lab.onrush(&["compare", "runs/a0,runs/a1", "runs/b0,runs/b1"]).code(2).prints("2 pairs compared");
}

/// The seconds of a real run stand beside those of another; here its own, which cannot differ.
#[test]
fn one_real_run_of_each_is_compared_by_its_seconds() {
    let script = SCRIPT.replace("iterations: 3", "duration: '12s', minIterationDuration: '5ms'");
    let lab = Lab::with(&script);
    lab.run(&["--serve", "--save", "run", "--accept-late"]).code(0);
    let compare = |more: &[&str]| lab.onrush(&[&["compare", "run", "run", "--metric", "http_reqs"], more].concat());
    let same =
        compare(&[]).code(0).prints("same: no metric differs by more than the margin (weaker evidence: one run each)");
    same.prints("seconds of one run each compared");
    compare(&["--fail-on", "http_reqs -1%"]).code(0).prints("http_reqs -1% holds");
}

#[test]
fn formats_and_files() {
    let (lab, result) = lab();
    session(&lab, &result, 8, 0.95);
    compare(&lab, &["--format", "markdown"]).code(1).prints("| `http_reqs /s` |").prints("<details>");
    let json = compare(&lab, &["--format", "json"]).code(1).stdout;
    let value: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["kind"], "onrush-comparison");
    let written = compare(&lab, &["--format", "junit", "-o", "compare.xml"]).code(1);
    assert_eq!(written.stdout, "");
    assert!(lab.read("compare.xml").contains("<failure message=\"http_reqs /s -"));
    compare(&lab, &["-o", "no/such/folder.txt"]).code(3).says("cannot write the comparison to no/such/folder.txt");
}

#[test]
fn a_matrix_is_compared_by_its_variants() {
    let (lab, result) = lab();
    let run = |size: &str, variant: &str, round: usize, factor: f64| {
        let mut result = changed(&result, factor, variant, round);
        result["seconds"] = json!({ "starts_s": [], "lengths_s": [], "series": [] });
        // The run behind all of them may have met a busy machine.
        result["generator"]["process_cores"] = json!(0.2);
        json!({ "axes": { "size": size }, "variant": variant, "round": round + 1,
          "position": 1, "at": "", "outcome": "ok", "result": result })
    };
    let mut runs = Vec::new();
    for round in 0..8 {
        runs.extend([
            run("1k", "a", round, 1.0),
            run("1k", "b", round, 0.95),
            run("1m", "a", round, 1.0),
            run("1m", "b", round, 1.0),
        ]);
    }
    let environment = result["environment"].clone();
    let timing = json!({ "measured_s": 1.0, "warm_up_s": 0.0, "commands_s": 0.0, "servers_s": 0.0, "own_s": 0.0 });
    let plan = json!({ "name": "m", "variants": [], "load": { "url": "http://127.0.0.1" } });
    let matrix = json!({ "kind": "onrush-matrix", "schema": 1, "onrush": "0.1.0",
      "started_at": "", "seed": 1, "plan": plan,
        "environment": environment, "timing": timing, "runs": runs });
    lab.file("m.json", &matrix.to_string());
    let by = |a: &str, b: &str| lab.onrush(&["compare", a, b, "--metric", "http_reqs"]);
    let all = by("m.json:variant=a", "m.json:variant=b");
    assert!(all.stdout.contains("size=1k: worse, 8 pairs"), "{}{}", all.stdout, all.stderr);
    assert!(all.stdout.contains("size=1m: same, 8 pairs"), "{}", all.stdout);
    by("m.json:variant=a,size=1k", "m.json:variant=b,size=1k").code(1).prints("8 pairs compared");
    by("m.json:varaint=a", "m.json:variant=b").code(3).says("found no axis 'varaint', expected one of size, variant");
    by("m.json:variant=c", "m.json:variant=b").code(3).says("m.json: no run has variant=c");
    by("m.json", "m.json:variant=b").code(3).says("are both round 1 of m.json");
    // What `table` leaves out of its verdicts is no evidence here either.
    let mut full = matrix;
    full["plan"]["pin"] = json!({ "server": [1], "load": [0] });
    full["runs"][0]["result"]["generator"]["process_cores"] = json!(0.99);
    lab.file("full.json", &full.to_string());
    by("full.json:variant=a", "full.json:variant=b").prints(
        "a round 1 is no evidence: the generator was the limit: it filled the cores that the plan gave it; left out \
         with it",
    );
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() {
    let (lab, result) = lab();
    session(&lab, &result, 6, 1.0);
    let by = |a: &str, b: &str| lab.onrush(&["compare", a, b]).code(3);
    by("nothing", "seed").says("no result at nothing: expected a directory written by 'onrush run --save'");
    lab.file("broken.json", "{");
    by("seed", "broken.json").says("broken.json:1:1: not a result document");
    let mut other = result.clone();
    other["schema"] = json!(3);
    lab.file("schema.json", &other.to_string());
    by("seed", "schema.json").says("schema.json: found schema 3, this version reads schemas 1 and 2");
    let mut other = result;
    other["environment"]["machine_id"] = json!("another");
    lab.file("machine.json", &other.to_string());
    by("seed", "machine.json").says("results of 2 machines cannot be compared").says("--across-machines");
    lab.onrush(&["compare", "seed", "machine.json", "--across-machines"]).code(2);
    by("seed,runs/a1", "runs/b0").says("found 2 runs in seed,runs/a1 and 1 in runs/b0");
    std::fs::create_dir(lab.path().join("empty")).unwrap();
    by("empty", "seed").says("empty holds no results: expected result.json");
    let flag = |flag: &str, value: &str| lab.onrush(&["compare", "seed", "seed", flag, value]).code(255);
    flag("--margin", "x").says("--margin: found 'x', expected a share from 0% to 50%, as in 2%");
    flag("--fail-on", "p(95)").says("--fail-on: found 'p(95)', expected a metric or a statistic of http_req_duration");
    flag("--metric", "a:b:c").says("--metric: found 'a:b:c', expected METRIC");
}
