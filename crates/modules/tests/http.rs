//! `k6/http` against a real server: its `test.js` in our host and, where a k6 binary is at hand, in k6; samples and
//! tags.

#![allow(clippy::unwrap_used)]

mod driver;
mod echo_server;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use engine::clock::Clock;
use engine::{Iteration, IterationEnd, Progress, Users, VirtualUser};
use metrics::requests::RequestResult;
use metrics::results::Value;
use metrics::tags::TagFilter;
use metrics::{Aggregate, Recorder, Registry, RequestKind, Thresholds, builtin};
use script::{LoadOptions, Program, ScriptUsers, Source};

/// A sample as it was recorded: metric, value, tags.
type Sample = (&'static str, f64, BTreeMap<String, String>);

/// The samples of a run, in order.
type Seen = Rc<RefCell<Vec<Sample>>>;

/// A recorder, and what it records.
fn tapped() -> (Rc<Recorder>, Seen) {
    let recorder = Rc::new(Recorder::new(Registry::new()));
    let seen: Seen = Rc::default();
    let kept = seen.clone();
    recorder.set_tap(Box::new(move |sample| {
        let name = builtin::ALL.get(sample.metric.0 as usize).map_or("custom", |metric| metric.name);
        let tags = sample.tags.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        kept.borrow_mut().push((name, sample.value, tags));
    }));
    (recorder, seen)
}

/// Runs a script's default function with the server's address in TARGET; returns its samples and what it logged.
async fn run(source: Source, target: &str, iterations: u64) -> (Seen, Vec<String>) {
    let (recorder, seen) = tapped();
    let log = run_recorded(source, target, iterations, &recorder).await;
    (seen, log)
}

/// A script with the server's address in TARGET, and what it logs.
async fn load(source: Source, target: &str, recorder: &Rc<Recorder>) -> (Program, Arc<driver::Lines>) {
    let log = Arc::new(driver::Lines::default());
    let options = LoadOptions {
        env: BTreeMap::from([("TARGET".into(), target.into())]),
        cwd: PathBuf::from("/"),
        cache_dir: None,
        is_offline: false,
        options: script::options::Options::default(),
        log: log.clone(),
        registry: recorder.registry().clone(),
        recorder: recorder.clone(),
        builtins: &onrush_modules::BUILTINS,
        secrets: Default::default(),
        debugger: None,
    };
    let program = Program::load(source, options).await.unwrap_or_else(|error| panic!("{error}\n{}", error.stack));
    (program, log)
}

/// The same with a recorder of the test's own; returns what was logged.
async fn run_recorded(source: Source, target: &str, iterations: u64, recorder: &Rc<Recorder>) -> Vec<String> {
    let (program, log) = load(source, target, recorder).await;
    let user = ScriptUsers::new(&program).create(driver::seat(1, recorder)).await;
    let mut user = user.unwrap_or_else(|error| panic!("{}", error.message));
    let scenario = driver::scenario("default");
    for number in 0..iterations {
        assert_eq!(user.iterate(driver::iteration(&scenario, number)).await, IterationEnd::Completed);
        user.ended(1);
    }
    log.take()
}

/// Runs a user that comes on schedule. Others have their turn for `others` between its wish and its own turn to send.
async fn run_on_schedule(source: Source, target: &str, others: Duration) -> Seen {
    let (recorder, seen) = tapped();
    let (program, _) = load(source, target, &recorder).await;
    let seat = driver::seat(1, &recorder);
    let clock = seat.clock.clone();
    let mut user = ScriptUsers::new(&program).create(seat).await.unwrap_or_else(|error| panic!("{}", error.message));
    let scenario = driver::on_schedule();
    // The first iteration makes the connection, and need not give way before it waits for that.
    for number in 0..3 {
        user.begin(Iteration { planned: clock.now(), ..driver::iteration(&scenario, number) });
        let mut has_asked = false;
        let end = poll_fn(|context| {
            loop {
                if user.attend(context).is_pending() {
                    return Poll::Pending;
                }
                match user.resume(context) {
                    Progress::Over(end) => return Poll::Ready(end),
                    Progress::Waits => return Poll::Pending,
                    Progress::Asks => {}
                }
                if !std::mem::replace(&mut has_asked, true) {
                    std::thread::sleep(others);
                }
            }
        });
        assert_eq!(end.await, IterationEnd::Completed);
        assert!(has_asked || number == 0, "a user that asks gives way");
        user.ended(1);
    }
    seen
}

fn run_text(body: &str, iterations: u64) -> (Vec<Sample>, Vec<String>) {
    let server = echo_server::start();
    let text =
        format!("import http from 'k6/http';\nconst base = __ENV.TARGET;\nexport default function () {{ {body} }}");
    let source = Source::Text { name: "script.js".into(), text };
    let (seen, log) = driver::block_on(run(source, &server, iterations));
    // Addresses differ from run to run.
    let plain = |text: &String| text.replace(&server, "BASE");
    let seen = seen.take().into_iter().map(|(name, value, tags)| {
        (name, value, tags.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
    });
    (seen.collect(), log.iter().map(plain).collect())
}

fn tags(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let common = [("group", ""), ("scenario", "default")];
    pairs.iter().chain(&common).map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect()
}

/// Runs the `test.js` of a module; what its checks recorded.
fn behaves(module: &str, at_least: usize) {
    let server = echo_server::start();
    let script = driver::folder(module).join("test.js");
    let (seen, log) = driver::block_on(run(Source::File(script), &server, 1));
    let errors: Vec<_> = log.iter().filter(|line| line.starts_with("error ")).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let checks: Vec<_> = seen.borrow().iter().filter(|(name, ..)| *name == "checks").cloned().collect();
    let failed: Vec<_> = checks.iter().filter(|(_, value, _)| *value == 0.0).map(|(.., tags)| &tags["check"]).collect();
    assert!(checks.len() > at_least, "only {} checks ran", checks.len());
    assert!(failed.is_empty(), "checks that failed: {failed:?}");
}

#[test]
fn the_wait_for_the_turn_to_send_is_part_of_the_duration_from_plan_and_of_no_step() {
    let server = echo_server::start();
    let text = "import http from 'k6/http'; export default function () { http.get(__ENV.TARGET + '/'); }";
    let source = Source::Text { name: "script.js".into(), text: text.into() };
    let others = Duration::from_millis(40);
    let seen = driver::block_on(run_on_schedule(source, &server, others)).take();
    let values = |name: &str| -> Vec<f64> {
        let of = seen.iter().filter(|(metric, ..)| *metric == name).map(|(_, value, _)| *value);
        of.skip(1).collect()
    };
    let steps = ["http_req_blocked", "http_req_sending", "http_req_waiting", "http_req_receiving"].map(values);
    for (at, since_plan) in values("http_req_duration_from_plan").into_iter().enumerate() {
        let in_steps: f64 = steps.iter().map(|step| step[at]).sum();
        let beside = since_plan - in_steps;
        assert!(
            beside >= 40.0,
            "{since_plan} ms since the plan, of which {in_steps} ms are steps: {beside} ms of wait"
        );
    }
    assert_eq!(values("http_req_duration_from_plan").len(), 2);
}

#[test]
fn the_module_behaves() {
    behaves("k6/http", 80);
}

#[test]
fn the_spelling_of_the_extension_behaves() {
    behaves("k6/x/fasthttp", 60);
}

#[test]
fn nine_samples_in_order() {
    let (seen, _) = run_text("http.get(base + '/text')", 1);
    let names: Vec<_> = seen.iter().map(|(name, ..)| *name).collect();
    let steps = ["duration", "blocked", "connecting", "tls_handshaking", "sending", "waiting", "receiving", "failed"];
    let mut expected = vec![String::from("http_reqs")];
    expected.extend(steps.map(|step| format!("http_req_{step}")));
    expected.extend([String::from("data_sent"), String::from("data_received")]);
    assert_eq!(names, expected);
    let all = tags(&[
        ("expected_response", "true"),
        ("method", "GET"),
        ("name", "BASE/text"),
        ("proto", "HTTP/1.1"),
        ("status", "200"),
        ("url", "BASE/text"),
    ]);
    assert!(seen[..9].iter().all(|(.., tags)| *tags == all), "{:?}", seen[0]);
    assert!(seen[9].1 > 0.0 && seen[10].1 > 0.0, "bytes were counted");
}

/// Method, status, url tag, failed and further tags of each request of a script.
fn requests(body: &str) -> Vec<String> {
    let (seen, _) = run_text(body, 1);
    let mut lines = Vec::new();
    for (name, value, tags) in &seen {
        let tag = |key: &str| tags.get(key).map_or("-", String::as_str);
        match *name {
            "http_reqs" => lines.push(format!(
                "{} {} {} {} {}",
                tag("method"),
                tag("status"),
                tag("url"),
                tag("error_code"),
                tag("expected_response")
            )),
            "http_req_failed" => lines.last_mut().unwrap().push_str(&format!(" {value}")),
            _ => {}
        }
    }
    lines
}

#[test]
fn every_hop_counts() {
    assert_eq!(
        requests("http.get(base + '/redirect/1')"),
        ["GET 302 BASE/redirect/1 - true 0", "GET 200 BASE/text - true 0"]
    );
    let digest = "http.get(base.replace('//', '//me:word@') + '/digest', { auth: 'digest' })";
    assert_eq!(requests(digest), ["GET 401 BASE/digest 1401 true 0", "GET 200 BASE/digest - true 0"]);
}

#[test]
fn names_replace_urls() {
    assert_eq!(requests("http.get(http.url`${base}/te${'xt'}`)"), ["GET 200 ${}/te${} - true 0"]);
    assert_eq!(
        requests("http.get(base + '/redirect/1', { tags: { name: 'n' } })"),
        ["GET 302 n - true 0", "GET 200 n - true 0"]
    );
}

#[test]
fn failures_count_and_refusals_do_not() {
    assert_eq!(
        requests("http.get(base + '/status/404'); http.get('http://127.0.0.1:1/'); http.get('foo')"),
        ["GET 404 BASE/status/404 1404 false 1", "GET 0 http://127.0.0.1:1/ 1212 false 1", "GET 0 foo 1000 false 1",]
    );
    assert!(requests("http.get('http://[::1'); http.post(base, 5)").is_empty());
}

#[test]
fn callbacks_judge() {
    let at = "base + '/status/404'";
    assert_eq!(
        requests(&format!("http.get({at}, {{ responseCallback: http.expectedStatuses(404) }})")),
        ["GET 404 BASE/status/404 1404 true 0"]
    );
    assert_eq!(requests(&format!("http.get({at}, {{ responseCallback: null }})")), ["GET 404 BASE/status/404 1404 -"]);
}

#[test]
fn own_tags_come_along_but_do_not_lie() {
    let (seen, _) = run_text("http.get(base + '/text', { tags: { a: 1, status: 'x', e: '' } })", 1);
    let tags = &seen[0].2;
    assert_eq!((tags["a"].as_str(), tags["status"].as_str(), tags["e"].as_str()), ("1", "200", ""));
}

#[test]
fn cookies_live_for_an_iteration() {
    let (_, log) =
        run_text("console.log(JSON.stringify(http.cookieJar().cookiesForURL(base))); http.get(base + '/cookies')", 2);
    assert_eq!(log, ["{}", "{}"]);
}

#[test]
fn warnings_are_logged() {
    let (_, log) = run_text(
        "http.get(base + '/text', null, 1); http.post(base + '/echo', 'ab', { headers: { 'content-length': '7' } }); \
         http.get(base + '/redirect/12'); http.get('foo')",
        1,
    );
    assert_eq!(
        log,
        [
            "warning http.get only accepts a url and a params argument (2 arguments), but 3 were given",
            "warning The specified Content-Length header \"7\" in the POST request for BASE/echo doesn't match the \
         actual request body length of 2, so it will be ignored!",
            "warning Stopped after 11 redirects and returned the redirection; pass { redirects: n } in request params \
         or set global maxRedirects to silence this",
            "warning Request Failed",
        ]
    );
}

/// One URL whose answers, tags and expectations change while nobody watches: each sample goes where it belongs.
const ONE_URL: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    import { group } from 'k6';
    const get = (times) => { for (let i = 0; i < times; i++) http.get(__ENV.TARGET + '/turn'); };
    export default function () {
        get(6);
        group('g', () => get(3));
        exec.vu.metrics.tags.who = 'b';
        get(3);
        http.setResponseCallback(http.expectedStatuses(404));
        get(3);
        http.setResponseCallback(null);
        get(3);
    }";

#[test]
fn a_request_that_is_sent_again_has_its_samples_where_they_belong() {
    let registry = Registry::new();
    let sub = |metric, filter| registry.sub_metric(metric, TagFilter::parse(filter).unwrap());
    sub(builtin::HTTP_REQS, "who:b");
    sub(builtin::HTTP_REQ_FAILED, "who:b");
    sub(builtin::HTTP_REQ_DURATION, "expected_response:true");
    let recorder = Rc::new(Recorder::new(registry.clone()));
    let source = Source::Text { name: "script.js".into(), text: ONE_URL.into() };
    driver::block_on(run_recorded(source, &echo_server::start(), 1, &recorder));

    let mut aggregate = Aggregate::new(registry, Thresholds::default());
    aggregate.merge(recorder.take());
    let results = aggregate.results(Duration::from_secs(1), false);
    let row = |row: &RequestResult| {
        let RequestKind { status, failed, group, .. } = &row.kind;
        format!("{status} {failed} {group:?} {}", row.durations.as_ref().count())
    };
    let rows: BTreeSet<String> = results.requests.rows.iter().map(row).collect();
    let expected = ["200 false \"\" 8", "404 true \"\" 3", "200 false \"::g\" 2", "404 true \"::g\" 1"];
    let judged = ["200 true \"\" 2", "404 false \"\" 2"];
    assert_eq!(rows, expected.into_iter().chain(judged).map(str::to_owned).collect());
    let told = |name: &str, filter: Option<&str>| {
        let metric = results.metrics.iter().find(|metric| metric.name == name && metric.filter.as_deref() == filter);
        match &metric.unwrap().value {
            Value::Counter { count, .. } => format!("{count}"),
            Value::Rate { passes, total } => format!("{passes} of {total}"),
            Value::Trend(trend) => format!("{}", trend.as_ref().count()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([told("http_reqs", None), told("http_reqs", Some("who:b"))], ["18", "9"]);
    assert_eq!([told("http_req_failed", None), told("http_req_failed", Some("who:b"))], ["6 of 15", "3 of 6"]);
    assert_eq!(told("http_req_duration", Some("expected_response:true")), "9");
    assert_eq!(told("http_req_waiting", None), "18");
}
