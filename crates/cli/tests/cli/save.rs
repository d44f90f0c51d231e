//! `onrush run --save DIR`: the result document, and what happens when it cannot be written.

use std::path::Path;

use report::document::{Counts, Document, Points, Value, read};

use crate::lab::{Lab, Run, finish};

const SCRIPT: &str = "import http from 'k6/http'; import { check, group, sleep } from 'k6'; import { Trend } from \
    'k6/metrics';
    const size = new Trend('size'); const rare = new Trend('rare');
    export const options = { vus: 2, duration: '2500ms', thresholds: { 'size{kind:a}': ['max<100'], checks: \
    ['rate>0.1'] } };
    export function setup() { http.get(__ENV.TARGET); }
    export function teardown() { size.add(1); }
    export default function () {
      check(http.get(__ENV.TARGET), { 'status is 200': (r) => r.status === 200 });
      group('outer', () => check(1, { two: (v) => v === 2 }));
      size.add(10, { kind: 'a' });
      if (__VU === 1 && __ITER === 0) { sleep(1.3); rare.add(0.25); }
      sleep(0.02);
    }";

fn saved(lab: &Lab, dir: &str) -> Document {
    read(lab.path().join(dir)).unwrap_or_else(|error| panic!("{error}"))
}

fn counts(column: &Counts) -> u64 {
    column.iter().flatten().sum()
}

#[test]
fn a_saved_run_holds_everything() {
    let lab = Lab::with(SCRIPT);
    let labels = ["--label", "variant=new", "--label", "round=2"];
    lab.run(&[&["--serve", "--save", "out/deep/r1"], &labels[..]].concat()).code(0).prints("checks_succeeded");
    let result = saved(&lab, "out/deep/r1");
    assert_eq!((result.kind.as_str(), result.schema, result.script.as_str()), ("onrush-result", 2, "script.js"));
    assert_eq!(result.labels.get("variant").map(String::as_str), Some("new"));
    assert_eq!((result.exit.code, &result.exit.reason), (0, &None));
    assert!(result.duration_s > 2.4 && result.started_at.ends_with('Z') && result.started_at.len() == 24, "{result:?}");
    assert_eq!(result.options["scenarios"]["default"]["vus"], 2);
    assert_eq!(result.options["thresholds"]["checks"][0], "rate>0.1");
    assert!(result.environment.cores > 0 && !result.environment.machine_id.is_empty(), "{:?}", result.environment);
    assert!(!result.generator.workers.is_empty() && result.generator.process_cores > 0.0, "{:?}", result.generator);
    assert_eq!(result.checks.len(), 2);
    assert_eq!(result.groups.groups[0].checks[0].path, "::outer::two");
    let size = result.sub_metric("size", &[("kind", "a")]).expect("the sub-metric of the threshold");
    assert_eq!(size.histogram().expect("a trend").trend().percentile(50.0), 10.0);
    assert!(size.thresholds[0].ok && result.passed());
    assert!(std::fs::read_dir(lab.path().join("out/deep/r1")).expect("listed").count() == 1, "nothing temporary stays");
}

/// Series add up to the totals: setup and teardown are intervals of their own, and the last second is not lost.
#[test]
fn series_add_up_to_the_totals() {
    let lab = Lab::with(SCRIPT);
    lab.run(&["--serve", "--save", "r", "--workers", "2"]).code(0);
    let result = saved(&lab, "r");
    let seconds = &result.seconds;
    assert!(seconds.starts_s.len() >= 4, "setup, three seconds, teardown: {:?}", seconds.starts_s);
    for at in 1..seconds.starts_s.len() {
        let end = seconds.starts_s[at - 1] + seconds.lengths_s[at - 1];
        assert!((end - seconds.starts_s[at]).abs() < 0.1, "intervals follow each other: {seconds:?}");
    }
    assert!(seconds.scenarios_start_s > 0.0 && seconds.scenarios_end_s <= result.duration_s + 0.01, "{seconds:?}");
    for metric in &result.metrics {
        let series = result.series_of(metric).unwrap_or_else(|| panic!("no series for {}", metric.key()));
        match (&metric.value, &series.points) {
            (Value::Counter { count, .. }, Points::Counter { sum }) => {
                let total: f64 = sum.iter().flatten().sum();
                assert!((total - count).abs() < 1e-6 * count.abs().max(1.0), "{}: {total} of {count}", metric.key());
            }
            (Value::Rate { passes, total }, Points::Rate { passes: good, total: all }) => {
                assert_eq!((counts(good), counts(all)), (*passes, *total), "{}", metric.key());
            }
            (Value::Trend(histogram), Points::Trend { count, max, .. }) => {
                assert_eq!(counts(count), histogram.count, "{}", metric.key());
                let highest = max.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
                assert!((highest - histogram.max).abs() <= 1e-5 * histogram.max.abs(), "{}", metric.key());
            }
            (Value::Gauge { .. }, Points::Gauge { last }) => assert!(last.iter().any(Option::is_some)),
            (value, points) => panic!("{}: {value:?} and {points:?}", metric.key()),
        }
    }
    let rare = result.series_of(result.metric("rare").expect("recorded")).expect("a series");
    let Points::Trend { count, avg, .. } = &rare.points else { panic!("a trend") };
    assert_eq!(avg.iter().flatten().collect::<Vec<_>>(), [&0.25], "one second has it, the others are gaps");
    assert_eq!(count.len(), seconds.starts_s.len());
}

/// One iteration of several seconds: its data is where it was moved, not all at its end.
#[test]
fn data_of_a_lasting_connection_is_spread_over_its_seconds() {
    let lab = Lab::with(
        "import ws from 'k6/ws';
        export default function () {
          ws.connect(`${__ENV.TARGET_WS}/ws/echo`, (socket) => {
            socket.setInterval(() => socket.send('x'.repeat(1000)), 50);
            socket.setTimeout(() => socket.close(), 3500);
          });
        }",
    );
    lab.run(&["--serve", "--save", "r"]).code(0);
    let result = saved(&lab, "r");
    let series = result.series_of(result.metric("data_received").expect("recorded")).expect("a series");
    let Points::Counter { sum } = &series.points else { panic!("a counter") };
    let total: f64 = sum.iter().flatten().sum();
    let most = sum.iter().flatten().copied().fold(0.0, f64::max);
    assert!(total > 30_000.0 && most < 0.7 * total, "{sum:?}");
}

#[test]
fn how_it_ended_is_saved() {
    let lab = Lab::with(
        "import { check } from 'k6'; export const options = { thresholds: { checks: ['rate>0.5'] } };
        export default () => { check(1, { no: false }); };",
    );
    lab.run(&["--save", "r"]).code(99);
    let result = saved(&lab, "r");
    assert_eq!((result.exit.code, result.exit.reason.as_deref()), (99, Some("thresholds have been crossed")));
    assert!(!result.passed());
    lab.file("script.js", "export function setup() { throw new Error('no'); } export default () => {};");
    lab.run(&["--save", "r"]).code(107);
    assert_eq!(saved(&lab, "r").exit.code, 107, "a newer result takes the place of the older");
}

/// Scenarios are told apart only when the summary was asked to.
#[test]
fn a_full_summary_saves_scenarios_too() {
    let lab = Lab::with(
        "import { check } from 'k6'; import { Trend } from 'k6/metrics'; const t = new Trend('own');
         export const options = { scenarios: {
           a: { executor: 'shared-iterations', iterations: 3 }, b: { executor: 'shared-iterations', iterations: 2, \
           exec: 'b' } } };
         export default () => { check(1, { one: (v) => v === 1 }); }; export const b = () => { t.add(7); };",
    );
    lab.run(&["--save", "r", "--summary-mode", "full"]).code(0);
    let result = saved(&lab, "r");
    let names: Vec<_> = result.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(result.scenarios[0].checks[0].passes, 3);
    let of_b = result.scenarios[1].metrics.iter().find(|metric| metric.name == "own").expect("recorded by b");
    assert_eq!(of_b.histogram().expect("a trend").count, 2);
    lab.onrush(&["report", "r"]).code(0);
    assert!(lab.read("r/report.html").contains(">Scenario b</h2>"));
    lab.run(&["--save", "r"]).code(0);
    assert!(saved(&lab, "r").scenarios.is_empty());
}

#[test]
fn handle_summary_is_neither_needed_nor_disturbed() {
    let lab = Lab::with(
        "export default () => {}; export const handleSummary = (data) => ({ stdout: 'mine', 'own.json': '{}' });",
    );
    let run = lab.run(&["--save", "."]).code(0);
    assert_eq!(run.stdout, "mine");
    assert_eq!(lab.read("own.json"), "{}");
    assert_eq!(saved(&lab, ".").exit.code, 0);
}

#[test]
fn what_can_be_no_directory_is_refused_before_the_test() {
    let lab = Lab::with("export default () => { console.log('it ran'); };");
    lab.file("file", "text");
    std::fs::create_dir_all(lab.path().join("taken/result.json")).expect("made");
    for (dir, expected) in [
        ("file", "--save file: found a file, expected a directory or a name for a new one"),
        ("taken", "--save taken: result.json in it is a directory, expected a file or none"),
    ] {
        let run = lab.run(&["--save", dir]).code(111).says(expected);
        assert!(!run.stderr.contains("it ran"), "{}", run.stderr);
    }
    assert_eq!(lab.read("file"), "text");
    lab.run(&["--label", "a=b"]).code(255).says("--label names a saved result: give --save DIR as well");
    lab.run(&["--save", "r", "--label", "ab"]).code(255).says("--label: found 'ab', expected NAME=VALUE");
    lab.run(&["--save", "r", "--label", "a=1", "--label", "a=2"]).code(255).says("--label: found 'a' twice");
}

#[test]
fn a_directory_that_cannot_be_written_is_said_and_the_test_runs() {
    let lab = Lab::with("export default () => { console.log('it ran'); };");
    lab.file("file", "text");
    for (dir, expected) in [
        (
            "file/below",
            "--save file/below: cannot make the directory: Not a directory (os error 20); the test runs without a \
             result",
        ),
        ("/proc/onrush", "--save /proc/onrush: cannot make the directory: "),
        ("/proc", "--save /proc: cannot make a file in the directory: "),
    ] {
        let arguments = ["--save", dir, "--save-messages"];
        let run = lab.run(&arguments).code(111).says(expected).prints("iterations");
        assert!(run.stderr.contains("it ran"), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("cannot write the result into {dir}: ")), "{}", run.stderr);
    }
    lab.file(
        "fails.js",
        "export const options = { thresholds: { iterations: ['count>5'] } }; export default () => {};",
    );
    lab.onrush(&["run", "-q", "--save", "file/below", "fails.js"]).code(99).says("thresholds on metrics");
}

/// Runs with no file allowed to be longer than a few blocks: the disk is full, as far as the process can tell.
fn with_full_disk(lab: &Lab) -> Run {
    let mut command = lab.command(&["run", "-q", "--save", "r", "script.js"]);
    let binary = command.get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\""]).arg(binary).args(command.get_args());
    shell.current_dir(lab.path()).stdin(std::process::Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    command = shell;
    finish(command)
}

#[test]
fn a_full_disk_at_the_end_is_said_and_leaves_the_older_result() {
    let lab = Lab::with("export default () => {};");
    lab.run(&["--save", "r", "--label", "which=older"]).code(0);
    let before = lab.read("r/result.json");
    with_full_disk(&lab)
        .code(111)
        .prints("iterations")
        .says("cannot write the result into r: ")
        .says("an older result there");
    assert_eq!(lab.read("r/result.json"), before);
    let left: Vec<_> = std::fs::read_dir(Path::new(lab.path()).join("r")).expect("listed").collect();
    assert_eq!(left.len(), 2, "the journal stays, and nothing else that is temporary: {left:?}");
    // A test that failed keeps the code that says why.
    lab.file(
        "script.js",
        "export const options = { thresholds: { iterations: ['count>5'] } }; export default () => {};",
    );
    with_full_disk(&lab).code(99).says("cannot write the result into r: ");
}
