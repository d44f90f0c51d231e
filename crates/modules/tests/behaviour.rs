//! Runs the `test.js` of every module in the real host, with the checks and thresholds it brings along.

#![allow(clippy::unwrap_used)]

mod driver;

use std::path::PathBuf;
use std::time::Duration;

use engine::Plan;
use engine::segment::Stripes;
use engine::{Event, RunConfig};
use metrics::threshold::Moment;
use metrics::{Aggregate, Thresholds};
use onrush_modules::BUILTINS;
use script::Source;
use script::options::Options;

/// Modules whose test needs a server: theirs run through the binary.
const ELSEWHERE: [&str; 8] = [
    "k6/http",
    "k6/x/fasthttp",
    "k6/x/sse",
    "onrush/socketio",
    "k6/ws",
    "k6/websockets",
    "k6/experimental/websockets",
    "onrush/delay",
];

/// The failures of one script: what it logged as an error, checks and thresholds that do not hold.
fn failures(path: PathBuf) -> Vec<String> {
    let load = driver::load_source(Source::File(path), PathBuf::from("/"));
    let (program, log, recorder) = driver::block_on(load);
    let program = match program {
        Ok(program) => program,
        Err(error) => return vec![format!("{error}\n{}", error.stack)],
    };
    let json = serde_json::from_str(program.options_json().unwrap_or("{}")).unwrap();
    let (mut options, warnings) = Options::from_json(&json, "script").unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let specs = options.thresholds.clone().unwrap_or_default();
    assert!(!specs.is_empty(), "a test without thresholds cannot fail");
    let registry = recorder.registry().clone();
    let mut aggregate = Aggregate::new(registry.clone(), Thresholds::resolve(&specs, &registry).unwrap());

    let scenarios = options.execution.clone().derive().unwrap().scenarios;
    options.execution.scenarios = Some(scenarios.clone());
    let tags = options.tags.clone().unwrap_or_default();
    program.set_options(options);
    let plan = Plan::new(&scenarios, &Stripes::whole(), 2).unwrap();
    let config = RunConfig { tags, ..RunConfig::new(registry, plan.state()) };
    let outcome = script::run(&program, plan, config, &mut |event| {
        if let Event::Tick(tick) = event {
            tick.snapshots.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
        }
    });
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.stopped, None);
    let verdict = aggregate.judge(Duration::from_secs(1), Moment::End);
    let results = aggregate.results(Duration::from_secs(1), false);
    let mut failures: Vec<String> = log.take().into_iter().filter(|line| line.starts_with("error ")).collect();
    failures.extend(verdict.crossed.iter().map(|key| {
        let metric = results.metrics.iter().find(|metric| match &metric.filter {
            Some(filter) => *key == format!("{}{{{filter}}}", metric.name),
            None => *key == metric.name,
        });
        format!("threshold on {key}: {metric:?}")
    }));
    let failed = results.root.checks.iter().filter(|check| check.fails > 0);
    failures.extend(failed.map(|check| format!("check '{}' failed {} times", check.name, check.fails)));
    failures
}

#[test]
fn modules_behave() {
    for module in BUILTINS.modules().filter(|module| !ELSEWHERE.contains(&module.name)) {
        let failures = failures(driver::folder(module.name).join("test.js"));
        // The test of `k6` makes checks that fail, on purpose: its thresholds say what is right.
        let failures: Vec<_> =
            failures.into_iter().filter(|failure| !(module.name == "k6" && failure.starts_with("check '"))).collect();
        assert!(failures.is_empty(), "{}:\n{}", module.name, failures.join("\n"));
    }
}

#[test]
fn the_global_crypto_behaves() {
    let failures = failures(driver::folder("k6/crypto").join("../web_crypto/test.js"));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn libraries_behave() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/libraries/tests");
    let mut scripts: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.sort();
    assert!(scripts.len() >= 5, "{scripts:?}");
    for script in scripts {
        // Expectations that do not hold make checks that fail, on purpose: its threshold says what is right.
        let is_chai = script.ends_with("k6chaijs.js");
        let mut failures = failures(script.clone());
        failures.retain(|failure| !(is_chai && failure.starts_with("check '")));
        assert!(failures.is_empty(), "{}:\n{}", script.display(), failures.join("\n"));
    }
}

#[test]
fn what_fails_is_noticed() {
    let path = std::env::temp_dir().join(format!("onrush-behaviour-{}.js", std::process::id()));
    let script = "import { check } from 'k6';
        export const options = { thresholds: { checks: ['rate==1'] } };
        export default function () { check(1, { held: true, 'not held': false }); throw new Error('thrown'); }";
    std::fs::write(&path, script).unwrap();
    let failures = failures(path.clone()).join("\n");
    std::fs::remove_file(&path).unwrap();
    for part in ["Error: thrown", "threshold on checks", "check 'not held' failed 1 times"] {
        assert!(failures.contains(part), "{part} is missing in:\n{failures}");
    }
}
