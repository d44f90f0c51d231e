//! `k6/net/grpc` against the target's gRPC routes: calls, streams, metadata, statuses and what is refused, in cleartext
//! and over TLS.

use serde_json::Value;

use crate::lab::{Lab, Run};

/// Runs checks in the body of an async function, by gRPC and by Connect in each of its forms, in cleartext and over
/// TLS. All have to hold.
fn checks(body: &str) -> Run {
    checks_of(body, "grpc");
    checks_of(body, "connect")
}

fn checks_of(body: &str, protocol: &str) -> Run {
    let script = format!(
        "import {{ check }} from 'k6';
        import grpc, {{ Client, Stream }} from 'k6/net/grpc';
        export const options = {{ insecureSkipTLSVerify: true, thresholds: {{ checks: ['rate==1'] }} }};
        const T = 'onrush.test.v1.Target/';
        const client = new Client();
        client.load(['.'], 'target.proto');
        const forms = {{
            grpc: [{{ reflect: true }}],
            connect: ['proto', 'json'].flatMap((codec) => ['1.1', '2'].map((httpVersion) =>
                ({{ protocol: 'connect', codec, httpVersion }}))),
        }};
        function thrown(action) {{ try {{ action(); return ''; }} catch (error) {{ return error.message; }} }}
        function listen(method, start, params, onData) {{
            return new Promise((resolve) => {{
                const stream = new Stream(client, T + method, params);
                const heard = {{ data: [], error: null }};
                stream.on('data', (message) => {{
                    heard.data.push(message);
                    if (onData) onData(stream, heard.data.length);
                }});
                stream.on('error', (error) => {{ heard.error = error; }});
                stream.on('end', () => resolve(heard));
                start(stream);
            }});
        }}
        async function all({{ httpVersion, codec }}) {{
            const isHttp1 = httpVersion === '1.1', isJson = codec === 'json';
            {body}
        }}
        export default async function () {{
            const at = (url) => url.replace(/^https?:\\/\\//, '').replace(/\\/$/, '');
            for (const form of forms.{protocol}) {{
                client.connect(at(__ENV.TARGET), {{ plaintext: true, ...form }});
                await all(form);
                client.connect(at(__ENV.TARGET_TLS), form);
                await all(form);
            }}
            client.close();
        }}"
    );
    let lab = Lab::with(&script);
    lab.file("target.proto", include_str!("../../../server/src/grpc/target.proto"));
    lab.run(&["--serve"]).code(0)
}

#[test]
fn a_message_comes_back() {
    checks(
        "const sent = { aDouble: 1.5, anInt64: '-9007199254740993', aString: 'ü', someBytes: 'aGk=', color: 'GREEN',
            inner: { an_int32: 7 }, numbers: [1, 2, 3], counts: { a: 5 }, byName: 'x' };
        const response = client.invoke(T + 'Echo', sent);
        check(response, {
            status: (r) => r.status === grpc.StatusOK && r.error === null,
            fields: ({ message: m }) => m.aDouble === 1.5 && m.anInt64 === '-9007199254740993' &&
                m.aString === 'ü' &&
                m.someBytes === 'aGk=' && m.color === 'GREEN' && m.inner.anInt32 === 7 &&
                m.numbers.join() === '1,2,3' &&
                m.counts.a === '5' && m.byName === 'x' && m.byNumber === undefined && m.aBool === false,
        });
        const discarded = client.invoke(T + 'Echo', sent, { discardResponseMessage: true });
        check(discarded, { discarded: (r) => r.message === null });
        check(await client.asyncInvoke(T + 'Echo', {}), { async: (r) => r.status === 0 && r.message.inner === null });",
    )
    .prints("grpc_req_duration");
}

#[test]
fn statuses_metadata_and_time() {
    checks(
        "check(client.invoke(T + 'Fail', { code: 5, message: 'nö 100%' }), {
            status: (r) => r.status === grpc.StatusNotFound && r.error.code === 5 && r.error.message === 'nö 100%' });
        const metadata = { 'X-One': 'a', 'two-bin': new Uint8Array([1, 2]) };
        const response = client.invoke(T + 'Metadata', {}, { metadata });
        check(response, {
            head: (r) => r.headers['x-one'][0] === 'a' && r.headers['two-bin'][0] === '\\x01\\x02',
            trailers: (r) => r.trailers['x-one'][0] === 'a' });
        check(client.invoke(T + 'Delay', { milliseconds: 5000 }, { timeout: 50 }), {
            time: (r) => r.status === grpc.StatusDeadlineExceeded });
        check(client.healthCheck(), { health: (h) => h.status === grpc.HealthCheckServing });",
    );
}

#[test]
fn streams_of_all_kinds() {
    checks(
        "let heard = await listen('Count', (s) => s.write({ count: 5, size: 3 }));
        check(heard, { server: (h) => h.error === null && h.data.map((m) => m.number).join() === '0,1,2,3,4' });
        heard = await listen('Count', (s) => s.write({ count: 1, code: 9, message: 'enough' }));
        check(heard, { 'server that fails': (h) =>
            h.data.length === 1 && h.error.code === 9 && h.error.message === 'enough' });
        heard = await listen('Collect', (s) => { [1, 2, 3.5].forEach((value) => s.write({ value })); s.end(); });
        check(heard, { client: (h) => h.data.length === 1 && h.data[0].count === '3' && h.data[0].sum === 6.5 });
        if (isHttp1) {
            const refused = thrown(() => new Stream(client, T + 'Chat'));
            check(refused, { 'both ways': (why) => why ===
                `invalid GRPC Stream's method: messages that go both ways need HTTP/2: ` +
                'connect with httpVersion \"2\"' });
            return;
        }
        heard = await listen('Chat', (s) => s.write({ anInt32: 1 }), {},
            (s, n) => { if (n < 5) s.write({ anInt32: n + 1 }); else s.end(); });
        check(heard, { both: (h) => h.error === null && h.data.map((m) => m.anInt32).join() === '1,2,3,4,5' });
        heard = await listen('Chat', (s) => { s.write({ anInt32: 'x' }); s.end(); });
        check(heard, { 'a message that does not fit': (h) => h.error.code === 2 && h.error.message ===
            `can't serialise request object to protocol buffer: anInt32: expected int32, found \"x\"` });",
    )
    .prints("grpc_streams_msgs_received");
}

#[test]
fn bytes_go_out_and_come_back_as_they_are() {
    checks(
        "// aString: 'hi'; a field that the type does not have (1000).
        const bytes = new Uint8Array([0x72, 2, 0x68, 0x69, 0xc0, 0x3e, 7]);
        const raw = { responseType: 'binary' };
        // JSON has no place for a field that the type does not have.
        const back = isJson ? bytes.slice(0, 4) : bytes;
        const same = (message) => message instanceof ArrayBuffer && new Uint8Array(message).join() === back.join();
        const response = client.invoke(T + 'Echo', bytes, raw);
        check(response, { unary: (r) => r.status === grpc.StatusOK && same(r.message) });
        check(client.invoke(T + 'Echo', bytes.buffer), { 'as an object': (r) => r.message.aString === 'hi' });
        check(client.invoke(T + 'Echo', { aString: 'hi' }, raw), { 'of an object': (r) =>
            new Uint8Array(r.message).join() === '114,2,104,105' });
        const failed = client.invoke(T + 'Fail', { code: 5 }, raw);
        check(failed, { 'a failed call': (r) => r.status === 5 && r.message === null });
        if (isHttp1 || isJson) return;
        const heard = await listen('Chat', (s) => { s.write(bytes); s.write(bytes); s.end(); }, raw);
        check(heard, { stream: (h) => h.error === null && h.data.length === 2 && h.data.every(same) });
        const broken = new Uint8Array([0x72, 9]);
        check(client.invoke(T + 'Echo', broken, raw), { 'no message': (r) => r.message.byteLength === 2 });
        check(client.invoke(T + 'Echo', broken), { 'no message, read': (r) => r.status === grpc.StatusInternal });
        check(null, { 'another type': () => thrown(() => client.invoke(T + 'Echo', {}, { responseType: 'text' })) ===
            `invalid GRPC's client.invoke() parameters: invalid responseType: found \"text\", ` +
            'expected \"object\" or \"binary\"' });",
    );
}

#[test]
fn the_delay_of_a_streams_messages_is_a_trend() {
    let lab = Lab::with(
        "import { Client, Stream } from 'k6/net/grpc';
        export const options = { summaryTrendStats: ['count', 'max'] };
        const client = new Client();
        export default function () {
            const address = __ENV.TARGET.replace(/^https?:\\/\\//, '').replace(/\\/$/, '');
            client.connect(address, { plaintext: true, reflect: true });
            // Each message comes 100 ms after the one before it, the last 200 ms after the first.
            new Stream(client, 'onrush.test.v1.Target/Count').write({ count: 3, intervalMs: 100 });
        }
        export function handleSummary({ metrics: { grpc_streams_msg_delay: { type, contains, values } } }) {
            const max = values.max >= 99 && values.max < 190;
            return { stdout: JSON.stringify({ type, contains, count: values.count, max }) };
        }",
    );
    lab.run(&["--serve"]).code(0).prints(r#"{"type":"trend","contains":"time","count":3,"max":true}"#);
}

#[test]
fn params_of_connect_that_do_not_fit_are_refused() {
    let lab = Lab::with(
        "import { Client } from 'k6/net/grpc';
        const refusals = [
            { protocol: 'http' }, { protocol: 'connect', codec: 'xml' }, { protocol: 'connect', httpVersion: 2 },
            { codec: 'json' }, { httpVersion: '2' }, { protocol: 'connect', reflect: true },
            { protocol: 'connect', httpVersion: '1.1', tls: {} },
            { protocol: 'connect', plaintext: true, connections: 2 },
        ];
        export default function () {
            for (const params of refusals) {
                try { new Client().connect('127.0.0.1:1', params); console.log('connected'); } catch (error) {
                    console.log(error.message.replace('invalid grpc.connect() parameters: ', ''));
                }
            }
        }",
    );
    let mut run = lab.run(&[]).code(0);
    for told in [
        "invalid protocol value: '\\\"http\\\"', it needs to be \\\"grpc\\\" or \\\"connect\\\"",
        "invalid codec value: '\\\"xml\\\"', it needs to be \\\"proto\\\" or \\\"json\\\"",
        "invalid httpVersion value: '2', it needs to be \\\"2\\\" or \\\"1.1\\\"",
        "codec belongs to the protocol \\\"connect\\\": gRPC has one codec, and needs HTTP/2",
        "httpVersion belongs to the protocol",
        "reflect asks by gRPC, but protocol is \\\"connect\\\": load the .proto files instead",
        "tls belongs to connections of HTTP/2: leave it out, or httpVersion \\\"1.1\\\"",
        "connections are shared over HTTP/2 alone: add httpVersion \\\"2\\\"",
    ] {
        run = run.says(told);
    }
}

#[test]
fn what_cannot_be_sent_is_told() {
    checks(
        "const prefix = 'unable to serialise request object to protocol buffer: ';
        const why = (request) => thrown(() => client.invoke(T + 'Echo', request)).replace(prefix, '');
        check(null, {
            path: () => why({ inner: { inner: { numbers: [1, 'x'] } } }) ===
                'inner.inner.numbers[1]: expected int32, found \"x\"',
            name: () => why({ aStrin: 'x' }) ===
                'unknown field \"aStrin\" of onrush.test.v1.Everything; did you mean \\'aString\\'?',
            method: () => thrown(() => client.invoke(T + 'Ecko', {})) ===
                'method \"/onrush.test.v1.Target/Ecko\" not found in file descriptors; ' +
                'did you mean \\'/onrush.test.v1.Target/Echo\\'?',
            nothing: () => thrown(() => client.invoke(T + 'Echo')) === 'request cannot be nil',
        });",
    );
}

#[test]
fn files_are_looked_for_beside_the_script_whichever_module_loads_them() {
    let lab = Lab::with("import './lib/client.js'; export default function () {}");
    std::fs::create_dir(lab.path().join("lib")).unwrap();
    lab.file("here.proto", "syntax = \"proto3\"; message Here {}");
    lab.file("lib/there.proto", "syntax = \"proto3\"; message There {}");
    lab.file(
        "lib/client.js",
        "import grpc from 'k6/net/grpc';
        const client = new grpc.Client();
        client.load(['.'], 'here.proto');
        client.load(null, 'here.proto');
        client.load(['lib'], 'there.proto');
        client.load(['lib'], '../here.proto');
        client.load([], './lib/there.proto');
        let refused = '';
        try { client.load(['.'], 'there.proto'); } catch (error) { refused = error.message; }
        if (!/^stat .*\\/there.proto: no such file or directory$/.test(refused)) throw new Error(refused);",
    );
    lab.run(&[]).code(0);
}

/// The rows of the table of requests that are of a protocol: method and name, status, error, failed, and how many.
fn rows_of(lab: &Lab, protocol: &str) -> Vec<String> {
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    let rows = result["requests"]["rows"].as_array().expect("rows").iter().filter(|row| row["protocol"] == protocol);
    let text = |row: &Value| {
        let [method, name] = [&row["method"], &row["name"]].map(|text| text.as_str().expect("a text"));
        format!("{method} {name} {} {} {} {}", row["status"], row["error"], row["failed"], row["durations"]["count"])
    };
    rows.map(text).collect()
}

#[test]
fn calls_are_rows_of_the_table_of_requests() {
    let lab = Lab::with(
        "import { Client, Stream } from 'k6/net/grpc';
        export const options = { iterations: 3, vus: 1 };
        const client = new Client();
        client.load(['.'], 'target.proto');
        const T = 'onrush.test.v1.Target/';
        export default function () {
            client.connect(__ENV.TARGET.replace(/^https?:\\/\\//, '').replace(/\\/$/, ''), { plaintext: true });
            client.invoke(T + 'Echo', {});
            client.invoke(T + 'Echo', {}, { tags: { name: 'named' } });
            client.invoke(T + 'Fail', { code: 5, message: 'no <such>' });
            client.invoke(T + 'Fail', { code: 5, message: `user ${__ITER} ${'x'.repeat(300)}` });
            const stream = new Stream(client, T + 'Count');
            stream.on('error', () => {});
            stream.write({ count: 1, code: 9, message: 'enough' });
        }",
    );
    lab.file("target.proto", include_str!("../../../server/src/grpc/target.proto"));
    let run = lab.run(&["--serve", "--save", "kept"]).code(0);
    run.prints("  █ ERRORS \n").prints("gRPC /onrush.test.v1.Target/Fail: NotFound: no <such>\n");
    let (t, long) = ("gRPC /onrush.test.v1.Target", |n: u32| {
        let start = format!("NotFound: user {n} ");
        format!("{start}{}…", "x".repeat(200 - start.len()))
    });
    let expected = [
        format!("{t}/Count 9 \"FailedPrecondition: enough\" true 3"),
        format!("{t}/Fail 5 \"NotFound: no <such>\" true 3"),
        format!("{t}/Fail 5 \"{}\" true 1", long(0)),
        format!("{t}/Fail 5 \"{}\" true 1", long(1)),
        format!("{t}/Fail 5 \"{}\" true 1", long(2)),
        format!("{t}/Echo 0 null false 3"),
        String::from("gRPC named 0 null false 3"),
    ];
    assert_eq!(rows_of(&lab, "grpc"), expected);
    let result: Value = serde_json::from_str(&lab.read("kept/result.json")).expect("JSON");
    let named = result["requests"]["rows"].as_array().expect("rows").iter().find(|row| row["name"] == "named");
    let example = named.and_then(|row| row["example"].as_str()).expect("an example");
    assert!(example.ends_with("/onrush.test.v1.Target/Echo"), "{example}");
}
