//! The option `network`: a link under the connections of every virtual user.

use crate::lab::Lab;

const SCRIPT: &str = "
    import http from 'k6/http';
    import { WebSocket } from 'k6/websockets';
    import { check } from 'k6';
    const T = __ENV.TARGET, big = 'x'.repeat(100000);
    function requests() {
        const first = http.get(`${T}/get`), second = http.get(`${__ENV.TARGET_TLS}/get`), third = http.get(`${T}/get`);
        return { first: first.timings, second: second.timings, third: third.timings };
    }
    export function far() {
        const { first, second, third } = requests();
        check(null, {
            'a connect takes a round trip': () => first.connecting >= 80 && second.connecting >= 80,
            'a handshake takes at least one': () => second.tls_handshaking >= 80,
            'a request takes one': () => [first, second, third].every((t) => t.waiting >= 79),
            'a kept connection is not opened again': () => third.connecting === 0,
        });
    }
    export function near() {
        const { first, third } = requests();
        check(null, { 'another scenario has another link': () => third.waiting < 80 && first.waiting >= 10 });
    }
    export function slow() {
        const up = http.post(`${T}/upload`, big), down = http.get(`${T}/bytes/100000`, { responseType: 'binary' });
        check(null, {
            'bytes take their time up': () => up.timings.sending + up.timings.waiting >= 390,
            'and down': () => down.timings.waiting + down.timings.receiving >= 190,
            'all of them come': () => up.json('received') === 100000 && down.body.byteLength === 100000,
        });
    }
    export function sockets() {
        const ws = new WebSocket(__ENV.TARGET_WS + '/ws/echo'), begin = Date.now();
        let sent;
        ws.onopen = () => { sent = Date.now(); check(sent - begin, { 'opening takes two': (ms) => ms >= 159 }); \
        ws.send('hello'); };
        ws.onmessage = (event) => {
            check(event.data, { 'an echo takes one': (data) => data === 'hello' && Date.now() - sent >= 79 });
            ws.close();
        };
    }
    const once = (exec, more) => Object.assign({ executor: 'per-vu-iterations', vus: 1, iterations: 1, exec }, more);
    export const options = {
        insecureSkipTLSVerify: true,
        thresholds: { checks: ['rate==1', 'rate>0'] },
        network: { latency: '80ms' },
        scenarios: {
            far: once('far'),
            near: once('near', { network: { latency: '10ms' } }),
            slow: once('slow', { network: { upload: '2mbps', download: '4mbps' } }),
            sockets: once('sockets'),
        },
    };";

#[test]
fn users_have_the_link_of_their_scenario() {
    let lab = Lab::new();
    lab.file("script.js", SCRIPT);
    let run = lab.run(&["--serve", "--workers", "2", "--summary-export", "sum.json"]).code(0);
    let summary: serde_json::Value = serde_json::from_str(&lab.read("sum.json")).expect("JSON");
    let passes = &summary["metrics"]["checks"]["passes"];
    assert_eq!(passes.as_u64(), Some(10), "each check was made: {}\n{}", run.stdout, run.stderr);
}

#[test]
fn a_link_that_cannot_be_says_what_could() {
    let lab = Lab::new();
    lab.file("script.js", "export default function () {}");
    let units = "expected a number with one of the units bps, kbps, mbps, gbps, as in \"10mbps\"";
    let run = lab.run(&["--network", "download=10mb"]).code(255);
    assert!(run.stderr.contains(&format!("download: found \"10mb\", {units}")), "{}", run.stderr);
    let run = lab.run(&["--network", "5g"]).code(255);
    assert!(run.stderr.contains("found \"5g\", expected one of 3g, 4g, cable, speedtest-2022"), "{}", run.stderr);
    lab.run(&["--network", "cable"]).code(0);

    lab.file(
        "script.js",
        "export default function () {}
         export const options = { scenarios: { a: { executor: 'shared-iterations', network: { latency: 20 } } } };",
    );
    let run = lab.run(&[]).code(104);
    let expected = "scenario 'a': field 'network': latency: found 20, expected a time with its unit, as in \"10ms\"";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}
