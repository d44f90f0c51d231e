//! Modules over HTTP that need a server of their own: their test scripts against the app beside them; and the times of
//! server-sent events over TLS.

use std::path::Path;

use crate::lab::Lab;

/// Runs the test.js of a module against its app.js.
#[track_caller]
fn passes(module: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../modules/src").join(module);
    let path = |name: &str| folder.join(name).to_str().expect("a path in UTF-8").to_owned();
    Lab::new().onrush(&["run", "-q", &format!("--serve={}", path("app.js")), &path("test.js")]).code(0);
}

#[test]
fn server_sent_events() {
    passes("sse");
}

#[test]
fn socket_io() {
    passes("socketio");
}

#[test]
fn requests_of_the_library_httpx() {
    passes("libraries/served/httpx");
}

#[test]
fn requests_of_the_library_http_instrumentation_tempo() {
    passes("libraries/served/tempo");
}

#[test]
fn over_tls_by_the_target_of_the_binary() {
    let lab = Lab::with(
        "import { check } from 'k6';
        import http from 'k6/http';
        export const options = { insecureSkipTLSVerify: true, 
            thresholds: { checks: ['rate==1'], sse_event: ['count==4'], sse_event_gap: ['max>0'] } };
        export default function () {
            const got = [];
            const url = `${__ENV.TARGET_TLS}/sse?count=4&duration=300ms&delay=50ms`;
            const response = http.get(url, { onEvent: (event) => { got.push(event); } });
            check(response, { names: () => got.every((event) => event.name === 'ping'),
                times: () => got.every((event, i) => event.at > 49 + i * 100),
                response: (r) => r.status === 200 && r.timings.waiting + r.timings.receiving > 345 });
        }",
    );
    lab.run(&["--serve"]).code(0);
}
