//! Comparisons of result documents, from pairing to every format, with whole texts asserted.

mod formats;
mod seconds;
mod selection;

use std::collections::BTreeMap;

use onrush_report::compare::{Comparison, Conclusion, Condition, EvidenceRun, Settings, Side, Wanted, compare, render};
use onrush_report::document::{Cause, Contains, Document, Histogram, LoadChange, Metric, SCHEMA, Value};
use onrush_report::errors::Errors;
use onrush_report::stats::Verdict;

/// Noise of the pairs, in percent: both signs, nothing repeated.
const NOISE: [f64; 10] = [0.11, -0.23, 0.31, -0.09, 0.17, -0.29, 0.05, -0.13, 0.21, -0.19];

fn metric(name: &str, contains: Contains, value: Value) -> Metric {
    Metric { name: name.to_owned(), filter: None, contains, thresholds: vec![], percentiles: vec![], value }
}

/// A run of so many requests a second that took `1000 / rate` ms each.
fn document(rate: f64, at: usize) -> Document {
    let mut document = Document {
        kind: String::from("onrush-result"),
        schema: SCHEMA,
        onrush: String::from("0.1.0"),
        started_at: format!("2026-01-01T00:{:02}:{:02}.000Z", at / 60, at % 60),
        duration_s: 10.0,
        load_s: None,
        script: String::from("script.js"),
        labels: BTreeMap::new(),
        options: serde_json::json!({ "vus": 1 }),
        environment: Default::default(),
        generator: Default::default(),
        exit: Default::default(),
        errors: Errors::default(),
        requests: Default::default(),
        load_changes: Vec::new(),
        generator_seconds: None,
        metrics: vec![],
        checks: vec![],
        groups: Default::default(),
        seconds: Default::default(),
        scenarios: Vec::new(),
        steadiness: None,
        messages: None,
    };
    document.generator.process_cores = 0.2;
    let ms = 1000.0 / rate;
    let count = (rate * 10.0) as u64;
    let histogram = Histogram {
        censored: 0,
        count,
        sum: ms * count as f64,
        min: ms,
        max: ms,
        buckets: vec![(metrics::bucket::number(ms), count)],
        places: vec![],
    };
    document.metrics = vec![
        metric(
            "data_received",
            Contains::Data,
            Value::Counter { count: 120.0 * count as f64, rate: 12.0 * count as f64 },
        ),
        metric("http_req_duration", Contains::Time, Value::Trend(histogram)),
        metric("http_req_failed", Contains::Default, Value::Rate { passes: 0, total: count }),
        metric("http_reqs", Contains::Default, Value::Counter { count: count as f64, rate }),
    ];
    document
}

fn side(name: &str, runs: impl IntoIterator<Item = Document>) -> Side {
    let run = |(at, document)| EvidenceRun {
        name: format!("{name}/{}", at + 1),
        cell: BTreeMap::new(),
        round: None,
        result: Ok(document),
    };
    Side { name: name.to_owned(), runs: runs.into_iter().enumerate().map(run).collect() }
}

/// Runs by turns A B B A: A at `base` requests/s, B at `ratio` times that.
fn sides(pairs: usize, base: f64, ratio: f64) -> (Side, Side) {
    let a = (0..pairs).map(|i| document(base * (1.0 + NOISE[i % 10] / 100.0), 4 * i + 2 * (i % 2)));
    let b = (0..pairs).map(|i| document(base * ratio * (1.0 - NOISE[(i + 3) % 10] / 100.0), 4 * i + 2 - 2 * (i % 2)));
    (side("base", a), side("new", b))
}

fn compared(a: &Side, b: &Side) -> Comparison {
    compare(a, b, &Settings::default()).expect("comparable")
}

fn with_conditions(texts: &[&str]) -> Settings {
    let conditions = texts.iter().map(|text| Condition::parse(text).expect("a condition")).collect();
    Settings { conditions, ..Settings::default() }
}

#[test]
fn a_slower_target_is_worse_in_every_format() {
    let (a, b) = sides(8, 2000.0, 0.95);
    let comparison = compared(&a, &b);
    assert_eq!(comparison.conclusion(), Conclusion::Worse);
    let expected = "\
A  base
B  new
   8 runs of A, 8 runs of B, 8 pairs compared

worse: http_reqs /s -4.97 %, http_req_duration med +5.23 %, http_req_duration p(95) +5.23 %, \
http_req_duration p(99) +5.23 %

  metric                   A, median  B, median  change, median of pairs    95 % interval       p  verdict
  http_reqs /s                  2000       1900                  -4.97 %  -5.02 … -4.91 %  0.0312  worse
  http_req_duration med      500.1µs   526.21µs                  +5.23 %  +5.17 … +5.28 %  0.0312  worse
  http_req_duration p(95)    500.1µs   526.21µs                  +5.23 %  +5.17 … +5.28 %  0.0312  worse
  http_req_duration p(99)    500.1µs   526.21µs                  +5.23 %  +5.17 … +5.28 %  0.0312  worse
  http_req_failed             0.00 %     0.00 %                 0 points     0 … 0 points  1.0000  same
  generator_cpu a request   100.02µs   105.24µs                  +5.23 %  +5.17 … +5.28 %       -  not judged
  data_received a request      120 B      120 B                      0 %          0 … 0 %       -  not judged
";
    let text = render::text(&comparison);
    assert!(text.starts_with(expected), "{text}");
    let markdown = render::markdown(&comparison);
    assert!(markdown.starts_with("**worse: http_reqs /s -4.97 %, "), "{markdown}");
    assert!(
        markdown.contains("| `http_reqs /s` | 2000 | 1900 | -4.97 % | -5.02 … -4.91 % | 0.0312 | **worse** |"),
        "{markdown}"
    );
    let json = render::json(&comparison);
    assert_eq!((json["conclusion"].as_str(), json["pairs"].as_u64()), (Some("worse"), Some(8)));
    assert_eq!(json["metrics"][0]["values"].as_array().map(Vec::len), Some(8));
    let junit = render::junit(&comparison);
    assert!(
        junit.contains("<testsuites name=\"onrush compare\" tests=\"5\" failures=\"4\" errors=\"0\" skipped=\"0\">"),
        "{junit}"
    );
    assert!(junit.contains("<failure message=\"http_reqs /s -4.97 % (-5.02 … -4.91 %)\"/>"), "{junit}");
}

#[test]
fn a_faster_target_is_better_and_an_equal_one_the_same() {
    let (a, b) = sides(8, 2000.0, 1.05);
    assert_eq!(compared(&a, &b).all.verdict, Verdict::Better);
    let (a, b) = sides(8, 2000.0, 1.0);
    let same = compared(&a, &b);
    assert_eq!((same.all.verdict, same.conclusion()), (Verdict::Same, Conclusion::SameOrBetter));
    assert!(same.warnings.is_empty(), "{:?}", same.warnings);
}

#[test]
fn five_pairs_have_no_verdict_and_are_told_how_many_more() {
    let (a, b) = sides(5, 2000.0, 0.5);
    let comparison = compared(&a, &b);
    assert_eq!(comparison.conclusion(), Conclusion::CannotTell);
    let text = render::text(&comparison);
    let expected =
        "cannot tell: 5 pairs found, and a verdict on 4 metrics takes at least 8: run 3 more of each by turns\n";
    assert!(text.contains(expected), "{text}");
    let one = Settings { wanted: vec![Wanted::parse("http_reqs").unwrap()], ..Settings::default() };
    let (a, b) = sides(6, 2000.0, 0.5);
    assert_eq!(compare(&a, &b, &one).unwrap().conclusion(), Conclusion::Worse);
}

#[test]
fn what_only_holms_correction_keeps_apart_is_told() {
    let (a, b) = sides(7, 2000.0, 0.95);
    let text = render::text(&compared(&a, &b));
    let expected = "· alone these would be told apart: http_reqs /s (p 0.0156), http_req_duration med (p 0.0156)";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("Holm's correction over 4 metrics asks for more. `onrush table` asks about the rate alone"),
        "{text}"
    );
}

#[test]
fn saturated_and_broken_runs_are_left_out_with_their_partners() {
    let (mut a, mut b) = sides(10, 2000.0, 0.95);
    let spoil = |side: &mut Side, at: usize, how: &dyn Fn(&mut Document)| how(side.runs[at].result.as_mut().unwrap());
    spoil(&mut a, 1, &|document| {
        document.generator.saturated = true;
        document.generator.complaint = Some(String::from("the generator was the limit: 97 % of a core"));
    });
    spoil(&mut b, 4, &|document| {
        document.exit.code = 105;
        document.exit.reason = Some(String::from("stopped by SIGINT"));
    });
    let comparison = compared(&a, &b);
    assert_eq!((comparison.all.pairs, comparison.conclusion()), (8, Conclusion::Worse));
    let text = render::text(&comparison);
    for line in [
        "! base/2 is no evidence: the generator was the limit: 97 % of a core; left out with it: new/2\n",
        "! new/5 is no evidence: it ended early with exit code 105: stopped by SIGINT; left out with it: base/5\n",
        "! give the generator more cores (--workers) or a core of its own, or fewer virtual users, so that the \
         target is the limit\n",
        "! run it again to its end\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let markdown = render::markdown(&comparison);
    assert!(
        markdown.contains("\n> ⚠ 4 of 20 runs are left out: they are no evidence, or their partner is none\n"),
        "{markdown}"
    );
    assert!(
        markdown.split_once("<details>").is_some_and(|(_, folded)| folded.contains("base/2 is no evidence")),
        "{markdown}"
    );
    a.runs.iter_mut().for_each(|run| run.result.as_mut().unwrap().generator.saturated = true);
    let nothing = compared(&a, &b);
    assert_eq!(nothing.conclusion(), Conclusion::CannotTell);
    assert!(render::text(&nothing).contains("cannot tell: no pair of runs is left to compare"));
    assert!(render::junit(&nothing).contains("skipped=\"1\""));
}

#[test]
fn runs_that_were_held_up_have_their_own_advice_and_can_be_accepted() {
    let (mut a, mut b) = sides(10, 2000.0, 0.95);
    let late = &mut a.runs[1].result.as_mut().unwrap().generator;
    late.saturated = true;
    late.cause = Some(Cause::HeldUp);
    late.complaint = Some(String::from("the generator was held up: a worker that used 1 % of a core"));
    late.advice = Some(String::from("end what else runs on this machine"));
    // An older result has the complaint alone.
    let old = &mut b.runs[4].result.as_mut().unwrap().generator;
    (old.saturated, old.complaint) = (true, Some(String::from("the generator was held up: by whatever")));
    let text = render::text(&compared(&a, &b));
    assert!(text.contains("! end what else runs on this machine\n"), "{text}");
    assert!(text.contains("\n! end what else runs on the machine, or give generator and target cores"), "{text}");
    assert!(!text.contains("--workers"), "more cores do not help: {text}");
    [&mut a, &mut b].into_iter().for_each(Side::accept_late);
    let accepted = compared(&a, &b);
    assert_eq!(accepted.all.pairs, 10);
    let expected =
        "2 of 20 runs: late accepted (--accept-late): the generator was held up: a worker that used 1 % of a core";
    assert_eq!(accepted.warnings, [expected]);
}

#[test]
fn other_machines_and_unequal_groups_are_refused() {
    let (a, mut b) = sides(8, 2000.0, 0.95);
    b.runs[3].result.as_mut().unwrap().environment.machine_id = String::from("other");
    let message = compare(&a, &b, &Settings::default()).unwrap_err();
    assert!(
        message.starts_with("results of 2 machines cannot be compared: base/1 and new/4 are of different ones"),
        "{message}"
    );
    assert!(message.ends_with("--across-machines"), "{message}");
    assert!(compare(&a, &b, &Settings { across_machines: true, ..Settings::default() }).is_ok());
    b.runs.pop();
    b.runs[3].result.as_mut().unwrap().environment.machine_id = String::new();
    let message = compare(&a, &b, &Settings::default()).unwrap_err();
    assert!(message.starts_with("found 8 runs in base and 7 in new, expected as many of each"), "{message}");
}

#[test]
fn rounds_pair_runs_in_any_order_and_a_missing_one_is_told() {
    let (mut a, mut b) = sides(9, 2000.0, 0.95);
    for side in [&mut a, &mut b] {
        side.runs.iter_mut().enumerate().for_each(|(at, run)| run.round = Some((at + 1).to_string()));
    }
    let straight = compared(&a, &b);
    b.runs.reverse();
    let reversed = compared(&a, &b);
    assert_eq!(render::text(&straight), render::text(&reversed));
    b.runs.remove(0);
    let comparison = compared(&a, &b);
    assert_eq!(comparison.all.pairs, 8);
    assert_eq!(comparison.left_out[0].run, "base/9");
    assert_eq!(comparison.left_out[0].why, "new has no run of its round");
}

#[test]
fn what_may_explain_a_difference_is_warned_of() {
    let (mut a, mut b) = sides(8, 2000.0, 0.95);
    for (at, run) in b.runs.iter_mut().enumerate() {
        let document = run.result.as_mut().unwrap();
        document.started_at = format!("2026-01-01T01:00:{at:02}.000Z");
        document.options = serde_json::json!({ "vus": 2, "rps": 5 });
        document.duration_s = 12.0;
        document.onrush = String::from("0.2.0");
    }
    a.runs[0].result.as_mut().unwrap().environment.steal_share = Some(0.07);
    a.runs[1].result.as_mut().unwrap().environment.throttled = Some(3);
    a.runs[2].result.as_mut().unwrap().duration_s = 0.9;
    a.runs[3].result.as_mut().unwrap().load_changes = vec![LoadChange {
        at_s: 2.0,
        scenario: String::from("default"),
        quantity: String::from("users"),
        from: 2.0,
        to: 5.0,
        by: String::from("REST API"),
    }];
    let warnings = compared(&a, &b).warnings.join("\n");
    for part in [
        "all runs of A were made before the first of B",
        "lasted different times, such as 10.0 s and 12.0 s",
        "the options of A and B differ in rps, vus",
        "different versions of onrush: 0.1.0, 0.2.0",
        "took up to 7 % of the machine's CPU time away",
        "held the generator up in 1 of 16 runs",
        "1 of 16 runs lasted less than a second",
        "the load of 1 of 16 runs was changed while they ran",
    ] {
        assert!(warnings.contains(part), "{part}\n{warnings}");
    }
    for (at, run) in b.runs.iter_mut().enumerate() {
        run.result.as_mut().unwrap().started_at =
            format!("2026-01-01T00:{:02}:{:02}.500Z", 4 * at / 60, (4 * at + 3) % 60);
    }
    assert!(compared(&a, &b).warnings.join("\n").contains("in every pair A ran before B"));
}

#[test]
fn conditions_alone_decide() {
    let (a, b) = sides(8, 2000.0, 0.95);
    let outcome = |texts: &[&str]| compare(&a, &b, &with_conditions(texts)).unwrap();
    let holds = outcome(&["p(95) +10%", "http_reqs -10%"]);
    assert_eq!(holds.conclusion(), Conclusion::SameOrBetter);
    let fails = outcome(&["p(95) +3%"]);
    assert_eq!(fails.conclusion(), Conclusion::Worse);
    let text = render::text(&fails);
    assert!(text.contains("\np(95) +3% fails: +5.23 %, 95 % interval +5.17 … +5.28 %\n"), "{text}");
    // The interval straddles the bound.
    let close = outcome(&["p(95) +5.2%", "http_reqs -10%"]);
    assert_eq!(close.conclusion(), Conclusion::CannotTell);
    assert_eq!(outcome(&["http_req_failed +0.5%"]).conclusion(), Conclusion::SameOrBetter);
    assert_eq!(outcome(&["http_req_duration:avg +1"]).conclusion(), Conclusion::SameOrBetter);
    let (a, b) = sides(5, 2000.0, 0.5);
    let few = compare(&a, &b, &with_conditions(&["p(95) +3%", "http_reqs -3%"])).unwrap();
    assert_eq!(few.conclusion(), Conclusion::CannotTell);
    assert!(render::text(&few).contains("· 5 pairs found, and 2 conditions take at least 7\n"));
    let message = compare(&a, &b, &with_conditions(&["http_req_duration +3%"])).unwrap_err();
    assert_eq!(message, "'http_req_duration +3%': which statistic, as in http_req_duration:p(95)?");
}

#[test]
fn metrics_are_chosen_by_name_and_unknown_ones_refused() {
    let (a, b) = sides(8, 2000.0, 0.95);
    let by = |text: &str| {
        let wanted = vec![Wanted::parse(text).unwrap()];
        compare(&a, &b, &Settings { wanted, ..Settings::default() })
    };
    let rows = |text: &str| {
        let rows = by(text).unwrap().all.judged.into_iter();
        rows.map(|row| (row.measure.to_string(), row.verdict.unwrap().name())).collect::<Vec<_>>()
    };
    assert_eq!(rows("http_req_duration:p(90)"), [(String::from("http_req_duration p(90)"), "worse")]);
    assert_eq!(rows("http_req_duration").len(), 3);
    assert_eq!(rows("data_received:rate"), [(String::from("data_received /s"), "different")]);
    assert_eq!(rows("data_received:rate:lower"), [(String::from("data_received /s"), "better")]);
    assert_eq!(rows("generator_cpu"), [(String::from("generator_cpu a request"), "worse")]);
    assert_eq!(by("http_rqs").unwrap_err(), "no result has a metric 'http_rqs'; did you mean 'http_reqs'?");
    assert_eq!(
        by("http_reqs:p(95)").unwrap_err(),
        "'http_reqs:p(95)': http_reqs is a counter: found 'p(95)', expected rate or count"
    );
    assert_eq!(by("data_received:rate").unwrap().conclusion(), Conclusion::CannotTell);
}

/// A script that throws before its last requests is quick.
#[test]
fn a_script_that_throws_is_no_better_target() {
    let (a, mut b) = sides(10, 2000.0, 1.2);
    for (at, run) in b.runs.iter_mut().enumerate() {
        let threw = Value::Counter { count: 50.0 + at as f64, rate: 5.0 };
        run.result.as_mut().unwrap().metrics.push(metric("iterations_threw", Contains::Default, threw));
    }
    let comparison = compared(&a, &b);
    assert_eq!(comparison.all.verdict, Verdict::Worse, "{}", render::text(&comparison));
    assert!(render::text(&comparison).contains("worse: iterations_threw count +54"), "{}", render::text(&comparison));
}

#[test]
fn zeros_are_compared_by_difference() {
    let (mut a, mut b) = sides(8, 2000.0, 1.0);
    for (at, run) in b.runs.iter_mut().enumerate() {
        let metrics = &mut run.result.as_mut().unwrap().metrics;
        metrics[2].value = Value::Rate { passes: 300 + at as u64, total: 20_000 };
        metrics.push(metric("lost", Contains::Default, Value::Counter { count: 5.0 + at as f64, rate: 0.5 }));
    }
    let wanted = ["http_req_failed", "lost:count:lower"].map(|text| Wanted::parse(text).unwrap()).to_vec();
    let comparison = compare(&a, &b, &Settings { wanted, ..Settings::default() }).unwrap();
    let text = render::text(&comparison);
    assert!(text.contains("worse: http_req_failed +1.52 points, lost count +8.5"), "{text}");
    // Where neither side has the samples there is no metric to compare, and a Trend of one side is no evidence.
    a.runs[0].result.as_mut().unwrap().metrics.remove(1);
    let text = render::text(&compared(&a, &b));
    assert!(text.contains("http_req_duration med: only 7 of 8 pairs have samples of it"), "{text}");
}

#[test]
fn cells_are_judged_each_and_all_together() {
    let (mut a, mut b) = (side("m.json:variant=a", []), side("m.json:variant=b", []));
    for (size, base, ratio) in [("1k", 2000.0, 0.95), ("1m", 20.0, 1.0)] {
        let (cell_a, cell_b) = sides(8, base, ratio);
        for (from, to) in [(cell_a, &mut a), (cell_b, &mut b)] {
            to.runs.extend(from.runs.into_iter().enumerate().map(|(at, run)| EvidenceRun {
                cell: BTreeMap::from([(String::from("size"), String::from(size))]),
                round: Some(at.to_string()),
                ..run
            }));
        }
    }
    let comparison = compared(&a, &b);
    assert_eq!(comparison.all.pairs, 16);
    let cells: Vec<_> = comparison.cells.iter().map(|cell| (cell.cell["size"].as_str(), cell.verdict)).collect();
    assert_eq!(cells, [("1k", Verdict::Worse), ("1m", Verdict::Same)]);
    let text = render::text(&comparison);
    assert!(text.contains("\nsize=1k: worse, 8 pairs\n"), "{text}");
    let all = text.lines().find(|line| line.contains("change")).unwrap();
    assert!(!all.contains("A, median"), "medians over different cells mean nothing: {all}");
    assert!(render::markdown(&comparison).contains("`size=1m`: same, 8 pairs"));
    assert!(render::junit(&comparison).contains("classname=\"size=1k\""));
}
