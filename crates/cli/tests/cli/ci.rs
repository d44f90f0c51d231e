//! What a run and a comparison write for a CI, in real jobs: the variables of GitHub's runner, the steps of the Action
//! and the commands of the GitLab template, run as they stand in their files.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::lab::{Lab, Run, finish};

const SCRIPT: &str = "import http from 'k6/http'
import { check } from 'k6'
export const options = {
  vus: 1, iterations: 4,
  thresholds: { http_req_duration: ['p(95)<0.000001'] },
}
export default () => {
  const response = http.get(__ENV.TARGET + '/get')
  check(response, { 'has \\u0007 a <name>': () => false })
  if (__ITER === 2) throw new Error('boom')
}
";

const FILES: [&str; 8] =
    ["--junit", "j.xml", "--comment", "c.md", "--gitlab-metrics", "m.txt", "--code-quality", "q.json"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The cases of a file that a real parser reads: class, name, and what became of it.
fn cases(xml: &str) -> Vec<(String, String, Option<String>)> {
    let document = roxmltree::Document::parse(xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    cases
        .map(|case| {
            let attribute = |name| case.attribute(name).unwrap_or_default().to_owned();
            let problem = case.children().find(|node| node.is_element() && !node.has_tag_name("system-out"));
            (attribute("classname"), attribute("name"), problem.map(|node| node.tag_name().name().to_owned()))
        })
        .collect()
}

#[test]
fn a_run_writes_every_format_and_saves_nothing() {
    let lab = Lab::with(SCRIPT);
    lab.run(&[&["--serve"], &FILES[..]].concat()).code(99);
    let found = cases(&lab.read("j.xml"));
    let case = |class: &str, name: &str, problem: Option<&str>| (class.into(), name.into(), problem.map(str::to_owned));
    let expected = [
        case("verdict", "generator", None),
        case("run", "exit code", None),
        case("thresholds", "http_req_duration: p(95)<0.000001", Some("failure")),
        case("checks", "has \u{FFFD} a <name>", Some("failure")),
    ];
    assert_eq!(found, expected);
    assert!(lab.read("c.md").starts_with("<!-- onrush run -->\n**failed: 1 of 1 threshold did not hold** `script.js`"));
    assert!(lab.read("m.txt").contains("\nhttp_req_duration_p95_ms "));
    let issues: Value = serde_json::from_str(&lab.read("q.json")).expect("JSON");
    let lines: Vec<_> = issues.as_array().expect("a list").iter().map(|issue| &issue["location"]).collect();
    let at = |line: u32| serde_json::json!({ "path": "script.js", "lines": { "begin": line } });
    assert_eq!(lines, [&at(5), &at(1), &at(10)], "threshold, check by a name that is written otherwise, exception");
    assert!(!lab.path().join("result.json").exists());
}

#[test]
fn a_job_of_github_is_told_without_a_flag() {
    let lab = Lab::with(SCRIPT);
    let job = |arguments: &[&str]| {
        let mut command = lab.command(arguments);
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", lab.path());
        command.env("GITHUB_STEP_SUMMARY", lab.path().join("summary.md"));
        finish(command)
    };
    let run = job(&["run", "-q", "--serve", "script.js"]).code(99);
    let expected = "::error file=script.js,line=5,title=onrush%3A threshold::http_req_duration: p(95)=";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    let expected = "::warning file=script.js,line=10,col=";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(!run.stdout.contains("::error"), "{}", run.stdout);
    job(&["run", "-q", "--serve", "--annotations=none", "script.js"]).code(99);
    assert_eq!(lab.read("summary.md").matches("<!-- onrush run -->").count(), 2, "steps add to it");
    let none = job(&["run", "-q", "--serve", "--annotations=none", "--job-summary=none", "script.js"]);
    assert!(!none.code(99).stderr.contains("::error"));
    assert_eq!(lab.read("summary.md").matches("<!-- onrush run -->").count(), 2);
}

#[test]
fn a_saved_result_and_a_refused_comparison_have_them_too() {
    let lab = Lab::with(SCRIPT);
    lab.run(&["--serve", "--save", "r"]).code(99);
    lab.onrush(&[&["report", "r"], &FILES[..]].concat()).code(0);
    assert_eq!(cases(&lab.read("j.xml")).len(), 4);
    let digest: Value = serde_json::from_str(&lab.onrush(&["report", "r", "--json"]).code(0).stdout).expect("JSON");
    assert_eq!((&digest["kind"], &digest["exit"]["code"]), (&"onrush-digest".into(), &99.into()));
    assert_eq!(digest["thresholds"][0]["source"], "p(95)<0.000001");
    lab.onrush(&[&["compare", "r", "missing"], &FILES[..]].concat()).code(3);
    assert_eq!(cases(&lab.read("j.xml")), [("compare".into(), "evidence".into(), Some(String::from("error")))]);
    assert!(lab.read("c.md").starts_with("<!-- onrush compare -->\n**not comparable**: "), "{}", lab.read("c.md"));
    let compared = lab.onrush(&[&["compare", "r", "r", "--json"], &FILES[..]].concat()).code(2).stdout;
    assert_eq!(serde_json::from_str::<Value>(&compared).expect("JSON")["kind"], "onrush-comparison");
    assert!(cases(&lab.read("j.xml")).iter().any(|(_, _, problem)| problem.as_deref() == Some("skipped")));
    lab.run(&["--serve", "--junit", "no/such/folder.xml"]).code(99).says("cannot write no/such/folder.xml for the CI");
}

/// The shell lines of a step or job: what is deeper than the line that ends with `|`.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut lines = text.lines().peekable();
    let depth = |line: &str| line.len() - line.trim_start().len();
    while let Some(line) = lines.next() {
        if !(line.trim_start().starts_with("run: |") || line.trim() == "- |") {
            continue;
        }
        let mut block = String::new();
        let inner = lines.peek().map_or(0, |line| depth(line));
        while let Some(line) = lines.next_if(|next| next.trim().is_empty() || depth(next) > depth(line)) {
            block.push_str(line.get(inner..).unwrap_or_default());
            block.push('\n');
        }
        blocks.push(block);
    }
    blocks
}

/// Runs shell lines in the lab as a CI does, with `onrush` in PATH.
fn shell(lab: &Lab, program: &str, lines: &str, env: &[(&str, &str)]) -> Run {
    let bin = crate::lab::binary().parent().expect("a folder").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    command.args(["-ec", lines]).current_dir(lab.path()).env("PATH", path).envs(env.iter().copied());
    for name in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"] {
        if !env.iter().any(|(given, _)| *given == name) {
            command.env_remove(name);
        }
    }
    finish(command)
}

const PLAIN: &str = "import http from 'k6/http'
export default () => http.get(__ENV.TARGET + '/get')
";

/// Flags of the two sides: the baseline is answered at once, the other one late.
const NEW: &str = "--serve\n--accept-late\n-i\n3\n-e\nNAME=with space";

#[test]
fn the_action_runs_compares_and_gates() {
    let lab = Lab::with(PLAIN);
    let action = std::fs::read_to_string(root().join("ci/github/action.yml")).expect("the action");
    let steps = blocks(&action);
    let [install, test] = steps.as_slice() else { panic!("{steps:?}") };
    let file = |name: &str| lab.path().join(name).display().to_string();
    let here = root().join("ci/github").display().to_string();
    let (path, output, summary) = (file("path"), file("output"), file("summary.md"));
    let job = |lines: &str, more: &[(&str, &str)]| {
        let common = [
            ("GITHUB_ACTION_PATH", here.as_str()),
            ("GITHUB_PATH", &path),
            ("GITHUB_OUTPUT", &output),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_STEP_SUMMARY", &summary),
            ("ONRUSH_SCRIPT", "script.js"),
            ("ONRUSH_ARGS", NEW),
            ("ONRUSH_RESULTS", "out"),
        ];
        shell(&lab, "bash", lines, &[&common[..], more].concat())
    };
    let binary = crate::lab::binary().display().to_string();
    job(install, &[("ONRUSH_BINARY", &binary), ("ONRUSH_RELEASE", "")]).code(0);
    assert!(Path::new(lab.read("path").trim()).join("onrush").exists(), "{}", lab.read("path"));
    job(test, &[]).code(0);
    assert_eq!(lab.read("output"), "code=0\ncomment=out/comment.md\n");
    assert!(lab.read("out/comment.md").contains("**passed: no thresholds were set**"));
    // Two pairs prove nothing: the gate stops, unless somebody decided otherwise.
    let sides = [("ONRUSH_BASE_ARGS", NEW), ("ONRUSH_ROUNDS", "2"), ("ONRUSH_FAIL_ON", "p(95) +5%\nhttp_reqs -5%")];
    job(test, &sides).code(2);
    assert!(lab.read("output").ends_with("code=2\ncomment=out/comment.md\n"));
    let started = |name: &str| {
        let result: Value = serde_json::from_str(&lab.read(&format!("out/{name}/result.json"))).expect("a result");
        result["started_at"].as_str().expect("a time").to_owned()
    };
    let order = ["base/1", "new/1", "new/2", "base/2"].map(started);
    assert!(order.is_sorted(), "by turns: {order:?}");
    assert_eq!(cases(&lab.read("out/junit.xml"))[0].0, "conditions");
    job(test, &[&sides[..], &[("ONRUSH_IN_DOUBT", "warn")]].concat()).code(0).prints("the build goes on");
    assert_eq!(lab.read("summary.md").matches("<!-- onrush run -->").count(), 1, "runs of a comparison add nothing");
    assert_eq!(lab.read("summary.md").matches("<!-- onrush compare -->").count(), 2);
}

#[test]
fn the_template_of_gitlab_does_the_same_in_a_plain_shell() {
    let template = std::fs::read_to_string(root().join("ci/gitlab/onrush.yml")).expect("the template");
    let script = std::fs::read_to_string(root().join("ci/onrush-ci.sh")).expect("the script");
    let (_, commands) = script.split_once("\nset -eu\n").expect("what it sets");
    let blocks = blocks(&template);
    assert_eq!(
        blocks,
        [format!("set -eu\n{commands}")],
        "ci/gitlab/onrush.yml has other commands than ci/onrush-ci.sh"
    );
    let lab = Lab::with(PLAIN);
    let env = [("ONRUSH_SCRIPT", "script.js"), ("ONRUSH_ARGS", "--serve\n-i\n3\n--threshold\nhttp_reqs: count>5")];
    shell(&lab, "sh", &blocks[0], &env).code(99);
    assert!(lab.read("onrush-results/metrics.txt").contains("http_reqs_per_second"));
    // A baseline that is kept: here the results of the job before.
    let mut kept = env.to_vec();
    kept.extend([("ONRUSH_BASELINE", "onrush-results/single"), ("ONRUSH_RESULTS", "next")]);
    shell(&lab, "sh", &blocks[0], &kept).code(2);
    assert!(lab.read("next/comment.md").starts_with("<!-- onrush compare -->"));
}
