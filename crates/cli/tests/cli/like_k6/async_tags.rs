//! `--features async-metric-context` of k6 2.3: tags, groups and metadata stay with asynchronous code. By the
//! descriptions of k6's changes, since its sources are not to be had.

use serde_json::Value;

use crate::lab::Lab;

/// Runs it with the feature, against a target of its own: each sample of the counter `seen`, and each duration of a
/// group, as `at group who id`; what is missing is `-`.
fn seen(lab: &Lab) -> Vec<String> {
    let flags = ["--serve", "--features", "async-metric-context", "--out", "json=samples.json"];
    lab.run(&flags).code(0).says("msg=done");
    let samples = lab.read("samples.json");
    let lines = samples.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let points = lines.filter(|line| line["type"] == "Point");
    let of = points.filter(|line| line["metric"] == "seen" || line["metric"] == "group_duration");
    of.map(|line| {
        let data = &line["data"];
        let (tags, metadata) = (&data["tags"], &data["metadata"]);
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let at = if line["metric"] == "seen" { text(&tags["at"]) } else { String::from("duration") };
        format!("{at} {} {} {}", text(&tags["group"]), text(&tags["who"]), text(&metadata["id"]))
    })
    .collect()
}

const HEAD: &str = "import { group, sleep } from 'k6';
    import exec from 'k6/execution';
    import { Counter } from 'k6/metrics';
    const counter = new Counter('seen');
    const { tags, metadata } = exec.vu.metrics;
    const seen = (at) => counter.add(1, { at });
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
";

#[test]
fn asynchronous_code_keeps_its_tags() {
    let lab = Lab::with(&format!(
        "{HEAD}
        export default async function () {{
            const one = group('one', async () => {{
                tags.who = 'one';
                metadata.id = '1';
                await pause(20);
                seen('awaited');
                tags.who = 'later';
                await Promise.resolve().then(() => seen('then'));
                setTimeout(() => {{ seen('timer'); tags.who = 'lost'; }}, 10);
                await pause(40);
                seen('after the timer');
                return 'value';
            }});
            seen('outside');
            tags.who = 'root';
            const two = group('two', async () => {{ await pause(5); throw new Error('thrown'); }});
            const thrown = await two.catch((error) => error.message);
            seen(thrown);
            seen(await one);
            if (group('three', () => 7) !== 7) throw new Error('a group returns what its function does');
            const thenable = group('four', () => ({{ then(resolve) {{ resolve('resolved'); }} }}));
            seen(await thenable);
            try {{ group('five', () => {{ throw new Error('at once'); }}); }} catch (error) {{ seen(error.message); }}
            let ticks = 0;
            const timer = setInterval(() => {{
                seen('tick');
                tags.who = 'tick';
                if (++ticks === 2) {{ clearInterval(timer); console.log('done'); }}
            }}, 2);
        }}"
    ));
    let expected = [
        "outside  - -",
        "duration ::two root -",
        "thrown  root -",
        "awaited ::one one 1",
        "then ::one later 1",
        "timer ::one later 1",
        "after the timer ::one later 1",
        "duration ::one - -",
        "value  root -",
        "duration ::three root -",
        "duration ::four root -",
        "resolved  root -",
        "duration ::five root -",
        "at once  root -",
        "tick  root -",
        "tick  root -",
    ];
    assert_eq!(seen(&lab), expected);
}

#[test]
fn listeners_see_the_tags_of_their_registration() {
    let lab = Lab::with(&format!(
        "import {{ WebSocket }} from 'k6/websockets';
        {HEAD}
        export default function () {{
            const socket = new WebSocket(`${{__ENV.TARGET_WS}}/ws/echo`);
            const onopen = () => {{ seen('open'); tags.who = 'lost'; socket.send('text'); }};
            group('one', () => {{
                socket.onopen = onopen;
                socket.addEventListener('message', () => {{ seen('message'); socket.close(); }});
            }});
            if (socket.onopen !== onopen) throw new Error('a listener is the one that was given');
            tags.who = 'root';
            socket.addEventListener('close', async () => {{
                seen('close');
                await pause(1);
                seen('closed');
                console.log('done');
            }});
        }}"
    ));
    let expected = ["duration ::one - -", "open ::one - -", "message ::one - -", "close  root -", "closed  root -"];
    assert_eq!(seen(&lab), expected);
}

#[test]
fn an_asynchronous_request_carries_what_was_set_when_it_was_made() {
    let lab = Lab::with(
        "import http from 'k6/http';
         import { group } from 'k6';
         import exec from 'k6/execution';
         export default async function () {
             let asked;
             group('one', () => { asked = http.asyncRequest('GET', `${__ENV.TARGET}/delay/20ms`); });
             exec.vu.metrics.tags.who = 'root';
             exec.vu.metrics.metadata.id = 'root';
             await asked;
             http.get(`${__ENV.TARGET}/get`);
         }",
    );
    lab.run(&["--serve", "--out", "json=samples.json"]).code(0);
    let samples = lab.read("samples.json");
    let of = samples.lines().filter(|line| line.contains("\"http_reqs\"") && line.contains("Point"));
    let [first, second] = &*of.collect::<Vec<_>>() else { panic!("two requests: {samples}") };
    // As k6 2.2 does without the feature.
    assert!(first.contains("\"group\":\"::one\"") && !first.contains("root"), "{first}");
    assert!(second.contains("\"group\":\"\"") && second.contains("\"id\":\"root\""), "{second}");
}

#[test]
fn iterations_begin_with_tags_of_their_own() {
    let lab = Lab::with(&format!(
        "{HEAD}
        export const options = {{ iterations: 2 }};
        let kept;
        export default async function () {{
            if (exec.vu.iterationInInstance === 0) {{
                tags.who = 'first';
                new Promise((resolve) => {{ kept = resolve; }}).then(() => seen('of the first'));
            }} else {{
                tags.who = 'second';
                kept();
                await pause(1);
                seen('second');
                console.log('done');
            }}
        }}"
    ));
    assert_eq!(seen(&lab), ["of the first  second -", "second  second -"]);
}

#[test]
fn without_the_feature_a_group_ends_with_its_function() {
    let lab = Lab::with(
        "import { group } from 'k6';
         export default function () { group('one', async () => 1); }",
    );
    lab.run(&[]).code(0).says("group() does not support async functions").says("--features async-metric-context");
    let with = lab.run(&["--features", "async-metric-context"]).code(0);
    assert!(!with.stderr.contains("async functions"), "{with:?}");
}
