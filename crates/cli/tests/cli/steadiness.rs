//! Warm-up and other changes that a run finds in itself, and how sure its percentiles are.

use report::document::{Document, Steadiness, read};

use crate::lab::{Lab, Run};

const LOAD: &str = "import http from 'k6/http'
    export const options = {
      summaryTrendStats: ['med', 'p(95)', 'p(99.99)'],
      thresholds: { http_req_duration: ['p(50)<1', 'p(95)<1000'] },
      scenarios: { load: { executor: 'constant-vus', vus: 3, duration: '14s' } },
    }
    export default () => http.get(__ENV.TARGET)";

/// Answers after `late` ms, and after `changes` seconds of requests after a quarter of it.
fn target(lab: &Lab, late: u32, changes: u32) -> String {
    let app = format!(
        "let first
         export default {{ async fetch() {{
           first = first || Date.now()
           const late = Date.now() - first < {changes}000 ? {late} : {late} / 4
           await new Promise((done) => setTimeout(done, late))
           return new Response('ok')
         }} }}"
    );
    format!("--serve={}", lab.file("app.js", &app).display())
}

fn saved(lab: &Lab) -> (Document, Steadiness) {
    let result = read(lab.path().join("r")).unwrap_or_else(|error| panic!("{error}"));
    let found = result.steadiness.clone().expect("fourteen seconds of the same load");
    (result, found)
}

fn said(run: &Run) -> Option<&str> {
    run.stdout.lines().map(str::trim).find(|line| line.starts_with("steady from "))
}

#[test]
fn a_warm_up_is_said_and_stays_in_the_totals() {
    let lab = Lab::with(LOAD);
    let run = lab.run(&[&target(&lab, 40, 6), "--save", "r"]);
    let (result, found) = saved(&lab);
    let line = said(&run).unwrap_or_else(|| panic!("{found:?}\n{}", run.stdout));
    assert!(line.contains(" were slower: med ") && line.ends_with("; totals hold all of it"), "{line}");
    let steady = found.stretches[found.steady.expect("a steady stretch")];
    assert!((5.0..=8.0).contains(&steady.from_s) && steady.to_s > 13.0, "{found:?}");
    // The window's own figures, beside totals that have all samples.
    let figures = found.figures.as_ref().expect("figures of the window");
    let all = result.metric("http_req_duration").and_then(|metric| metric.histogram()).expect("a trend");
    let requests = result.metric("http_reqs").and_then(|metric| result.series_of(metric)).expect("its seconds");
    assert!(figures.samples < all.count && figures.max <= all.max, "{figures:?} of {}", all.count);
    let in_window: f64 = match &requests.points {
        report::document::Points::Counter { sum } => {
            let at = |second: &usize| result.seconds.starts_s[*second] - result.seconds.scenarios_start_s;
            // Each time is rounded to the tenth of a millisecond by itself, and the last second may hardly be longer.
            let inside = |second: &usize| at(second) > figures.from_s - 2e-4 && at(second) < figures.to_s - 2e-4;
            (0..sum.len()).filter(inside).filter_map(|second| sum[second]).sum()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(figures.samples as f64, in_window);
    assert!(figures.percentiles[0].value.expect("a median") < 20.0, "{figures:?}");
    let page = lab.onrush(&["report", "r", "-o", "-"]).code(0).stdout;
    assert!(page.contains("<strong>Steady in part:</strong>steady from ") && page.contains("class=\"unsteady\""));
}

#[test]
fn what_is_found_is_said_and_doubts_are_too() {
    let lab = Lab::with(LOAD);
    let run = lab.run(&[&target(&lab, 20, 600), "--save", "r"]).code(99);
    let (result, found) = saved(&lab);
    // On a machine with other work a server is not flat, and then that is what is found.
    let is_parted = found.stretches.len() > 1 && found.steady.is_some();
    assert_eq!(said(&run).is_some(), is_parted, "{found:?}\n{}", run.stdout);
    let duration = result.metric("http_req_duration").expect("it");
    let percents: Vec<(f64, bool)> = duration.percentiles.iter().map(|found| (found.percent, found.too_few)).collect();
    assert_eq!(percents, [(50.0, false), (95.0, false), (99.99, true)]);
    let p95 = duration.percentiles[1];
    assert!(p95.low.expect("an end") <= p95.value.expect("it") && p95.value <= p95.high, "{p95:?}");
    assert!(!duration.thresholds[1].inside && duration.thresholds[1].percentile.is_some(), "{duration:?}");
    let thin = "too few samples for p(99.99) of http_req_duration: ";
    assert!(run.stdout.contains("█ CONFIDENCE") && run.stdout.contains(thin), "{}", run.stdout);
    assert!(!run.stdout.contains("SUSPECT: too few"), "what is shown alone is a note: {}", run.stdout);
}

#[test]
fn a_limit_within_the_doubt_is_said() {
    let lab = Lab::with(
        "import { Trend } from 'k6/metrics'
         const mine = new Trend('mine')
         export const options = { iterations: 1, thresholds: { mine: ['p(95)<955', 'p(95)<2000'] } }
         export default () => { for (let value = 1; value <= 1000; value++) mine.add(value) }",
    );
    let line = "p(95) of mine is 950.05, somewhere from 936 to 964: the limit of 'p(95)<955' lies inside, run for \
                longer to be sure";
    let run = lab.run(&["--save", "r"]).code(0);
    assert!(run.stdout.contains(&format!("\n    {line}\n")), "{}", run.stdout);
    assert_eq!(run.stdout.matches("lies inside").count(), 1);
    let result = read(lab.path().join("r")).unwrap_or_else(|error| panic!("{error}"));
    let thresholds = &result.metric("mine").expect("it").thresholds;
    assert_eq!(thresholds.iter().map(|threshold| threshold.inside).collect::<Vec<_>>(), [true, false]);
    lab.onrush(&["report", "r", "-o", "-"]).code(0).prints("· the limit lies inside");
}
