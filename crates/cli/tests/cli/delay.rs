//! `onrush/delay` through the binary: its own test script, events met by several workers at once, apps that stamp.

use std::path::Path;

use crate::lab::Lab;

#[test]
fn the_module() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../script/src/modules/delay/test.js");
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
                const count = (hop) => Object.values(m[`message_delay{event:e${i},hop:${hop}}`].values).join('/');
                lines.push([m[`message_sends{event:e${i}}`].values.count, ...['total', 'up', 'inside', 'down'].map(count)].join());
            }
            return { stdout: `${[...new Set(lines)].join(' ')} ${m.message_sends.values.count} ${m['message_delay{hop:total}'].values.count}` };
        }",
    );
    lab.run(&["--workers", "3"]).code(0).prints("120,4/120,1/120,2/120,1/120 1200 1200");
}

#[test]
fn lines_stand_in_the_summary_below_their_metric() {
    let lab = Lab::with(
        "import { record, stamp } from 'onrush/delay';
        export default function () { record('edit', [stamp('edit')], stamp()); }",
    );
    let run = lab.run(&["--no-color"]).code(0);
    let told: Vec<&str> = run.stdout.lines().map(str::trim).filter(|line| line.contains("{ ")).collect();
    assert!(told.iter().any(|line| line.starts_with("{ event:edit,hop:total }")), "{}", run.stdout);
    assert!(told.iter().any(|line| line.starts_with("{ hop:total }")), "{}", run.stdout);
    assert!(told.iter().any(|line| line.starts_with("{ event:edit }")), "{}", run.stdout);
    assert!(!run.stdout.contains("hop:up"), "{}", run.stdout);
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
    let told = run.stderr.matches("onrush/delay: there are more than 64 events; 'e64' and further ones").count();
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
    let expected = "onrush/delay: metric 'message_delay' already exists as a counter of plain numbers and cannot become a \
                    trend of milliseconds";
    run.says(expected);
}

#[test]
fn an_app_stamps_what_passes_through() {
    let lab = Lab::with(
        "import ws from 'k6/ws';
        import { record, stamp } from 'onrush/delay';
        export const options = { thresholds: {
            'message_delay{event:held,hop:total}': ['min>=29'],
            'message_delay{event:held,hop:inside}': ['min>=29'],
            'message_delay{event:held,hop:up}': ['min>=0'],
            'message_delay{event:held,hop:down}': ['min>=0'],
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
                    if (outside === 'TypeError') socket.send(JSON.stringify([...JSON.parse(text), received, stamp('counted')]));
                },
            },
        };",
    );
    let serve = format!("--serve={}", app.display());
    lab.run(&[&serve]).code(0);
}

/// The target's own stamps of a message it holds are in the order in which things happened, and the hops add up to the whole.
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
