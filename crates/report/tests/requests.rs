//! The table of requests in a report: what failed is in it with status, URL, time and example, rows add up, and what a
//! script needs to make it anew for a stretch is in the page. A run is recorded by real recorders; its document is made
//! as the tool makes it.

use std::collections::BTreeMap;
use std::time::Duration;

use metrics::{
    Aggregate, ErrorKind, Protocol, Recorder, Registry, RequestBlocks, RequestKind, TagSet, Thresholds, builtin,
};
use onrush_report::document::{
    Document, Environment, Exit, Generator, GeneratorSeconds, Group, KIND, Metric, Requests, SCHEMA, Seconds, since,
};
use onrush_report::errors::Errors;
use onrush_report::html::run::page;
use onrush_report::{SummaryMode, SummaryOptions, text};

const SECOND: Duration = Duration::from_secs(1);

struct Run {
    document: Document,
    results: metrics::Results,
}

/// Ten seconds after one of setup: in the fifth and sixth, 28 of a thousand requests were answered with 503, and three
/// not at all.
fn run() -> Run {
    run_with(|_, _| {})
}

/// The same, with what else is recorded in each second.
fn run_with(also: impl Fn(&Recorder, u32)) -> Run {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    let mut aggregate = Aggregate::new(registry.clone(), Thresholds::default());
    let (mut seconds, mut blocks) = (metrics::Seconds::new(registry), RequestBlocks::default());
    for second in 1..=10_u32 {
        for n in 0..100 {
            let bad = (5..=6).contains(&second) && n < 14;
            let lost = second == 6 && n > 96;
            ask(
                &recorder,
                if n % 4 == 0 { "buy" } else { "browse" },
                if lost {
                    0
                } else if bad {
                    503
                } else {
                    200
                },
                n,
            );
        }
        also(&recorder, second);
        let snapshot = [recorder.take()];
        seconds.add(second * SECOND, (second + 1) * SECOND, &snapshot);
        blocks.add(second * SECOND, (second + 1) * SECOND, &snapshot);
        snapshot.into_iter().for_each(|snapshot| aggregate.merge(snapshot));
    }
    let results = aggregate.results(10 * SECOND, false);
    let document = document(&results, seconds, &blocks);
    Run { document, results }
}

fn ask(recorder: &Recorder, scenario: &'static str, status: u16, n: u32) {
    let error = if status == 0 { "dial: <refused>" } else { "" };
    let (name, example) = if status == 503 { ("pay", Some("http://shop.test/pay/7".into())) } else { ("home", None) };
    let kind = RequestKind {
        name: name.into(),
        method: "GET".into(),
        protocol: Protocol::Http,
        status,
        error: error.into(),
        failed: status != 200,
        scenario: scenario.into(),
        group: "".into(),
        example,
    };
    let tags = TagSet::new([("scenario", scenario)]);
    recorder.add(recorder.series_of_request(builtin::HTTP_REQ_DURATION, &tags, &kind), f64::from(n) + 1.0, 0);
    recorder.add(recorder.series(builtin::HTTP_REQS, &tags), 1.0, 0);
    recorder.add(recorder.series(builtin::HTTP_REQ_FAILED, &tags), f64::from(u8::from(kind.failed)), 0);
    match status {
        0 => recorder.count_error(&ErrorKind::NoAnswer(error.into())),
        200 => {}
        status => recorder.count_error(&ErrorKind::Status { status, expected: false }),
    }
}

fn document(results: &metrics::Results, seconds: metrics::Seconds, blocks: &RequestBlocks) -> Document {
    let (starts_s, lengths_s) =
        seconds.intervals().iter().map(|(start, length)| (start.as_secs_f64(), length.as_secs_f64())).unzip();
    let series = seconds.into_series().into_iter().map(Into::into).collect();
    let column = |value| vec![Some(value); 10];
    Document {
        kind: KIND.into(),
        schema: SCHEMA,
        onrush: "0.1.0".into(),
        started_at: "2026-11-21T18:00:00.123Z".into(),
        duration_s: 11.0,
        load_s: Some(10.0),
        script: "shop.js".into(),
        labels: BTreeMap::new(),
        options: serde_json::Value::Null,
        environment: Environment::default(),
        generator: Generator::default(),
        exit: Exit::default(),
        errors: Errors::of(results, |kind| blocks.span_of_error(kind).map(|span| since(span, SECOND))),
        requests: Requests::new(&results.requests, Some(blocks), SECOND),
        metrics: results.metrics.iter().map(|metric| Metric::of(metric, &[])).collect(),
        checks: Vec::new(),
        groups: Group::default(),
        scenarios: Vec::new(),
        seconds: Seconds { starts_s, lengths_s, scenarios_start_s: 1.0, scenarios_end_s: 11.0, series },
        load_changes: Vec::new(),
        generator_seconds: Some(GeneratorSeconds {
            cores: column(0.5),
            busiest_share: column(0.25),
            lag_p99_ms: column(0.1),
            planned_per_second: column(100.0),
            target: None,
        }),
        steadiness: None,
        messages: None,
    }
}

#[track_caller]
fn holds(html: &str, text: &str) {
    assert!(html.contains(text), "expected {text:?} in {}", &html[html.find("<body>").unwrap_or(0)..]);
}

#[test]
fn what_failed_is_the_first_section_with_status_time_and_example() {
    let html = page(&run().document);
    let failed = html.find(">What failed</h2>").expect("a section");
    assert!(failed < html.find(">Requests</h2>").expect("a section"));
    let row = "<th scope=\"row\">status 503</th><td class=\"n\">28</td><td class=\"n\">4 s</td><td class=\"n\">6 s</td>\
               <td><span class=\"wide\">GET http://shop.test/pay/7</span></td>";
    holds(&html, row);
    holds(&html, "dial: &lt;refused&gt;");
    holds(&html, "<td>✗ 503</td><th scope=\"row\"><span class=\"url\">GET pay");
    holds(&html, "<th scope=\"row\">browse</th><td class=\"n\">750</td><td class=\"n\">75</td>");
    holds(&html, "<h3>Errors by kind</h3>");
    holds(&html, "its busiest worker, of a core");
}

#[test]
fn rows_add_up_to_all_requests() {
    let Run { document, results } = run();
    let all: u64 = document.requests.rows.iter().map(|row| row.durations.count).sum();
    assert_eq!((all, results.count("http_reqs")), (1000, 1000));
    for (at, row) in document.requests.rows.iter().enumerate() {
        let over_time: u64 = document.requests.blocks.row(at).iter().flat_map(|block| block.values()).sum();
        assert_eq!(over_time, row.durations.count, "{} {}", row.name, row.scenario);
    }
}

#[test]
fn a_run_without_errors_has_no_such_section() {
    let Run { mut document, .. } = run();
    document.requests.rows.iter_mut().for_each(|row| row.failed = false);
    document.errors = Errors::default();
    let html = page(&document);
    assert!(!html.contains(">What failed</h2>") && !html.contains("Errors by kind"));
}

#[test]
fn the_text_names_them_with_errors_and_all_with_the_full_summary() {
    let Run { results, .. } = run();
    let told = |mode| text(&results, &SummaryOptions { mode, ..SummaryOptions::default() });
    let compact = told(SummaryMode::Compact);
    let line = "    × 28  2.8/s  503   med=7.5ms p(95)=13.65ms  GET pay\n";
    assert!(compact.contains(line), "{compact}");
    assert!(compact.contains("× 3   0.3/s  none  med=99ms p(95)=99.9ms    GET home: dial: <refused>\n"), "{compact}");
    assert!(!compact.contains("REQUESTS"));
    let full = told(SummaryMode::Full);
    assert!(full.contains("█ REQUESTS") && full.contains("× 969"), "{full}");
}

/// Calls of gRPC, of which those of the seventh second fail, and a WebSocket that is refused in the eighth.
fn other_protocols(recorder: &Recorder, second: u32) {
    let tags = TagSet::new([("scenario", "browse")]);
    let kind = |protocol, method: &str, name: &str, status, error: &str, failed| {
        let [name, error] = [name, error].map(Into::into);
        RequestKind { name, method: method.into(), protocol, status, error, failed, ..RequestKind::default() }
    };
    let (status, error) = if second == 7 { (14, "Unavailable: <away>") } else { (0, "") };
    let call = kind(Protocol::Grpc, "gRPC", "/shop.Cart/Add", status, error, status != 0);
    recorder.add(recorder.series_of_request(builtin::GRPC_REQ_DURATION, &tags, &call), 2.0, 0);
    if second == 8 {
        let socket = kind(Protocol::WebSocket, "WS", "ws://shop.test/", 403, "", true);
        recorder.add(recorder.series_of_request(builtin::WS_CONNECTING, &tags, &socket), 3.0, 0);
    }
}

#[test]
fn calls_and_websockets_have_rows_by_status_too() {
    let Run { document, results } = run_with(other_protocols);
    let rows = document.requests.rows.iter().filter(|row| !row.protocol.is_http());
    let rows: Vec<_> = rows.map(|row| (row.what(), row.status, row.failed, row.durations.count, row.first_s)).collect();
    let call = || String::from("gRPC /shop.Cart/Add");
    let socket = String::from("WS ws://shop.test/");
    assert_eq!(
        rows,
        [
            (call(), Some(14), true, 1, Some(6.0)),
            (socket, Some(403), true, 1, Some(7.0)),
            (call(), Some(0), false, 9, Some(0.0))
        ]
    );
    let html = page(&document);
    let error = "<td>✗ failed</td><th scope=\"row\">\
                 <span class=\"wide\">gRPC: status 14, Unavailable: &lt;away&gt;</span></th>\
                 <td class=\"n\">1</td><td class=\"n\">6 s</td><td class=\"n\">7 s</td>\
                 <td><span class=\"wide\">gRPC /shop.Cart/Add</span></td>";
    holds(&html, error);
    holds(&html, "<span class=\"wide\">WebSocket: status 403</span>");
    holds(
        &html,
        "<td>OK</td><th scope=\"row\"><span class=\"url\">gRPC /shop.Cart/Add</span></th><td class=\"n\">9</td>",
    );
    holds(&html, "a WebSocket (WS) took as long as it took to open");
    holds(&html, "<h3>gRPC calls</h3>");
    holds(&html, ">gRPC</h2>");
    // A status of gRPC is no status of HTTP, and takes nothing from the rows of one.
    holds(&html, "<th scope=\"row\">status 503</th><td class=\"n\">28</td>");
    let told = text(&results, &SummaryOptions::default());
    let line = told.lines().find(|line| line.contains("gRPC /shop.Cart/Add: Unavailable: <away>"));
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().take(6).collect();
    assert_eq!(words, ["×", "1", "0.1/s", "14", "med=2ms", "p(95)=2ms"], "{told}");
}

#[test]
fn the_text_names_calls_that_failed_where_all_of_http_went_well() {
    let registry = Registry::new();
    let recorder = Recorder::new(registry.clone());
    (7..=8).for_each(|second| other_protocols(&recorder, second));
    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    aggregate.merge(recorder.take());
    let results = aggregate.results(SECOND, false);
    let told = text(&results, &SummaryOptions::default());
    let errors = "  █ ERRORS \n\n    × 1  1/s  14   med=2ms p(95)=2ms  gRPC /shop.Cart/Add: Unavailable: <away>\n";
    assert!(told.contains(errors), "{told}");
    assert!(told.contains("403  med=3ms p(95)=3ms  WS ws://shop.test/\n") && !told.contains(" OK "), "{told}");
    let full = text(&results, &SummaryOptions { mode: SummaryMode::Full, ..SummaryOptions::default() });
    assert!(full.contains("OK   med=2ms p(95)=2ms  gRPC /shop.Cart/Add\n"), "{full}");
    let quiet = text(&results, &SummaryOptions { errors: false, ..SummaryOptions::default() });
    assert!(!quiet.contains("ERRORS"), "{quiet}");
}

#[test]
fn a_document_whose_blocks_cannot_be_read_is_refused() {
    let Run { mut document, .. } = run();
    let folder = std::env::temp_dir().join(format!("onrush-requests-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    document.write(&folder).expect("a result");
    let read = onrush_report::document::read(&folder).expect("it reads back");
    assert_eq!(read.requests, document.requests);
    document.requests.blocks.rows[0] = "no blocks".into();
    document.write(&folder).expect("a result");
    let refused = onrush_report::document::read(&folder).expect_err("it contradicts itself").to_string();
    assert!(refused.contains("a block of requests cannot be read; the file was changed or damaged"), "{refused}");
    std::fs::remove_dir_all(folder).expect("it goes");
}
