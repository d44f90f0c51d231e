//! Runs the `test.js` of every module in the real host, with the checks and thresholds it brings along.

mod driver;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use engine::{IterationEnd, Users, VirtualUser};
use metrics::threshold::Moment;
use metrics::{Aggregate, Recorder, ThresholdSpecs, Thresholds};
use onrush_script::modules::MODULES;
use onrush_script::{ScriptUsers, Source};

/// Modules whose test needs more than this driver has: scenarios, setup, a server. Theirs run through the binary.
const ELSEWHERE: [&str; 2] = ["k6/execution", "k6/http"];

/// The failures of one script: what it logged as an error, checks and thresholds that do not hold.
async fn failures(path: PathBuf) -> Vec<String> {
    let (program, log, recorder) = driver::load_source(Source::File(path), PathBuf::from("/")).await;
    let program = match program {
        Ok(program) => program,
        Err(error) => return vec![format!("{error}\n{}", error.stack)],
    };
    let options: serde_json::Value = serde_json::from_str(program.options_json().unwrap_or("{}")).unwrap();
    let specs: ThresholdSpecs = serde_json::from_value(options["thresholds"].clone()).unwrap();
    assert!(!specs.is_empty(), "a test without thresholds cannot fail");
    let registry = recorder.registry().clone();
    let mut aggregate = Aggregate::new(registry.clone(), Thresholds::resolve(&specs, &registry).unwrap());

    // A recorder of its own: series resolved before the thresholds were known do not feed their sub-metrics.
    let recorder = Rc::new(Recorder::new(registry));
    let scenario = driver::scenario("default");
    let users = ScriptUsers::new(&program);
    for id in 1..=options["vus"].as_u64().unwrap_or(1) {
        let user = users.create(driver::seat(id, &recorder)).await;
        let mut user = user.unwrap_or_else(|error| panic!("{}", error.message));
        for number in 0..options["iterations"].as_u64().unwrap_or(1) {
            assert_eq!(user.iterate(driver::iteration(&scenario, number)).await, IterationEnd::Completed);
        }
    }
    aggregate.merge(recorder.take());
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
    for module in MODULES.iter().filter(|module| !ELSEWHERE.contains(&module.name)) {
        let noun = module.name.rsplit('/').next().unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/modules").join(noun).join("test.js");
        let failures = driver::block_on(failures(path));
        // The test of `k6` makes checks that fail, on purpose: its thresholds say what is right.
        let failures: Vec<_> =
            failures.into_iter().filter(|failure| !(module.name == "k6" && failure.starts_with("check '"))).collect();
        assert!(failures.is_empty(), "{}:\n{}", module.name, failures.join("\n"));
    }
}
