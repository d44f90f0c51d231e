//! HTTP/2: the option `http2`, HTTP/2 without TLS, and what flags of a URL ask for.

use std::net::{Ipv4Addr, SocketAddr};

use server::{Server, ServerConfig};

use crate::lab::Lab;

/// All users ask at the same time, for long enough that nobody finds a free connection by chance. The target says how
/// many connections there were; those of setup and teardown are no users'.
const SHARING: &str = "
    import http from 'k6/http';
    import exec from 'k6/execution';
    import { check } from 'k6';
    const target = __ENV.H2C ? __ENV.TARGET.replace('http:', 'h2c:') : __ENV.TARGET_TLS;
    const users = Number(__ENV.USERS), wanted = Number(__ENV.CONNECTIONS);
    export const options = {
        insecureSkipTLSVerify: true,
        scenarios: { all: {
            executor: 'per-vu-iterations', vus: users, iterations: 2,
            http2: { connections: wanted, streams: Number(__ENV.STREAMS) },
        } },
        thresholds: { checks: ['rate==1'] },
    };
    function accepted() {
        const res = http.get(`${__ENV.TARGET}/stats`);
        return { count: res.json('connections.accepted'), own: res.timings.connecting > 0 ? 1 : 0 };
    }
    export function setup() { return accepted().count; }
    export default function () {
        const res = http.get(`${target}/delay/0.4`);
        check(res, { 'HTTP/2.0': (r) => r.proto === 'HTTP/2.0' && r.status === 200 });
    }
    export function teardown(before) {
        const after = accepted(), opened = after.count - after.own - before;
        check(opened, { [`${opened} connections`]: (n) => n === wanted });
    }";

#[test]
fn users_share_as_many_connections_as_the_option_says() {
    let lab = Lab::new();
    lab.file("script.js", SHARING);
    for (connections, streams, workers, cleartext) in
        [("1", "100", "2", false), ("100", "1", "2", true), ("3", "40", "2", true), ("4", "25", "1", false)]
    {
        let (connections_is, streams_is) = (format!("CONNECTIONS={connections}"), format!("STREAMS={streams}"));
        let mut arguments = vec!["--serve", "--workers", workers, "-e", "USERS=100"];
        arguments.extend(["-e", &connections_is, "-e", &streams_is, "-e", "H2C=1"]);
        if !cleartext {
            arguments.truncate(arguments.len() - 2);
        }
        let run = lab.run(&arguments).code(0);
        assert!(run.stdout.contains(&format!("✓ {connections} connections")), "{}\n{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_request_without_room_is_blocked() {
    let lab = Lab::with(
        "
        import http from 'k6/http';
        import { check } from 'k6';
        export const options = {
            insecureSkipTLSVerify: true,
            http2: { connections: 1, streams: 1 },
            scenarios: { all: { executor: 'per-vu-iterations', vus: 2, iterations: 3 } },
            thresholds: { checks: ['rate==1'], http_req_blocked: ['max>=190'], http_req_duration: ['max<390'] },
        };
        export default function () {
            const res = http.get(`${__ENV.TARGET_TLS}/delay/0.2`);
            check(res, { answered: (r) => r.status === 200 });
        }",
    );
    lab.run(&["--serve", "--workers", "1"]).code(0);
}

#[test]
fn a_scenario_may_do_without_http2() {
    let lab = Lab::with(
        "
        import http from 'k6/http';
        import { check } from 'k6';
        const twice = { executor: 'per-vu-iterations', vus: 1, iterations: 2 };
        const once = (exec, more) => Object.assign({ exec }, twice, more);
        export const options = {
            insecureSkipTLSVerify: true,
            http2: false,
            scenarios: { old: once('old'), its: once('its', { http2: true }) },
            thresholds: { checks: ['rate==1'], 'http_reqs{proto:HTTP/1.1}': ['count==4'], \
         'http_reqs{proto:HTTP/2.0}': ['count==3'] },
        };
        const proto = (url, params) => http.get(url, params).proto;
        export function setup() {
            check(proto(`${__ENV.TARGET_TLS}/get`), { 'setup() too': (p) => p === 'HTTP/1.1' });
            return null;
        }
        export function old() {
            check(proto(`${__ENV.TARGET_TLS}/get`), { 'without': (p) => p === 'HTTP/1.1' });
        }
        export function its() {
            check(proto(`${__ENV.TARGET_TLS}/get`), { 'with': (p) => p === 'HTTP/2.0' });
        }
        export function teardown() {
            const h2c = __ENV.TARGET.replace('http:', 'h2c:');
            check(proto(`${h2c}/get`), { 'h2c is what the URL says': (p) => p === 'HTTP/2.0' });
            check(proto(`${__ENV.TARGET}/get`), { 'and http': (p) => p === 'HTTP/1.1' });
        }",
    );
    lab.run(&["--serve"]).code(0);
}

#[test]
fn what_the_option_cannot_be_is_told() {
    let lab = Lab::new();
    let scenario = "export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', ";
    for (options, problem) in [
        (
            String::from("export const options = { http2: 'h2c' "),
            "options of the script: 'http2': found \"h2c\", expected true, false or an object with some of \
             connections, streams",
        ),
        (
            format!("{scenario} http2: {{ conections: 1 }} }} }} "),
            "scenario 'a': field 'http2': found a field \"conections\", expected some of connections, streams",
        ),
        (
            format!("{scenario} http2: {{ connections: 1 }}, network: 'cable' }} }} "),
            "scenario 'a': 'http2' lets users share connections, but each user has a link of its own, by 'network'; \
             leave one out",
        ),
    ] {
        lab.file("script.js", &format!("{options}}};\nexport default function () {{}}"));
        let run = lab.run(&[]).code(104);
        assert!(run.stderr.contains(problem), "{}", run.stderr);
    }
}

#[test]
fn http2_without_tls_is_a_url_or_a_param() {
    let lab = Lab::with(
        "
        import http from 'k6/http';
        import { check } from 'k6';
        const plain = __ENV.TARGET, h2c = plain.replace('http:', 'h2c:'), wish = { http2: 'prior-knowledge' };
        export const options = { thresholds: { checks: ['rate==1', 'rate>0'], http_req_failed: ['rate==0'] } };
        export default function () {
            const get = http.get(`${h2c}/get?a=1`);
            check(get, {
                'the URL says so': (r) => r.proto === 'HTTP/2.0' && r.url.startsWith('h2c://') &&
                    r.json('args.a.0') === '1',
                'no TLS': (r) => r.tls_version === '' && r.timings.tls_handshaking === 0 && r.timings.connecting > 0,
            });
            check(http.get(`${plain}/get`, wish), {
                'the param says so': (r) => r.proto === 'HTTP/2.0' && r.url.startsWith('http://'),
            });
            check(http.get(`${plain}/get`), { 'nobody says so': (r) => r.proto === 'HTTP/1.1' });
            check(http.get(`${h2c}/relative-redirect/2`), {
                'a relative redirect keeps the scheme': (r) => r.proto === 'HTTP/2.0' && r.url === `${h2c}/get`,
            });
            check(http.get(`${h2c}/absolute-redirect/1`), {
                'an absolute one has its own': (r) => r.proto === 'HTTP/1.1' && r.url === `${plain}/get`,
            });
            check(http.get(`${plain}/absolute-redirect/1`, wish), {
                'the param holds for every hop': (r) => r.proto === 'HTTP/2.0',
            });
            const post = http.post(`${h2c}/post`, 'x'.repeat(300000));
            check(post, { 'a body goes out': (r) => r.status === 200 && r.json('data').length === 300000 });
            const refused = [{ http2: 'h3' }, { http2: 1 }].map((params) => http.get(plain, params).error);
            check(refused, {
                'others are refused': (e) => e[0] === 'http2 is \"h3\", expected \"prior-knowledge\"' &&
                    e[1] === 'http2 is int, expected \"prior-knowledge\"' || console.error(JSON.stringify(e)),
            });
        }",
    );
    lab.run(&["--serve"]).code(0);
}

#[test]
fn a_redirect_leads_from_tls_to_h2c_and_back() {
    let lab = Lab::with(
        "
        import http from 'k6/http';
        import { check } from 'k6';
        const tls = __ENV.TARGET_TLS, h2c = __ENV.TARGET.replace('http:', 'h2c:');
        const to = (from, url, status) => `${from}/redirect-to?status_code=${status}&url=${encodeURIComponent(url)}`;
        export const options = {
            insecureSkipTLSVerify: true,
            thresholds: {
                checks: ['rate==1', 'rate>0'],
                // Each hop is a request: 2 + 2, 3 of the chain, 2 + 2.
                'http_reqs{proto:HTTP/2.0}': ['count==11'],
                http_reqs: ['count==11'],
            },
        };
        export default function () {
            const cleartext = http.get(to(tls, `${h2c}/get?way=down`, 302));
            check(cleartext, {
                'from https to h2c': (r) => r.status === 200 && r.url === `${h2c}/get?way=down`,
                'by HTTP/2': (r) => r.proto === 'HTTP/2.0' && r.timings.connecting > 0,
                'without TLS': (r) => r.tls_version === '' && r.timings.tls_handshaking === 0,
                'nobody there hears of the https URL': (r) => r.json('headers.Referer') === undefined,
            });
            const secret = http.get(to(h2c, `${tls}/get?way=up`, 302));
            check(secret, {
                'from h2c to https': (r) => r.status === 200 && r.url === `${tls}/get?way=up` && r.proto === 'HTTP/2.0',
                'with TLS': (r) => r.tls_version === http.TLS_1_3,
                'Referer is a URL that servers know': (r) => r.json('headers.Referer.0').startsWith('http://'),
                'both connections were there': (r) => r.timings.connecting === 0 && r.timings.tls_handshaking === 0,
            });
            check(http.get(to(h2c, to(tls, `${h2c}/get`, 302), 302)), {
                'there and back': (r) => r.url === `${h2c}/get` && r.proto === 'HTTP/2.0' && r.timings.connecting === 0,
            });
            for (const [from, there] of [[tls, h2c], [h2c, tls]]) {
                check(http.post(to(from, `${there}/post`, 307), 'x'.repeat(100000)), {
                    'a body goes along': (r) => r.url === `${there}/post` && r.json('data').length === 100000,
                });
            }
        }",
    );
    lab.run(&["--serve"]).code(0);
}

#[test]
fn users_with_links_speak_http2_over_them() {
    let lab = Lab::with(
        "
        import http from 'k6/http';
        import { check } from 'k6';
        export const options = {
            insecureSkipTLSVerify: true,
            network: { latency: '80ms', upload: '2mbps' },
            thresholds: { checks: ['rate==1', 'rate>0'] },
        };
        export default function () {
            const first = http.get(`${__ENV.TARGET_TLS}/get`), second = http.get(`${__ENV.TARGET_TLS}/get`);
            const many = http.batch(Array.from({ length: 6 }, () => `${__ENV.TARGET_TLS}/get`));
            const up = http.post(`${__ENV.TARGET_TLS}/upload`, 'x'.repeat(100000));
            check(null, {
                'it is HTTP/2': () => [first, second, up, ...many].every((r) => r.proto === 'HTTP/2.0'),
                'a connect takes a round trip': () => first.timings.connecting >= 80,
                'a handshake takes one': () => first.timings.tls_handshaking >= 80,
                'a request takes one': () => [first, second, ...many].every((r) => r.timings.waiting >= 79),
                'a batch is under way at once': () => many.every((r) => r.timings.duration < 160),
                'bytes take their time': () => up.timings.sending + up.timings.waiting >= 390 &&
                    up.json('received') === 100000,
                'one connection serves all': () => second.timings.connecting === 0 && up.timings.connecting === 0,
            });
        }",
    );
    lab.run(&["--serve", "--iterations", "1"]).code(0);
}

#[test]
fn flags_of_a_url_choose_the_version() {
    let lab = Lab::new();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::start(ServerConfig { tcp: vec![any], tls: vec![any], ..ServerConfig::default() });
    let server = server.expect("a target");
    let (tcp, tls) = (server.addresses().tcp[0], server.addresses().tls[0]);
    for (arguments, proto, count) in [
        (&["-k", "--http2"][..], "HTTP/2.0", "count==20"),
        (&["-k", "--http1.1"], "HTTP/1.1", "count==20"),
        (&["-k", "--http2-prior-knowledge"], "HTTP/2.0", "count==20"),
    ] {
        let threshold = format!("http_reqs{{proto:{proto}}}: {count}");
        let url = format!("https://{tls}/get");
        let mut line = vec!["run", "-n", "20", "--threshold", &threshold, &url];
        line.extend(arguments);
        lab.onrush(&line).code(0);
    }
    for (arguments, url, proto) in [
        (&["--http2-prior-knowledge"][..], format!("http://{tcp}/get"), "HTTP/2.0"),
        (&["--http2-prior-knowledge", "-L"], format!("http://{tcp}/absolute-redirect/1"), "HTTP/2.0"),
        (&["--http2"], format!("h2c://{tcp}/get"), "HTTP/2.0"),
        (&["-c", "2", "--streams", "5"], format!("h2c://{tcp}/get"), "HTTP/2.0"),
        (&["--http1.1"], format!("http://{tcp}/get"), "HTTP/1.1"),
    ] {
        let all = format!("http_reqs{{proto:{proto}}}: count>=20");
        let none = format!("http_reqs{{proto:{}}}: count<1", if proto == "HTTP/1.1" { "HTTP/2.0" } else { "HTTP/1.1" });
        let mut line = vec!["run", "-n", "20", "--threshold", &all, "--threshold", &none, &url];
        line.extend(arguments);
        lab.onrush(&line).code(0);
    }
}
