//! `onrush/delay` through the binary: its own test script, events met by several workers at once, apps that stamp.

use std::io::Read;
use std::path::Path;

use crate::lab::Lab;

#[test]
fn the_module() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../modules/src/delay/test.js");
    Lab::new().onrush(&["run", "-q", "--serve", script.to_str().expect("a path in UTF-8")]).code(0);
}

/// Each of six users meets ten events, every user in another order: whoever meets one first, no sample is missed.
#[test]
fn events_met_on_several_workers_have_whole_lines_of_their_own() {
    let lab = Lab::with(
        "import { record, stamp } from 'onrush/delay';
        import { setTimeout } from 'k6/timers';
        export const options = {
            scenarios: { s: { executor: 'per-vu-iterations', vus: 6, iterations: 20 } },
            summaryTrendStats: ['avg', 'count'],
        };
        export default async function () {
            for (let i = 0; i < 10; i++) {
                const event = `e${(i + __VU) % 10}`;
                const now = stamp(event);
                record(event, [now - 4000, now - 3000, now - 1000], now);
                if (i % 3 === 0) await new Promise((done) => setTimeout(done, 0));
            }
        }
        export function handleSummary({ metrics: m }) {
            const lines = [];
            for (let i = 0; i < 10; i++) {
                const told = (name, filter) => Object.values(m[`${name}{event:e${i}${filter}}`].values).join('/');
                const hops = ['up', 'inside', 'down'].map((hop) => told('message_hop', `,hop:${hop}`));
                lines.push([m[`message_sends{event:e${i}}`].values.count, told('message_delay', ''), ...hops].join());
            }
            return { stdout: `${[...new Set(lines)].join(' ')} ${m.message_sends.values.count} \
            ${m.message_delay.values.count}` };
        }",
    );
    lab.run(&["--workers", "3"]).code(0).prints("120,4/120,1/120,2/120,1/120 1200 1200");
}

/// A script's own Trend with the tag `event` has table and chart in the report, and k6's lines in the summary.
#[test]
fn a_trend_of_the_scripts_own_is_told_by_event_in_the_report() {
    let lab = Lab::with(
        "import { sleep } from 'k6';
        import { Trend } from 'k6/metrics';
        const delay = new Trend('edit_delay', true), size = new Trend('edit_size'), plain = new Trend('plain');
        export const options = { iterations: 5 };
        export default function () {
            sleep(0.5);
            delay.add(30, { event: 'edit' });
            delay.add(10, { event: 'cursor' });
            size.add(7, { event: 'edit' });
            plain.add(1);
        }",
    );
    let run = lab.run(&["--no-color", "--save", "r"]).code(0);
    assert!(!run.stdout.contains("{ event"), "the summary is k6's: {}", run.stdout);
    let page = lab.onrush(&["report", "r", "-o", "-"]).code(0).stdout;
    for part in [
        "edit_delay, mean of each second",
        "edit_size, mean of each second",
        "Delay of edit alone",
        "class=\"n\">samples/s</th>",
        ">edit</th>",
        "<td class=\"n\">20ms</td>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("plain, mean of each second"), "{page}");
    let without = lab.run(&["--no-color", "--summary-export", "s.json"]).code(0);
    assert!(!without.stdout.contains("event:") && !lab.read("s.json").contains("event:"), "{}", without.stdout);
}

#[test]
fn lines_stand_in_the_summary_below_their_metric() {
    let lab = Lab::with(
        "import { record, stamp } from 'onrush/delay';
        export default function () { record('edit', [stamp('edit')], stamp()); }",
    );
    let run = lab.run(&["--no-color"]).code(0);
    let told: Vec<&str> = run.stdout.lines().map(str::trim).filter(|line| line.contains("{ ")).collect();
    assert_eq!(told.iter().filter(|line| line.starts_with("{ event:edit }")).count(), 2, "{}", run.stdout);
    assert!(!run.stdout.contains("message_hop") && !run.stdout.contains("hop:up"), "{}", run.stdout);
}

#[test]
fn events_beyond_the_limit_count_together_and_are_told_once() {
    let lab = Lab::with(
        "import { stamp } from 'onrush/delay';
        export const options = { iterations: 2, vus: 2 };
        export default function () { for (let i = 0; i < 70; i++) stamp(`e${i}`); }
        export function handleSummary({ metrics }) {
            const lines = Object.keys(metrics).filter((name) => name.startsWith('message_sends{'));
            return { stdout: `${lines.length} ${metrics.message_sends.values.count}` };
        }",
    );
    let run = lab.run(&[]).code(0).prints("64 140");
    let told = run.stderr.matches("message_sends: tag 'event' has more than 64 values; 'e64' and further ones").count();
    assert_eq!(told, 1, "{}", run.stderr);
}

/// A script that defined the metric as something else hears of it.
#[test]
fn a_metric_of_the_same_name_and_another_kind_is_refused() {
    let lab = Lab::with(
        "import { Counter } from 'k6/metrics';
        const own = new Counter('message_delay');
        require('onrush/delay');
        export default function () {}",
    );
    let run = lab.run(&[]);
    let expected = "onrush/delay: metric 'message_delay' already exists as a counter of plain numbers and cannot \
        become a trend of milliseconds";
    run.says(expected);
}

#[test]
fn an_app_stamps_what_passes_through() {
    let lab = Lab::with(
        "import ws from 'k6/ws';
        import { record, stamp } from 'onrush/delay';
        export const options = { thresholds: {
            'message_delay{event:held}': ['min>=29'],
            'message_hop{event:held,hop:inside}': ['min>=29'],
            'message_hop{event:held,hop:up}': ['min>=0'],
            'message_hop{event:held,hop:down}': ['min>=0'],
            checks: ['rate==1'],
        } };
        export default function () {
            let left = 3;
            ws.connect(`ws${__ENV.TARGET.slice(4)}/`, (socket) => {
                const ask = () => socket.send(JSON.stringify([stamp()]));
                socket.on('open', ask);
                socket.on('message', (text) => {
                    record('held', JSON.parse(text));
                    if (--left > 0) ask(); else socket.close();
                });
            });
        }",
    );
    let app = lab.file(
        "app.js",
        "import { arrival, stamp } from 'onrush/delay';
        let outside;
        try { arrival(); } catch (error) { outside = error.name; }
        export default {
            fetch() { return new Response('an app of sockets'); },
            websocket: {
                async message(socket, text) {
                    const received = arrival();
                    await new Promise((done) => setTimeout(done, 30));
                    if (outside === 'TypeError') socket.send(JSON.stringify([...JSON.parse(text), received, \
                    stamp('counted')]));
                },
            },
        };",
    );
    let serve = format!("--serve={}", app.display());
    lab.run(&[&serve]).code(0);
}

/// The target's own stamps of a message it holds are in the order in which things happened, and the hops add up to the
/// whole.
#[test]
fn hops_follow_each_other_over_every_kind_of_connection() {
    let lab = Lab::with(
        "import { check } from 'k6';
        import ws from 'k6/ws';
        import { WebSocket } from 'k6/websockets';
        import { arrival, stamp } from 'onrush/delay';
        const scenario = { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '30s' };
        const link = { ...scenario, exec: 'linked', network: { latency: '40ms' } };
        export const options = {
            insecureSkipTLSVerify: true,
            hosts: { 'app.test': `unix:${__ENV.TARGET_UNIX}` },
            thresholds: { checks: ['rate==1'] },
            scenarios: { direct: scenario, linked: link },
        };
        const hosts = { plain: __ENV.TARGET, tls: __ENV.TARGET_TLS, unix: 'http://app.test' };
        const path = (host) => `ws${host.slice(4)}/ws/hold/20ms`;
        function judge(how, text, latency) {
            const at = arrival();
            const [sent, received, left] = JSON.parse(text);
            check([sent, received, left, at], {
                [`${how}: in order`]: (all) => all.every((t, i) => Number.isInteger(t) && (i === 0 || t >= all[i - 1])),
                [`${how}: held`]: () => left - received >= 19990,
                [`${how}: carried`]: () => received - sent >= latency / 2 - 10 && at - left >= latency / 2 - 10,
            });
        }
        function talk(how, host, latency) {
            ws.connect(path(host), {}, (socket) => {
                socket.on('open', () => socket.send(String(stamp())));
                socket.on('message', (text) => { judge(how, text, latency); socket.close(); });
                socket.on('error', (error) => { throw new Error(error.error()); });
            });
        }
        export default async function () {
            for (const [how, host] of Object.entries(hosts)) talk(how, host, 0);
            const socket = new WebSocket(path(hosts.plain));
            socket.onopen = () => socket.send(String(stamp()));
            socket.onmessage = ({ data }) => { judge('events', data, 0); socket.close(); };
            await new Promise((done) => (socket.onclose = done));
        }
        export function linked() { talk('linked', hosts.plain, 40000); talk('linked tls', hosts.tls, 40000); }
        export function handleSummary({ metrics }) { return { stdout: `${metrics.checks.values.passes} checks` }; }",
    );
    lab.run(&["--serve"]).code(0).prints("18 checks");
}

/// Receives 300 messages and records them.
const TALK: &str = "import ws from 'k6/ws';
    import { WebSocket } from 'k6/websockets';
    import { record, stamp } from 'onrush/delay';
    export const options = { scenarios: { talk: { executor: 'per-vu-iterations', vus: 1, iterations: 1 } } };
    const url = `ws${__ENV.TARGET.slice(4)}/ws/echo`;
    export default async function () {
        let left = 298;
        ws.connect(url, (socket) => {
            const say = () => socket.send(JSON.stringify([stamp('\\\"odd\\\" ✓')]));
            socket.on('open', say);
            socket.on('message', (text) => {
                record('\\\"odd\\\" ✓', JSON.parse(text));
                if (--left > 0) say(); else socket.close();
            });
        });
        const socket = new WebSocket(url);
        socket.binaryType = 'arraybuffer';
        socket.onopen = () => { socket.send(new Uint8Array([0, 255])); socket.send('line\\nfeed'); };
        socket.onmessage = ({ data }) => { if (data === 'line\\nfeed') socket.close(); };
    }
    export function handleSummary({ metrics }) { return { stdout: `${metrics.ws_msgs_received.values.count} received` \
    }; }";

fn result(lab: &Lab) -> serde_json::Value {
    serde_json::from_str(&lab.read("kept/result.json")).expect("JSON")
}

#[test]
fn messages_are_kept_with_their_stamps() {
    let lab = Lab::with(TALK);
    for _again in 0..2 {
        lab.run(&["--serve", "--save", "kept", "--save-messages"]).code(0).prints("300 received");
    }
    let messages = &result(&lab)["messages"];
    assert_eq!(messages, &serde_json::json!({ "files": ["messages/worker-1.jsonl.gz"], "written": 300, "dropped": 0 }));
    let packed = std::fs::read(lab.path().join("kept/messages/worker-1.jsonl.gz")).expect("a log");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("gzip of a text");
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(lines.len(), 300);
    let first = &lines[0];
    assert_eq!((&first["vu"], &first["scenario"], &first["kind"]), (&1.into(), &"talk".into(), &"text".into()));
    assert!(first["url"].as_str().is_some_and(|url| url.starts_with("ws://127.0.0.1:") && url.ends_with("/ws/echo")));
    assert_eq!(first["event"], "\"odd\" ✓");
    let sent = first["stamps"][0].as_u64().expect("a whole number");
    assert_eq!(first["data"], format!("[{sent}]"));
    assert!(first["t"].as_u64().is_some_and(|arrived| arrived >= sent), "{first}");
    let [binary, text] = &lines[298..] else { panic!("{} lines", lines.len()) };
    assert_eq!((&binary["kind"], &binary["data"]), (&"binary".into(), &"AP8=".into()));
    assert_eq!(text["data"], "line\nfeed");
    assert_eq!((&text["event"], &text["stamps"]), (&serde_json::Value::Null, &serde_json::Value::Null));
}

/// A pipe that nobody reads holds up its writer for ever: the test has its messages all the same, and says that they
/// are lost.
#[test]
fn a_log_that_hangs_holds_up_nothing() {
    let lab = Lab::with(TALK);
    std::fs::create_dir_all(lab.path().join("kept/messages")).expect("a folder");
    let pipe = lab.path().join("kept/messages/worker-1.jsonl.gz");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    let run = lab.run(&["--serve", "--save", "kept", "--save-messages"]).code(111).prints("300 received");
    run.says("cannot write messages to ")
        .says("worker-1.jsonl.gz: the file took nothing for 2s; messages are missing in the result");
    assert_eq!(result(&lab)["messages"]["dropped"], 300);
    assert_eq!(result(&lab)["exit"]["code"], 111);
}

/// /dev/full is a disk that is full.
#[test]
fn a_full_disk_is_told_once_and_ends_nothing() {
    let lab = Lab::with(TALK);
    std::fs::create_dir_all(lab.path().join("kept/messages")).expect("a folder");
    std::os::unix::fs::symlink("/dev/full", lab.path().join("kept/messages/worker-1.jsonl.gz")).expect("a link");
    let run = lab.run(&["--serve", "--save", "kept", "--save-messages"]).code(111).prints("300 received");
    assert_eq!(run.stderr.matches("No space left on device").count(), 1, "{}", run.stderr);
    assert_eq!(result(&lab)["messages"]["dropped"], 300);
}

#[test]
fn logs_that_cannot_be_are_refused_before_the_test() {
    let lab = Lab::with("export default function () { console.log('begun'); }");
    let run = lab.run(&["--save-messages"]).code(255);
    run.says("--save-messages adds to a saved result: give --save DIR as well, or leave it out");
    std::fs::create_dir(lab.path().join("kept")).expect("a folder");
    lab.file("kept/messages", "a file in the way");
    let run = lab.run(&["--save", "kept", "--save-messages"]).code(111);
    let run =
        run.says("--save-messages: cannot prepare kept/messages: File exists (os error 17); give --save a directory");
    assert!(!run.stderr.contains("begun"));
}
