//! The report of a run: what its first screen says, that it survives odd documents, and that no text from outside gets
//! out of its place. How it looks is tested in a browser (`cargo xtask browser`).

use std::collections::BTreeMap;

use metrics::Trend;
use metrics::results::TrendValue;
use onrush_report::document::{
    AgentFigures, AgentLoad, AgentTrend, Check, Contains, Document, Drift, Environment, Exit, Generator, Group,
    Histogram, KIND, Metric, PercentileFigure, Points, SCHEMA, Seconds, Series, Steadiness, Stretch, StretchFigures,
    Threshold, Value, WorkerFigures,
};
use onrush_report::errors::{Counted, ErrorStatus, Errors};
use onrush_report::html::run::page;

fn empty() -> Document {
    Document {
        kind: KIND.into(),
        schema: SCHEMA,
        onrush: "0.1.0".into(),
        started_at: "2026-11-21T18:00:00.123Z".into(),
        duration_s: 0.0,
        load_s: None,
        script: "empty.js".into(),
        labels: BTreeMap::new(),
        options: serde_json::Value::Null,
        environment: Environment::default(),
        generator: Generator::default(),
        exit: Exit::default(),
        errors: Errors::default(),
        requests: Default::default(),
        metrics: Vec::new(),
        checks: Vec::new(),
        groups: Group::default(),
        scenarios: Vec::new(),
        seconds: Seconds::default(),
        load_changes: Vec::new(),
        generator_seconds: None,
        steadiness: None,
        messages: None,
    }
}

fn metric(name: &str, filter: Option<&str>, value: Value) -> Metric {
    let (name, filter) = (name.to_owned(), filter.map(str::to_owned));
    Metric { name, filter, contains: Contains::Time, thresholds: Vec::new(), percentiles: Vec::new(), value }
}

fn trend(values: impl IntoIterator<Item = f64>) -> Value {
    let mut trend = Trend::default();
    values.into_iter().for_each(|value| trend.add(value));
    Value::Trend(Histogram::from(&TrendValue::from(trend)))
}

/// Five seconds; the third is slow, the fourth without samples.
fn trend_series(name: &str, filter: Option<&str>) -> Series {
    let column =
        |factor: f64| vec![Some(10.0 * factor), Some(11.0 * factor), Some(90.0 * factor), None, Some(10.0 * factor)];
    let points = Points::Trend {
        count: vec![Some(3), Some(3), Some(1), None, Some(2)],
        avg: column(1.0),
        min: column(0.5),
        max: column(2.0),
        p50: column(1.0),
        p90: column(1.5),
        p95: column(1.6),
        p99: column(1.8),
    };
    Series { name: name.to_owned(), filter: filter.map(str::to_owned), points }
}

fn busy() -> Document {
    let durations = [10.0, 10.0, 11.0, 12.0, 20.0, 22.0, 180.0];
    let failed = Points::Rate {
        passes: vec![Some(0), Some(0), Some(1), None, Some(0)],
        total: vec![Some(3), Some(3), Some(1), None, Some(2)],
    };
    Document {
        duration_s: 5.0,
        script: "shop.js".into(),
        metrics: vec![
            metric("http_req_duration", None, trend(durations)),
            metric("http_req_failed", None, Value::Rate { passes: 1, total: 7 }),
            metric("http_reqs", None, Value::Counter { count: 7.0, rate: 1.4 }),
        ],
        seconds: Seconds {
            starts_s: vec![0.0, 1.0, 2.0, 3.0, 4.0],
            lengths_s: vec![1.0; 5],
            scenarios_start_s: 0.0,
            scenarios_end_s: 5.0,
            series: vec![
                trend_series("http_req_duration", None),
                Series { name: "http_req_failed".into(), filter: None, points: failed },
            ],
        },
        generator: Generator {
            workers: vec![WorkerFigures {
                cpu_share: 0.34,
                lag_p50_ms: 0.1,
                lag_p99_ms: 0.4,
                lag_max_ms: 2.0,
                ..Default::default()
            }],
            ..Generator::default()
        },
        ..empty()
    }
}

#[track_caller]
fn holds(html: &str, text: &str) {
    assert!(html.contains(text), "expected {text:?} in {}", &html[html.find("<body>").unwrap_or(0)..]);
}

#[test]
fn the_first_screen_says_how_it_went() {
    let html = page(&busy());
    holds(&html, "<li class=\"good\"><strong>Passed:</strong>no thresholds were set</li>");
    holds(
        &html,
        "half of the requests took at most 12ms, 95 % at most 132.6ms; slowest at 2 s: p95 144ms, usually 16.8ms",
    );
    holds(&html, "14.28% of the requests failed (1 of 7); the first at 2 s, most at 2 s");
    holds(&html, "the generator was on time: its busiest worker used 34 % of a core and was at most 400µs late (p99)");
}

#[test]
fn an_overruled_verdict_is_marked_and_a_run_of_milliseconds_has_no_percentages() {
    let mut late = busy();
    late.generator.saturated = true;
    late.generator.complaint = Some("the generator was held up: why".into());
    late.generator.late_accepted = true;
    let accepted = "late accepted (--accept-late): the generator was held up: why";
    holds(&page(&late), &format!("<li class=\"warn\"><strong>Generator:</strong>{accepted}</li>"));
    let mut short = busy();
    short.generator.too_short = true;
    short.generator.workers[0].cpu_share = 2.76;
    short.environment.steal_share = Some(0.2);
    let html = page(&short);
    holds(&html, "not judged: the scenarios ran for less than a second, which is mostly starting up");
    assert!(!html.contains("276 %") && !html.contains("276.0 %"), "{html}");
}

#[test]
fn errors_are_named_and_make_no_green_verdict() {
    let mut document = busy();
    document.metrics.push(metric("iterations", None, Value::Counter { count: 7.0, rate: 1.4 }));
    let thrown =
        Counted { what: "TypeError: <a> is not a function (/x.js:3:5)".into(), count: 6, ..Default::default() };
    document.errors = Errors {
        exceptions: vec![thrown],
        answers: vec![ErrorStatus { status: 404, expected: false, count: 1, ..Default::default() }],
        unanswered: vec![Counted { what: "dial: connection refused".into(), count: 2, ..Default::default() }],
    };
    let html = page(&document);
    holds(&html, "<li class=\"warn\"><strong>Not judged:</strong>no thresholds were set, and there were errors</li>");
    holds(
        &html,
        "<li class=\"bad\"><strong>Errors:</strong>6 of 7 iterations threw; answers from 400 on: 404 × 1; 2 of 7 \
         requests got no answer</li>",
    );
    holds(&html, "TypeError: &lt;a&gt; is not a function (/x.js:3:5)");
    holds(&html, "dial: connection refused");
}

#[test]
fn what_to_doubt_is_said() {
    let mut document = busy();
    document.generator.saturated = true;
    document.generator.complaint = Some("the generator was the limit: why".into());
    document.generator.dropped_iterations = 12;
    document.environment.steal_share = Some(0.08);
    document.environment.throttled = Some(3);
    document.exit = Exit { code: 99, reason: Some("thresholds have been crossed".into()) };
    document.metrics[0].thresholds = vec![Threshold {
        source: "p(95)<100".into(),
        ok: false,
        left: 132.5,
        percentile: None,
        inside: false,
        without_samples: false,
    }];
    let html = page(&document);
    holds(
        &html,
        "<li class=\"bad\"><strong>Failed:</strong>1 of 1 threshold did not hold: http_req_duration: \
         p(95)&lt;100</li>",
    );
    holds(
        &html,
        "<li class=\"bad\"><strong>Generator:</strong>the generator was the limit: why; 12 planned iterations never \
         started",
    );
    holds(
        &html,
        "8.00% of the machine&#39;s CPU time went to others on its host; the CPU limit of its control group held the \
         generator up 3 times",
    );
    holds(&html, "<td>p(95)&lt;100</td><td>p(95)=132.5ms<small class=\"sure\">");
}

#[test]
fn a_gap_in_the_samples_is_a_gap_in_the_line() {
    let html = page(&busy());
    let line = html
        .split("role=\"img\" aria-label=\"Request duration over time: ")
        .nth(1)
        .and_then(|chart| chart.split("<path class=\"line c0\" d=\"").nth(1))
        .and_then(|rest| rest.split('"').next())
        .expect("p50");
    assert_eq!(line.matches('M').count(), 2, "two pieces: {line}");
    holds(&html, "null");
}

#[test]
fn message_delays_have_a_table_by_event_and_by_hop() {
    let mut document = busy();
    let of = |name: &str, filter: Option<&str>, factor: f64| {
        metric(name, filter, trend([10.0, 20.0].map(|value| value * factor)))
    };
    document.metrics.extend([
        of("message_delay", None, 1.0),
        of("message_delay", Some("event:edit"), 2.0),
        of("message_delay", Some("event:cursor"), 1.0),
        of("message_hop", None, 9.0),
        of("message_hop", Some("event:edit,hop:up"), 0.5),
        metric("message_sends", None, Value::Counter { count: 10.0, rate: 2.0 }),
        metric("message_sends", Some("event:edit"), Value::Counter { count: 5.0, rate: 1.0 }),
    ]);
    document
        .seconds
        .series
        .extend([trend_series("message_delay", None), trend_series("message_delay", Some("event:edit"))]);
    let html = page(&document);
    holds(
        &html,
        "<tr class=\"strong\"><th scope=\"row\">all events</th><td class=\"n\">2</td><td class=\"n\">0.4</td><td \
         class=\"n\">15ms</td>",
    );
    holds(
        &html,
        "<tr><th scope=\"row\">edit</th><td class=\"n\">1</td><td class=\"n\">0.4</td><td class=\"n\">30ms</td>",
    );
    holds(&html, "<tr><th scope=\"row\">edit</th><td>up</td><td class=\"n\">7.5ms</td>");
    holds(&html, "Message delay, mean of each second");
    holds(&html, "Delay of edit alone");
    holds(&html, "half of the messages took at most 15ms");
}

#[test]
fn a_trend_of_the_script_that_is_tagged_by_event_has_the_same_table_and_charts() {
    let mut document = busy();
    let of = |name: &str, filter: Option<&str>, factor: f64| {
        metric(name, filter, trend([10.0, 20.0].map(|value| value * factor)))
    };
    document.metrics.extend([
        of("edit_delay", None, 1.0),
        of("edit_delay", Some("event:edit"), 2.0),
        of("edit_delay", Some("event:cursor"), 1.0),
        of("untagged", None, 1.0),
        of("other", None, 1.0),
        of("other", Some("room:1"), 1.0),
    ]);
    let series = [trend_series("edit_delay", None), trend_series("edit_delay", Some("event:edit"))];
    document.seconds.series.extend(series);
    let html = page(&document);
    holds(&html, "<h3 class=\"of\">edit_delay</h3>");
    holds(
        &html,
        "<tr class=\"strong\"><th scope=\"row\">all events</th><td class=\"n\">0.4</td><td class=\"n\">15ms</td>",
    );
    holds(&html, "<tr><th scope=\"row\">edit</th><td class=\"n\">0.4</td><td class=\"n\">30ms</td>");
    holds(&html, "edit_delay, mean of each second");
    holds(&html, "Delay of edit alone");
    for plain in ["untagged, mean of each second", "other, mean of each second"] {
        assert!(!html.contains(plain), "{plain}");
    }
}

#[test]
fn metrics_of_the_script_have_a_section_of_their_own() {
    let mut document = busy();
    let sum = || Value::Counter { count: 4.0, rate: 0.8 };
    document.metrics.extend([
        metric("orders", None, sum()),
        metric("orders_by_shop", Some("shop:1"), sum()),
        metric("queue", None, Value::Gauge { value: 1.0, min: 0.0, max: 2.0 }),
        metric("hits", None, Value::Rate { passes: 1, total: 2 }),
        metric("iterations", None, sum()),
        metric("message_sends", None, sum()),
    ]);
    let column = vec![Some(1.0); 5];
    let counts = |count| vec![Some(count); 5];
    let series = |name: &str, points| Series { name: name.to_owned(), filter: None, points };
    document.seconds.series.extend([
        series("orders", Points::Counter { sum: column.clone() }),
        series("queue", Points::Gauge { last: column.clone() }),
        series("hits", Points::Rate { passes: counts(1), total: counts(2) }),
        series("iterations", Points::Counter { sum: column.clone() }),
        series("message_sends", Points::Counter { sum: column }),
    ]);
    let html = page(&document);
    let section = html.split("<h2 ").find(|part| part.contains(">Metrics of the script</h2>")).expect("a section");
    for own in ["orders", "queue", "hits"] {
        assert!(section.contains(own), "{own} of {section}");
    }
    for other in ["http_req", "iterations", "message_sends", "orders_by_shop"] {
        assert!(!section.contains(other), "{other} in {section}");
    }
}

#[test]
fn odd_documents_make_a_page_all_the_same() {
    holds(&page(&empty()), "<h1>empty.js</h1>");
    let mut document = busy();
    document.seconds = Seconds::default();
    holds(&page(&document), "Request duration, distribution");
    document.options = serde_json::json!({ "scenarios": [1], "summaryTrendStats": ["wrong"], "summaryTimeUnit": 5 });
    holds(&page(&document), "shop.js");
    let mut short = busy();
    short.seconds.lengths_s = vec![0.0; 5];
    holds(&page(&short), "shop.js");
    document.metrics = vec![metric("mine", None, trend([f64::MAX, f64::MIN_POSITIVE, -5.0, 0.0]))];
    holds(&page(&document), "mine, distribution");
}

#[test]
fn texts_from_outside_stay_where_they_belong() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onload=\"alert(3)";
    let mut document = busy();
    document.script = evil.into();
    document.labels = BTreeMap::from([(evil.into(), evil.into())]);
    document.environment.cpu_model = evil.into();
    document.environment.os = evil.into();
    document.generator.notes = vec![evil.into()];
    document.exit = Exit { code: 107, reason: Some(evil.into()) };
    document.options =
        serde_json::json!({ "scenarios": { evil: { "executor": evil, "exec": evil } }, "userAgent": evil });
    document.groups = Group {
        checks: vec![Check { name: evil.into(), path: evil.into(), passes: 1, fails: 1 }],
        groups: vec![Group {
            name: evil.into(),
            checks: vec![Check { name: evil.into(), path: evil.into(), passes: 0, fails: 1 }],
            ..Group::default()
        }],
        ..Group::default()
    };
    document.metrics.push(metric("message_delay", Some(&format!("event:{evil}")), trend([1.0, 2.0])));
    document.metrics.push(metric("message_delay", None, trend([1.0, 2.0])));
    document.metrics.push(metric(evil, None, trend([1.0, 2.0])));
    document.seconds.series.push(trend_series("message_delay", None));
    document.seconds.series.push(trend_series("message_delay", Some(&format!("event:{evil}"))));
    document.seconds.series.push(trend_series(evil, None));
    document.metrics[0].thresholds = vec![Threshold {
        source: evil.into(),
        ok: true,
        left: 1.0,
        percentile: None,
        inside: false,
        without_samples: false,
    }];
    let html = page(&document);
    assert!(!html.contains("<img") && !html.contains("<script>alert"), "escaped");
    assert_eq!(html.matches("<script>").count(), 1, "only the page's own");
    // In the charts' JSON a quote ends nothing; everywhere else it would end an attribute.
    let elsewhere = html
        .split("<script type=\"application/json\">")
        .map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest));
    assert!(elsewhere.clone().count() > 3, "charts were drawn");
    assert!(elsewhere.into_iter().all(|part| !part.contains("\" onload")), "escaped");
}

#[test]
fn warm_up_is_shaded_and_its_window_has_figures_of_its_own() {
    let mut document = busy();
    let stretch = |from_s: f64, to_s: f64, med: f64| Stretch { from_s, to_s, med, per_second: 1000.0 / med };
    let p95 = PercentileFigure { percent: 95.0, value: Some(11.0), low: Some(10.5), high: None, too_few: true };
    document.steadiness = Some(Steadiness {
        metric: "http_req_duration".into(),
        by_rate: true,
        stretches: vec![stretch(0.0, 2.0, 40.0), stretch(2.0, 5.0, 10.0)],
        steady: Some(1),
        figures: Some(StretchFigures {
            from_s: 2.0,
            to_s: 5.0,
            samples: 1234,
            per_second: 411.3,
            avg: 10.2,
            max: 99.0,
            percentiles: vec![p95],
        }),
        drift: Some(Drift { from_s: 2.0, to_s: 5.0, percent: 7.0, percent_per_minute: 287.0 }),
    });
    let html = page(&document);
    holds(
        &html,
        "<li class=\"warn\"><strong>Not steady:</strong>steady from 2s to 5s; the first 2s were slower: med 40ms \
         against 10ms; totals hold all of it; got slower all the time: the median by 7.0 % from 2s to 5s (287.0 % a \
         minute)</li>",
    );
    holds(&html, "<rect class=\"unsteady\" x=\"0.0\" y=\"0\" width=\"400.0\"");
    holds(
        &html,
        "<tr class=\"strong\"><th scope=\"row\">2 s to 5 s</th><td class=\"n\">10ms</td><td class=\"n\">100</td></tr>",
    );
    holds(&html, "http_req_duration, 2 s to 5 s alone");
    holds(&html, "11ms<small class=\"sure\">10.5ms to unbounded</small>");
    let found = document.steadiness.as_mut().expect("it");
    (found.stretches, found.steady, found.figures, found.drift) = (vec![stretch(0.0, 5.0, 10.0)], Some(0), None, None);
    let html = page(&document);
    holds(&html, "<strong>Steady:</strong>nothing changed from 0 s to 5 s, while the plan asked for the same load");
    assert!(!html.contains("<rect class=\"unsteady\""));
}

fn agent(index: u32, p50: f64) -> AgentFigures {
    let trend = AgentTrend {
        metric: "http_req_duration".into(),
        contains: Contains::Time,
        count: 500,
        avg: Some(p50),
        p50: Some(p50),
        p95: Some(2.0 * p50),
        p99: None,
        max: None,
    };
    let load = AgentLoad {
        requests: 1_234,
        requests_per_s: 123.4,
        failed_requests: 5,
        iterations: 600,
        ws_messages: 0,
        trends: vec![trend],
    };
    AgentFigures {
        index,
        name: format!("<pod>-{index}"),
        start_late_ms: Some(0.25),
        process_cores: 0.5,
        allowed_cores: Some(2),
        clock_bound_ms: Some(0.125),
        lost: None,
        load: Some(load),
    }
}

#[test]
fn agents_stand_beside_each_other_and_one_that_differs_is_named() {
    let mut document = busy();
    assert!(!page(&document).contains(">Agents<"), "one process did everything");
    document.generator.agents = vec![agent(0, 10.0), agent(1, 11.0), agent(2, 31.0), agent(3, 10.0)];
    document.generator.agents[3].lost = Some("its connection is gone".into());
    let html = page(&document);
    for shown in [
        "1,234",
        ">123<",
        "0.50 of 2",
        "250µs",
        "125µs",
        "its connection is gone",
        "&lt;pod&gt;-2",
        "http_req_duration by agent",
    ] {
        assert!(html.contains(shown), "{shown}");
    }
    assert!(html.contains(
        "agent 2 · &lt;pod&gt;-2 differs: its median of http_req_duration is 31ms, 2.8 × that of all agents, 11ms"
    ));
    document.generator.agents[2] = agent(2, 12.0);
    assert!(!page(&document).contains("differs:"));
    // What an older result has of its agents.
    document.generator.agents = vec![AgentFigures { name: "pod".into(), ..AgentFigures::default() }];
    assert!(page(&document).contains("0 · pod"));
}
