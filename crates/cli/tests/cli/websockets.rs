//! `k6/ws` and `k6/websockets` through the binary: their own test scripts, TLS, unix sockets, and servers that are no use.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use crate::lab::Lab;

/// Runs the test.js of a module against a target beside it.
#[track_caller]
fn passes(module: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../script/src/modules").join(module);
    let script = folder.join("test.js");
    Lab::new().onrush(&["run", "-q", "--serve", script.to_str().expect("a path in UTF-8")]).code(0);
}

#[test]
fn the_blocking_module() {
    passes("ws");
}

#[test]
fn the_module_of_the_event_loop() {
    passes("websockets");
}

#[test]
fn its_older_name() {
    passes("experimental/websockets");
}

#[test]
fn over_tls() {
    let lab = Lab::with(
        "import { check } from 'k6';
        import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        export const options = { insecureSkipTLSVerify: true, thresholds: { checks: ['rate==1'] } };
        const url = `ws${__ENV.TARGET_TLS.slice(4)}/ws/echo`;
        export default function () {
            const long = 'x'.repeat(300000);
            const got = [];
            const response = ws.connect(url, {}, (socket) => {
                socket.on('open', () => { socket.send('short'); socket.send(long); });
                socket.on('message', (text) => { got.push(text.length); if (text === long) socket.close(); });
            });
            check(response, { blocking: (r) => url.startsWith('wss:') && r.status === 101 && got.join() === '5,300000' });
            const socket = new WebSocket(url);
            socket.onopen = () => socket.send(long);
            socket.onmessage = (event) => { check(event, { event: (e) => e.data === long }); socket.close(); };
        }",
    );
    lab.run(&["--serve"]).code(0);
}

#[test]
fn over_a_unix_socket() {
    let lab = Lab::with(
        "import { check } from 'k6';
        import ws from 'k6/ws';
        export const options = { hosts: { 'app.test': `unix:${__ENV.SOCKET}` }, thresholds: { checks: ['rate==1'] } };
        export default function () {
            let got;
            const response = ws.connect('ws://app.test/ws/echo', {}, (socket) => {
                socket.on('open', () => socket.send('x'));
                socket.on('message', (text) => { got = text; socket.close(); });
            });
            check(response, { echoed: (r) => r.status === 101 && got === 'x' });
        }",
    );
    let socket = lab.path().join("target.sock");
    let unix = vec![socket.clone()];
    let _server = target::Server::start(target::ServerConfig { unix, ..Default::default() }).expect("a target");
    lab.run(&["-e", &format!("SOCKET={}", socket.display())]).code(0);
}

/// A server that answers each connection with these bytes and then holds it until the client leaves.
fn answering(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            std::thread::spawn(move || {
                let _asked = socket.read(&mut [0; 4096]);
                let _told = socket.write_all(bytes);
                let _gone = socket.read_to_end(&mut Vec::new());
            });
        }
    });
    address
}

#[test]
fn servers_that_are_no_use() {
    let ok = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    let not_http = answering(b"220 mail.test ESMTP\r\n");
    let wrong_key = answering(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: bm8=\r\n\r\n",
    );
    let lab = Lab::with(
        "import ws from 'k6/ws';
        export default function () {
            for (const name of ['OK', 'NOT_HTTP', 'WRONG_KEY']) {
                const response = ws.connect(`ws://${__ENV[name]}/`, {}, () => { throw new Error('begun'); });
                console.log(name, response.status, response.body, response.error);
            }
        }",
    );
    let set = |name: &str, address: &str| format!("{name}={address}");
    let (ok, not_http, wrong_key) = (set("OK", &ok), set("NOT_HTTP", &not_http), set("WRONG_KEY", &wrong_key));
    let run = lab.run(&["-e", &ok, "-e", &not_http, "-e", &wrong_key]).code(0);
    run.says("OK 200 hello ")
        .says("NOT_HTTP 0  malformed HTTP response")
        .says("WRONG_KEY 0  websocket: bad handshake: the sec-websocket-accept header is not the answer to the key");
}

#[test]
fn a_server_that_never_answers_is_left_at_the_end_of_the_test() {
    let lab = Lab::with(
        "import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        export const options = { scenarios: {
            blocking: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s', exec: 'blocking' },
            events: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s', exec: 'events' },
            idle: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s', exec: 'idle' },
        } };
        export function blocking() { ws.connect(`ws://${__ENV.SILENT}/`, {}, () => {}); }
        export function events() { new WebSocket(`ws://${__ENV.SILENT}/`); }
        export function idle() { new WebSocket(`ws${__ENV.TARGET.slice(4)}/ws/echo`).onmessage = () => {}; }
        export function handleSummary({ metrics: m }) {
            return { stdout: `${m.ws_sessions.values.count} session, ${m.ws_session_duration.values.count ?? 'ended'}` };
        }",
    );
    let silent = format!("SILENT={}", answering(b""));
    lab.run(&["--serve", "-e", &silent]).code(0).prints("1 session");
}
