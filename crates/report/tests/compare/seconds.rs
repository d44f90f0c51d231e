//! Comparisons of few runs of each side, by their seconds.

use onrush_report::document::{Points, Seconds, Series};

use super::*;

/// A run of so many seconds, `rate(second)` requests in each, that took `1000 / rate` ms.
fn by_seconds(seconds: usize, rate: impl Fn(usize) -> f64) -> Document {
    let rates: Vec<f64> = (0..seconds).map(rate).collect();
    let mut document = document(rates.iter().sum::<f64>() / seconds as f64, 0);
    document.duration_s = seconds as f64;
    let column = |of: &dyn Fn(f64) -> f64| rates.iter().map(|rate| Some(of(*rate))).collect::<Vec<_>>();
    let count = |of: &dyn Fn(f64) -> u64| rates.iter().map(|rate| Some(of(*rate))).collect::<Vec<_>>();
    let ms = || column(&|rate| 1000.0 / rate);
    let trend = Points::Trend {
        count: count(&|rate| rate as u64),
        avg: ms(),
        min: ms(),
        max: ms(),
        p50: ms(),
        p90: ms(),
        p95: ms(),
        p99: ms(),
    };
    let series = |name: &str, points| Series { name: name.to_owned(), filter: None, points };
    document.seconds = Seconds {
        starts_s: (0..seconds).map(|second| second as f64).collect(),
        lengths_s: vec![1.0; seconds],
        scenarios_start_s: 0.0,
        scenarios_end_s: seconds as f64,
        series: vec![
            series("http_req_duration", trend),
            series("http_req_failed", Points::Rate { passes: count(&|_| 0), total: count(&|rate| rate as u64) }),
            series("http_reqs", Points::Counter { sum: column(&|rate| rate) }),
        ],
    };
    document
}

/// Noise of a second, in parts: some percent, slower and faster by turns of unequal length.
fn noise(second: usize) -> f64 {
    1.0 + NOISE[second * 7 % 10] / 10.0
}

/// One run of each over a minute: A makes 2000 requests/s, B `ratio` times that.
fn one_run_each(ratio: f64) -> (Side, Side) {
    let a = by_seconds(60, |second| 2000.0 * noise(second));
    let b = by_seconds(60, |second| 2000.0 * ratio * noise(second + 3));
    (side("a", [a]), side("b", [b]))
}

#[test]
fn one_run_of_each_is_compared_by_its_seconds_and_marked_as_weaker() {
    let (a, b) = one_run_each(0.8);
    let comparison = compared(&a, &b);
    assert_eq!(comparison.conclusion(), Conclusion::Worse);
    let text = render::text(&comparison);
    let head = "A  a\nB  b\n   1 run of A, 1 run of B, 60 seconds of one run each compared\n\nworse: http_reqs /s -";
    assert!(text.starts_with(head), "{text}");
    for part in [
        " (weaker evidence: one run each)\n",
        "  metric                   A, whole run  B, whole run  change, median of blocks  ",
        "· one run of each: the intervals tell these runs apart, not A from B, because runs of the same program easily \
         differ by 5 %; for evidence about A and B run 7 more of each by turns\n",
        "8 blocks of 60 seconds, each block of B against that of A from the same time, without the first 6 s; ",
        "· better and worse need p at or under 0.05 and an interval beyond ±5 % (shares: ±1 point)",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("pairs to tell") && !text.contains("a verdict on"), "{text}");
    let json = render::json(&comparison);
    assert_eq!((&json["evidence"], &json["seconds"]), (&"seconds".into(), &60.into()));
    assert!(json["metrics"][0]["change"].as_f64().is_some_and(|change| (change + 0.2).abs() < 0.01), "{json}");
    let better = compared(&b, &a);
    assert_eq!((better.all.verdict, better.conclusion()), (Verdict::Better, Conclusion::SameOrBetter));
}

/// A second run does not take away the answer that one had.
#[test]
fn a_few_runs_of_each_are_compared_by_their_seconds_too() {
    let runs = |ratio: f64| {
        (0..3).map(move |run| {
            by_seconds(60, move |second| 2000.0 * ratio * (1.0 + 0.01 * run as f64) * noise(second + run))
        })
    };
    let comparison = compared(&side("a", runs(1.0)), &side("b", runs(0.8)));
    assert_eq!((comparison.conclusion(), comparison.all.pairs), (Conclusion::Worse, 3));
    let text = render::text(&comparison);
    for part in [
        "3 runs of A, 3 runs of B, 60 seconds of 3 runs each compared\n",
        " (weaker evidence: 3 runs each)\n",
        "  metric                   A, median  B, median  change, median of blocks  ",
        "for evidence about A and B run 5 more of each by turns\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn one_run_of_each_tells_no_change_that_luck_could_make_and_no_sameness() {
    for ratio in [1.0, 0.97, 1.03] {
        let (a, b) = one_run_each(ratio);
        let comparison = compared(&a, &b);
        assert_eq!(comparison.conclusion(), Conclusion::CannotTell, "{ratio}");
        let text = render::text(&comparison);
        assert!(text.contains("\ncannot tell: http_reqs /s "), "{text}");
        assert_eq!(comparison.all.judged[3].verdict, Some(Verdict::CannotTell));
        assert_eq!(comparison.all.judged[4].verdict, Some(Verdict::Same), "nobody saw a failure");
    }
    let (a, b) = one_run_each(1.0);
    let wide = Settings { margin: 0.1, ..Settings::default() };
    assert_eq!(compare(&a, &b, &wide).unwrap().conclusion(), Conclusion::SameOrBetter);
}

#[test]
fn a_warm_up_of_one_of_two_single_runs_does_not_decide() {
    let a = by_seconds(60, |second| 2000.0 * noise(second));
    let b = by_seconds(60, |second| if second < 9 { 900.0 } else { 2000.0 * noise(second + 3) });
    let comparison = compared(&side("a", [a]), &side("b", [b]));
    assert_eq!(comparison.conclusion(), Conclusion::CannotTell);
    let change = comparison.all.judged[0].estimate.center;
    assert!(change.abs() < 0.02, "the whole run is 8 % slower, its later seconds are not: {change}");
}

#[test]
fn conditions_on_one_run_of_each_allow_for_luck() {
    let (a, b) = one_run_each(0.8);
    let outcome = |text: &str| compare(&a, &b, &with_conditions(&[text])).unwrap().conclusion();
    // A time that is 25 % longer.
    assert_eq!(outcome("p(95) +15%"), Conclusion::Worse);
    assert_eq!(outcome("p(95) +22%"), Conclusion::CannotTell);
    assert_eq!(outcome("p(95) +28%"), Conclusion::CannotTell);
    assert_eq!(outcome("p(95) +40%"), Conclusion::SameOrBetter);
    assert_eq!(outcome("http_req_failed +0.1%"), Conclusion::SameOrBetter, "nobody saw a failure");
}

#[test]
fn one_run_of_each_without_enough_seconds_or_samples_says_so() {
    let short = |ratio: f64| by_seconds(5, |second| 2000.0 * ratio * noise(second));
    let comparison = compared(&side("a", [short(1.0)]), &side("b", [short(0.5)]));
    assert_eq!(comparison.conclusion(), Conclusion::CannotTell);
    let text = render::text(&comparison);
    let expected = "· with so few runs an answer takes 10 seconds of each, and there are 5\n";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("cannot tell: 1 pair found, and a verdict on 4 metrics takes at least 8"), "{text}");
    let text = render::text(&compared(&side("a", [document(2000.0, 0)]), &side("b", [document(1000.0, 0)])));
    assert!(text.contains("· the results hold no seconds, as those of a matrix do not\n"), "{text}");
    let few = |ratio: f64| by_seconds(60, |second| 50.0 * ratio * noise(second));
    let comparison = compared(&side("a", [few(1.0)]), &side("b", [few(0.7)]));
    assert_eq!(comparison.conclusion(), Conclusion::Worse);
    let text = render::text(&comparison);
    let expected = "· http_req_duration p(99): takes 100 samples in a second, and there are about 3";
    assert!(text.contains(expected), "{text}");
    assert!(render::junit(&comparison).contains("http_req_duration p(99): takes 100 samples"), "{text}");
}

/// A count is what it would be if the whole run had gone on like the block.
#[test]
fn blocks_tell_counts_of_the_whole_run() {
    let run = |rate: f64| by_seconds(60, move |_| rate);
    let wanted = ["http_reqs:count", "http_reqs", "http_req_duration:count"].map(|text| Wanted::parse(text).unwrap());
    let settings = Settings { wanted: wanted.to_vec(), ..Settings::default() };
    let comparison = compare(&side("a", [run(2000.0)]), &side("b", [run(1500.0)]), &settings).unwrap();
    let values: Vec<_> = comparison.all.judged.iter().map(|row| row.values.as_slice()).collect();
    let eight = |a: f64, b: f64| vec![(a, b); 8];
    assert_eq!(values, [eight(120_000.0, 90_000.0), eight(2000.0, 1500.0), eight(120_000.0, 90_000.0)]);
}
