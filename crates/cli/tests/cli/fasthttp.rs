//! `k6/x/fasthttp` as scripts of that extension use it: the numbers are those of `k6/http`, and complete.

use crate::lab::Lab;

/// The value of one metric in the text that `handleSummary` prints.
fn value(stdout: &str, name: &str) -> f64 {
    let summary: serde_json::Value = serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    summary[name].as_f64().unwrap_or_else(|| panic!("{name} in {stdout}"))
}

const SUMMARY: &str = "
    export function handleSummary({ metrics: m }) {
        const stats = m.checks.values;
        return { stdout: JSON.stringify({
            requests: m.http_reqs.values.count, iterations: m.iterations.values.count, failed: \
            m.http_req_failed.values.passes,
            passes: stats.passes, fails: stats.fails, sent: m.data_sent.values.count, waiting: \
            m.http_req_waiting.values.avg,
        }) };
    }";

#[test]
fn each_request_and_each_check_counts_once() {
    let lab = Lab::with(&format!(
        "import {{ Client, Request, checkstatus }} from 'k6/x/fasthttp';
        export const options = {{ vus: 5, iterations: 50, insecureSkipTLSVerify: true }};
        const client = new Client({{ max_conns_per_host: 1, tls_config: {{ insecure_skip_verify: true }} }});
        const request = new Request(__ENV.TARGET_TLS + '/');
        const missing = new Request(__ENV.TARGET + '/status/404');
        export default function () {{
            const res = client.post(request);
            checkstatus(200, res);
            checkstatus(200, client.get(missing));
        }}
        {SUMMARY}"
    ));
    let run = lab.run(&["--serve"]).code(0);
    let found = ["iterations", "requests", "failed", "passes", "fails"].map(|name| value(&run.stdout, name));
    assert_eq!(found, [50.0, 100.0, 50.0, 50.0, 50.0], "{run:?}");
    assert!(value(&run.stdout, "waiting") > 0.0, "{run:?}");
}

/// A threshold without samples holds, so these would pass under any other name of the check.
#[test]
fn thresholds_find_checkstatus_by_the_name_the_extension_gives_it() {
    for (threshold, code) in [
        ("checks{check:check status is 200}", 99),
        ("checks{check:check status is 200,kind:missing}", 99),
        ("checks{check:check status is 404}", 0),
    ] {
        let lab = Lab::with(&format!(
            "import {{ Client, Request, checkstatus }} from 'k6/x/fasthttp';
            export const options = {{ iterations: 4, thresholds: {{ '{threshold}': ['rate==1'] }} }};
            const client = new Client();
            const missing = new Request(__ENV.TARGET + '/status/404');
            export default function () {{
                checkstatus(200, client.get(missing), {{ kind: 'missing' }});
                checkstatus(404, client.get(missing));
            }}"
        ));
        let run = lab.run(&["--serve"]).code(code);
        assert!(run.stdout.contains("check status is 200") && run.stdout.contains("check status is 404"), "{run:?}");
    }
}

#[test]
fn clients_trust_whom_they_are_told_to() {
    let lab = Lab::with(
        "import { check } from 'k6';
        import { Client, Request } from 'k6/x/fasthttp';
        export const options = { thresholds: { checks: ['rate==1'] }, hosts: { 'other.test': '127.0.0.1' } };
        const trusting = new Client({ tls_config: { insecure_skip_verify: true } });
        const careful = new Client();
        const request = new Request(__ENV.TARGET_TLS.replace('127.0.0.1', 'other.test') + '/');
        export default function () {
            check(null, {
                trusting: () => trusting.get(request).status === 200,
                careful: () => careful.get(request).error_code === 1311,
                'trusting again': () => trusting.get(request).status === 200,
            });
        }",
    );
    lab.run(&["--serve"]).code(0);
}

#[test]
fn files_are_bodies_in_every_iteration() {
    let lab = Lab::with(&format!(
        "import {{ check }} from 'k6';
        import {{ Client, FileStream, Request }} from 'k6/x/fasthttp';
        export const options = {{ vus: 3, iterations: 12 }};
        const client = new Client();
        const request = new Request(__ENV.TARGET + '/post', {{
            body: new FileStream('data.txt'), headers: {{ 'Content-Type': 'text/plain' }},
        }});
        const bytes = new Request(__ENV.TARGET + '/post', {{ body: open('data.txt', 'b') }});
        export default function () {{
            for (const each of [request, bytes]) check(client.post(each), {{ sent: (r) => r.json('data').length === \
            100000 }});
        }}
        {SUMMARY}"
    ));
    lab.file("data.txt", &"0123456789".repeat(10_000));
    let run = lab.run(&["--serve"]).code(0);
    let found = ["requests", "passes", "fails"].map(|name| value(&run.stdout, name));
    assert_eq!(found, [24.0, 24.0, 0.0], "{run:?}");
    assert!(value(&run.stdout, "sent") > 2_400_000.0, "{run:?}");
}

#[test]
fn a_response_that_takes_too_long_fails_and_the_others_go_on() {
    let lab = Lab::with(
        "import { check } from 'k6';
        import { Client, Request } from 'k6/x/fasthttp';
        export const options = { iterations: 2, thresholds: { checks: ['rate==1'], iterations: ['count==2'] } };
        const client = new Client({ read_timeout: 0.1 });
        const slow = new Request(__ENV.TARGET + '/delay/20s'), fast = new Request(__ENV.TARGET + '/');
        export default function () {
            check(client.get(slow), { 'too slow': (r) => r.status === 0 && r.error_code === 1050 });
            check(client.get(fast), { 'fast enough': (r) => r.status === 200 });
        }",
    );
    lab.run(&["--serve"]).code(0);
}

#[test]
fn an_old_connection_is_not_used_again() {
    let lab = Lab::with(
        "import { check, sleep } from 'k6';
        import { Client, Request } from 'k6/x/fasthttp';
        export const options = { thresholds: { checks: ['rate==1'] } };
        const client = new Client({ max_conn_duration: 0.05 }), keeping = new Client();
        const request = new Request(__ENV.TARGET + '/');
        export default function () {
            client.get(request);
            keeping.get(request);
            sleep(0.1);
            check(client.get(request), { 'a new connection': (r) => r.timings.connecting > 0 });
            check(keeping.get(request), { 'the same connection': (r) => r.timings.connecting === 0 });
        }",
    );
    lab.run(&["--serve"]).code(0);
}

#[test]
fn a_config_of_no_use_ends_the_test_before_it_begins() {
    for (config, expected) in [
        ("{ proxy: 'https://proxy:1' }", "proxies over \"https\" are not supported"),
        ("{ tls_config: { certificate: 'nothing.pem', private_key: 'nothing.pem' } }", "nothing.pem: No such file"),
        ("{ dial_timeout: -1 }", "dial_timeout is -1, expected 0 or more"),
    ] {
        let script = format!(
            "import {{ Client }} from 'k6/x/fasthttp';
            new Client({config});
            export default function () {{}}"
        );
        Lab::with(&script).run(&[]).code(107).says(expected);
    }
}
