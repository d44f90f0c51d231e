//! What k6 starts starts here, what it refuses is refused here, with its exit codes; measured with k6 2.2. At the end
//! stands what version 2.3 brought, by its release notes and types.

mod async_tags;
mod tools;

use crate::lab::Lab;

/// The exit code of a script with these options, with these flags.
#[track_caller]
fn code(options: &str, flags: &[&str], expected: i32) {
    let lab = Lab::with(&format!("export const options = {options};\nexport default function () {{ }}"));
    let run = lab.run(flags);
    assert_eq!(run.code, expected, "{options} {flags:?}: {run:?}");
}

#[test]
fn what_k6_starts_starts() {
    for options in [
        "{ tags: { a: null } }",
        "{ rps: -1, batch: -1, batchPerHost: -1, maxRedirects: -1 }",
        "{ minIterationDuration: '-1s' }",
        "{ systemTags: ['nope', 'status'] }",
        "{ summaryTimeUnit: 'x' }",
        "null",
        "{ hosts: { 'a.b': '1.2.3.4' } }",
    ] {
        code(options, &[], 0);
    }
    code("{ stages: [{ duration: '1s' }] }", &["-i", "1"], 0);
    code("{}", &["--rps", "-1", "--batch", "-1", "--max-redirects", "-1", "--system-tags", "nope,status"], 0);
}

#[test]
fn what_k6_refuses_is_refused() {
    for options in [
        "{ stages: [{ duration: '1s' }] }",
        "{ tags: { a: 1 } }",
        "{ systemTags: 'status,url' }",
        "{ insecureSkipTLSVerify: 'true' }",
        "{ discardResponseBodies: 'true' }",
        "{ dns: { ttl: 0 } }",
        "{ dns: { ttl: 5 } }",
        "{ blacklistIPs: '10.0.0.0/8' }",
        "{ blockHostnames: 'a.b' }",
        "{ setupTimeout: 0 }",
        "{ setupTimeout: '-1s' }",
        "{ summaryTrendStats: 'avg' }",
    ] {
        code(options, &[], 104);
    }
    code("{}", &["-c", "/nonexistent/c.json"], 104);
    for flags in [["-d", "1"], ["--summary-time-unit", "x"], ["-e", "1=2"]] {
        code("{}", &flags, 255);
    }
}

#[test]
fn variables_of_k6_that_change_nothing_are_no_warning() {
    let lab = Lab::with("export default function () { }");
    let mut command = lab.command(&["run", "-q", "script.js"]);
    for (name, value) in [
        ("K6_EXECUTION_SEGMENT_SEQUENCE", "0,1/2,1"),
        ("K6_AUTO_EXTENSION_RESOLUTION", "false"),
        ("K6_BROWSER_HEADLESS", "true"),
        ("K6_CLOUD_TOKEN", "x"),
    ] {
        command.env(name, value);
    }
    let run = crate::lab::finish(command).code(0);
    assert!(!run.stderr.contains("not obeyed"), "{run:?}");
}

#[test]
fn a_time_limit_of_nothing_is_over_at_once() {
    let script = "export const options = { teardownTimeout: '0s' };
        export function teardown() { }
        export default function () { }";
    Lab::with(script).run(&[]).code(101).says("teardown() did not end within");
}

#[test]
fn init_code_has_a_time_limit_wherever_it_runs() {
    let lab = Lab::with("for (;;) { }\nexport default function () { }");
    let text = "the init code did not end within 500ms; raise the limit with --init-timeout";
    for command in ["run", "inspect", "archive"] {
        lab.onrush(&[command, "--init-timeout", "500ms", "script.js"]).code(102).says(text);
    }
    let lab = Lab::with("if (__VU > 0) for (;;) { }\nexport default function () { }");
    lab.run(&["--init-timeout", "500ms"]).code(102).says(text);
}

#[test]
fn verbose_runs_say_what_they_run() {
    let lab = Lab::with("import 'k6/http';\nexport default function () { }");
    let run = lab.run(&["-v"]).code(0);
    for part in ["level=debug", "exports default", "built-in modules: k6/http", "options: "] {
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
}

/// Everything that somebody named as a destination decides the exit code.
#[test]
fn destinations_that_cannot_be_written_are_no_success() {
    let lab = Lab::with(
        "export function handleSummary() { return { '/nonexistent/x': '1' } }\nexport default function () { }",
    );
    lab.run(&[]).code(111).says("handleSummary: cannot write /nonexistent/x");
    let lab = Lab::with("export const options = { iterations: 2000 };\nexport default function () { }");
    lab.run(&["--out", "json=/dev/full"]).code(111).says("lost");
    lab.run(&["--summary-export", "/nonexistent/x.json"]).code(0).says("cannot write the summary export");
}

#[test]
fn what_setup_returns_may_be_a_response_an_address_or_a_file() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export function setup() {
           const one = http.get(`${__ENV.TARGET}/get`);
           return { one, all: http.batch([`${__ENV.TARGET}/get`]), url: http.url`http://h/${1}`,
             file: http.file('x', 'n.txt'), symbol: Symbol('s'), whole: 1, half: 1.5 };
         }
         export default function (data) {
           const { one, all, url, file, symbol, whole, half } = data;
           console.log(one.status, typeof one.timings.duration, one.json, all.length, all[0].status, url.Name, url.URL,
             file.Filename, file.Data, symbol, JSON.stringify([whole, half]));
         }",
    );
    lab.run(&["--serve", "--log-format=raw"])
        .code(0)
        .says("200 number undefined 1 200 http://h/${} http://h/1 n.txt x s [1,1.5]");
}

#[test]
fn totals_of_checks_are_shown_without_the_tag_check() {
    let lab =
        Lab::with("import { check } from 'k6';\nexport default () => check(1, { a: () => true, b: () => false });");
    let run = lab.run(&["--system-tags", "status"]).code(0).prints("checks_total.......: 2").prints("1 out of 2");
    assert!(!run.stdout.contains("✗ b"), "{run:?}");
}

#[test]
fn metrics_of_an_empty_list_of_thresholds_are_in_the_summary() {
    let lab = Lab::with(
        "import { Counter } from 'k6/metrics';
         const orders = new Counter('orders');
         export const options = { thresholds: { 'orders{kind:x}': [], 'iterations{scenario:none}': [] } };
         export default function () { orders.add(1); }",
    );
    lab.run(&["--summary-export", "s.json"]).code(0).prints("{ kind:x }");
    let summary = lab.read("s.json");
    assert!(summary.contains("orders{kind:x}") && summary.contains("iterations{scenario:none}"), "{summary}");
}

#[test]
fn a_stop_by_a_threshold_is_said() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
         export const options = { duration: '30s',
           thresholds: { iterations: [{ threshold: 'count<2', abortOnFail: true }] } };
         export default function () { sleep(0.1); }",
    );
    lab.run(&[]).code(99).says("at least one of them has abortOnFail, so the test was stopped early");
}

#[test]
fn the_states_of_a_socket_have_names() {
    let lab = Lab::with(
        "import { WebSocket } from 'k6/websockets';
         export default function () {
           const socket = new WebSocket(`${__ENV.TARGET_WS}/ws/echo`);
           const states = (of) => [of.CONNECTING, of.OPEN, of.CLOSING, of.CLOSED].join();
           console.log(states(WebSocket), states(socket), socket.readyState === WebSocket.CONNECTING);
           socket.onopen = () => { console.log(`open: ${socket.readyState === WebSocket.OPEN}`); socket.close(); };
         }",
    );
    lab.run(&["--serve"]).code(0).says("msg=\"0,1,2,3 0,1,2,3 true\"").says("msg=\"open: true\"");
}

#[test]
fn nothing_in_a_form_is_an_empty_value() {
    let lab = Lab::with(
        "import http from 'k6/http';
         export default function () {
           const sent = (body) => http.post(`${__ENV.TARGET}/post`, body).request.body;
           console.log(sent({ a: null, b: 1, c: [undefined, 2] }));
           console.log(sent({ file: http.file('x', 'x'), a: null }).includes('name=\"a\"\\r\\n\\r\\n\\r\\n--'));
         }",
    );
    lab.run(&["--serve"]).code(0).says("msg=\"a=&b=1&c=&c=2\"").says("msg=true");
}

#[test]
fn times_of_the_log_may_have_nanoseconds() {
    let lab = Lab::with("export default function () { console.log('a line'); }");
    let times = |flags: &[&str], before: &str, behind: &str| {
        let said = lab.run(flags).code(0).stderr;
        let line = said.lines().find(|line| line.contains("a line")).expect("it is logged").to_owned();
        let at = line.find(before).expect("a time") + before.len();
        line[at..].split(behind).next().expect("its end").to_owned()
    };
    let with = ["--log-ns-timestamps"];
    assert_eq!(times(&[], "time=\"", "\"").len(), "2026-01-01T00:00:00Z".len());
    assert_eq!(times(&with, "time=\"", "\"").len(), "2026-01-01T00:00:00.123456789Z".len());
    let json = ["--log-ns-timestamps", "--log-format", "json"];
    assert_eq!(times(&json, "\"time\":\"", "\"").len(), "2026-01-01T00:00:00.123456789Z".len());
}
