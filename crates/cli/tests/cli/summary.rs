//! The end-of-test summary, exports and thresholds of the real binary. Layout itself is tested in `report`.

use crate::lab::Lab;

const CHECKED: &str = "import { check, group } from 'k6';
    import { Trend, Rate, Gauge } from 'k6/metrics';
    const t = new Trend('size'); const r = new Rate('share'); const g = new Gauge('level');
    export const options = { iterations: 4, thresholds: { size: ['max<100'], checks: ['rate>0.9'] } };
    export default function () {
      check(1, { one: (v) => v === 1 });
      group('outer', () => { group('inner', () => { check(1, { two: (v) => v === 2 }); }); });
      t.add(10 * (__ITER + 1)); r.add(__ITER % 2); g.add(__ITER);
    }";

#[test]
fn failing_thresholds_give_their_exit_code() {
    let run = Lab::with(CHECKED).run(&[]).code(99).says("thresholds on metrics 'checks' have been crossed");
    for part in [
        "█ THRESHOLDS",
        "✓ 'max<100' max=40",
        "✗ 'rate>0.9' rate=50.00%",
        "█ TOTAL RESULTS",
        "checks_succeeded...: 50.00% 4 out of 8",
        "✗ two",
        "↳  0% — ✓ 0 / ✗ 4",
        "CUSTOM",
        "EXECUTION",
        "NETWORK",
    ] {
        assert!(run.stdout.contains(part), "{part} in\n{}", run.stdout);
    }
    Lab::with(CHECKED).run(&["--no-thresholds"]).code(0);
}

#[test]
fn full_mode_has_scenarios_and_groups() {
    let run = Lab::with(CHECKED).run(&["--summary-mode", "full"]).code(99);
    assert!(run.stdout.contains("█ GROUP: outer") && run.stdout.contains("↳ GROUP: inner"), "{}", run.stdout);
    let run = Lab::with(CHECKED).run(&["--summary-mode", "disabled"]).code(99);
    assert_eq!(run.stdout.trim(), "");
}

#[test]
fn the_export_keeps_the_old_shape() {
    let lab = Lab::with(CHECKED);
    lab.run(&["--summary-export", "old.json"]).code(99);
    let data: serde_json::Value = serde_json::from_str(&lab.read("old.json")).expect("JSON");
    assert_eq!(data["metrics"]["size"]["max"], 40);
    assert_eq!(data["metrics"]["size"]["thresholds"]["max<100"], false);
    assert_eq!(data["metrics"]["checks"]["thresholds"]["rate>0.9"], true);
    assert_eq!(data["root_group"]["groups"]["outer"]["groups"]["inner"]["checks"]["two"]["fails"], 4);
}

#[test]
fn a_crossed_threshold_can_end_the_test() {
    let lab = Lab::with(
        "import { sleep } from 'k6'; import { Counter } from 'k6/metrics';
         const c = new Counter('bad');
         export const options = { vus: 1, duration: '10m', thresholds: { bad: [{ threshold: 'count<1', abortOnFail: \
         true, delayAbortEval: '0s' }] } };
         export default function () { c.add(1); sleep(0.05); }",
    );
    lab.run(&[]).code(99).says("bad").prints("✗ 'count<1'");
}

#[test]
fn trend_columns_and_units_can_be_chosen() {
    let run =
        Lab::with(CHECKED).run(&["--summary-trend-stats", "min,p(50),count", "--summary-time-unit", "ms"]).code(99);
    let line = run.stdout.lines().rfind(|l| l.trim_start().starts_with("size..")).expect("a line for size");
    assert!(line.contains("min=10") && line.contains("p(50)=25") && line.contains("count=4"), "{line}");
    assert!(!line.contains("avg"), "{line}");
}
