//! Tags with ever new values: a warning that names the tag.

use crate::lab::Lab;

/// Counts under twenty times so many ids.
const IDS: &str = "import { Counter } from 'k6/metrics'; import exec from 'k6/execution';
    const mine = new Counter('mine');
    export const options = { iterations: 20, vus: 2 };
    export default function () {
      for (let n = 0; n < Number(__ENV.EACH); n++) mine.add(1, { id: `${exec.scenario.iterationInTest}/${n}`, kind: \
      'a' });
      exec.vu.metrics.tags.turn = exec.scenario.iterationInTest;
    }";

#[test]
fn too_many_time_series_are_warned_of_by_tag() {
    let run = Lab::with(IDS).run(&["-e", "EACH=6000"]).code(0);
    let warnings: Vec<&str> = run.stderr.lines().filter(|line| line.contains("unique time series")).collect();
    let [warning] = warnings[..] else { panic!("one warning in {}", run.stderr) };
    assert!(warning.contains("level=warning"), "{warning}");
    // The figures are estimates of what there was when the limit was passed.
    let values =
        warning.split("tag 'id' has about ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(values.is_some_and(|values| (90_000..=130_000).contains(&values)), "{warning}");
}

#[test]
fn some_time_series_are_fine() {
    let run = Lab::with(IDS).run(&["-e", "EACH=500"]).code(0);
    assert!(!run.stderr.contains("time series"), "{}", run.stderr);
}
