//! `k6/ws` and `k6/websockets` through the binary: their own test scripts, TLS, unix sockets, and servers that are no
//! use.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::lab::Lab;

/// Runs the test.js of a module against a target beside it.
#[track_caller]
fn passes(module: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../modules/src").join(module);
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
            check(response, { blocking: (r) => url.startsWith('wss:') && r.status === 101 && got.join() === \
            '5,300000' });
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
    let _server = server::Server::start(server::ServerConfig { unix, ..Default::default() }).expect("a target");
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
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \
            bm8=\r\n\r\n",
    );
    let lab = Lab::with(
        "import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        export default async function () {
            for (const name of ['OK', 'NOT_HTTP', 'WRONG_KEY']) {
                const response = ws.connect(`ws://${__ENV[name]}/`, {}, () => { throw new Error('begun'); });
                console.log(name, response.status, response.body, response.error);
                const socket = new WebSocket(`ws://${__ENV[name]}/`);
                socket.onopen = () => console.log(name, 'is open');
                await new Promise((done) => (socket.onerror = ({ error }) => { console.log(name, 'event:', error); \
                done(); }));
            }
        }",
    );
    let set = |name: &str, address: &str| format!("{name}={address}");
    let (ok, not_http, wrong_key) = (set("OK", &ok), set("NOT_HTTP", &not_http), set("WRONG_KEY", &wrong_key));
    let run = lab.run(&["-e", &ok, "-e", &not_http, "-e", &wrong_key]).code(0);
    run.says("OK 200 hello ")
        .says("NOT_HTTP 0  malformed HTTP status code")
        .says("WRONG_KEY 0  websocket: bad handshake: the sec-websocket-accept header is not the answer to the key")
        .says("OK event: websocket: bad handshake")
        .says("NOT_HTTP event: malformed HTTP status code")
        .says(
            "WRONG_KEY event: websocket: bad handshake: the sec-websocket-accept header is not the answer to the key",
        );
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
            return { stdout: `${m.ws_sessions.values.count} session, ${m.ws_session_duration ? 'timed' : \
            'cut off'}` };
        }",
    );
    let silent = format!("SILENT={}", answering(b""));
    lab.run(&["--serve", "-e", &silent]).code(0).prints("1 session, cut off");
}

/// A server that upgrades each connection, sends these bytes behind the 101, and then ends it in its way. It leaves the
/// last byte of the request unread: whoever closes then resets.
fn upgrading(bytes: Vec<u8>, end: fn(&mut TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r") && socket.read(&mut byte).is_ok_and(|n| n > 0) {
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let headers: Vec<_> =
                head.lines().filter_map(|line| line.split_once(": ")).map(|(n, v)| (n, v.as_bytes())).collect();
            let upgrade = wire::ws::handshake::Upgrade::check("GET", 1, &headers).expect("an upgrade");
            let mut answer = Vec::new();
            upgrade.answer(None, std::iter::empty(), &mut answer);
            answer.extend_from_slice(&bytes);
            let _told = socket.write_all(&answer);
            end(&mut socket);
        }
    });
    address
}

fn waits(socket: &mut TcpStream) {
    let _gone = socket.read_to_end(&mut Vec::new());
}

fn closes(socket: &mut TcpStream) {
    let _last = socket.read(&mut [0]);
}

fn resets(_: &mut TcpStream) {
    // What the client has not read when the reset comes is lost to it.
    std::thread::sleep(std::time::Duration::from_millis(50));
}

/// Name, bytes behind the 101, end, and what a script hears.
type Misdeed = (&'static str, &'static [u8], fn(&mut TcpStream), &'static str);

/// What a server may do wrong once The connection is open, and what a script hears of it: in `k6/ws` and in
/// `k6/websockets` the same.
#[test]
fn servers_that_break_the_protocol_are_told_apart() {
    let table: [Misdeed; 14] = [
        ("reserved opcode", b"\x83\x00", waits, "websocket: the frame has a reserved opcode"),
        ("reserved bit", b"\xc1\x00", waits, "websocket: the frame has a reserved bit set"),
        ("masked", b"\x81\x81\0\0\0\0x", waits, "websocket: a server's frame is masked"),
        ("long ping", b"\x89\x7e\x00\x80", waits, "websocket: a control frame is longer than 125 bytes"),
        ("ping in pieces", b"\x09\x00", waits, "websocket: a control frame is fragmented"),
        ("end without a beginning", b"\x80\x00", waits, "websocket: a continuation has nothing to continue"),
        (
            "message in a message",
            b"\x01\x01a\x81\x01b",
            waits,
            "websocket: a message begins before the last one has ended",
        ),
        ("no UTF-8", b"\x81\x01\xff", waits, "websocket: the text is not UTF-8"),
        (
            "a length of 8 EiB",
            b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff",
            waits,
            "websocket: the message is larger than the limit",
        ),
        (
            "a length of 64 GiB",
            b"\x82\x7f\x00\x00\x00\x10\x00\x00\x00\x00",
            waits,
            "websocket: the message is larger than the limit",
        ),
        ("half a close code", b"\x88\x01x", waits, "websocket: the close frame holds half a code"),
        (
            "a close code that must not be sent",
            b"\x88\x02\x03\xed",
            waits,
            "websocket: the close frame holds a code that must not be sent",
        ),
        ("closed in a head", b"\x81\x7e\x00", closes, "websocket: close 1006 (abnormal closure): unexpected EOF"),
        ("reset in a message", b"\x81\x05ab", resets, "read: connection reset by peer"),
    ];
    let lab = Lab::with(
        "import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        export default async function () {
            for (const [name, address] of JSON.parse(__ENV.SERVERS)) {
                const heard = [];
                ws.connect(`ws://${address}/`, {}, (socket) => socket.on('error', (e) => heard.push(e.error())));
                const socket = new WebSocket(`ws://${address}/`);
                socket.onerror = (event) => heard.push(event.error);
                await new Promise((done) => (socket.onclose = done));
                console.log(`${name}: ${[...new Set(heard)].join(' | ')}`);
            }
        }",
    );
    let servers: Vec<_> = table.iter().map(|(name, bytes, end, _)| (*name, upgrading(bytes.to_vec(), *end))).collect();
    let servers = format!("SERVERS={}", serde_json::to_string(&servers).expect("names and addresses"));
    let mut run = lab.run(&["-e", &servers]).code(0);
    for (name, _, _, text) in table {
        run = run.says(&format!("msg=\"{name}: {text}\""));
    }
}

/// Sends messages until the client has taken none for a while; how many bytes went.
fn floods(socket: &mut TcpStream) {
    let _last = socket.read(&mut [0]);
    // A write that was taken in part is one that succeeded: it takes two of these times to notice.
    socket.set_write_timeout(Some(std::time::Duration::from_millis(200))).expect("a limit");
    let messages = [&b"\x82\x7e\x03\xe8"[..], &[0; 1000]].concat().repeat(100);
    while FLOODED.load(Ordering::Relaxed) < MOST_FLOODED && socket.write_all(&messages).is_ok() {
        FLOODED.fetch_add(messages.len() as u64, Ordering::Relaxed);
    }
}

static FLOODED: AtomicU64 = AtomicU64::new(0);
/// So much is surely not in the kernel's buffers.
const MOST_FLOODED: u64 = 64 << 20;

/// What a handler has not come to is in the kernel, where it holds the server up, and not in our memory.
#[test]
fn a_flood_waits_for_the_handler() {
    let lab = Lab::with(
        "import ws from 'k6/ws';
        import { sleep } from 'k6';
        import { WebSocket } from 'k6/websockets';
        export default async function () {
            let received = 0;
            const receive = () => { if (++received === 1) sleep(1.5); };
            ws.connect(`ws://${__ENV.FLOOD}/`, {}, (socket) => socket.on('binaryMessage', receive));
            const first = received;
            received = 0;
            const socket = new WebSocket(`ws://${__ENV.FLOOD}/`);
            socket.onmessage = receive;
            await new Promise((done) => (socket.onclose = done));
            console.log(`both: ${first > 1000 && received > 1000}`);
        }",
    );
    let flood = format!("FLOOD={}", upgrading(Vec::new(), floods));
    lab.run(&["-e", &flood]).code(0).says("both: true");
    let taken = FLOODED.load(Ordering::Relaxed);
    assert!(taken < MOST_FLOODED, "{taken} bytes were taken while handlers slept");
}

#[test]
fn attempts_to_open_one_are_rows_of_the_table_of_requests() {
    let lab = Lab::with(
        "import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        export const options = { iterations: 2, vus: 1 };
        const at = `ws${__ENV.TARGET.slice(4)}`;
        export default function () {
            ws.connect(`${at}/ws/echo?token=hush`, {}, (socket) => socket.on('open', () => socket.close()));
            ws.connect(`${at}/status/403`, { tags: { name: 'refused' } }, () => {});
            const open = new WebSocket(`${at}/ws/echo`, null, { tags: { name: 'echo' } });
            open.onopen = () => open.close();
            const refused = new WebSocket(`${at}/status/503`);
            refused.onerror = () => {};
            const nobody = new WebSocket('ws://127.0.0.1:9/');
            nobody.onerror = () => {};
        }",
    );
    let run = lab.run(&["--serve", "--save", "kept"]).code(0);
    run.prints("403   med=").prints("WS refused\n").prints("WS ws://127.0.0.1:9/: dial: connection refused\n");
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    let rows = result["requests"]["rows"].as_array().expect("rows").iter();
    let mut told: Vec<String> = rows
        .map(|row| {
            let name = row["name"].as_str().expect("a name").rsplit('/').next().unwrap_or_default();
            assert_eq!((&row["method"], &row["protocol"]), (&"WS".into(), &"websocket".into()));
            format!("{name} {} {} {} {}", row["status"], row["error"], row["failed"], row["durations"]["count"])
        })
        .collect();
    told.sort();
    let expected = [
        " null \"dial: connection refused\" true 2",
        "503 503 null true 2",
        "echo 101 null false 2",
        "echo?token=**** 101 null false 2",
        "refused 403 null true 2",
    ];
    assert_eq!(told, expected);
}
